//! A: plan mode, entered while a session goes on.

use serde_json::{Value, json};

use super::look::{answers, in_short, is_init, modes, since_request, told_to_plan};
use super::{Case, Experiment, Fact, Outcome, Trial, V62, V197, V325};
use crate::Version;
use crate::lab::Launch;
use crate::talk::{TALK, WRITE};

pub(super) const EXPERIMENT: Experiment = Experiment::new(
    "A",
    "plan-after-a-turn",
    "A session in the default mode is put into plan mode, after a turn or in the middle of one. \
     What does it say, and is the next turn one of planning?",
    &[
        Case::new("after", TALK, AFTER, |trial| Box::pin(after(trial))),
        Case::new("within", WRITE, WITHIN, |trial| Box::pin(within(trial))),
        Case::new("values", TALK, VALUES, |trial| Box::pin(values(trial))),
    ],
);

/// Up to 2.1.40 every change of the mode was answered twice.
const ANSWERED: Fact = Fact::by_version(
    "answers to the request",
    &[(Version::new(2, 0, 76), "2"), (Version::new(2, 1, 41), "1")],
);

const AFTER: &[Fact] = &[
    Fact::always("mode in the first init", "default"),
    Fact::always("answer", r#"{"mode":"plan"}"#),
    ANSWERED,
    Fact::by_version("then says", &[(V62, "nothing"), (V197, "status plan")]),
    Fact::always("mode in the next init", "plan"),
    Fact::always("requests that tell the model to plan", "[2]").of_the_model(),
];

const WITHIN: &[Fact] = &[
    Fact::always("answered", "while the tool waits"),
    Fact::always("answer", r#"{"mode":"plan"}"#),
    ANSWERED,
    Fact::by_version("then says", &[(V62, "nothing"), (V197, "status plan")]),
    Fact::always("mode in the next init", "plan"),
];

const VALUES: &[Fact] = &[
    Fact::by_version("an unknown mode", &[(V62, "success"), (V325, "invalid_mode")]),
    Fact::by_version("null", &[(V62, "success"), (V325, "invalid_mode")]),
    Fact::by_version(
        "bypassPermissions without a launch flag",
        &[(V62, "success"), (V197, "error"), (V325, "bypass_not_launched")],
    ),
];

fn plan() -> Value {
    json!({"subtype": "set_permission_mode", "mode": "plan"})
}

async fn after(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Say something.").await?;
    cli.result().await?;
    let id = cli.post(plan()).await?;
    cli.answer_to(&id).await?;
    cli.say("Say something else.").await?;
    cli.result().await?;
    let log = cli.close().await?.log;
    let modes = modes(&log);
    trial.found("mode in the first init", modes.first().cloned());
    changed(trial, &log, &id);
    trial.found("mode in the next init", modes.get(1).cloned());
    let told = told_to_plan(trial.lab());
    trial.found("requests that tell the model to plan", told);
    Ok(())
}

async fn within(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Write it.").await?;
    let ask = cli.asked("can_use_tool").await?;
    let id = cli.post(plan()).await?;
    cli.answer_to(&id).await?;
    trial.found("answered", "while the tool waits");
    cli.deny(&ask, "Plan first.").await?;
    cli.result().await?;
    cli.say("Go on.").await?;
    cli.result().await?;
    let log = cli.close().await?.log;
    changed(trial, &log, &id);
    trial.found("mode in the next init", modes(&log).get(1).cloned());
    Ok(())
}

/// Tells what came of a request for another mode.
fn changed(trial: &mut Trial, log: &[crate::Said], id: &str) {
    let answers = answers(log, id);
    if let Some((time, answer)) = answers.first() {
        trial.found("answer", in_short(answer));
        trial.measured("answer after", *time);
    }
    trial.found("answers to the request", answers.len());
    let rest = since_request(log, id).iter().map(|said| &said.frame);
    let until_next = rest.take_while(|frame| !is_init(frame));
    let status = until_next
        .filter(|frame| frame["subtype"] == "status")
        .find_map(|frame| frame["permissionMode"].as_str());
    let status = status.map_or_else(|| "nothing".to_owned(), |mode| format!("status {mode}"));
    trial.found("then says", status);
}

async fn values(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    for (name, mode) in [
        ("an unknown mode", json!("wildly")),
        ("null", Value::Null),
        ("bypassPermissions without a launch flag", json!("bypassPermissions")),
    ] {
        let answer = cli.request(json!({"subtype": "set_permission_mode", "mode": mode})).await?;
        let code = answer["error_code"].as_str().or(answer["subtype"].as_str());
        trial.found(name, code);
    }
    cli.close().await?;
    Ok(())
}
