//! Nothing is left running, not even when the process that runs the laboratory is killed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{ExitCode, Stdio};

use countersign_lab::script::{Answer, Script};
use countersign_lab::{Isolation, Lab, Launch, Program, Version};
use libtest_mimic::{Failed, Trial};
use serde_json::json;

use crate::{installed, runtime, trial};

/// Says to this very program that it is started to be killed, and how to keep processes in.
const VICTIM: &str = "COUNTERSIGN_TEST_VICTIM";

pub(crate) fn trials() -> Vec<Trial> {
    let isolations = [("namespaces", Isolation::Namespaces), ("mark", Isolation::Mark)];
    let killed = isolations.map(|(name, _)| {
        trial(format!("killed::nothing_is_left_with_{name}"), move || killed(name))
    });
    let closed = isolations.map(|(name, isolation)| {
        trial(format!("closed::nothing_is_left_with_{name}"), move || closed(isolation))
    });
    killed.into_iter().chain(closed).collect()
}

/// Plays the process that is killed, if that is what it was started for.
pub(crate) fn as_the_one_to_be_killed() -> Option<ExitCode> {
    let isolation = match std::env::var(VICTIM).ok()?.as_str() {
        "namespaces" => Isolation::Namespaces,
        _ => Isolation::Mark,
    };
    runtime().block_on(async {
        let Some((lab, _cli)) = busy(isolation).await else {
            tell("not permitted");
            return;
        };
        let pids: Vec<_> = lab.processes().iter().map(ToString::to_string).collect();
        tell(&format!("{} {}", lab.root().display(), pids.join(" ")));
        std::future::pending::<()>().await;
    });
    Some(ExitCode::SUCCESS)
}

fn tell(line: &str) {
    std::io::stderr().write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// A laboratory in which the CLI runs a tool that does not end. None where this kind of isolation
/// is not permitted.
async fn busy(isolation: Isolation) -> Option<(Lab, countersign_lab::Cli)> {
    let cli = installed(Version::TESTED[0]).await;
    let command = "echo begun > begun; sleep 1000";
    let script = Script::new().then(Answer::tool("Bash", json!({ "command": command })));
    let lab = Lab::builder(Program::Real(cli), script).isolation(isolation);
    let lab = match (lab.start().await, isolation) {
        (Ok(lab), _) => lab,
        (Err(_), Isolation::Namespaces) => return None,
        (Err(error), _) => panic!("{error}"),
    };
    let mut cli = lab.launch(Launch::new().mode("bypassPermissions")).await.unwrap();
    cli.say("Sleep.").await.unwrap();
    while !lab.work().join("begun").exists() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    Some((lab, cli))
}

async fn killed(isolation: &'static str) -> Result<(), Failed> {
    let (mut victim, told) = tokio::task::spawn_blocking(move || start(isolation)).await?;
    if told == "not permitted" {
        return Ok(());
    }
    let (root, pids) = told.split_once(' ').unwrap();
    let running: Vec<_> = pids.split(' ').map(|pid| Process::of(pid).unwrap()).collect();
    assert!(running.len() >= 2, "the CLI and its tool run: {pids}");
    victim.kill()?;
    victim.wait()?;
    // Whatever ends them does so by itself now. A test that hangs is ended by the runner.
    while running.iter().any(Process::still_runs) || Path::new(root).exists() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "this process is started to be killed")]
fn start(isolation: &str) -> (std::process::Child, String) {
    let mut victim = std::process::Command::new(std::env::current_exe().unwrap())
        .env(VICTIM, isolation)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(victim.stderr.take().unwrap()).read_line(&mut line).unwrap();
    (victim, line.trim().to_owned())
}

async fn closed(isolation: Isolation) -> Result<(), Failed> {
    let Some((lab, cli)) = busy(isolation).await else { return Ok(()) };
    let pids = lab.processes();
    let running: Vec<_> = pids.iter().map(|pid| Process::of(&pid.to_string()).unwrap()).collect();
    assert!(running.len() >= 2, "the CLI and its tool run: {pids:?}");
    let root = lab.root();
    lab.close().await?;
    drop(cli);
    assert!(!running.iter().any(Process::still_runs), "all have ended: {pids:?}");
    assert!(!root.exists(), "the folders are gone");
    Ok(())
}

/// A process, told from a later one with the same id by when it was started.
struct Process {
    pid: String,
    started: String,
}

impl Process {
    fn of(pid: &str) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let fields: Vec<_> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        // A process that has ended and is not yet taken note of does not run.
        let runs = *fields.first()? != "Z";
        let started = fields.get(19)?.to_string();
        runs.then(|| Self { pid: pid.to_owned(), started })
    }

    fn still_runs(&self) -> bool {
        Self::of(&self.pid).is_some_and(|now| now.started == self.started)
    }
}
