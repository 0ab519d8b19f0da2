//! What is shown of subagents.

use serde_json::{Value, json};

use super::{Fact, Outcome, Trial, V62, V197};
use crate::driver::Cli;
use crate::experiment::TrialError;
use crate::experiment::turn::{Turn, callbacks, name, rest, turn, yes_or_no};
use crate::lab::Launch;
use crate::talk::{Reply, is_result};

/// The model has a subagent write a file, and waits for it or does not.
pub(super) const SCRIPT: &str = r#"
otherwise = "It has ended."
needs = ["agent"]

[[answer]]
when = { agent = true, tool = "Write" }
text = "The subagent was there."

[[answer]]
when = { agent = true }
text = "The subagent begins."
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
when = { text = "wait for it" }
tool = { name = "${agent}", input = { description = "Write a file", prompt = "Write the file.", subagent_type = "general-purpose", run_in_background = false } }

[[answer]]
when = { text = "do not wait" }
tool = { name = "${agent}", input = { description = "Write a file", prompt = "Write the file.", subagent_type = "general-purpose", run_in_background = true } }

[[answer]]
when = { result = "/(?s).*/" }
text = "It is under way."
"#;

async fn started(trial: &mut Trial, launch: Launch, hooks: &[&str]) -> Result<Cli, TrialError> {
    let mut cli = trial.launch(launch.arg("--include-partial-messages")).await?;
    cli.initialize(callbacks(hooks)).await?;
    Ok(cli)
}

pub(super) const FACTS: &[Fact] = &[
    Fact::always("init lists the tool Task", "yes"),
    Fact::always("its permission request names the agent", "yes"),
    Fact::always("its calls and results name the call that began it", "yes"),
    Fact::always("its text is shown", "no"),
    Fact::always("its stream_events are shown", "no"),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let mut cli = started(trial, Launch::new(), &[]).await?;
    let turn = turn(&mut cli, "wait for it", Reply::allow).await?;
    cli.close().await?;
    let listed = |frame: &Value| {
        frame["tools"].as_array().is_some_and(|tools| tools.contains(&json!("Task")))
    };
    trial.found("init lists the tool Task", yes_or_no(turn.frames.iter().any(listed)));
    let asks = turn.asks();
    let named = !asks.is_empty() && asks.iter().all(|ask| ask["request"]["agent_id"].is_string());
    trial.found("its permission request names the agent", yes_or_no(named));
    let inner: Vec<_> =
        inner(&turn).filter_map(|frame| frame["message"]["content"].as_array()).collect();
    let has = |kind: &str| inner.iter().copied().flatten().any(|block| block["type"] == kind);
    let both = has("tool_use") && has("tool_result");
    trial.found("its calls and results name the call that began it", yes_or_no(both));
    trial.found("its text is shown", yes_or_no(shows_text(&turn)));
    let events = turn.frames.iter().filter(|frame| frame["type"] == "stream_event");
    let parts = events.filter(|frame| frame["parent_tool_use_id"].is_string()).count();
    trial.found("its stream_events are shown", yes_or_no(parts > 0));
    let tasks = turn.frames.iter().filter_map(|frame| frame["subtype"].as_str());
    let mut tasks: Vec<_> = tasks.filter(|subtype| subtype.starts_with("task_")).collect();
    tasks.dedup();
    trial.found("frames about its task", tasks.join(", "));
    Ok(())
}

/// What is shown of the subagent.
fn inner(turn: &Turn) -> impl Iterator<Item = &Value> {
    turn.frames.iter().filter(|frame| frame["parent_tool_use_id"].is_string())
}

fn shows_text(turn: &Turn) -> bool {
    inner(turn).any(|frame| {
        frame["type"] == "assistant" && frame["message"].to_string().contains("The subagent")
    })
}

pub(super) const TEXT_FACTS: &[Fact] = &[Fact::always("its text is shown", "yes")];

pub(super) async fn text(trial: &mut Trial) -> Outcome {
    let mut cli = started(trial, Launch::new().arg("--forward-subagent-text"), &[]).await?;
    let turn = turn(&mut cli, "wait for it", Reply::allow).await?;
    cli.close().await?;
    trial.found("its text is shown", yes_or_no(shows_text(&turn)));
    Ok(())
}

pub(super) const LATER_FACTS: &[Fact] = &[
    Fact::by_version("it asks", &[(V62, "never"), (V197, "after the result")]),
    Fact::by_version("its tool", &[(V62, "refused"), (V197, "ran")]),
    Fact::by_version("the result comes", &[(V62, "when it has ended"), (V197, "before it ends")]),
    Fact::always("its text is shown", "yes").since(V197),
];

pub(super) async fn in_background(trial: &mut Trial) -> Outcome {
    let mut cli = started(trial, Launch::new(), &["SubagentStart"]).await?;
    let begin = cli.log().len();
    cli.say("do not wait").await?;
    // Where the result does not wait for the subagent, the subagent waits for the result: else
    // which of them comes first would be a matter of luck.
    let mut result = None;
    if trial.version() >= V197 {
        let gate = cli.asked("hook_callback").await?;
        result = Some(cli.result().await?);
        cli.answer(&gate, json!({})).await?;
    }
    let reply = |ask: &Value| match name(ask).as_str() {
        "can_use_tool" => Reply::allow(ask),
        _ => Reply::Success(json!({})),
    };
    let ended = |frame: &Value| frame["subtype"] == "task_notification";
    let turn = rest(&mut cli, begin, ended, reply).await?;
    let early = turn.frames.iter().any(is_result);
    cli.result().await.ok();
    cli.close().await?;
    let asks = match (turn.asks().is_empty(), result.is_some()) {
        (true, _) => "never",
        (false, true) => "after the result",
        (false, false) => "before the result",
    };
    trial.found("it asks", asks);
    let ran = trial.lab().work().join("new.txt").exists();
    trial.found("its tool", if ran { "ran" } else { "refused" });
    trial.found("the result comes", if early { "before it ends" } else { "when it has ended" });
    trial.found("its text is shown", yes_or_no(shows_text(&turn)));
    Ok(())
}
