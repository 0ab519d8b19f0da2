//! A session that goes on in another process.

use serde_json::{Value, json};

use super::{
    Fact, Outcome, Trial, TrialError, V62, V197, V325, is_found, one_turn, session_of, tried,
};
use crate::driver::Speaker;
use crate::experiment::look::{from_cli, is_init, kinds_until};
use crate::experiment::turn::{rest, yes_or_no};
use crate::lab::Launch;
use crate::script::RequestKind;
use crate::talk::{ONE, Reply, TWO, is_result, message};
use crate::transcript::{is_written, transcript};

const NAMED: &str = "7b5f0a51-52f6-4c4c-8f5e-0c6f6a4f3faa";
const FORKED: &str = "7b5f0a51-52f6-4c4c-8f5e-0c6f6a4f3fab";
const MODEL: &str = "claude-haiku-4-5";

pub(super) const FACTS: &[Fact] = &[
    Fact::always("--session-id", "honoured"),
    Fact::always("the transcript is written while the turn goes on", "yes"),
    Fact::always("before the first message after a resume", "control_response"),
    Fact::always("the session after a resume", "the same"),
    Fact::always("a message with an id that was there before", "dropped"),
    Fact::always("the history is restored", "yes").of_the_model(),
    Fact::by_version("the model is restored", &[(V62, "no"), (V197, "yes")]),
    Fact::always("mode after a resume", "default"),
    Fact::always("a rule of the session is restored", "no"),
    Fact::by_version("the cost goes on", &[(V62, "no"), (V325, "yes")]),
    Fact::always("--session-id of a session that is there", "exit code 1: already in use"),
    Fact::always("--session-id with a resume", "exit code 1"),
    Fact::always("--session-id with a fork", "honoured"),
    Fact::always("a fork has a file of its own", "yes"),
    Fact::always("--continue", "the latest"),
    Fact::by_version("a resume from another folder", &[(V62, "not found"), (V325, "found")]),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let before = first(trial).await?;
    resumed(trial, before).await?;
    others(trial).await
}

/// The first process. Gives back what the session cost.
async fn first(trial: &mut Trial) -> Result<f64, TrialError> {
    let launch = Launch::new().without_mode().arg("--session-id").arg(NAMED);
    let mut cli = trial.launch(launch).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("write one.txt").await?;
    let ask = cli.asked("can_use_tool").await?;
    let call = ask["request"]["tool_use_id"].as_str().unwrap_or_default();
    let written = is_written(&transcript(trial.lab(), NAMED), call, trial.patience()).await;
    trial.found("the transcript is written while the turn goes on", yes_or_no(written));
    let rule = json!({
        "type": "addRules",
        "rules": [{"toolName": "Write"}],
        "behavior": "allow",
        "destination": "session",
    });
    let input = &ask["request"]["input"];
    let allow = json!({"behavior": "allow", "updatedInput": input, "updatedPermissions": [rule]});
    cli.answer(&ask, allow).await?;
    cli.result().await?;
    cli.request(json!({"subtype": "set_model", "model": MODEL})).await?;
    cli.request(json!({"subtype": "set_permission_mode", "mode": "acceptEdits"})).await?;
    cli.send(&message("Say something.", ONE)).await?;
    let result = cli.result().await?;
    let named = session_of(&result) == NAMED;
    trial.found("--session-id", if named { "honoured" } else { "ignored" });
    cli.close().await?;
    Ok(result["total_cost_usd"].as_f64().unwrap_or_default())
}

async fn resumed(trial: &mut Trial, before: f64) -> Outcome {
    let mut cli = trial.launch(Launch::new().without_mode().resume(NAMED)).await?;
    cli.initialize(json!({"hooks": null})).await?;
    let begin = cli.log().len();
    cli.send(&message("Say something.", ONE)).await?;
    cli.send(&message("write two.txt", TWO)).await?;
    let turn = rest(&mut cli, begin, is_result, Reply::allow).await?;
    let log = cli.close().await?.log;
    let is_message =
        |said: &crate::Said| said.by == Speaker::Client && said.frame["type"] == "user";
    trial.found("before the first message after a resume", kinds_until(&log, is_message));
    let same = session_of(&turn.result) == NAMED;
    trial.found("the session after a resume", if same { "the same" } else { "another" });
    let turns = from_cli(&log).filter(|frame| is_result(frame)).count();
    let dropped = turns == 1 && turn.result["result"] == "That was it.";
    let came = if dropped { "dropped" } else { "taken" };
    trial.found("a message with an id that was there before", came);
    let requests = trial.lab().model().model_requests();
    let last = requests.iter().rev().find(|request| request.kind == Some(RequestKind::Main));
    let history = last.is_some_and(|request| request.body.to_string().contains("one.txt"));
    trial.found("the history is restored", yes_or_no(history));
    let init = from_cli(&log).find(|frame| is_init(frame)).cloned().unwrap_or(Value::Null);
    let model = init["model"].as_str().unwrap_or_default().contains(MODEL);
    trial.found("the model is restored", yes_or_no(model));
    trial.found("mode after a resume", init["permissionMode"].clone());
    trial.found("a rule of the session is restored", yes_or_no(turn.asks().is_empty()));
    let cost = turn.result["total_cost_usd"].as_f64().unwrap_or_default();
    trial.found("the cost goes on", yes_or_no(cost > before));
    Ok(())
}

/// Other ways to begin with what is there.
async fn others(trial: &mut Trial) -> Outcome {
    for (finding, launch) in [
        ("--session-id of a session that is there", Launch::new()),
        ("--session-id with a resume", Launch::new().resume(NAMED)),
    ] {
        let taken = finding.ends_with("there");
        let id = if taken { NAMED } else { FORKED };
        let ended = trial.launch(launch.arg("--session-id").arg(id)).await?.ended().await?;
        let why = ended.log.iter().any(|said| said.text.contains("already in use"));
        let code = ended.status.code().map_or("no exit code".to_owned(), |code| {
            format!("exit code {code}{}", if why { ": already in use" } else { "" })
        });
        trial.found(finding, code);
    }
    let fork = Launch::new().resume(NAMED).arg("--fork-session").arg("--session-id").arg(FORKED);
    let (cli, result) = one_turn(trial, fork, "Say something.").await?;
    cli.close().await?;
    let named = session_of(&result) == FORKED;
    trial.found("--session-id with a fork", if named { "honoured" } else { "ignored" });
    let both = [NAMED, FORKED].iter().all(|id| transcript(trial.lab(), id).exists());
    trial.found("a fork has a file of its own", yes_or_no(both));
    let (cli, result) = one_turn(trial, Launch::new().arg("--continue"), "Say something.").await?;
    cli.close().await?;
    let latest = session_of(&result) == FORKED;
    trial.found("--continue", if latest { "the latest" } else { "another" });
    std::fs::create_dir(trial.lab().root().join("elsewhere"))?;
    let elsewhere = Launch::new().resume(NAMED).beside_work("elsewhere");
    let (result, _) = tried(trial, elsewhere).await?;
    trial.found("a resume from another folder", is_found(&result));
    Ok(())
}

pub(super) const NOT_KEPT: &[Fact] = &[
    Fact::always("a file", "no"),
    Fact::always("a resume", "error_during_execution: No conversation found"),
    Fact::always("exit code of a resume", "1"),
];

/// A session without a file, and so a resume that finds none.
pub(super) async fn not_kept(trial: &mut Trial) -> Outcome {
    let launch = Launch::new().arg("--no-session-persistence");
    let (cli, result) = one_turn(trial, launch, "Say something.").await?;
    cli.close().await?;
    let session = session_of(&result);
    let file = transcript(trial.lab(), &session).exists();
    trial.found("a file", yes_or_no(file));
    let (result, code) = tried(trial, Launch::new().resume(&session)).await?;
    let error = result["errors"][0].as_str().unwrap_or_default();
    let error = error.split_once(" with").map_or(error, |(error, _)| error);
    let subtype = result["subtype"].as_str().unwrap_or_default();
    trial.found("a resume", format!("{subtype}: {error}"));
    trial.found("exit code of a resume", code);
    Ok(())
}
