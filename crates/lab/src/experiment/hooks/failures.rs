//! Hooks that do not answer, or not as they should.

use serde_json::{Value, json};

use super::{Fact, Outcome, Trial, V62, V197, V325};
use crate::experiment::turn::{name, turn, yes_or_no};
use crate::lab::Launch;
use crate::talk::Reply;

pub(super) const FACTS: &[Fact] = &[
    Fact::by_version("no answer in time", &[(V62, "asked, ran"), (V197, "not asked, refused")]),
    Fact::always("no answer in time: the call is withdrawn", "yes"),
    Fact::by_version(
        "an error, to be blocked",
        &[(V62, "asked, ran"), (V325, "not asked, refused")],
    ),
    Fact::by_version(
        "an answer that is none, to be blocked",
        &[(V62, "asked, ran"), (V325, "not asked, refused")],
    ),
    Fact::by_version("a failure that blocks is told", &[(V62, "no"), (V325, "yes")]),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    let hooks = json!([
        {"matcher": "Bash", "hookCallbackIds": ["slow"], "timeout": 1},
        {"matcher": "Write", "hookCallbackIds": ["strict"], "onFailure": "block"},
    ]);
    cli.initialize(json!({"hooks": {"PreToolUse": hooks}})).await?;
    let slow = turn(&mut cli, "touch slow.txt", |ask| match name(ask).as_str() {
        "can_use_tool" => Reply::allow(ask),
        _ => Reply::Nothing,
    });
    let slow = slow.await?;
    trial.found("no answer in time", slow.tool());
    let withdrawn = slow.frames.iter().any(|frame| frame["type"] == "control_cancel_request");
    trial.found("no answer in time: the call is withdrawn", yes_or_no(withdrawn));

    let none = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "perhaps",
    }});
    let mut told = false;
    for (finding, error) in
        [("an error, to be blocked", true), ("an answer that is none, to be blocked", false)]
    {
        let text = if error { "write error.txt" } else { "write none.txt" };
        let answer = |ask: &Value| match (name(ask).as_str(), error) {
            ("can_use_tool", _) => Reply::allow(ask),
            (_, true) => Reply::Error("The hook is broken."),
            (_, false) => Reply::Success(none.clone()),
        };
        let turn = turn(&mut cli, text, answer).await?;
        trial.found(finding, turn.tool());
        told |= turn.has("informational");
    }
    trial.found("a failure that blocks is told", yes_or_no(told));
    cli.close().await?;
    Ok(())
}
