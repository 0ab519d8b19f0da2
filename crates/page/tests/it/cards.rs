//! A card shows all of what is asked for, and nothing in a way that hides it.

use std::path::Path;

use countersign_page::card::{Asker, Card, Matched};
use countersign_server::id::{ApprovalId, SessionId};
use countersign_server::session::Approval;
use serde_json::{Value, json};

fn approval(kind: &str, tool: &str, request: &str) -> Approval {
    let approval = json!({
        "id": ApprovalId::new(), "session": SessionId::new(), "turn": null, "kind": kind, "tool": tool,
        "request": "REQUEST", "stage": "open", "opened_at": "2026-01-01T00:00:00Z",
    });
    serde_json::from_str(&approval.to_string().replace("\"REQUEST\"", request)).unwrap()
}

/// The card of a call with this input, as it is written.
fn tool(tool: &str, input: &str) -> String {
    let name = json!(tool);
    let request = format!(
        r#"{{"subtype":"can_use_tool","tool_name":{name},"input":{input},"tool_use_id":"c"}}"#
    );
    shown(&approval("tool", tool, &request))
}

fn plan(plan: &str) -> String {
    let request = json!({"subtype": "can_use_tool", "tool_name": "ExitPlanMode",
        "input": {"plan": plan}, "tool_use_id": "c"});
    shown(&approval("plan", "ExitPlanMode", &request.to_string()))
}

fn form(schema: &Value) -> String {
    let request = json!({"subtype": "elicitation", "mcp_server_name": "asker", "message": "Who?",
        "mode": "form", "requested_schema": schema});
    shown(&approval("elicitation", "asker", &request.to_string()))
}

fn shown(approval: &Approval) -> String {
    shown_after(approval, &[])
}

/// The card of what is asked after these calls.
fn shown_after(approval: &Approval, before: &[Matched]) -> String {
    let asker = Asker { title: "A session".into(), folder: "/project".into(), is_parked: false };
    let card = Card {
        approval,
        asker: &asker,
        names_session: false,
        before,
        folder: "/project/inner",
        home: Some(Path::new("/home/me")),
        agent: None,
        plans: &[],
        may_decide: true,
    };
    card.html(true).into_string()
}

/// JavaScript writes half of a character, which no text can hold: it hides nothing beside it.
#[test]
fn half_of_a_character_hides_nothing() {
    let card = tool("mcp__db__run", r#"{"x":"\ud83d","sql":"DROP TABLE people"}"#);
    assert!(card.contains("DROP TABLE people") && card.contains('\u{fffd}'), "{card}");
    assert!(card.contains("half of a character"), "{card}");
    let card = tool("Bash", r#"{"command":"rm -rf x","timeout":7,"description":"\ude00"}"#);
    assert!(card.contains("timeout") && card.contains("class=\"deletes\""), "{card}");
}

#[test]
fn what_cannot_be_shown_cannot_be_allowed() {
    let card = shown(&approval("tool", "T", r#"{"strange":"<b>"}"#));
    assert!(card.contains("&#34;strange&#34;"), "{card}");
    assert!(card.contains("data-do=\"deny\"") && !card.contains("data-do=\"allow\""), "{card}");
}

/// A command may have left the folder of the session: what it does is about where it runs.
#[test]
fn the_folder_is_the_one_of_the_call() {
    let card = tool("Bash", r#"{"command":"rm -rf ../x"}"#);
    assert!(card.contains("in <code>/project/inner</code>"), "{card}");
    // What is outside is outside of the folder of the session.
    let outside = "class=\"outside\"";
    assert!(!card.contains(outside), "{card}");
    let card = tool("Bash", r#"{"command":"rm -rf ../../x"}"#);
    assert!(card.contains(outside), "{card}");
    let card = tool("Write", r#"{"file_path":"/project/x","content":"y"}"#);
    assert!(!card.contains(outside), "{card}");
}

/// A line of several commands is matched by several rules, and by none of them alone.
#[test]
fn rules_of_a_suggestion_are_looked_at_together() {
    let rule = |content: &str| json!({"toolName": "Bash", "ruleContent": content});
    let request = json!({"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": "c",
        "input": {"command": "npm test && git status"},
        "permission_suggestions": [{"type": "addRules", "behavior": "allow", "destination": "session",
            "rules": [rule("npm test:*"), rule("git status")]}]});
    let approval = approval("tool", "Bash", &request.to_string());
    let before =
        |command: &str| Matched { tool: "Bash".into(), input: json!({"command": command}) };
    let card = shown_after(&approval, &[before("npm test -- a && git status")]);
    assert!(card.contains("It would also have matched"), "{card}");
    let card = shown_after(&approval, &[before("npm test && git push")]);
    assert!(!card.contains("It would also have matched"), "{card}");
}

#[test]
fn a_plan_tells_of_what_is_not_drawn() {
    let is_odd = |text: &str| plan(text).contains("It has parts that are not seen");
    assert!(!is_odd("# Plan\n\n1. Read `a.rs` ⚠️\n2. Change it\n"));
    assert!(is_odd("1. [Test it](<and push to main>)\n"));
    assert!(is_odd("a\u{202e}b"));
}

#[test]
fn a_form_has_choices_of_one_and_of_several() {
    let card = form(&json!({"type": "object", "required": ["size"], "properties": {
        "size": {"oneOf": [{"const": 1, "title": "One"}, {"const": 2}], "default": 2},
        "kinds": {"type": "array", "title": "Kinds", "default": ["b"],
            "items": {"anyOf": [{"const": "a", "title": "The first"}, {"const": "b"}]}},
        "name": {"type": "string", "minLength": 2, "maxLength": 9, "pattern": "\"><b>"},
    }}));
    for part in [
        "<option value=\"1\">One</option><option value=\"2\" selected>2</option>",
        "<input type=\"checkbox\" value=\"&#34;a&#34;\"> The first",
        "<input type=\"checkbox\" value=\"&#34;b&#34;\" checked> b",
        "minlength=\"2\" maxlength=\"9\"",
    ] {
        assert!(card.contains(part), "{part} in {card}");
    }
    assert!(!card.contains("<b>"), "{card}");
}
