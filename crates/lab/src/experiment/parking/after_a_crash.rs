//! Calls that were asked for when the process was killed.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{
    Fact, Outcome, Parked, Trial, TrialError, V325, green, not_yet, raised, resumed, says,
};
use crate::experiment::look::{from_cli, is_init};
use crate::experiment::turn::{turn, yes_or_no};
use crate::lab::Launch;
use crate::talk::Reply;
use crate::transcript::{is_written, mark, transcript};

/// Has the model make calls, and kills the process while the first of them is asked for. The calls
/// are as the model made them, but with the input that was asked for.
async fn killed(
    trial: &mut Trial,
    mode: &str,
    text: &str,
    count: usize,
) -> Result<(Parked, Vec<Value>), TrialError> {
    let mut cli = trial.launch(Launch::new().mode(mode)).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say(text).await?;
    let init = cli.wait("init", is_init).await?;
    let session = init["session_id"].as_str().unwrap_or_default().to_owned();
    let ask = cli.asked("can_use_tool").await?;
    let mut calls = vec![ask["request"].clone()];
    let log = cli.log();
    let spoken = from_cli(&log).filter_map(|frame| frame["message"]["content"].as_array());
    let others = spoken.flatten().filter(|block| block["type"] == "tool_use").skip(1);
    calls.extend(others.take(count - 1).map(|block| {
        json!({"tool_name": block["name"], "tool_use_id": block["id"], "input": block["input"]})
    }));
    let file = transcript(trial.lab(), &session);
    for call in &calls {
        let id = call["tool_use_id"].as_str().unwrap_or_default();
        is_written(&file, id, trial.patience()).await;
    }
    cli.signal(Signal::KILL);
    cli.ended().await?;
    let ids = calls.iter().map(|call| call["tool_use_id"].clone()).collect();
    Ok((Parked { session, calls: ids }, calls))
}

/// Kills the process, and marks its calls as put off.
async fn parked(
    trial: &mut Trial,
    mode: &str,
    text: &str,
    count: usize,
) -> Result<Parked, TrialError> {
    let (parked, calls) = killed(trial, mode, text, count).await?;
    let file = transcript(trial.lab(), &parked.session);
    calls.iter().try_for_each(|call| mark(&file, call, mode))?;
    Ok(parked)
}

pub(super) const TOOL: &[Fact] = &[
    Fact::always("raised again", "the same call"),
    Fact::always("allowed", "asked, ran"),
    Fact::always("the turn ends with", "That was it."),
];

pub(super) async fn tool(trial: &mut Trial) -> Outcome {
    let parked = parked(trial, "default", "write one", 1).await?;
    let turn = resumed(trial, Launch::new(), &parked, Reply::allow).await?;
    trial.found("raised again", raised(&turn, &parked));
    trial.found("allowed", turn.tool());
    trial.found("the turn ends with", turn.result["result"].clone());
    Ok(())
}

pub(super) const QUESTION: &[Fact] = &[
    Fact::always("raised again", "the same call").since(V325),
    Fact::always("the model reads the answer", "yes").since(V325),
];

pub(super) async fn question(trial: &mut Trial) -> Outcome {
    let parked = parked(trial, "default", "ask a question", 1).await?;
    let turn = resumed(trial, Launch::new(), &parked, green).await?;
    trial.found("raised again", raised(&turn, &parked));
    trial.found("the model reads the answer", yes_or_no(says(&turn, "Green")));
    Ok(())
}

pub(super) const PLAN: &[Fact] = &[
    Fact::always("raised again", "the same call").since(V325),
    Fact::always("denied", "asked, refused").since(V325),
];

pub(super) async fn plan(trial: &mut Trial) -> Outcome {
    let parked = parked(trial, "plan", "show a plan", 1).await?;
    let turn = resumed(trial, Launch::new().mode("plan"), &parked, not_yet).await?;
    trial.found("raised again", raised(&turn, &parked));
    trial.found("denied", turn.tool());
    Ok(())
}

pub(super) const TWO: &[Fact] =
    &[Fact::always("raised again", "the last call"), Fact::always("ran", "the last call")];

pub(super) async fn two(trial: &mut Trial) -> Outcome {
    let parked = parked(trial, "default", "write two", 2).await?;
    let turn = resumed(trial, Launch::new(), &parked, Reply::allow).await?;
    trial.found("raised again", raised(&turn, &parked));
    trial.found("ran", super::ran(trial));
    Ok(())
}

pub(super) const SAID: &[Fact] = &[
    Fact::always("the same call is made again", "yes"),
    Fact::always("it has the same id", "no"),
    Fact::always("allowed", "asked, ran"),
];

/// Without a mark, on any version: the new process is told what the person has decided.
pub(super) async fn said_instead(trial: &mut Trial) -> Outcome {
    let (parked, calls) = killed(trial, "default", "write one", 1).await?;
    let mut cli = trial.launch(Launch::new().resume(&parked.session)).await?;
    cli.initialize(json!({"hooks": null})).await?;
    let turn = turn(&mut cli, "The person has allowed the call.", Reply::allow).await?;
    cli.close().await?;
    let ask = turn.asks().first().map(|ask| &ask["request"]).cloned().unwrap_or_default();
    let call = calls.first().cloned().unwrap_or_default();
    let same = ask["tool_name"] == call["tool_name"] && ask["input"] == call["input"];
    trial.found("the same call is made again", yes_or_no(same));
    trial.found("it has the same id", yes_or_no(ask["tool_use_id"] == call["tool_use_id"]));
    trial.found("allowed", turn.tool());
    Ok(())
}
