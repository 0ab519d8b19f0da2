//! Calls that a hook puts off.

use rustix::process::Signal;
use serde_json::Value;

use super::{
    Fact, Outcome, Parked, Trial, TrialError, V325, green, not_yet, raised, resumed, says,
};
use crate::driver::with;
use crate::experiment::turn::{callbacks, decides, name, rest, turn, yes_or_no};
use crate::lab::Launch;
use crate::talk::{Reply, is_result};

/// Has the model make calls, and puts them all off.
async fn put_off(trial: &mut Trial, launch: Launch, text: &str) -> Result<Parked, TrialError> {
    let mut cli = trial.launch(launch).await?;
    cli.initialize(callbacks(&["PreToolUse"])).await?;
    let turn = turn(&mut cli, text, |_| Reply::Success(decides("defer"))).await?;
    trial.found("stop_reason", turn.result["stop_reason"].clone());
    cli.close().await?;
    let calls = turn.asked.iter().map(|ask| ask["request"]["tool_use_id"].clone()).collect();
    let session = turn.result["session_id"].as_str().unwrap_or_default().to_owned();
    Ok(Parked { session, calls })
}

const STOP: Fact = Fact::always("stop_reason", "tool_deferred");

pub(super) const TOOL: &[Fact] = &[
    STOP,
    Fact::always("raised again", "the same call"),
    Fact::always("raised again after a SIGKILL", "the same call"),
    Fact::always("allowed", "asked, ran"),
    Fact::always("the turn ends with", "That was it."),
];

pub(super) async fn tool(trial: &mut Trial) -> Outcome {
    let parked = put_off(trial, Launch::new(), "write one").await?;
    let mut cli = trial.launch(Launch::new().resume(&parked.session)).await?;
    let ask = cli.asked("can_use_tool").await?;
    let same = parked.calls == [ask["request"]["tool_use_id"].clone()];
    trial.found("raised again", if same { "the same call" } else { "something else" });
    cli.signal(Signal::KILL);
    cli.ended().await?;
    let turn = resumed(trial, Launch::new(), &parked, Reply::allow).await?;
    trial.found("raised again after a SIGKILL", raised(&turn, &parked));
    trial.found("allowed", turn.tool());
    trial.found("the turn ends with", turn.result["result"].clone());
    Ok(())
}

/// Before 2.1.325 nothing makes the call wait for the hooks: mostly they are first, but not always.
pub(super) const QUESTION: &[Fact] = &[
    STOP,
    Fact::always("with hooks in initialize: asked", "PreToolUse, can_use_tool").since(V325),
    Fact::always("raised again", "the same call"),
    Fact::always("the model reads the answer", "yes"),
];

/// The new process has hooks, one of which allows everything. That does not answer a question.
pub(super) async fn question(trial: &mut Trial) -> Outcome {
    let parked = put_off(trial, Launch::new(), "ask a question").await?;
    let mut launch = Launch::new().resume(&parked.session);
    if trial.version() >= V325 {
        // Without it the call may be raised before the hooks are known.
        launch = launch.arg("--await-initialize");
    }
    let mut cli = trial.launch(launch).await?;
    let hooks = callbacks(&["PreToolUse"]);
    cli.post(with(hooks, "subtype", "initialize")).await?;
    let reply = |ask: &Value| match name(ask).as_str() {
        "can_use_tool" => green(ask),
        _ => Reply::Success(decides("allow")),
    };
    let turn = rest(&mut cli, 0, is_result, reply).await?;
    cli.close().await?;
    trial.found("with hooks in initialize: asked", turn.names().join(", "));
    trial.found("raised again", raised(&turn, &parked));
    trial.found("the model reads the answer", yes_or_no(says(&turn, "Green")));
    Ok(())
}

pub(super) const PLAN: &[Fact] = &[
    STOP,
    Fact::always("raised again", "the same call"),
    Fact::always("denied", "asked, refused"),
    Fact::always("the model reads the reason", "yes"),
];

pub(super) async fn plan(trial: &mut Trial) -> Outcome {
    let launch = || Launch::new().mode("plan");
    let parked = put_off(trial, launch(), "show a plan").await?;
    let turn = resumed(trial, launch(), &parked, not_yet).await?;
    trial.found("raised again", raised(&turn, &parked));
    trial.found("denied", turn.tool());
    trial.found("the model reads the reason", yes_or_no(says(&turn, "Not yet.")));
    Ok(())
}

pub(super) const TWO: &[Fact] =
    &[STOP, Fact::always("raised again", "the last call"), Fact::always("ran", "the last call")];

pub(super) async fn two(trial: &mut Trial) -> Outcome {
    let parked = put_off(trial, Launch::new(), "write two").await?;
    let turn = resumed(trial, Launch::new(), &parked, Reply::allow).await?;
    trial.found("raised again", raised(&turn, &parked));
    trial.found("ran", super::ran(trial));
    Ok(())
}
