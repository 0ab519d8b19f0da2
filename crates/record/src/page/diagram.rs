//! What a tape looks like as a diagram.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead};
use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Serialize;

use super::data;
use super::label::{Family, Label, Part, version};
use super::turns::{Requests, Turn, Turns};
use crate::summary::{end_words, note_words};
use crate::{
    Channel, End, Header, Tail, TapeError, TapeItem, TapeLine, TapeLines, TapeReader, Text,
};

/// A line that is longer than this is named on the page, and nothing of it is shown.
const MAX_LINE: usize = 16 * 1024 * 1024;

/// How much of a tape a diagram takes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Frames. Those after them are counted.
    pub frames: usize,
    /// Bytes of one frame; the rest is cut off.
    pub frame_bytes: usize,
    /// Bytes of all frames together. When they are used up, the frames after that have their names
    /// and no text.
    pub total_bytes: usize,
}

impl Default for Limits {
    /// 25 000 frames of up to 64 KiB, and of 48 MiB together: what a browser still shows at once.
    fn default() -> Self {
        Self { frames: 25_000, frame_bytes: 64 * 1024, total_bytes: 48 * 1024 * 1024 }
    }
}

/// The sequence diagram of a tape: what went over the wire, in order and with times.
#[derive(Debug)]
pub struct Diagram {
    header: Header,
    frames: Vec<Frame>,
    turns: Turns,
    counts: BTreeMap<Family, u64>,
    /// Frames that are not on the page.
    left_out: u64,
    us: u64,
    end: Option<End>,
    tail: Tail,
}

/// A frame, as the script reads it.
#[derive(Debug, Serialize)]
struct Frame {
    /// The number of the record.
    n: u64,
    us: u64,
    /// `in`, `out`, `err` or `note`.
    ch: &'static str,
    family: Family,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    title: String,
    said: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The bytes, where they are no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    /// How long the line was, where not all of it is here.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<u64>,
    /// No newline followed.
    #[serde(skip_serializing_if = "is_false")]
    open: bool,
    #[serde(skip_serializing_if = "is_false")]
    bad: bool,
    /// The frame is an answer or a cancellation.
    #[serde(skip_serializing_if = "is_false")]
    reply: bool,
    /// The place of the request or of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pair: Option<usize>,
    /// The tool calls that it is about, by numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<usize>,
}

/// Whether a flag is down; then it is left out.
const fn is_false(value: &bool) -> bool {
    !*value
}

/// A diagram, as the script reads it.
#[derive(Serialize)]
struct Data<'a> {
    name: &'a str,
    cli: Option<&'a str>,
    tool: &'a str,
    argv: &'a [String],
    cwd: &'a str,
    start: String,
    us: u64,
    end: Option<String>,
    /// Whether it ended as it should.
    well: bool,
    tail: &'static str,
    counts: &'a BTreeMap<Family, u64>,
    left_out: u64,
    turns: &'a [Turn],
    frames: &'a [Frame],
}

impl Diagram {
    /// Reads a tape in a file, with the usual limits.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is not a tape.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TapeError> {
        Self::read(TapeReader::open(path)?, Limits::default())
    }

    /// Reads a tape. One that is cut is shown as far as it goes, and lines of it that are not
    /// records are noted where they stand.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn read(reader: TapeReader<impl BufRead>, limits: Limits) -> Result<Self, TapeError> {
        let mut drawing = Drawing::new(reader.header().clone(), limits);
        let mut items = TapeLines::with_max_line(reader, MAX_LINE);
        for item in items.by_ref() {
            match item {
                Ok(item) => drawing.add(item),
                Err(error @ (TapeError::Broken { .. } | TapeError::TooLong { .. })) => {
                    drawing.broken(&error);
                }
                Err(error) => return Err(error),
            }
        }
        drawing.diagram.tail = items.get_ref().tail();
        Ok(drawing.diagram)
    }

    /// How many frames and notes are on the tape.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.counts.values().sum()
    }

    /// How many of them are not in the diagram, because of a limit.
    #[must_use]
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// How long the recording is.
    #[must_use]
    pub const fn duration(&self) -> Duration {
        Duration::from_micros(self.us)
    }

    /// How the CLI ended, where the tape says it.
    #[must_use]
    pub const fn end(&self) -> Option<End> {
        self.end
    }

    /// Writes what the script draws it from.
    pub(super) fn write_data(&self, out: impl io::Write, name: &str) -> io::Result<()> {
        let header = &self.header;
        let data = Data {
            name,
            cli: header.cli.as_deref(),
            tool: &header.tool,
            argv: &header.argv,
            cwd: &header.cwd,
            start: header.start.to_string(),
            us: self.us,
            end: self.end.map(end_words),
            well: self.end == Some(End::Code(0)),
            tail: match self.tail {
                Tail::Whole => "whole",
                Tail::Unfinished => "unfinished",
                Tail::Torn { .. } => "torn",
            },
            counts: &self.counts,
            left_out: self.left_out,
            turns: self.turns.all(),
            frames: &self.frames,
        };
        data::write(out, &data)
    }
}

/// A diagram that is being made.
#[derive(Debug)]
struct Drawing {
    diagram: Diagram,
    limits: Limits,
    /// Bytes of text that may still be taken in.
    left: usize,
    requests: Requests,
    calls: HashMap<String, usize>,
}

/// What stands in a frame besides its label.
#[derive(Debug, Default)]
struct Body {
    text: Option<String>,
    base64: Option<String>,
    cut: Option<u64>,
    open: bool,
}

impl Drawing {
    fn new(header: Header, limits: Limits) -> Self {
        let diagram = Diagram {
            header,
            frames: Vec::new(),
            turns: Turns::default(),
            counts: BTreeMap::new(),
            left_out: 0,
            us: 0,
            end: None,
            tail: Tail::Unfinished,
        };
        let left = limits.total_bytes;
        Self { diagram, limits, left, requests: Requests::default(), calls: HashMap::new() }
    }

    fn add(&mut self, item: TapeItem) {
        match item {
            TapeItem::Line(TapeLine { seq, us, channel, text, ended }) => {
                let label = Label::of(channel, text.as_bytes());
                if self.diagram.header.cli.is_none() && label.kind.as_deref() == Some("system/init")
                {
                    self.diagram.header.cli = version(text.as_bytes());
                }
                let body = if self.is_full() { Body::default() } else { self.body(text, !ended) };
                self.push(seq, us, Some(channel), label, body);
            }
            TapeItem::TooLong { seq, us, channel, length, ended } => {
                let family = if channel == Channel::Err { Family::Stderr } else { Family::Other };
                let label = Label::plain(family, "no frame", &format!("a line of {length} bytes"));
                let body = Body { cut: Some(length), open: !ended, ..Body::default() };
                self.push(seq, us, Some(channel), label, body);
            }
            TapeItem::Note { seq, us, note } => {
                let label = Label::plain(Family::Note, "note", &note_words(&note));
                let text = serde_json::to_string(&note).unwrap_or_default();
                let body = if self.is_full() {
                    Body::default()
                } else {
                    self.body(Text::Utf8(text), false)
                };
                self.push(seq, us, None, label, body);
            }
            TapeItem::End { seq, us, end } => {
                let mut label = Label::plain(Family::Note, "end", &end_words(end));
                label.bad = end != End::Code(0);
                self.diagram.end = Some(end);
                self.push(seq, us, None, label, Body::default());
            }
        }
    }

    /// Notes a line of the tape that is no record.
    fn broken(&mut self, error: &TapeError) {
        let mut label = Label::plain(Family::Note, "broken tape", &error.to_string());
        label.bad = true;
        // It has neither number nor time; it stands behind the frame before it.
        let (n, us) = self.diagram.frames.last().map_or((0, 0), |frame| (frame.n, frame.us));
        self.push(n, us, None, label, Body::default());
    }

    fn is_full(&self) -> bool {
        self.diagram.frames.len() >= self.limits.frames
    }

    /// As much of a text as may be kept.
    fn body(&mut self, text: Text, open: bool) -> Body {
        let most = self.limits.frame_bytes.min(self.left);
        let whole = text.as_bytes().len();
        let cut = (whole > most).then_some(whole as u64);
        self.left -= whole.min(most);
        match text {
            Text::Utf8(mut text) => {
                text.truncate(text.floor_char_boundary(most));
                text.shrink_to_fit();
                Body { text: Some(text), cut, open, ..Body::default() }
            }
            Text::Bytes(bytes) => {
                let kept = bytes.get(..most).unwrap_or(&bytes);
                Body { base64: Some(BASE64.encode(kept)), cut, open, ..Body::default() }
            }
        }
    }

    fn push(&mut self, n: u64, us: u64, channel: Option<Channel>, label: Label, body: Body) {
        let Label { family, kind, mut title, mut said, bad, part, calls } = label;
        *self.diagram.counts.entry(family).or_default() += 1;
        self.diagram.us = self.diagram.us.max(us);
        if self.is_full() {
            self.diagram.left_out += 1;
            return;
        }
        let at = self.diagram.frames.len();
        self.diagram.turns.add(at, &part, bad);
        let reply = matches!(part, Part::Response(_) | Part::Cancel(_));
        let pair = channel.and_then(|channel| self.requests.add(at, channel, &part));
        let mut calls: Vec<usize> = calls.into_iter().map(|id| self.call(id)).collect();
        if let Some(request) = pair.and_then(|pair| self.diagram.frames.get_mut(pair)) {
            request.pair = Some(at);
            // An answer says only its id; a person wants to know what it answers.
            match part {
                Part::Response(_) => title.clone_from(&request.title),
                _ => said.clone_from(&request.title),
            }
            calls.clone_from(&request.calls);
        }
        let Body { text, base64, cut, open } = body;
        let ch = channel.map_or("note", Channel::name);
        self.diagram.frames.push(Frame {
            n,
            us,
            ch,
            family,
            kind,
            title,
            said,
            text,
            base64,
            cut,
            open,
            bad,
            reply,
            pair,
            calls,
        });
    }

    /// The number of a tool call.
    fn call(&mut self, id: String) -> usize {
        let next = self.calls.len();
        *self.calls.entry(id).or_insert(next)
    }
}
