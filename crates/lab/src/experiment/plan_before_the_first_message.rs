//! C: plan mode, entered before anything was said.

use serde_json::{Value, json};

use super::look::{answers, in_short, is_init, modes, since_request, told_to_plan};
use super::{Case, Experiment, Fact, Outcome, Trial};
use crate::Version;
use crate::driver::{Said, Speaker, user};
use crate::lab::Launch;
use crate::talk::TALK;

pub(super) const EXPERIMENT: Experiment = Experiment::new(
    "C",
    "plan-before-the-first-message",
    "A session in the default mode is put into plan mode before the first message, after \
     `initialize` or without it. Is it answered, and what does the first turn report?",
    &[
        Case::new("after-initialize", TALK, FACTS, |trial| Box::pin(initialized(trial))),
        Case::new("in-one-write", TALK, FACTS, |trial| Box::pin(in_one_write(trial))),
    ],
);

const FACTS: &[Fact] = &[
    Fact::always("answer", r#"{"mode":"plan"}"#),
    Fact::by_version(
        "answers to the request",
        &[(Version::new(2, 0, 76), "2"), (Version::new(2, 1, 41), "1")],
    ),
    Fact::always("mode in init", "plan"),
    Fact::always("requests that tell the model to plan", "[1]").of_the_model(),
];

async fn initialized(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    let id = cli.post(json!({"subtype": "set_permission_mode", "mode": "plan"})).await?;
    cli.answer_to(&id).await?;
    cli.say("Say something.").await?;
    cli.result().await?;
    let log = cli.close().await?.log;
    tell(trial, &log, &id);
    Ok(())
}

async fn in_one_write(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    let id = "at-once";
    let mode = json!({"subtype": "set_permission_mode", "mode": "plan"});
    let request = json!({"type": "control_request", "request_id": id, "request": mode});
    cli.send_together(&[request, user("Say something.")]).await?;
    cli.result().await?;
    let log = cli.close().await?.log;
    tell(trial, &log, id);
    Ok(())
}

fn tell(trial: &mut Trial, log: &[Said], id: &str) {
    let answers = answers(log, id);
    if let Some((time, answer)) = answers.first() {
        trial.found("answer", in_short(answer));
        trial.measured("answer after", *time);
    }
    trial.found("answers to the request", answers.len());
    let answered = |said: &Said| said.frame["response"]["request_id"] == id;
    let first = since_request(log, id).iter().find(|said| answered(said) || is_init(&said.frame));
    let first = first.filter(|said| said.by == Speaker::Cli).map(|said| is_init(&said.frame));
    let order = first.map(|init| if init { "init, answer" } else { "answer, init" });
    trial.found("order of answer and init", order);
    trial.found("mode in init", modes(log).first().cloned().unwrap_or(Value::Null));
    let told = told_to_plan(trial.lab());
    trial.found("requests that tell the model to plan", told);
}
