//! The one place that starts processes, and what can be found out about them.
//!
//! Everything is read from `/proc`: which processes are there, whose children they are, and which
//! of them carry a mark in their environment.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};

/// A command that starts with an empty environment.
///
/// Nothing is inherited: what a child of the laboratory may know is what it is given.
pub(crate) fn bare(program: impl AsRef<OsStr>) -> tokio::process::Command {
    let mut command = inheriting(program);
    command.env_clear();
    command
}

/// A command that inherits the environment, for the package manager, which is configured by it.
#[expect(
    clippy::disallowed_methods,
    reason = "all children of the laboratory are started with commands made here"
)]
pub(crate) fn inheriting(program: impl AsRef<OsStr>) -> tokio::process::Command {
    let mut command = tokio::process::Command::new(program);
    command.kill_on_drop(true);
    command
}

/// A command whose process its owner waits for, also without a runtime.
#[expect(
    clippy::disallowed_methods,
    reason = "all children of the laboratory are started with commands made here"
)]
pub(crate) fn waited_for(program: impl AsRef<OsStr>) -> std::process::Command {
    std::process::Command::new(program)
}

/// Where `PATH` has a program, if it has it.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// A process, as `/proc` shows it.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    parent: i32,
    /// A process that has ended and waits for its parent to take note.
    pub(crate) ended: bool,
}

/// All processes that run now.
pub(crate) fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(process)
        .collect()
}

fn process(pid: i32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program stands in parentheses and may hold anything, parentheses included.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    Some(Process { pid, parent, ended: matches!(state, "Z" | "X") })
}

/// The processes that descend from `ancestor` and still run, without itself.
pub(crate) fn descendants(ancestor: i32) -> Vec<i32> {
    let all = processes();
    let mut found = vec![ancestor];
    // Grows while it is walked: each process that is found is asked for its own children.
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        let children = all.iter().filter(|process| process.parent == parent && !process.ended);
        found.extend(children.map(|process| process.pid));
        next += 1;
    }
    found.split_off(1)
}

/// The processes in the same process table as `first`, itself included, that still run.
pub(crate) fn in_the_table_of(first: i32) -> Vec<i32> {
    let table = |pid| fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
    let Some(wanted) = table(first) else { return Vec::new() };
    processes()
        .into_iter()
        .filter(|process| !process.ended)
        .map(|process| process.pid)
        .filter(|pid| table(*pid).as_ref() == Some(&wanted))
        .collect()
}

/// The processes that have `mark` in their environment and still run.
pub(crate) fn marked(mark: &str) -> Vec<i32> {
    processes()
        .into_iter()
        .filter(|process| !process.ended)
        .map(|process| process.pid)
        .filter(|pid| environment_has(Path::new(&format!("/proc/{pid}/environ")), mark))
        .collect()
}

fn environment_has(file: &Path, entry: &str) -> bool {
    let Ok(environment) = fs::read(file) else { return false };
    environment.split(|&byte| byte == 0).any(|variable| variable == entry.as_bytes())
}

/// Sends a signal. A process that has ended meanwhile is none to complain about.
pub(crate) fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // Nothing to do about an error: the process is gone, or is not ours.
        _ = kill_process(pid, signal);
    }
}
