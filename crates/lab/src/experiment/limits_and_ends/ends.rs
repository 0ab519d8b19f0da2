//! Ends of the process: its input is closed, or a signal comes.

use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Fact, Outcome, Trial, V62, V197, V325};
use crate::driver::Ended;
use crate::experiment::turn::{results, yes_or_no};
use crate::lab::{Lab, Launch, Program};
use crate::talk::{frames, is_result};

pub(super) const INPUT_SCRIPT: &str = r#"
[[answer]]
when = { text = "be slow" }
text = "This takes its time, word by word."
pace = "20ms"

[[answer]]
when = { text = "Write it" }
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
when = { tool = "Write" }
text = "Too late."
"#;

pub(super) const INPUT_FACTS: &[Fact] = &[
    Fact::always("in a stream: the result", "This takes its time, word by word."),
    Fact::always("in a stream: exit code", "0"),
    Fact::always("while the person is asked: the tool", "refused"),
    Fact::always("while the person is asked: the model speaks again", "yes"),
    Fact::always("while the person is asked: exit code", "0"),
];

pub(super) async fn input_closed(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new().arg("--include-partial-messages")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("be slow").await?;
    cli.wait("a delta", |frame| frame["event"]["type"] == "content_block_delta").await?;
    let ended = cli.close().await?;
    trial.found("in a stream: the result", result(&ended)["result"].clone());
    trial.found("in a stream: exit code", ended.status.code());

    let mut cli = trial.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Write it.").await?;
    cli.asked("can_use_tool").await?;
    let ended = cli.close().await?;
    let all: Vec<_> = frames(&ended).cloned().collect();
    let refused = results(&all).last().is_some_and(|block| block["is_error"] == true);
    let tool = if refused { "refused" } else { "not refused" };
    trial.found("while the person is asked: the tool", tool);
    let again = result(&ended)["result"] == "Too late.";
    trial.found("while the person is asked: the model speaks again", yes_or_no(again));
    trial.found("while the person is asked: exit code", ended.status.code());
    Ok(())
}

pub(super) const LATER_FACTS: &[Fact] = &[Fact::by_version(
    "a command in the background",
    &[(V62, "ends, and its turn runs"), (V197, "is ended"), (V325, "ends, and its turn runs")],
)];

/// The input is closed while a command runs in the background.
pub(super) async fn with_a_command(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new().mode("bypassPermissions")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Run it.").await?;
    cli.result().await?;
    let mut closing = pin!(cli.close());
    // Where the command is ended, that is after five seconds.
    let ended = tokio::select! {
        ended = &mut closing => ended?,
        () = tokio::time::sleep(Duration::from_secs(7)) => {
            std::fs::write(trial.lab().work().join("go"), "")?;
            closing.await?
        }
    };
    let turn = result(&ended)["result"] == "It is over.";
    let became = if turn { "ends, and its turn runs" } else { "is ended" };
    trial.found("a command in the background", became);
    Ok(())
}

/// The last result of a process.
fn result(ended: &Ended) -> Value {
    frames(ended).filter(|frame| is_result(frame)).last().cloned().unwrap_or(Value::Null)
}

/// A command that does not end.
pub(super) const SIGNAL_SCRIPT: &str = r#"
[[answer]]
when = { text = '/run (\w+)/' }
tool = { name = "Bash", input = { command = "touch ${match.1}; sleep 1000", description = "Sleep" }, takes = "1000s" }

[[answer]]
when = { tool = "Bash" }
text = "That was it."
"#;

pub(super) const SIGNAL_FACTS: &[Fact] = &[
    Fact::always("SIGTERM", "exit code 143, no result"),
    Fact::always("SIGHUP", "exit code 129, no result"),
    // From 2.1.197 on the turn is aborted, and has a result, if the process is not faster to end.
    Fact::always("SIGINT", "exit code 0"),
    Fact::always("SIGKILL", "signal 9, no result"),
    Fact::always("SIGKILL: its command goes on", "yes").of_a_command(),
    Fact::by_version("SIGTERM: its command goes on", &[(V62, "yes"), (V325, "no")]).of_a_command(),
    Fact::by_version("SIGINT: its command goes on", &[(V62, "yes"), (V197, "no")]).of_a_command(),
];

/// What the model is to read of an interrupt.
const INTERRUPTED: &str = "[Request interrupted by user";

pub(super) async fn signals(trial: &mut Trial) -> Outcome {
    for (name, signal) in [
        ("SIGTERM", Signal::TERM),
        ("SIGHUP", Signal::HUP),
        ("SIGINT", Signal::INT),
        ("SIGKILL", Signal::KILL),
    ] {
        let mut cli = trial.launch(Launch::new().mode("bypassPermissions")).await?;
        cli.initialize(json!({"hooks": null})).await?;
        cli.say(&format!("run {name}")).await?;
        cli.wait("the call", |frame| frame["type"] == "assistant").await?;
        let lab = trial.lab();
        if let Program::Real(_) = lab.program() {
            is_there(&lab.work().join(name)).await;
        }
        cli.signal(signal);
        let ended = cli.ended().await?;
        let result = frames(&ended).any(is_result);
        let aborted = frames(&ended).any(|frame| frame.to_string().contains(INTERRUPTED));
        let how = match ended.status.code() {
            Some(code) => format!("exit code {code}"),
            None => format!("signal {}", signal.as_raw()),
        };
        let goes_on = goes_on(lab).await;
        if signal == Signal::INT {
            trial.found(name, how);
            trial.found("SIGINT: the turn is aborted", yes_or_no(aborted));
            trial.found("SIGINT: a result comes", yes_or_no(result));
        } else {
            trial.found(name, format!("{how}, {} result", if result { "a" } else { "no" }));
        }
        trial.found(&format!("{name}: its command goes on"), yes_or_no(goes_on));
    }
    Ok(())
}

async fn is_there(file: &Path) {
    while !file.exists() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Whether the command still runs although the CLI has ended. It is ended then.
async fn goes_on(lab: &Lab) -> bool {
    let gone = async {
        while !commands(lab).is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    // What was ended with the CLI may need a moment to be gone.
    let goes_on = tokio::time::timeout(Duration::from_millis(500), gone).await.is_err();
    for pid in commands(lab) {
        crate::process::signal(pid, Signal::KILL);
    }
    goes_on
}

/// The processes of the command.
fn commands(lab: &Lab) -> Vec<i32> {
    let mut processes = lab.processes();
    processes.retain(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line == b"sleep\x001000\x00"
    });
    processes
}
