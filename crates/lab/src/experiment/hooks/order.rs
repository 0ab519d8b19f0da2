//! When hooks are called, and with what.

use serde_json::{Value, json};

use super::{Fact, Outcome, Trial, V62, V325};
use crate::driver::{Cli, DriverError};
use crate::experiment::TrialError;
use crate::experiment::turn::{Turn, callbacks, name, rest, turn, yes_or_no};
use crate::lab::Launch;
use crate::talk::{Reply, is_result};

pub(super) const FACTS: &[Fact] = &[
    Fact::always(
        "order",
        "UserPromptSubmit, PreToolUse, PermissionRequest + can_use_tool, PostToolUse, Stop",
    ),
    Fact::always("the hook PermissionRequest answers first", "ran"),
    Fact::always("the person answers first", "ran"),
    Fact::always("SessionStart", "not called"),
    Fact::always("SessionEnd", "not called"),
    Fact::by_version("standard error speaks of SessionEnd", &[(V62, "yes"), (V325, "no")]),
    Fact::always("PreToolUse is told session, transcript, folder, mode and call", "yes"),
];

const EVENTS: [&str; 7] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "Stop",
    "SessionEnd",
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    cli.initialize(callbacks(&EVENTS)).await?;
    let begin = cli.log().len();
    cli.say("write hook.txt").await?;
    let mut order = Vec::new();
    for event in ["UserPromptSubmit", "PreToolUse"] {
        let ask = asked(&mut cli).await?;
        order.push(name(&ask));
        cli.answer(&ask, json!({})).await?;
        if event == "PreToolUse" {
            trial.found(
                "PreToolUse is told session, transcript, folder, mode and call",
                yes_or_no(is_told(&ask["request"])),
            );
        }
    }
    let (hook, ask, both) = pair(&mut cli).await?;
    order.push(both);
    let allow = json!({"behavior": "allow", "updatedInput": ask["request"]["input"]});
    let answer = json!({"hookEventName": "PermissionRequest", "decision": allow});
    cli.answer(&hook, json!({"hookSpecificOutput": answer})).await?;
    let turn_by_hook = rest(&mut cli, begin, is_result, |_| Reply::Success(json!({}))).await?;
    order.extend(turn_by_hook.names());
    trial.found("order", order.join(", "));
    trial.found("the hook PermissionRequest answers first", turn_by_hook.ran());
    let by_person = answered_by_the_person(&mut cli).await?;
    trial.found("the person answers first", by_person.ran());

    let log = cli.close().await?.log;
    for event in ["SessionStart", "SessionEnd"] {
        let called = log.iter().any(|said| said.frame["request"]["callback_id"] == event);
        trial.found(event, if called { "called" } else { "not called" });
    }
    let complaint = log.iter().any(|said| said.frame.is_null() && said.text.contains("SessionEnd"));
    trial.found("standard error speaks of SessionEnd", yes_or_no(complaint));
    Ok(())
}

async fn answered_by_the_person(cli: &mut Cli) -> Result<Turn, TrialError> {
    let reply = |ask: &Value| match name(ask).as_str() {
        "can_use_tool" => Reply::allow(ask),
        // The hook stays without an answer.
        "PermissionRequest" => Reply::Nothing,
        _ => Reply::Success(json!({})),
    };
    turn(cli, "write person.txt", reply).await
}

async fn asked(cli: &mut Cli) -> Result<Value, DriverError> {
    cli.wait("a request", |frame| frame["type"] == "control_request").await
}

/// The two requests that come together, and their names in the order of the alphabet.
async fn pair(cli: &mut Cli) -> Result<(Value, Value, String), DriverError> {
    let (one, other) = (asked(cli).await?, asked(cli).await?);
    let mut names = [name(&one), name(&other)];
    names.sort();
    let (hook, ask) = if name(&one) == "can_use_tool" { (other, one) } else { (one, other) };
    Ok((hook, ask, names.join(" + ")))
}

fn is_told(request: &Value) -> bool {
    let input = &request["input"];
    let named = ["session_id", "transcript_path", "cwd", "permission_mode", "tool_name"];
    named.iter().all(|key| input[*key].is_string())
        && input["hook_event_name"] == "PreToolUse"
        && input["tool_input"].is_object()
        && input["tool_use_id"].is_string()
        && request["tool_use_id"] == input["tool_use_id"]
}
