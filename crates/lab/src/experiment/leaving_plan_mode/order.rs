//! The answer and a request for a mode, sent together.

use serde_json::{Value, json};

use super::super::puppet::{deny, rest_of_turn, turn};
use super::super::{Fact, Outcome, Trial, TrialError};
use super::set_mode;
use crate::driver::Cli;
use crate::lab::Launch;

pub(super) const FACTS: &[Fact] = &[
    Fact::always("allow, then the mode", "acceptEdits"),
    Fact::always("the mode, then allow", "acceptEdits"),
    Fact::always("setMode in the answer", "acceptEdits"),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new().mode("plan")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    turn(&mut cli, "Make a plan.", deny).await?;
    for (name, mode_first) in [("allow, then the mode", false), ("the mode, then allow", true)] {
        let mode = together(&mut cli, name, mode_first).await?;
        trial.found(name, mode);
    }
    super::shown(&mut cli, "Show it.", super::allow_in("acceptEdits")).await?;
    let mode = turn(&mut cli, "Go on.", deny).await?.mode();
    trial.found("setMode in the answer", mode);
    cli.close().await?;
    Ok(())
}

/// The mode of the turn after a plan that was allowed, with a request for a mode in the same write.
async fn together(cli: &mut Cli, id: &str, mode_first: bool) -> Result<Value, TrialError> {
    set_mode(cli, "plan").await?;
    let begin = cli.log().len();
    cli.say("Show it.").await?;
    let ask = cli.asked("can_use_tool").await?;
    let allow = json!({"behavior": "allow", "updatedInput": ask["request"]["input"]});
    let response =
        json!({"subtype": "success", "request_id": ask["request_id"], "response": allow});
    let answer = json!({"type": "control_response", "response": response});
    let mode = json!({"subtype": "set_permission_mode", "mode": "acceptEdits"});
    let request = json!({"type": "control_request", "request_id": id, "request": mode});
    let mut lines = [answer, request];
    if mode_first {
        lines.reverse();
    }
    cli.send_together(&lines).await?;
    cli.answer_to(id).await?;
    rest_of_turn(cli, begin).await?;
    Ok(turn(cli, "Go on.", deny).await?.mode())
}
