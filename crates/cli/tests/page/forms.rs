//! Forms of MCP servers.

use std::fs;

use serde_json::{Value, json};

use crate::kit::test_on;
use crate::served::{Served, place};
use crate::support::script;

/// The tool whose call comes with a form.
pub(crate) const TOOL: &str = "mcp__asker__ask";

/// A form with something of everything.
fn form() -> Value {
    json!({
        "subtype": "elicitation",
        "mcp_server_name": "asker",
        "mode": "form",
        "message": "Where should it be sent?",
        "property_order": ["name", "count", "urgent", "way", "extras", "more"],
        "requested_schema": {
            "type": "object",
            "required": ["name", "way"],
            "properties": {
                "name": { "type": "string", "title": "Name", "description": "As on the door" },
                "count": { "type": "integer", "title": "How many", "minimum": 1, "maximum": 9 },
                "urgent": { "type": "boolean", "title": "In a hurry" },
                "way": { "type": "string", "title": "By", "enum": ["foot", "train"], "enumNames": ["Foot", "Train"] },
                "extras": { "type": "array", "title": "With", "items": { "enum": ["ribbon", "card"] } },
                "more": { "type": "object", "title": "And" },
            },
        },
    })
}

/// A server whose CLI asks with a form when the model calls the tool. The simulated CLI does not: what
/// it says is added to, and what it is answered is taken out.
pub(crate) fn with_a_form(text: &str) -> Served {
    let folder = place(text);
    let (claude, plain) = (folder.path().join("claude"), folder.path().join("plain"));
    fs::rename(&claude, &plain).unwrap();
    let request = json!({ "type": "control_request", "request_id": "a-form", "request": form() });
    let plain = plain.display();
    let added = format!(
        "#!/bin/sh
        case \"$*\" in *--version*) exec '{plain}' \"$@\";; esac
        grep --line-buffered -v a-form | '{plain}' \"$@\" | sed -u '/\"type\":\"assistant\".*{TOOL}/a\\\n{request}\n'",
    );
    script(&claude, &added);
    Served::of(folder, &[], &[])
}

const ASK: &str = r#"
[[answer]]
when = { text = "Send it" }
tool = { name = "mcp__asker__ask", input = {} }
"#;

#[tokio::test]
async fn a_form_is_filled_in() {
    test_on("a_form_is_filled_in", with_a_form(ASK), async |page| {
        let browser = page.browser;
        page.begin_with("Send it.", &["--allowed-tools", TOOL]).await;
        page.card("elicitation").await;
        page.reads(".card", "Where should it be sent?").await;
        // What is missing or wrong is said, and nothing is sent.
        page.decide("form-accept").await;
        page.reads(".card .problem", "Name * is missing").await;
        page.write(".card [data-field=name] input", "Ada").await;
        page.write(".card [data-field=count] input", "12").await;
        page.decide("form-accept").await;
        page.reads(".card .problem", "How many: ").await;
        page.rewrite(".card [data-field=count] input", "2").await;
        page.write(".card [data-field=more] textarea", "{ \"floor\": ").await;
        page.decide("form-accept").await;
        page.reads(".card .problem", "And is not JSON").await;
        page.rewrite(".card [data-field=more] textarea", "{ \"floor\": 3 }").await;
        browser.click(".card [data-field=extras] label:last-of-type input").await;
        browser.run("document.querySelector('.card [data-field=way] select').value = '\"train\"'").await;
        let asked = browser.run("return document.querySelector('.card').dataset.approval").await;
        page.decide("form-accept").await;
        page.no_card().await;
        let given = page.served.borrow().object(&["inbox", asked.as_str().unwrap()]);
        let content = json!({
            "name": "Ada", "count": 2, "urgent": false, "way": "train", "extras": ["card"], "more": { "floor": 3 },
        });
        let wanted = json!({ "form": { "action": "accept", "content": content } });
        assert_eq!(given["given"]["answer"], wanted, "{given}");
    })
    .await;
}
