//! The end of the process that owns sessions, with SIGKILL.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};

use rustix::process::Signal;

use super::*;

/// Says to this very program that it is the one to be killed.
const VICTIM: &str = "COUNTERSIGN_TEST_VICTIM";

/// Starts this very test again as a process of its own, which does `open` and then waits. Here it
/// returns that process with its mark and what it has told. In the other process it does not return.
async fn start_again<T>(test: &str, open: impl AsyncFnOnce() -> (T, String)) -> Victim {
    if std::env::var_os(VICTIM).is_some() {
        play(open).await;
    }
    Victim::start(test, "yes").await
}

/// What the one to be killed was given by whoever started it. None in any other process.
pub(super) fn given() -> Option<String> {
    std::env::var(VICTIM).ok()
}

/// Plays the one to be killed.
pub(super) async fn play<T>(open: impl AsyncFnOnce() -> (T, String)) {
    let (_held, told) = open().await;
    let line = format!("{} {told}\n", Mark::of_this_process());
    // Not the standard output: the test harness writes there too.
    std::io::stderr().write_all(line.as_bytes()).unwrap();
    std::future::pending::<()>().await;
}

pub(super) struct Victim {
    process: Child,
    pub(super) mark: Mark,
    pub(super) told: String,
}

impl Victim {
    pub(super) async fn start(test: &str, given: &str) -> Self {
        let (path, given) = (format!("process::tests::{test}"), given.to_owned());
        tokio::task::spawn_blocking(move || Self::start_blocking(&path, &given)).await.unwrap()
    }

    #[expect(clippy::disallowed_methods, reason = "this process is started to be killed")]
    fn start_blocking(path: &str, given: &str) -> Self {
        let mut process = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", path, "--nocapture", "--test-threads=1"])
            .env(VICTIM, given)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let (mark, told) = line.trim_end().split_once(' ').unwrap_or_else(|| panic!("{line}"));
        Self { process, mark: mark.parse().unwrap(), told: told.to_owned() }
    }

    /// The processes that it told of.
    pub(super) fn processes(&self) -> Vec<ProcessId> {
        self.told.split_ascii_whitespace().map(|id| id.parse().unwrap()).collect()
    }

    pub(super) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

pub(super) fn told(processes: impl IntoIterator<Item = ProcessId>) -> String {
    processes.into_iter().map(|id| id.to_string()).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn an_owner_that_is_killed_leaves_nothing() {
    let name = "killed::an_owner_that_is_killed_leaves_nothing";
    let mut victim = start_again(name, async || {
        ensure_keeper().unwrap();
        let then = "trap '' TERM; while :; do sleep 1000; done";
        let (mut one, mut other) = (with_tools(then).await, with_tools("exec sleep 1000").await);
        let all = one.process.tree().into_iter().chain(other.process.tree());
        let all = told(all.map(|process| process.id));
        ((one, other), all)
    })
    .await;
    let running = victim.processes();
    assert_eq!(running.len(), 13);
    assert!(running.iter().all(|process| process.is_alive()));
    victim.kill();
    until(|| !running.iter().any(|process| process.is_alive())).await;
    assert_eq!(carrying(victim.mark), []);
}

#[tokio::test]
async fn a_keeper_that_was_killed_is_replaced() {
    let name = "killed::a_keeper_that_was_killed_is_replaced";
    let mut victim = start_again(name, async || {
        ensure_keeper().unwrap();
        let first = keepers().await;
        ensure_keeper().unwrap();
        assert_eq!(keepers().await, first, "one is enough");
        let spawned = with_tools("exec sleep 1000").await;
        signal::send(first[0], Signal::KILL);
        until(|| !first[0].is_alive()).await;
        ensure_keeper().unwrap();
        let mut second = keepers().await;
        second.retain(|keeper| *keeper != first[0]);
        assert_eq!(second.len(), 1);
        (spawned, told(second))
    })
    .await;
    let keeper = victim.processes();
    assert!(carrying(victim.mark).len() >= 3, "the death of a keeper ends nothing");
    victim.kill();
    until(|| carrying(victim.mark).is_empty() && !keeper[0].is_alive()).await;
}

/// The keepers of this process, as soon as there are any.
async fn keepers() -> Vec<ProcessId> {
    let mut found = Vec::new();
    until(|| {
        let this = i32::try_from(std::process::id()).unwrap();
        let children = table::pids().filter_map(table::entry);
        let children = children.filter(|entry| entry.parent == this && !entry.ended);
        found = children
            .filter(|entry| table::command(entry.pid).contains("COUNTERSIGN_OWNER="))
            .filter_map(|entry| entry.id())
            .collect();
        !found.is_empty()
    })
    .await;
    found
}

#[tokio::test]
async fn a_keeper_ends_a_session_that_is_left_to_it() {
    let name = "killed::a_keeper_ends_a_session_that_is_left_to_it";
    let mut victim = start_again(name, async || {
        let left = with_tools("trap '' TERM; while :; do sleep 1000; done").await;
        let kept = with_tools("exec sleep 1000").await;
        keeper::sweep(left.process.mark());
        until(|| carrying(left.process.mark()).is_empty()).await;
        let told = carrying(kept.process.mark()).len().to_string();
        ((left, kept), told)
    })
    .await;
    // The CLI and the two tools that carry its mark, a shell between, and two more in its group.
    assert_eq!(victim.told, "6", "the other session goes on");
    victim.kill();
    until(|| carrying(victim.mark).is_empty()).await;
}

#[tokio::test]
async fn an_owner_that_exits_without_a_word_leaves_nothing() {
    let name = "killed::an_owner_that_exits_without_a_word_leaves_nothing";
    let mut victim = start_again(name, async || {
        ensure_keeper().unwrap();
        let mut spawned = with_tools("exec sleep 1000").await;
        let told = told(tools(&mut spawned.process));
        // Nobody will drop it.
        std::mem::forget(spawned.process);
        ((), told)
    })
    .await;
    let tools = victim.processes();
    victim.kill();
    until(|| carrying(victim.mark).is_empty() && !tools.iter().any(|tool| tool.is_alive())).await;
}
