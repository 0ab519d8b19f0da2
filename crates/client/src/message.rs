//! What a session says, message by message.

use std::borrow::Cow;
use std::sync::OnceLock;

use bytes::Bytes;
use countersign_protocol::{Decoded, FromCli, Kind, Line, Malformed};

use crate::link::abridged;

/// One message of a session: the line, and what it says once somebody asks.
///
/// Nothing that the CLI writes is kept back but control traffic, which the session deals with
/// itself. A kind that is new, a frame that is broken and a line that is no frame at all are
/// messages, too; none of them ends the stream.
///
/// ```
/// use countersign::Message;
/// use countersign::protocol::FromCli;
///
/// let message = Message::from_line(br#"{"type":"keep_alive"}"#.as_slice());
/// assert!(matches!(message.frame(), Some(FromCli::KeepAlive(_))));
/// assert_eq!(message.kind().unwrap().to_string(), "keep_alive");
/// ```
#[derive(Debug, Clone)]
pub struct Message {
    line: Bytes,
    decoded: OnceLock<Saying>,
}

/// What a message says.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Saying {
    /// A frame, of a kind that is known or of one that is not.
    Frame(FromCli),
    /// A frame that says what it is, and cannot be read.
    Malformed(Malformed),
    /// A line that is not a frame.
    NotAFrame(String),
    /// Here the CLI wrote a line that was longer than allowed, and was passed over.
    TooLong {
        /// How many bytes it had.
        length: u64,
        /// What kind of frame it was, if that could be told.
        kind: Option<Kind>,
    },
    /// Here pieces of messages were dropped, because nobody read them and that was chosen.
    DeltasDropped {
        /// How many.
        count: u64,
    },
    /// Here messages were lost, because the file that they had been put into cannot be read.
    Lost {
        /// How many bytes of messages.
        length: u64,
    },
}

impl Message {
    /// A message made of a line, which is given without its line break.
    #[must_use]
    pub fn from_line(line: impl Into<Bytes>) -> Self {
        Self { line: line.into(), decoded: OnceLock::new() }
    }

    /// The line, byte for byte as the CLI wrote it, without its line break.
    #[must_use]
    pub fn line(&self) -> &Bytes {
        &self.line
    }

    /// What kind of frame it is, read from the envelope alone; none if it is no frame.
    #[must_use]
    pub fn kind(&self) -> Option<Kind> {
        Line::parse(&self.line).ok().map(|line| line.kind())
    }

    /// Whether it is the result of a turn, readable or not.
    pub(crate) fn is_result(&self) -> bool {
        let line = passed_over(&self.line).unwrap_or(&self.line);
        Line::parse(line).is_ok_and(|line| line.frame_type() == "result")
    }

    /// Whether messages are missing in its place.
    pub(crate) fn is_lost(&self) -> bool {
        self.line.starts_with(MARKER.as_bytes()) && matches!(self.saying(), Saying::Lost { .. })
    }

    /// Its short fields, of a line that cannot be read or was passed over.
    pub(crate) fn abridged(&self) -> Cow<'_, [u8]> {
        match passed_over(&self.line) {
            Some(abridged) => Cow::Borrowed(abridged),
            None => Cow::Owned(abridged(&self.line)),
        }
    }

    /// What it says. Read when it is asked for the first time.
    #[must_use]
    pub fn saying(&self) -> &Saying {
        self.decoded.get_or_init(|| read(&self.line))
    }

    /// The frame, if it can be read as one.
    #[must_use]
    pub fn frame(&self) -> Option<&FromCli> {
        match self.saying() {
            Saying::Frame(frame) => Some(frame),
            _ => None,
        }
    }

    /// [`Message::saying`] to keep.
    #[must_use]
    pub fn into_saying(self) -> Saying {
        match self.decoded.into_inner() {
            Some(saying) => saying,
            None => read(&self.line),
        }
    }
}

fn read(line: &[u8]) -> Saying {
    if let Some(told) = line.strip_prefix(MARKER.as_bytes()).and_then(marker) {
        return told;
    }
    match Line::parse(line) {
        Ok(parsed) => match parsed.decode::<FromCli>() {
            Decoded::Known(frame) | Decoded::Unknown(frame) => Saying::Frame(frame),
            Decoded::Malformed(malformed) => Saying::Malformed(malformed),
        },
        Err(problem) => Saying::NotAFrame(problem.to_string()),
    }
}

/// How a line begins that was put in by us. It is no JSON, so no frame begins like this.
const MARKER: &str = "\u{1}countersign ";

/// The line that stands where pieces of messages were dropped.
pub(crate) fn dropped_marker(count: u64) -> String {
    format!("{MARKER}dropped {count}\n")
}

/// The line that stands where messages could not be read back.
pub(crate) fn lost_marker(length: u64) -> String {
    format!("{MARKER}lost {length}\n")
}

/// The line that stands where one was passed over, with its short fields.
pub(crate) fn too_long_marker(length: u64, abridged: &[u8]) -> Vec<u8> {
    [format!("{MARKER}too-long {length} ").as_bytes(), abridged, b"\n"].concat()
}

fn marker(told: &[u8]) -> Option<Saying> {
    let mut parts = told.splitn(3, |byte| *byte == b' ');
    let (what, number) = (parts.next()?, std::str::from_utf8(parts.next()?).ok()?);
    let number = number.trim_end().parse().ok()?;
    match what {
        b"dropped" => Some(Saying::DeltasDropped { count: number }),
        b"lost" => Some(Saying::Lost { length: number }),
        b"too-long" => {
            let kind = parts.next().and_then(|line| Line::parse(line).ok()).map(|line| line.kind());
            Some(Saying::TooLong { length: number, kind })
        }
        _ => None,
    }
}

/// What is left of a line that was passed over.
fn passed_over(line: &[u8]) -> Option<&[u8]> {
    let told = line.strip_prefix(MARKER.as_bytes())?.strip_prefix(b"too-long ")?;
    told.splitn(2, |byte| *byte == b' ').nth(1)
}
