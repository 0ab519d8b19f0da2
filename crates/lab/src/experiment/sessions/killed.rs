//! A session whose process was killed.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Fact, Outcome, Trial, V62, V197, V325, is_found, session_of, tried};
use crate::experiment::look::is_init;
use crate::experiment::turn::{rest, turn, yes_or_no};
use crate::lab::Launch;
use crate::talk::{Reply, is_result};
use crate::transcript::{is_written, transcript};

pub(super) const FACTS: &[Fact] = &[
    Fact::always("a second initialize lists what is asked", "yes"),
    Fact::always("a resume asks again", "no"),
    Fact::by_version(
        "the call, in what the model is told",
        &[(V62, "dropped"), (V325, "its outcome is unknown")],
    )
    .of_the_model(),
    Fact::always("with CLAUDE_CODE_RESUME_INTERRUPTED_TURN", "asked, ran").since(V197),
];

/// While the person was asked.
pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("write one.txt").await?;
    let init = cli.wait("init", is_init).await?;
    let session = session_of(&init);
    let ask = cli.asked("can_use_tool").await?;
    let call = ask["request"]["tool_use_id"].as_str().unwrap_or_default();
    let file = transcript(trial.lab(), &session);
    is_written(&file, call, trial.patience()).await;
    // Some versions answer it with an error, and list it all the same.
    let second = cli.initialize(json!({"hooks": null})).await?;
    let listed = lists(&second, &ask) || lists(&second["response"], &ask);
    trial.found("a second initialize lists what is asked", yes_or_no(listed));
    cli.signal(Signal::KILL);
    cli.ended().await?;
    let left = std::fs::read(&file)?;

    let mut cli = trial.launch(Launch::new().resume(&session)).await?;
    cli.initialize(json!({"hooks": null})).await?;
    let again = turn(&mut cli, "Go on.", |_| Reply::Error("not again")).await?;
    trial.found("a resume asks again", yes_or_no(!again.asks().is_empty()));
    let requests = trial.lab().model().model_requests();
    let place = requests.last().map(|request| told_of(call, &request.body));
    trial.found("the call, in what the model is told", place);
    cli.close().await?;

    if trial.version() >= V197 {
        std::fs::write(&file, left)?;
        let launch = Launch::new().resume(&session).env("CLAUDE_CODE_RESUME_INTERRUPTED_TURN", "1");
        let mut cli = trial.launch(launch).await?;
        cli.initialize(json!({"hooks": null})).await?;
        let before = trial.lab().model().model_requests().len();
        let turn = rest(&mut cli, 0, is_result, Reply::allow).await?;
        trial.found("with CLAUDE_CODE_RESUME_INTERRUPTED_TURN", turn.tool());
        let same = turn.asks().first().is_some_and(|ask| ask["request"]["tool_use_id"] == call);
        trial.found("with CLAUDE_CODE_RESUME_INTERRUPTED_TURN: the same call", yes_or_no(same));
        let requests = trial.lab().model().model_requests();
        let place = requests.get(before).map(|request| told_of(call, &request.body));
        trial.found("with CLAUDE_CODE_RESUME_INTERRUPTED_TURN: the model is told", place);
        cli.close().await?;
    }
    Ok(())
}

/// Whether an answer to `initialize` lists a request.
fn lists(answer: &Value, ask: &Value) -> bool {
    let pending = answer["pending_permission_requests"].as_array();
    pending.is_some_and(|all| all.iter().any(|one| one["request_id"] == ask["request_id"]))
}

/// What a request to the model says of a call.
fn told_of(call: &str, body: &Value) -> &'static str {
    let told = body["messages"].to_string();
    match (told.contains(call), told.contains("outcome is unknown")) {
        (_, true) => "its outcome is unknown",
        (false, false) => "dropped",
        (true, false) => "there",
    }
}

pub(super) const IN_A_STREAM: &[Fact] =
    &[Fact::by_version("a resume", &[(V62, "not found"), (V197, "found")])];

/// In the middle of the first answer.
pub(super) async fn in_a_stream(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new().arg("--include-partial-messages")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("be long").await?;
    let delta =
        cli.wait("a delta", |frame| frame["event"]["type"] == "content_block_delta").await?;
    let session = session_of(&delta);
    // Where it is written at all it is written by now, or soon.
    is_written(&transcript(trial.lab(), &session), "be long", Duration::from_secs(1)).await;
    cli.signal(Signal::KILL);
    cli.ended().await?;
    let (result, _) = tried(trial, Launch::new().resume(&session)).await?;
    trial.found("a resume", is_found(&result));
    Ok(())
}
