//! A command in the background, and the turn that its end begins.

use serde_json::{Value, json};

use super::{Fact, Outcome, Trial, V197};
use crate::experiment::turn::{rest, turn, yes_or_no};
use crate::lab::Launch;
use crate::talk::{Reply, is_result};

/// The command ends when there is a file.
pub(in crate::experiment) const SCRIPT: &str = r#"
otherwise = "It is over."

[[answer]]
when = { text = "Run it" }
tool = { name = "Bash", input = { command = "until [ -e go ]; do sleep 0.05; done", run_in_background = true, description = "Wait for a file" }, takes = "500ms" }

[[answer]]
when = { tool = "Bash" }
text = "It runs."
"#;

pub(super) const FACTS: &[Fact] = &[
    Fact::always("the turn", "It runs."),
    Fact::always("task_started", "yes"),
    Fact::always("then", "task_notification, a turn of its own"),
    Fact::always("origin of that turn", "task-notification").since(V197),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new().mode("bypassPermissions")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    let run = turn(&mut cli, "Run it.", Reply::allow).await?;
    trial.found("the turn", run.result["result"].clone());
    trial.found("task_started", yes_or_no(run.has("task_started")));
    let begin = cli.log().len();
    std::fs::write(trial.lab().work().join("go"), "")?;
    let over = rest(&mut cli, begin, is_result, Reply::allow).await?;
    let own = over.result["result"] == "It is over.";
    let told = over.has("task_notification");
    let then = [(told, "task_notification"), (own, "a turn of its own")];
    let then: Vec<_> = then.iter().filter(|(there, _)| *there).map(|(_, what)| *what).collect();
    trial.found("then", then.join(", "));
    let origin = &over.result["origin"]["kind"];
    let origin = if *origin == Value::Null { json!("none") } else { origin.clone() };
    trial.found("origin of that turn", origin);
    cli.close().await?;
    Ok(())
}
