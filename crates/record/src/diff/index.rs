//! The frames of a tape in a few bytes each, and the way back to the whole of them.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::blocks::{Blocks, Fed};
use super::label::{Labels, is_beat};
use super::offsets::{Located, Records, Starts};
use super::{DiffError, DiffOptions};
use crate::format::{Channel, End, Header, Note};
use crate::lines::{TapeItem, TapeLine, TapeLines};
use crate::meaning::{Canonical, parse_line};
use crate::reader::{Tail, TapeError};

/// A frame of a tape, or something that the client did besides writing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// The number of its first record.
    pub(crate) seq: u64,
    /// Where that record stands in the file.
    offset: u64,
    /// What it says but for which ids are which, as a hash.
    pub(crate) shape: u64,
    /// What it is, as an index into [`Words`].
    pub(crate) label: u32,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// A line.
    Line,
    /// The deltas of a block, joined.
    Block,
    /// Something that has no line: the input was closed, a signal was sent.
    Event,
}

#[cfg(test)]
impl Mark {
    pub(crate) const fn for_test(label: u32, shape: u64) -> Self {
        Self { seq: 0, offset: 0, shape, label, what: What::Event }
    }
}

/// The labels of all frames, each once.
#[derive(Debug, Default)]
pub(crate) struct Words {
    all: Vec<String>,
    known: HashMap<String, u32>,
}

impl Words {
    fn number(&mut self, word: String) -> u32 {
        if let Some(number) = self.known.get(&word) {
            return *number;
        }
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(word.clone());
        self.known.insert(word, number);
        number
    }

    pub(crate) fn word(&self, number: u32) -> &str {
        usize::try_from(number).ok().and_then(|at| self.all.get(at)).map_or("?", String::as_str)
    }
}

/// What is known of a tape after it was read once.
#[derive(Debug)]
pub(crate) struct Index {
    pub(super) path: PathBuf,
    pub(crate) header: Header,
    pub(crate) input: Vec<Mark>,
    pub(crate) output: Vec<Mark>,
    pub(crate) end: Option<End>,
    /// What the reader of the diff should know: something is missing on the tape.
    pub(crate) remarks: Vec<String>,
    file: BufReader<File>,
}

/// A frame, read again.
#[derive(Debug)]
pub(crate) enum Whole {
    Json(Value),
    /// A line that is not JSON.
    Raw(Vec<u8>),
    /// Something without a line.
    Nothing,
}

impl Index {
    /// Reads a tape once. `shapes` begins a conversation in the form in which shapes are compared.
    pub(crate) fn read(
        path: &Path,
        mut shapes: Canonical,
        options: &DiffOptions,
        words: &mut Words,
    ) -> Result<Self, DiffError> {
        let error = |source| DiffError::Tape { path: path.to_owned(), source };
        let open = || {
            File::open(path)
                .map_err(|source| error(TapeError::Open { path: path.to_owned(), source }))
        };
        let reader = Located::new(open()?).map_err(error)?;
        let mut index = Self {
            path: path.to_owned(),
            header: reader.header().clone(),
            input: Vec::new(),
            output: Vec::new(),
            end: None,
            remarks: Vec::new(),
            file: BufReader::new(open()?),
        };
        let starts = reader.starts();
        let mut build = Build { labels: Labels::default(), blocks: Blocks::default(), words };
        let mut lines = TapeLines::new(reader);
        for item in lines.by_ref() {
            match item {
                Ok(item) => build.item(&mut index, &mut shapes, options, &starts, item),
                // What is broken in the middle is told, and the rest is compared all the same.
                Err(source @ (TapeError::Broken { .. } | TapeError::TooLong { .. })) => {
                    index.remarks.push(source.to_string());
                }
                Err(source) => return Err(error(source)),
            }
        }
        build.finish(&mut index, &mut shapes);
        match lines.get_ref().tail() {
            Tail::Whole => {}
            Tail::Unfinished => index.remarks.push("it does not say how the process ended".into()),
            Tail::Torn { .. } => index.remarks.push("its end was cut off".into()),
        }
        Ok(index)
    }

    /// Reads a frame again.
    pub(crate) fn whole(&mut self, channel: Channel, mark: &Mark) -> Result<Whole, DiffError> {
        if mark.what == What::Event {
            return Ok(Whole::Nothing);
        }
        let path = &self.path;
        let failed = |source| DiffError::Again { path: path.clone(), seq: mark.seq, source };
        // Most frames stand close to the one before, so the buffer is kept where it can be.
        let here = self.file.stream_position().map_err(failed)?;
        let ahead = i64::try_from(mark.offset).ok().zip(i64::try_from(here).ok());
        match ahead.map(|(there, here)| there - here) {
            Some(distance) => self.file.seek_relative(distance).map_err(failed)?,
            None => self.file.seek(SeekFrom::Start(mark.offset)).map(drop).map_err(failed)?,
        }
        let records = Records { source: &mut self.file };
        let lines = TapeLines::new(records).filter_map(|item| match item {
            Ok(TapeItem::Line(line)) if line.channel == channel => Some(Ok(line)),
            Ok(_) => None,
            Err(source) => Some(Err(source)),
        });
        match mark.what {
            What::Block => block(lines).map_err(failed),
            What::Line | What::Event => {
                for line in lines {
                    let line = line.map_err(failed)?;
                    if line.seq == mark.seq {
                        return Ok(whole(&line));
                    }
                }
                Err(failed(io::ErrorKind::UnexpectedEof.into()))
            }
        }
    }
}

fn whole(line: &TapeLine) -> Whole {
    parse_line(line.text.as_bytes())
        .map_or_else(|| Whole::Raw(line.text.as_bytes().to_vec()), Whole::Json)
}

/// The block whose first delta is the first of these lines.
fn block(lines: impl Iterator<Item = io::Result<TapeLine>>) -> io::Result<Whole> {
    let mut blocks = Blocks::default();
    let mut found = None;
    let mut take = |first: bool, block: Value| {
        if first {
            found = Some(block);
        }
    };
    let mut first = true;
    for line in lines {
        if let Some(frame) = parse_line(line?.text.as_bytes()) {
            blocks.feed(frame, first, &mut take);
            first = false;
        }
        if !blocks.is_open(|first| *first) {
            break;
        }
    }
    blocks.finish(take);
    found.map(Whole::Json).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// Makes marks of lines.
struct Build<'w> {
    labels: Labels,
    /// The open blocks, each with the place of its mark in the output.
    blocks: Blocks<usize>,
    words: &'w mut Words,
}

impl Build<'_> {
    fn item(
        &mut self,
        index: &mut Index,
        shapes: &mut Canonical,
        options: &DiffOptions,
        starts: &Starts,
        item: TapeItem,
    ) {
        match item {
            TapeItem::Line(line) => {
                if line.text.as_bytes().iter().all(u8::is_ascii_whitespace) {
                    return;
                }
                let offset = starts.of(line.channel);
                match line.channel {
                    Channel::In => self.input(index, shapes, options, offset, &line),
                    Channel::Out => self.output(index, shapes, options, offset, &line),
                    Channel::Err => {}
                }
            }
            TapeItem::TooLong { seq, channel, length, .. } => {
                index.remarks.push(format!(
                    "its record {seq} ({channel}) has {length} bytes and was passed over"
                ));
            }
            TapeItem::Note { seq, note, .. } => match note {
                Note::Closed { channel: Channel::In } => {
                    let mark = self.event(seq, "the client closes its end");
                    index.input.push(mark);
                }
                Note::Signal { number } => {
                    let mark = self.event(seq, &format!("signal {number}"));
                    index.input.push(mark);
                }
                Note::Gap { bytes, reason } => {
                    index
                        .remarks
                        .push(format!("{bytes} bytes are missing after record {seq}: {reason}"));
                }
                _ => {}
            },
            TapeItem::End { end, .. } => index.end = Some(end),
        }
    }

    fn event(&mut self, seq: u64, label: &str) -> Mark {
        let label_number = self.words.number(label.to_owned());
        Mark {
            seq,
            offset: 0,
            shape: hash(label.as_bytes()),
            label: label_number,
            what: What::Event,
        }
    }

    fn input(
        &mut self,
        index: &mut Index,
        shapes: &mut Canonical,
        options: &DiffOptions,
        offset: u64,
        line: &TapeLine,
    ) {
        let mark = match parse_line(line.text.as_bytes()) {
            Some(frame) if is_beat(&frame) && !options.beats => return,
            Some(frame) => self.frame(shapes, offset, line, &frame),
            None => self.raw(offset, line),
        };
        index.input.push(mark);
    }

    fn output(
        &mut self,
        index: &mut Index,
        shapes: &mut Canonical,
        options: &DiffOptions,
        offset: u64,
        line: &TapeLine,
    ) {
        let Some(frame) = parse_line(line.text.as_bytes()) else {
            index.output.push(self.raw(offset, line));
            return;
        };
        if is_beat(&frame) && !options.beats {
            return;
        }
        if options.deltas {
            index.output.push(self.frame(shapes, offset, line, &frame));
            return;
        }
        if is_count(&frame) {
            return;
        }
        let place = index.output.len();
        let marks = &mut index.output;
        let complete = |place: usize, block: Value| {
            if let Some(mark) = marks.get_mut(place) {
                mark.shape = shapes.hash(Channel::Out, &block);
            }
        };
        match self.blocks.feed(frame, place, complete) {
            Fed::Joined => {}
            Fed::Frame(frame) => index.output.push(self.frame(shapes, offset, line, &frame)),
            Fed::Began => {
                let label = self.words.number("block of the stream".to_owned());
                let mark = Mark { seq: line.seq, offset, shape: 0, label, what: What::Block };
                index.output.push(mark);
            }
        }
    }

    fn frame(
        &mut self,
        shapes: &mut Canonical,
        offset: u64,
        line: &TapeLine,
        frame: &Value,
    ) -> Mark {
        let label = self.labels.label(line.channel, frame);
        Mark {
            seq: line.seq,
            offset,
            shape: shapes.hash(line.channel, frame),
            label: self.words.number(label),
            what: What::Line,
        }
    }

    fn raw(&mut self, offset: u64, line: &TapeLine) -> Mark {
        Mark {
            seq: line.seq,
            offset,
            shape: hash(line.text.as_bytes()),
            label: self.words.number("a line that is not JSON".to_owned()),
            what: What::Line,
        }
    }

    /// Completes the blocks that never ended.
    fn finish(&mut self, index: &mut Index, shapes: &mut Canonical) {
        self.blocks.finish(|place, block| {
            if let Some(mark) = index.output.get_mut(place) {
                mark.shape = shapes.hash(Channel::Out, &block);
            }
        });
    }
}

/// Whether a frame counts the tokens of a stream as it goes: it comes as often as there are pieces.
fn is_count(frame: &Value) -> bool {
    let is = |key: &str, value: &str| frame.get(key).and_then(Value::as_str) == Some(value);
    is("type", "system") && is("subtype", "thinking_tokens")
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}
