//! Interrupts and the processes of tools.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use super::super::puppet::{allow, read_so_far, rest_of_turn, turn};
use super::super::{Fact, Outcome, Trial, V62, V197};
use super::{begun, in_parts, interrupt};
use crate::driver::user;
use crate::lab::Program;

pub(super) const FACTS: &[Fact] = &[
    Fact::always("a tool runs: result", "error_during_execution"),
    Fact::by_version("a tool runs: reason", &[(V62, "null"), (V197, "aborted_tools")]),
    Fact::always("a tool runs: its process", "ended"),
    Fact::always("in the background: its process", "goes on"),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(in_parts()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    let begin = cli.log().len();
    cli.say("Watch.").await?;
    cli.wait("the call", |frame| frame["message"]["content"][0]["type"] == "tool_use").await?;
    until(trial, "tail\u{0}-f\u{0}", true).await?;
    read_so_far(&mut cli).await?;
    let id = cli.post(interrupt()).await?;
    cli.answer_to(&id).await?;
    let stopped = rest_of_turn(&mut cli, begin).await?;
    trial.found("a tool runs: result", stopped.result["subtype"].clone());
    trial.found("a tool runs: reason", stopped.result["terminal_reason"].clone());
    until(trial, "tail\u{0}-f\u{0}", false).await?;
    trial.found("a tool runs: its process", "ended");

    turn(&mut cli, "Watch on the side.", allow).await?;
    until(trial, "tail\u{0}-F\u{0}", true).await?;
    begun(&mut cli, &user("Go on for ever.")).await?;
    cli.request(interrupt()).await?;
    cli.result().await?;
    read_so_far(&mut cli).await?;
    let log = cli.log();
    let told = log.iter().any(|said| said.frame["subtype"] == "task_notification");
    let goes_on = !told && (is_simulated(trial) || runs(trial, "tail\u{0}-F\u{0}"));
    let says = if goes_on { "goes on" } else { "ended" };
    trial.found("in the background: its process", says);
    // Its end would wait for the command.
    cli.signal(Signal::KILL);
    cli.ended().await?;
    Ok(())
}

/// The simulated CLI has no processes of its own.
fn is_simulated(trial: &Trial) -> bool {
    matches!(trial.lab().program(), Program::Simulated { .. })
}

/// Waits until a command runs, or does not run any more.
async fn until(trial: &Trial, command: &str, wanted: bool) -> Outcome {
    let there = async {
        while !is_simulated(trial) && runs(trial, command) != wanted {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let late = |_| std::io::Error::new(std::io::ErrorKind::TimedOut, "a process that is not there");
    Ok(tokio::time::timeout(Duration::from_secs(60), there).await.map_err(late)?)
}

/// Whether a process of the laboratory has this command line, whose words end with a null.
fn runs(trial: &Trial, command: &str) -> bool {
    let line = |pid: i32| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let is = |pid: i32| String::from_utf8_lossy(&line(pid)).starts_with(command);
    trial.lab().processes().into_iter().any(is)
}
