//! Who answers a question where nobody is asked about other tools.

use serde_json::{Value, json};

use super::super::puppet::{Turn, turn};
use super::super::{Fact, Outcome, Trial, V62, V197};
use super::{answered, green_and_apple};
use crate::lab::Launch;

pub(super) const BYPASS: &[Fact] = &[
    Fact::always("in bypassPermissions", "asks"),
    Fact::always("in dontAsk", "refused"),
    Fact::always("EnterPlanMode in bypassPermissions", "runs"),
];

pub(super) async fn bypass(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new().mode("bypassPermissions")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    let question = turn(&mut cli, "Ask me.", by_person).await?;
    trial.found("in bypassPermissions", outcome(&question));
    cli.request(json!({"subtype": "set_permission_mode", "mode": "dontAsk"})).await?;
    let question = turn(&mut cli, "Ask me.", by_person).await?;
    trial.found("in dontAsk", outcome(&question));
    cli.request(json!({"subtype": "set_permission_mode", "mode": "bypassPermissions"})).await?;
    let entered = turn(&mut cli, "Think first.", by_person).await?;
    trial.found("EnterPlanMode in bypassPermissions", outcome(&entered));
    cli.close().await?;
    Ok(())
}

pub(super) const RULE_AND_HOOK: &[Fact] = &[
    Fact::always("with an allow rule", "asks"),
    Fact::by_version("a hook that answers", &[(V62, "asks"), (V197, "runs")]),
    Fact::always("the model reads what the hook answers", "true").since(V197),
];

pub(super) async fn rule_and_hook(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new().arg("--allowedTools").arg("AskUserQuestion")).await?;
    let hooks = json!({"PreToolUse": [{"matcher": "AskUserQuestion", "hookCallbackIds": ["one"]}]});
    cli.initialize(json!({"hooks": hooks})).await?;
    let silent = |request: &Value| match request["subtype"].as_str() {
        Some("hook_callback") => json!({}),
        _ => by_person(request),
    };
    let question = turn(&mut cli, "Ask me.", silent).await?;
    trial.found("with an allow rule", outcome(&question));
    let by_hook = |request: &Value| match request["subtype"].as_str() {
        Some("hook_callback") => {
            let asked = json!({"input": request["input"]["tool_input"]});
            let answers = json!({"answers": {"Which color?": "Red", "Which fruits?": "Plum"}});
            json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "allow",
                "updatedInput": answered(&asked, &answers)["updatedInput"],
            }})
        }
        _ => by_person(request),
    };
    let question = turn(&mut cli, "Ask me.", by_hook).await?;
    trial.found("a hook that answers", outcome(&question));
    let read = question.read();
    let reads = read.contains(r#""Which color?"="Red""#) && read.contains(r#"="Plum""#);
    trial.found("the model reads what the hook answers", reads);
    cli.close().await?;
    Ok(())
}

fn by_person(request: &Value) -> Value {
    answered(request, &green_and_apple())
}

fn outcome(turn: &Turn) -> &'static str {
    match (turn.asked(), turn.refused()) {
        (true, _) => "asks",
        (false, true) => "refused",
        (false, false) => "runs",
    }
}
