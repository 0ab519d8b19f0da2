//! A simulated CLI that notes when it asks for a permission and when it has the answer.
//!
//! Between the CLI and its client stand two threads that pass lines on. The time of a question is
//! taken right before it is written to the pipe of the client, that of an answer right after it was
//! read; both are noted after the line was passed on, so that noting them costs nothing that is
//! measured. The clock is the one that all processes of a machine have in common.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::ExitCode;
use std::thread;

use countersign_lab::sim::Launch;
use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The variable that names the file to which times are added.
pub const FILE: &str = "COUNTERSIGN_BENCH_STAMPS";

/// Nanoseconds on the clock that all processes of this machine have in common.
#[must_use]
pub fn now() -> u64 {
    let Ok(time) = clock_gettime(ClockId::CLOCK_MONOTONIC) else { return 0 };
    let part = |number: i64| u64::try_from(number).unwrap_or_default();
    part(time.tv_sec()) * 1_000_000_000 + part(time.tv_nsec())
}

/// Something that passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// When.
    pub at: u64,
    /// Whether it was asked; otherwise it was answered.
    pub asked: bool,
    /// The request.
    pub request: String,
}

/// Reads what was noted, in pairs: when a permission was asked for, and when the answer was there.
/// A question without an answer is left out.
///
/// # Errors
///
/// When the file cannot be read.
pub fn read(file: &Path) -> io::Result<Vec<(u64, u64)>> {
    let text = fs::read_to_string(file)?;
    let stamps: Vec<Stamp> = text
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .map_err(io::Error::from)?;
    let answered = |request: &str| {
        let found = stamps.iter().find(|stamp| !stamp.asked && stamp.request == request);
        found.map(|stamp| stamp.at)
    };
    let asked = stamps.iter().filter(|stamp| stamp.asked);
    Ok(asked.filter_map(|stamp| Some((stamp.at, answered(&stamp.request)?))).collect())
}

/// Is a simulated CLI, as [`Launch::run`] is.
pub(crate) fn run(launch: &Launch) -> ExitCode {
    let noting = std::env::var_os(FILE).and_then(|file| between(Path::new(&file)).ok());
    let code = launch.run();
    if let Some(out) = noting {
        // The CLI is done, but what it said last may be on its way.
        close_stdout();
        drop(out.join());
    }
    code
}

/// Nobody writes there any more, so that the thread that reads it comes to an end.
pub(crate) fn close_stdout() {
    if let Ok(nothing) = File::options().write(true).open("/dev/null") {
        rustix::stdio::dup2_stdout(nothing).unwrap_or_default();
    }
}

/// Puts itself between the standard input and output of this process and whoever holds them.
fn between(file: &Path) -> io::Result<thread::JoinHandle<()>> {
    let notes = OpenOptions::new().create(true).append(true).open(file)?;
    let client_says: OwnedFd = rustix::io::dup(rustix::stdio::stdin())?;
    let to_client: OwnedFd = rustix::io::dup(rustix::stdio::stdout())?;
    let (cli_hears, to_cli) = rustix::pipe::pipe()?;
    let (cli_says, from_cli) = rustix::pipe::pipe()?;
    rustix::stdio::dup2_stdin(&cli_hears)?;
    rustix::stdio::dup2_stdout(&from_cli)?;
    let (answers, questions) = (notes.try_clone()?, notes);
    thread::Builder::new().spawn(move || {
        pass(File::from(client_says), File::from(to_cli), Side::Client, answers);
    })?;
    thread::Builder::new().spawn(move || {
        pass(File::from(cli_says), File::from(to_client), Side::Cli, questions);
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Cli,
    Client,
}

/// Passes lines on until there are no more, or nobody wants them.
fn pass(from: File, mut to: File, side: Side, mut notes: File) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    loop {
        line.clear();
        match from.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let at = now();
        if to.write_all(&line).is_err() {
            return;
        }
        if let Some(request) = request(&line, side) {
            let stamp = Stamp { at, asked: side == Side::Cli, request };
            let mut text = serde_json::to_vec(&stamp).unwrap_or_default();
            text.push(b'\n');
            // Whoever reads the notes misses what could not be noted.
            drop(notes.write_all(&text));
        }
    }
}

/// The request that a line is, or that it answers, if it is about a permission or may be.
fn request(line: &[u8], side: Side) -> Option<String> {
    let text = std::str::from_utf8(line).ok()?;
    let (mark, inner) = match side {
        Side::Cli => ("\"can_use_tool\"", None),
        Side::Client => ("\"control_response\"", Some("response")),
    };
    if !text.contains(mark) {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    let holds = inner.map_or(Some(&value), |inner| value.get(inner))?;
    holds.get("request_id")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{Side, now, read, request};

    #[test]
    fn questions_and_answers_are_known_by_their_request() {
        let asks =
            br#"{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool"}}"#;
        assert_eq!(request(asks, Side::Cli).as_deref(), Some("r1"));
        let answers =
            br#"{"type":"control_response","response":{"subtype":"success","request_id":"r1"}}"#;
        assert_eq!(request(answers, Side::Client).as_deref(), Some("r1"));
        assert_eq!(request(br#"{"type":"user"}"#, Side::Client), None);
    }

    #[test]
    fn notes_are_read_in_pairs() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("stamps");
        let note = |at: u64, asked: bool, request: &str| {
            format!("{{\"at\":{at},\"asked\":{asked},\"request\":\"{request}\"}}\n")
        };
        let text = [note(1, true, "a"), note(3, false, "hook"), note(5, false, "a")].concat();
        std::fs::write(&file, text + &note(6, true, "b")).unwrap();
        assert_eq!(read(&file).unwrap(), [(1, 5)]);
        assert!(now() > 0);
    }
}
