//! What was said, in both directions.

use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use countersign_protocol::{LineSplitter, Piece};
use countersign_record::{Channel, End, Note, Recorder};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::watch;

/// The longest line that is kept.
const MAX_LINE: usize = 256 << 20;

/// One line that was said.
#[derive(Clone, Debug)]
pub struct Said {
    /// Since the process was started.
    pub after: Duration,
    /// Who said it.
    pub by: Speaker,
    /// The line, without its end; what is not UTF-8 is replaced.
    pub text: String,
    /// The line as JSON; null where it is none.
    pub frame: Value,
}

/// Who said a line, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The client, on the standard input of the process.
    Client,
    /// The process, on its standard output.
    Cli,
    /// The process, on its standard error.
    StandardError,
}

impl Speaker {
    /// The stream, as it is named on tapes.
    #[must_use]
    pub const fn channel(self) -> Channel {
        match self {
            Self::Client => Channel::In,
            Self::Cli => Channel::Out,
            Self::StandardError => Channel::Err,
        }
    }

    /// How it is shown before a line: towards the CLI, away from it, or as a complaint.
    #[must_use]
    pub const fn mark(self) -> char {
        match self {
            Self::Client => '>',
            Self::Cli => '<',
            Self::StandardError => '!',
        }
    }
}

/// Everything that was said, in the order in which it was heard.
#[derive(Debug)]
pub(super) struct Log {
    start: Instant,
    said: Mutex<Vec<Said>>,
    changed: watch::Sender<usize>,
    /// The tape that everything goes on to as well, byte for byte.
    tape: Option<Recorder>,
}

impl Log {
    /// A log without lines; it tells how many there are whenever one is added.
    pub(super) fn new(changed: watch::Sender<usize>, tape: Option<Recorder>) -> Self {
        Self { start: Instant::now(), said: Mutex::default(), changed, tape }
    }

    /// Adds a line of the client, without its end.
    pub(super) fn sent(&self, line: &[u8]) {
        self.record(Channel::In, &[line, b"\n"].concat());
        self.push(Speaker::Client, line);
    }

    /// Adds a line, without its end.
    fn push(&self, by: Speaker, line: &[u8]) {
        let text = String::from_utf8_lossy(line).into_owned();
        let frame = match by {
            Speaker::StandardError => Value::Null,
            Speaker::Client | Speaker::Cli => serde_json::from_str(&text).unwrap_or_default(),
        };
        let said = Said { after: self.start.elapsed(), by, text, frame };
        let mut log = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        log.push(said);
        self.changed.send_replace(log.len());
    }

    fn record(&self, channel: Channel, bytes: &[u8]) {
        if let Some(tape) = &self.tape {
            tape.record(channel, bytes);
        }
    }

    /// Puts a note on the tape.
    pub(super) fn note(&self, note: Note) {
        if let Some(tape) = &self.tape {
            tape.note(note);
        }
    }

    /// Ends the tape.
    pub(super) fn finish(&self, status: ExitStatus) {
        let end = status.code().map(End::Code).or_else(|| status.signal().map(End::Signal));
        if let (Some(tape), Some(end)) = (&self.tape, end) {
            drop(tape.finish(end));
        }
    }

    /// Looks at what was said until now.
    pub(super) fn with<T>(&self, look: impl FnOnce(&[Said]) -> T) -> T {
        look(&self.said.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Reads a stream of the process to its end. It never waits for anybody but the process.
pub(super) async fn listen(mut stream: impl AsyncRead + Unpin, by: Speaker, log: Arc<Log>) {
    let mut splitter = LineSplitter::with_max_line(MAX_LINE);
    let mut chunk = vec![0; 64 << 10];
    let channel = by.channel();
    let take = |piece: Piece<'_>| match piece {
        Piece::Line { bytes, .. } | Piece::Blank { bytes, .. } => log.push(by, bytes),
        _ => log.push(by, b"(a line too long to keep)"),
    };
    loop {
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => break,
            Ok(length) => {
                let bytes = chunk.get(..length).unwrap_or_default();
                log.record(channel, bytes);
                splitter.feed(bytes, &take);
            }
        }
    }
    splitter.finish(take);
    log.note(Note::Closed { channel });
}

/// A conversation that can be looked at while it goes on and after its end.
#[derive(Clone, Debug)]
pub(crate) struct Conversation(pub(super) Arc<Log>);

impl Conversation {
    /// Everything that was said until now.
    pub(crate) fn said(&self) -> Vec<Said> {
        self.0.with(<[Said]>::to_vec)
    }

    /// The same for people to read.
    pub(crate) fn transcript(&self) -> Transcript {
        Transcript(self.said())
    }
}

/// What was said, for people to read when something went wrong.
#[derive(Debug)]
pub struct Transcript(pub(super) Vec<Said>);

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 60;
        let skipped = self.0.len().saturating_sub(SHOWN);
        if skipped > 0 {
            writeln!(f, "  ({skipped} lines before)")?;
        }
        for said in self.0.iter().skip(skipped) {
            let mark = said.by.mark();
            let text: String = said.text.chars().take(300).collect();
            let cut = if text.len() < said.text.len() { "…" } else { "" };
            writeln!(f, "  {:8.3} {mark} {text}{cut}", said.after.as_secs_f64())?;
        }
        Ok(())
    }
}
