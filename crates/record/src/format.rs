//! The format of a tape: a header, then one record a line.
//!
//! ```text
//! {"tape":"countersign","format":"1.0","tool":"countersign-record 0.1.0","cli":"2.1.325","argv":["claude","--verbose"],"cwd":"/home/user-1/project","env":["HOME","PATH"],"start":"2026-11-16T08:00:00Z"}
//! {"seq":1,"us":1520,"ch":"in","text":"{\"type\":\"user\",…}"}
//! {"seq":2,"us":98310,"ch":"out","text":"{\"type\":\"system\",…}"}
//! {"seq":3,"us":98400,"ch":"out","base64":"//79"}
//! {"seq":4,"us":99000,"ch":"note","note":{"kind":"closed","channel":"in"}}
//! {"seq":5,"us":99900,"ch":"note","end":{"code":0}}
//! ```
//!
//! The text of a record is a line without its newline. A line that is longer than a recorder likes
//! to hold, or that has no newline because the stream ended, is written in pieces: `"more":true`
//! says that no newline followed. So the bytes of a channel are the texts of its records, each
//! with a newline after it unless it says `more`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use jiff::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The version of the format of a tape.
///
/// A reader takes every minor version of the major version that it knows: what is added within a
/// major version can be passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FormatVersion {
    /// Raised when older readers would misread a tape.
    pub major: u16,
    /// Raised when something is added that older readers may pass over.
    pub minor: u16,
}

impl FormatVersion {
    /// The version that this crate writes.
    pub const CURRENT: Self = Self { major: 1, minor: 0 };
}

impl fmt::Display for FormatVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for FormatVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('.').and_then(|(major, minor)| {
            Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
        });
        parts.ok_or_else(|| format!("{text:?} is not a format version such as 1.0"))
    }
}

impl Serialize for FormatVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FormatVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// The first line of a tape: what was recorded, by what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Always `countersign`: tells a tape from other files of JSON lines.
    tape: Magic,
    /// The version of the format.
    pub format: FormatVersion,
    /// The program that recorded, with its version.
    pub tool: String,
    /// The version of the CLI, where the recorder could tell it without running it.
    #[serde(default)]
    pub cli: Option<String>,
    /// The command line, the program first.
    pub argv: Vec<String>,
    /// The working directory.
    pub cwd: String,
    /// The names of the environment variables, sorted. Never their values.
    pub env: Vec<String>,
    /// When the recording began.
    pub start: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Magic {
    #[serde(rename = "countersign")]
    Countersign,
}

impl Header {
    /// The header of a recording that starts at `start` and knows nothing else yet.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self {
            tape: Magic::Countersign,
            format: FormatVersion::CURRENT,
            tool: concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).to_owned(),
            cli: None,
            argv: Vec::new(),
            cwd: String::new(),
            env: Vec::new(),
            start,
        }
    }

    /// Reads the first line of a tape.
    ///
    /// # Errors
    ///
    /// When the line is not the header of a tape, or of a tape that is too new for this reader.
    pub fn parse(line: &[u8]) -> Result<Self, HeaderError> {
        #[derive(Deserialize)]
        struct Peek {
            #[serde(rename = "tape")]
            _tape: Magic,
            format: FormatVersion,
        }
        // The version is looked at first: a newer header may well have another shape.
        let peek: Peek = serde_json::from_slice(line).map_err(HeaderError::NotATape)?;
        if peek.format.major != FormatVersion::CURRENT.major {
            return Err(HeaderError::Version(peek.format));
        }
        serde_json::from_slice(line).map_err(HeaderError::NotATape)
    }

    /// Appends the header to `buffer` as a line.
    ///
    /// # Errors
    ///
    /// None in practice: strings and numbers can always be written.
    pub fn write(&self, buffer: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        serde_json::to_writer(&mut *buffer, self)?;
        buffer.push(b'\n');
        Ok(())
    }
}

/// Why a file is not a tape that can be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// The first line is something else.
    #[error("this is not a tape: its first line is not the header of one ({0})")]
    NotATape(#[source] serde_json::Error),
    /// The tape has a major version that this reader does not know.
    #[error("the tape has format {0}, this program reads {current}", current = FormatVersion::CURRENT)]
    Version(FormatVersion),
}

/// Where a line went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    /// From the client to the CLI, on its standard input.
    In,
    /// From the CLI to the client, on its standard output.
    Out,
    /// From the CLI, on its standard error.
    Err,
}

impl Channel {
    /// The name on the tape.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Out => "out",
            Self::Err => "err",
        }
    }
}

impl FromStr for Channel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::In, Self::Out, Self::Err]
            .into_iter()
            .find(|channel| channel.name() == text)
            .ok_or_else(|| format!("{text:?} is not a channel: in, out or err"))
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One record of a tape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The number of the record, counting from 1 over all channels. A line that went in has a
    /// lower number than what came out because of it.
    pub seq: u64,
    /// Microseconds since the recording began, by a clock that only goes forward.
    pub us: u64,
    /// What happened.
    pub entry: Entry,
}

/// What a record holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A line, or a piece of one.
    Line {
        /// The stream it belongs to.
        channel: Channel,
        /// The bytes.
        text: Text,
        /// No newline followed: the line goes on in the next record of the channel, or the stream
        /// ended here.
        more: bool,
    },
    /// Something that the recorder has to say.
    Note(Note),
    /// How the process ended: the last record of a whole tape.
    End(End),
}

/// The bytes of a line: text where they are UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// UTF-8.
    Utf8(String),
    /// Anything else; on the tape as base64.
    Bytes(Vec<u8>),
}

impl Text {
    /// The bytes, whatever they are.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Utf8(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes.as_slice(),
        }
    }

    /// The bytes, without copying them.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            Self::Utf8(text) => text.into_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }

    /// The text, where it is UTF-8.
    #[must_use]
    pub const fn as_str(&self) -> Option<&str> {
        match self {
            Self::Utf8(text) => Some(text.as_str()),
            Self::Bytes(_) => None,
        }
    }

    /// As text where the bytes are UTF-8, as it has to be. Pieces that are not can make a line
    /// that is.
    pub(crate) fn normalised(self) -> Self {
        match self {
            Self::Utf8(text) => Self::Utf8(text),
            Self::Bytes(bytes) => bytes.into(),
        }
    }
}

impl From<Vec<u8>> for Text {
    fn from(bytes: Vec<u8>) -> Self {
        String::from_utf8(bytes).map_or_else(|error| Self::Bytes(error.into_bytes()), Self::Utf8)
    }
}

/// What a recorder notes besides the lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Note {
    /// A stream was closed by its writer.
    Closed {
        /// The stream.
        channel: Channel,
    },
    /// The recorder got a signal and passed it on.
    Signal {
        /// Its number.
        number: i32,
    },
    /// The recorder could not keep up or could not write; this much is missing here.
    Gap {
        /// Bytes that are missing, over all channels.
        bytes: u64,
        /// Why.
        reason: String,
    },
    /// Words.
    Comment {
        /// What is said.
        text: String,
    },
    /// A kind that this reader does not know.
    #[serde(other)]
    Unknown,
}

/// How the recorded process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

/// A record as it stands on the tape.
#[derive(Serialize, Deserialize)]
struct Wire<'a> {
    seq: u64,
    us: u64,
    ch: WireChannel,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    base64: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    more: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<Note>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<End>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WireChannel {
    In,
    Out,
    Err,
    Note,
}

impl From<Channel> for WireChannel {
    fn from(channel: Channel) -> Self {
        match channel {
            Channel::In => Self::In,
            Channel::Out => Self::Out,
            Channel::Err => Self::Err,
        }
    }
}

/// Why a line of a tape is not a record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The line is not a record as the format has them.
    #[error("not a record: {0}")]
    Json(#[from] serde_json::Error),
    /// The bytes of a line are not base64.
    #[error("not base64: {0}")]
    Base64(#[from] base64::DecodeError),
    /// The record has nothing that this reader knows.
    #[error("the record holds neither text nor note nor end")]
    Empty,
}

impl Record {
    /// Reads a line of a tape.
    ///
    /// # Errors
    ///
    /// When the line is not a whole record.
    pub fn parse(line: &[u8]) -> Result<Self, RecordError> {
        let wire: Wire<'_> = serde_json::from_slice(line)?;
        let Wire { seq, us, ch, .. } = wire;
        let channel = match ch {
            WireChannel::In => Some(Channel::In),
            WireChannel::Out => Some(Channel::Out),
            WireChannel::Err => Some(Channel::Err),
            WireChannel::Note => None,
        };
        let entry = match (channel, wire) {
            (Some(channel), Wire { text: Some(text), more, .. }) => {
                Entry::Line { channel, text: Text::Utf8(text.into_owned()), more }
            }
            (Some(channel), Wire { base64: Some(coded), more, .. }) => {
                Entry::Line { channel, text: Text::Bytes(BASE64.decode(coded.as_bytes())?), more }
            }
            (None, Wire { end: Some(end), .. }) => Entry::End(end),
            (None, Wire { note: Some(note), .. }) => Entry::Note(note),
            _ => return Err(RecordError::Empty),
        };
        Ok(Self { seq, us, entry })
    }

    /// Appends the record to `buffer` as a line.
    ///
    /// # Errors
    ///
    /// None in practice: strings and numbers can always be written.
    pub fn write(&self, buffer: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        let Self { seq, us, entry } = self;
        let empty = Wire::empty(*seq, *us);
        match entry {
            Entry::Line { channel, text, more } => {
                write_line(buffer, *seq, *us, *channel, text.as_bytes(), *more)
            }
            Entry::Note(note) => Wire { note: Some(note.clone()), ..empty }.write(buffer),
            Entry::End(end) => Wire { end: Some(*end), ..empty }.write(buffer),
        }
    }
}

/// Appends a record of a line to `buffer`, straight from the bytes as they came.
pub(crate) fn write_line(
    buffer: &mut Vec<u8>,
    seq: u64,
    us: u64,
    channel: Channel,
    bytes: &[u8],
    more: bool,
) -> Result<(), serde_json::Error> {
    let (text, base64) = match simdutf8::basic::from_utf8(bytes) {
        Ok(text) => (Some(Cow::Borrowed(text)), None),
        Err(_) => (None, Some(Cow::Owned(BASE64.encode(bytes)))),
    };
    Wire { ch: channel.into(), text, base64, more, ..Wire::empty(seq, us) }.write(buffer)
}

impl Wire<'_> {
    /// A record that says nothing yet.
    const fn empty(seq: u64, us: u64) -> Self {
        Self {
            seq,
            us,
            ch: WireChannel::Note,
            text: None,
            base64: None,
            more: false,
            note: None,
            end: None,
        }
    }

    /// Appends the record to `buffer` as a line.
    fn write(&self, buffer: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        serde_json::to_writer(&mut *buffer, self)?;
        buffer.push(b'\n');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_read_back_as_they_were_written() {
        let entries = [
            Entry::Line {
                channel: Channel::In,
                text: Text::Utf8("{\"a\":\"ü\\n\"}\r".into()),
                more: false,
            },
            Entry::Line { channel: Channel::Out, text: Text::Bytes(vec![0xff, 0xfe]), more: true },
            Entry::Line { channel: Channel::Err, text: Text::Utf8(String::new()), more: false },
            Entry::Note(Note::Closed { channel: Channel::In }),
            Entry::Note(Note::Gap { bytes: 7, reason: "disk full".into() }),
            Entry::End(End::Code(0)),
            Entry::End(End::Signal(15)),
        ];
        for (seq, entry) in (1..).zip(entries) {
            let record = Record { seq, us: 10 * seq, entry };
            let mut line = Vec::new();
            record.write(&mut line).unwrap();
            assert_eq!(Record::parse(&line).unwrap(), record, "{}", String::from_utf8_lossy(&line));
        }
    }

    #[test]
    fn a_note_of_a_later_version_is_passed_over() {
        let line = br#"{"seq":1,"us":2,"ch":"note","note":{"kind":"weather","sun":true},"new":1}"#;
        assert_eq!(Record::parse(line).unwrap().entry, Entry::Note(Note::Unknown));
    }

    #[test]
    fn a_tape_of_another_major_version_is_refused() {
        let line = br#"{"tape":"countersign","format":"2.0","all":"new"}"#;
        assert!(matches!(Header::parse(line), Err(HeaderError::Version(v)) if v.major == 2));
        assert!(matches!(Header::parse(b"{}"), Err(HeaderError::NotATape(_))));
    }
}
