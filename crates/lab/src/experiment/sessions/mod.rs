//! Q: sessions that outlive their process.

mod kept;
mod killed;
mod together;

use serde_json::{Value, json};

use super::{Case, Experiment, Fact, Outcome, Trial, TrialError, V62, V197, V325};
use crate::driver::{Cli, user};
use crate::lab::Launch;
use crate::talk::{Reply, is_result, serve};

const SCRIPT: &str = r#"
[[answer]]
when = { text = '/write (\w+\.txt)/' }
tool = { name = "Write", input = { file_path = "${cwd}/${match.1}", content = "new\n" } }

[[answer]]
when = { tool = "Write" }
text = "That was it."

[[answer]]
when = { text = "/Say|Go on/" }
text = "Something."

[[answer]]
when = { text = "be long" }
text = "This does not come to its end."
hang = 5
"#;

pub(super) const EXPERIMENT: Experiment = Experiment::new(
    "Q",
    "sessions",
    "A session goes on in a new process, in two at once, or after its process was killed. What is \
     still there, and what is asked again?",
    &[
        Case::new("kept", SCRIPT, kept::FACTS, |trial| Box::pin(kept::steps(trial))),
        Case::new("not-kept", SCRIPT, kept::NOT_KEPT, |trial| Box::pin(kept::not_kept(trial))),
        Case::new("killed", SCRIPT, killed::FACTS, |trial| Box::pin(killed::steps(trial))),
        Case::new("killed-in-a-stream", SCRIPT, killed::IN_A_STREAM, |trial| {
            Box::pin(killed::in_a_stream(trial))
        }),
        Case::new("two-processes", SCRIPT, together::FACTS, |trial| {
            Box::pin(together::steps(trial))
        }),
    ],
);

/// Starts a process that may not find its session, and says something to it. Gives back the result
/// and the exit code after that.
async fn tried(trial: &mut Trial, launch: Launch) -> Result<(Value, Option<i32>), TrialError> {
    let mut cli = trial.launch(launch).await?;
    // The process may be gone before it reads: that is what is shown.
    let initialize = json!({"subtype": "initialize", "hooks": null});
    if cli.post(initialize).await.is_ok() {
        cli.send(&user("Say something.")).await.ok();
    }
    let result = cli.result().await?;
    Ok((result, cli.close().await?.status.code()))
}

/// Whether that found its session.
fn is_found(result: &Value) -> &'static str {
    if result["is_error"] == false { "found" } else { "not found" }
}

/// One turn in a new process, with everything allowed; the process goes on.
async fn one_turn(
    trial: &mut Trial,
    launch: Launch,
    text: &str,
) -> Result<(Cli, Value), TrialError> {
    let mut cli = trial.launch(launch).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say(text).await?;
    let result = serve(&mut cli, "a result", is_result, Reply::allow).await?;
    Ok((cli, result))
}

fn session_of(frame: &Value) -> String {
    frame["session_id"].as_str().unwrap_or_default().to_owned()
}
