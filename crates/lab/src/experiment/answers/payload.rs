//! What stands in the answer.

use serde_json::{Value, json};

use super::super::puppet::turn;
use super::super::{Fact, Outcome, Trial, V62, V197, V325};
use super::{outcome, place};
use crate::driver::with;
use crate::lab::Launch;
use crate::script::RequestKind;

/// An answer: its name, and how it is made of the request.
type Form = (&'static str, fn(&Value) -> Value);

const FORMS: &[Form] = &[
    ("allow", |ask| json!({"behavior": "allow", "updatedInput": ask["input"]})),
    ("allow without updatedInput", |_| json!({"behavior": "allow"})),
    ("updated_input", |ask| json!({"behavior": "allow", "updated_input": ask["input"]})),
    ("updatedInput: null", |_| json!({"behavior": "allow", "updatedInput": null})),
    ("updatedInput: an array", |ask| json!({"behavior": "allow", "updatedInput": [ask["input"]]})),
    ("updatedInput: {}", |_| json!({"behavior": "allow", "updatedInput": {}})),
    (
        "updatedInput changed",
        |ask| json!({"behavior": "allow", "updatedInput": with(ask["input"].clone(), "content", "changed\n")}),
    ),
    ("updatedInput with another path", |ask| {
        let path = ask["input"]["file_path"].as_str().unwrap_or_default();
        let input = with(ask["input"].clone(), "file_path", format!("{path}.elsewhere"));
        json!({"behavior": "allow", "updatedInput": input})
    }),
    (
        "updatedInput of a wrong type",
        |ask| json!({"behavior": "allow", "updatedInput": with(ask["input"].clone(), "content", 5)}),
    ),
    (
        "the right toolUseID",
        |ask| json!({"behavior": "allow", "updatedInput": ask["input"], "toolUseID": ask["tool_use_id"]}),
    ),
    (
        "a wrong toolUseID",
        |ask| json!({"behavior": "allow", "updatedInput": ask["input"], "toolUseID": "toolu_other"}),
    ),
    ("subtype: allow", |ask| json!({"subtype": "allow", "updatedInput": ask["input"]})),
    ("behavior missing", |ask| json!({"updatedInput": ask["input"]})),
    ("behavior: ask", |ask| json!({"behavior": "ask", "updatedInput": ask["input"]})),
    ("null", |_| Value::Null),
    ("a string", |_| json!("allow")),
    (
        "allow with a message",
        |ask| json!({"behavior": "allow", "updatedInput": ask["input"], "message": "Have fun."}),
    ),
    (
        "updatedPermissions: null",
        |ask| json!({"behavior": "allow", "updatedInput": ask["input"], "updatedPermissions": null}),
    ),
    ("deny", |_| json!({"behavior": "deny", "message": "Not today."})),
    ("deny without a message", |_| json!({"behavior": "deny"})),
    ("deny with an empty message", |_| json!({"behavior": "deny", "message": ""})),
    (
        "deny and interrupt",
        |_| json!({"behavior": "deny", "message": "Not today.", "interrupt": true}),
    ),
];

/// The beginning of what the model reads when an answer is none.
const INVALID: &[(crate::Version, &str)] = &[
    (V62, "Tool permission request failed: ZodError"),
    (V325, "The canUseTool callback returned an invalid permission result"),
];

pub(super) const FACTS: &[Fact] = &[
    Fact::always("allow", "runs"),
    Fact::by_version("allow without updatedInput", &[(V62, "refused"), (V325, "runs")]),
    Fact::by_version("updated_input", &[(V62, "refused"), (V325, "runs")]),
    Fact::always("updatedInput: null", "refused"),
    Fact::always("updatedInput: an array", "refused"),
    Fact::by_version("updatedInput: {}", &[(V62, "tool error"), (V197, "runs")]),
    Fact::always("updatedInput changed", "runs changed"),
    Fact::always("updatedInput with another path", "runs changed"),
    Fact::always("updatedInput of a wrong type", "tool error"),
    Fact::by_version(
        "the model reads about a wrong type",
        &[(V62, "what the tool says"), (V197, "of the permission handler")],
    ),
    Fact::always("the right toolUseID", "runs"),
    Fact::always("a wrong toolUseID", "runs"),
    Fact::always("subtype: allow", "refused"),
    Fact::always("behavior missing", "refused"),
    Fact::always("behavior: ask", "refused"),
    Fact::always("null", "refused"),
    Fact::always("a string", "refused"),
    Fact::always("allow with a message", "runs"),
    Fact::always("the model reads the message of an allow", "false"),
    Fact::by_version("updatedPermissions: null", &[(V62, "refused"), (V197, "runs")]),
    Fact::always("deny", "refused"),
    Fact::always("the model reads after deny", "Not today."),
    Fact::always("deny without a message", "refused"),
    Fact::by_version("the model reads after behavior: ask", INVALID),
    Fact::by_version("the model reads after deny without a message", INVALID),
    Fact::always("deny with an empty message", "refused"),
    Fact::always("the model reads after deny with an empty message", ""),
    Fact::always("deny and interrupt", "aborted"),
    Fact::by_version("the message of deny and interrupt", &[(V62, "kept"), (V197, "replaced")]),
    Fact::always("the model reads of the changed path", "false"),
    Fact::always("the model reads of the changed text", "false").of_the_model(),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    for (number, (name, form)) in FORMS.iter().enumerate() {
        let turn = turn(&mut cli, &format!("write {}", place(trial, number)), form).await?;
        trial.found(name, outcome(trial, number, &turn));
        let read = turn.read();
        match *name {
            "deny" | "deny with an empty message" => {
                trial.found(&format!("the model reads after {name}"), read);
            }
            "behavior: ask" | "deny without a message" => {
                let texts = INVALID.iter().map(|(_, text)| *text);
                let known = texts.into_iter().find(|text| read.starts_with(text));
                trial.found(&format!("the model reads after {name}"), known);
            }
            "updatedInput of a wrong type" => {
                let ours = read.contains("The permission handler returned updatedInput");
                let says = if ours { "of the permission handler" } else { "what the tool says" };
                trial.found("the model reads about a wrong type", says);
            }
            "updatedInput with another path" => {
                trial.found("the model reads of the changed path", read.contains(".elsewhere"));
            }
            "allow with a message" => {
                let told = read.contains("Have fun.");
                trial.found("the model reads the message of an allow", told);
            }
            "deny and interrupt" => {
                let kept = read.contains("Not today.");
                let kept = if kept { "kept" } else { "replaced" };
                trial.found("the message of deny and interrupt", kept);
            }
            _ => {}
        }
    }
    cli.say("What did you do?").await?;
    cli.result().await?;
    cli.close().await?;
    let told = told_of_the_change(trial);
    trial.found("the model reads of the changed text", told);
    Ok(())
}

/// Whether the last request to the model has the changed text anywhere, or not the original one.
fn told_of_the_change(trial: &Trial) -> bool {
    let requests = trial.lab().model().model_requests();
    let mut main = requests.iter().filter(|request| request.kind == Some(RequestKind::Main));
    let last = main.next_back().map(|request| request.body.to_string()).unwrap_or_default();
    last.contains(r"changed\n") || !last.contains(r"as asked\n")
}
