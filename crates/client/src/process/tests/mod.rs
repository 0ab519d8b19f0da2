//! Small shells in the place of the CLI, and then the CLI itself.

mod drop;
mod end;
mod killed;
#[cfg(feature = "real-cli")]
mod real;
mod start;
mod tree;

use std::path::PathBuf;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::keeper::ensure_keeper;
use super::*;

/// A shell that runs `script`, with nothing of our environment but the `PATH`, once it has said
/// `ready`.
async fn shell(script: &str) -> Spawned {
    // A run of the tests that is broken off leaves nothing either.
    ensure_keeper().unwrap();
    let mut spawned = spawn(&shell_spec(script)).unwrap();
    let mut line = String::new();
    BufReader::new(&mut spawned.stdout).read_line(&mut line).await.unwrap();
    assert_eq!(line, "ready\n");
    spawned
}

fn shell_spec(script: &str) -> SpawnSpec {
    SpawnSpec {
        program: PathBuf::from("/bin/sh"),
        arguments: vec!["-c".into(), script.into()],
        environment: Environment {
            clear: true,
            remove: Vec::new(),
            set: vec![("PATH".into(), "/usr/bin:/bin".into())],
        },
        cwd: None,
    }
}

/// What carries the mark now.
fn carrying(mark: Mark) -> Vec<ProcessInfo> {
    Leftovers::of_mark(mark).find()
}

/// Waits for what must happen by itself. A test that hangs is ended by the test runner.
async fn until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Steps that are not waited for.
fn at_once() -> ShutdownTimes {
    ShutdownTimes::default().exit(Duration::ZERO).terminate(Duration::ZERO).sweep(Duration::ZERO)
}

/// Steps that are never over by time.
fn patient() -> ShutdownTimes {
    let long = Duration::from_secs(1000);
    ShutdownTimes::default().exit(long).terminate(long).sweep(long)
}

/// Starts what a CLI with tools looks like: a tool in a session of its own, one there that has lost
/// its parents, and two in the group of the CLI that threw the environment away, with parent and
/// without. `then` is what the CLI does besides.
async fn with_tools(then: &str) -> Spawned {
    let mut spawned = shell(&format!(
        "setsid sleep 1001 &
        (setsid sh -c 'sleep 1002 & wait' &)
        env -i sleep 1003 &
        (env -i sleep 1004 &)
        echo ready
        {then}"
    ))
    .await;
    until(|| {
        let tree = spawned.process.tree();
        TOOLS.iter().all(|tool| tree.iter().any(|process| process.command == *tool))
    })
    .await;
    spawned
}

const TOOLS: [&str; 4] = ["sleep 1001", "sleep 1002", "sleep 1003", "sleep 1004"];

/// The tools of a CLI, to ask later whether they still run.
fn tools(process: &mut Process) -> Vec<ProcessId> {
    let tree = process.tree().into_iter();
    let tools = tree.filter(|each| TOOLS.contains(&each.command.as_str()));
    let tools: Vec<_> = tools.map(|each| each.id).collect();
    assert_eq!(tools.len(), TOOLS.len());
    tools
}
