//! From the lines of a tape to marks.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Value, json};

use super::DiffOptions;
use super::blocks::{Blocks, Fed};
use super::index::{Mark, What, Words};
use super::label::{Labels, is_beat};
use crate::format::Channel;
use crate::lines::TapeLine;
use crate::meaning::{Canonical, parse_line};

/// Makes marks of the lines of a tape.
pub(super) struct Build<'a> {
    shapes: Canonical,
    options: &'a DiffOptions,
    words: &'a mut Words,
    labels: Labels,
    /// The open blocks, each with the place of its mark in the output.
    blocks: Blocks<usize>,
    input: Vec<Mark>,
    output: Vec<Mark>,
    transcript: Vec<Mark>,
}

impl<'a> Build<'a> {
    /// Begins a tape; `shapes` begins a conversation in the form in which shapes are compared.
    pub(super) fn new(shapes: Canonical, options: &'a DiffOptions, words: &'a mut Words) -> Self {
        Self {
            shapes,
            options,
            words,
            labels: Labels::default(),
            blocks: Blocks::default(),
            input: Vec::new(),
            output: Vec::new(),
            transcript: Vec::new(),
        }
    }

    /// Something that the client did besides writing.
    pub(super) fn event(&mut self, seq: u64, label: &str) {
        let mark = self.mark(seq, 0, 0, label.to_owned(), What::Event);
        self.input.push(mark);
    }

    /// A line that begins at an offset in the file.
    pub(super) fn line(&mut self, line: &TapeLine, offset: u64) {
        let bytes = line.text.as_bytes();
        if line.channel == Channel::Err || bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let Some(frame) = parse_line(bytes) else {
            let mut hasher = DefaultHasher::new();
            bytes.hash(&mut hasher);
            let label = "a line that is not JSON".to_owned();
            let mark = self.mark(line.seq, offset, hasher.finish(), label, What::Line);
            match line.channel {
                Channel::In => self.input.push(mark),
                Channel::Out | Channel::Err => self.output.push(mark),
            }
            return;
        };
        if is_beat(&frame) && !self.options.beats {
            return;
        }
        match line.channel {
            Channel::In => {
                let mark = self.frame(line, offset, &frame);
                self.input.push(mark);
            }
            Channel::Out if self.options.deltas => {
                let mark = self.frame(line, offset, &frame);
                self.output.push(mark);
            }
            Channel::Out | Channel::Err => self.joined(line, offset, frame),
        }
    }

    /// A frame of the output that may be a piece of something, or hold several.
    fn joined(&mut self, line: &TapeLine, offset: u64, frame: Value) {
        if is_count(&frame) {
            return;
        }
        let mut number = 0;
        while let Some(entry) = entry(&frame, number) {
            number += 1;
            if is_state(&entry) {
                continue;
            }
            let shape = self.shapes.hash(Channel::Out, &entry);
            let kind = entry.pointer("/entry/type").and_then(Value::as_str).unwrap_or("entry");
            let label = format!("transcript {kind:.40}");
            let mark = self.mark(line.seq, offset, shape, label, What::Entry(number - 1));
            self.transcript.push(mark);
        }
        if number > 0 {
            return;
        }
        let place = self.output.len();
        let Self { blocks, output, shapes, .. } = self;
        let complete = |place: usize, block: Value| {
            if let Some(mark) = output.get_mut(place) {
                mark.shape = shapes.hash(Channel::Out, &block);
            }
        };
        match blocks.feed(frame, place, complete) {
            Fed::Joined => {}
            Fed::Frame(frame) => {
                let mark = self.frame(line, offset, &frame);
                self.output.push(mark);
            }
            Fed::Began => {
                let label = "block of the stream".to_owned();
                let mark = self.mark(line.seq, offset, 0, label, What::Block);
                self.output.push(mark);
            }
        }
    }

    fn frame(&mut self, line: &TapeLine, offset: u64, frame: &Value) -> Mark {
        let label = self.labels.label(line.channel, frame);
        let shape = self.shapes.hash(line.channel, frame);
        self.mark(line.seq, offset, shape, label, What::Line)
    }

    fn mark(&mut self, seq: u64, offset: u64, shape: u64, label: String, what: What) -> Mark {
        // Two answers may say the same to different questions.
        let mut hasher = DefaultHasher::new();
        (shape, &label).hash(&mut hasher);
        Mark { seq, offset, shape: hasher.finish(), label: self.words.number(label), what }
    }

    /// Completes the blocks that never ended, and gives the marks: what went in, what came out,
    /// and the transcript.
    pub(super) fn finish(mut self) -> [Vec<Mark>; 3] {
        let Self { blocks, output, shapes, .. } = &mut self;
        blocks.finish(|place, block| {
            if let Some(mark) = output.get_mut(place) {
                mark.shape = shapes.hash(Channel::Out, &block);
            }
        });
        [self.input, self.output, self.transcript]
    }
}

/// Whether a frame counts the tokens of a stream as it goes: it comes as often as there are pieces.
fn is_count(frame: &Value) -> bool {
    let is = |key: &str, value: &str| frame.get(key).and_then(Value::as_str) == Some(value);
    is("type", "system") && is("subtype", "thinking_tokens")
}

/// Whether an entry of the transcript says in what state the session is. It does so whenever the
/// transcript is written to the disk, so there are as many as there was time for.
fn is_state(entry: &Value) -> bool {
    const STATES: [&str; 10] = [
        "agent-color",
        "agent-name",
        "agent-setting",
        "ai-title",
        "atis-latch",
        "custom-title",
        "last-prompt",
        "mode",
        "permission-mode",
        "tag",
    ];
    entry.pointer("/entry/type").and_then(Value::as_str).is_some_and(|kind| STATES.contains(&kind))
}

/// An entry of a frame that mirrors the transcript, as a frame of its own. How many entries are
/// sent at once is a matter of time.
pub(super) fn entry(frame: &Value, number: u32) -> Option<Value> {
    if frame.get("type")?.as_str()? != "transcript_mirror" {
        return None;
    }
    let entry = frame.get("entries")?.get(usize::try_from(number).ok()?)?;
    Some(json!({"type": "transcript_mirror", "filePath": frame.get("filePath"), "entry": entry}))
}
