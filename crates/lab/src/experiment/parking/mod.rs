//! PARK: a call that waits for a person without a process.

mod after_a_crash;
mod put_off;

use serde_json::{Value, json};

use super::turn::{Turn, rest, results};
use super::{Case, Experiment, Fact, Outcome, Trial, TrialError, V197, V325};
use crate::lab::Launch;
use crate::talk::{Reply, is_result};

/// The model makes the call that it is told to make.
const SCRIPT: &str = r#"
[[answer]]
when = { text = "The person has allowed" }
tool = { name = "Write", input = { file_path = "${cwd}/one.txt", content = "1\n" } }

[[answer]]
when = { text = "write one" }
tool = { name = "Write", input = { file_path = "${cwd}/one.txt", content = "1\n" } }

[[answer]]
when = { text = "write two" }
tools = [
  { name = "Write", input = { file_path = "${cwd}/one.txt", content = "1\n" } },
  { name = "Write", input = { file_path = "${cwd}/two.txt", content = "2\n" } },
]

[[answer]]
when = { text = "ask a question" }
[answer.tool]
name = "AskUserQuestion"
[answer.tool.input]
questions = [
    { question = "Which color?", header = "Color", multiSelect = false, options = [
        { label = "Red", description = "Warm" }, { label = "Green", description = "Calm" } ] },
]

[[answer]]
when = { text = "show a plan" }
tool = { name = "ExitPlanMode", input = {} }

[[answer]]
when = { result = "/(?s).*/" }
text = "That was it."
"#;

pub(super) const EXPERIMENT: Experiment = Experiment::new(
    "PARK",
    "parking",
    "A call that waits for a person is put off by a hook, or its process is killed. Does a new \
     process raise the same call again, and does the answer hold?",
    &[
        Case::new("put-off", SCRIPT, put_off::TOOL, |trial| Box::pin(put_off::tool(trial)))
            .since(V197),
        Case::new("put-off-question", SCRIPT, put_off::QUESTION, |trial| {
            Box::pin(put_off::question(trial))
        })
        .since(V197),
        Case::new("put-off-plan", SCRIPT, put_off::PLAN, |trial| Box::pin(put_off::plan(trial)))
            .since(V197),
        Case::new("put-off-two", SCRIPT, put_off::TWO, |trial| Box::pin(put_off::two(trial)))
            .since(V197),
        Case::new("killed", SCRIPT, after_a_crash::TOOL, |trial| {
            Box::pin(after_a_crash::tool(trial))
        })
        .since(V197),
        Case::new("killed-question", SCRIPT, after_a_crash::QUESTION, |trial| {
            Box::pin(after_a_crash::question(trial))
        })
        .since(V197),
        Case::new("killed-plan", SCRIPT, after_a_crash::PLAN, |trial| {
            Box::pin(after_a_crash::plan(trial))
        })
        .since(V197),
        Case::new("killed-two", SCRIPT, after_a_crash::TWO, |trial| {
            Box::pin(after_a_crash::two(trial))
        })
        .since(V197),
        Case::new("said-instead", SCRIPT, after_a_crash::SAID, |trial| {
            Box::pin(after_a_crash::said_instead(trial))
        }),
    ],
);

/// A call that is parked.
struct Parked {
    session: String,
    /// The ids of the calls of the message.
    calls: Vec<Value>,
}

/// Resumes a session whose call is parked. Nothing is said: what is asked is asked by itself.
async fn resumed(
    trial: &mut Trial,
    launch: Launch,
    parked: &Parked,
    reply: impl FnMut(&Value) -> Reply + Send,
) -> Result<Turn, TrialError> {
    let mut cli = trial.launch(launch.resume(&parked.session)).await?;
    let turn = rest(&mut cli, 0, is_result, reply).await?;
    cli.close().await?;
    Ok(turn)
}

/// Which of the parked calls were raised again.
fn raised(turn: &Turn, parked: &Parked) -> &'static str {
    let asks = turn.asks();
    let ids: Vec<_> = asks.iter().map(|ask| &ask["request"]["tool_use_id"]).collect();
    match (ids.as_slice(), parked.calls.as_slice()) {
        ([], _) => "nothing",
        ([id], [call]) if *id == call => "the same call",
        ([id], [.., last]) if *id == last => "the last call",
        ([id], [first, ..]) if *id == first => "the first call",
        _ => "something else",
    }
}

/// Answers the question of the script.
fn green(ask: &Value) -> Reply {
    let questions = &ask["request"]["input"]["questions"];
    let input = json!({"questions": questions, "answers": {"Which color?": "Green"}});
    Reply::Success(json!({"behavior": "allow", "updatedInput": input}))
}

/// Does not let the model out of plan mode.
fn not_yet(_: &Value) -> Reply {
    Reply::Success(json!({"behavior": "deny", "message": "Not yet."}))
}

/// Whether the last result of a tool says this.
fn says(turn: &Turn, text: &str) -> bool {
    results(&turn.frames).last().is_some_and(|block| block["content"].to_string().contains(text))
}

/// Which of two calls have written their files.
fn ran(trial: &Trial) -> &'static str {
    let [one, two] = ["one.txt", "two.txt"].map(|file| trial.lab().work().join(file).exists());
    match (one, two) {
        (false, true) => "the last call",
        (true, false) => "the first call",
        (true, true) => "both calls",
        (false, false) => "nothing",
    }
}
