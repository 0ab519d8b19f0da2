//! The frames of a tape in a few bytes each, and the way back to the whole of them.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::blocks::Blocks;
use super::build::{Build, entry};
use super::offsets::{Located, Records};
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
    pub(super) offset: u64,
    /// What it says but for which ids are which, as a hash.
    pub(crate) shape: u64,
    /// What it is, as an index into [`Words`].
    pub(crate) label: u32,
    pub(super) what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A line.
    Line,
    /// The deltas of a block, joined.
    Block,
    /// One of the entries in a frame that mirrors the transcript.
    Entry(u32),
    /// Something that has no line: the input was closed, a signal was sent.
    Event,
}

/// Frames that are compared in their order. How the sequences interleave is a matter of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sequence {
    /// What the client did.
    Input,
    /// What the CLI wrote.
    Output,
    /// The transcript that the CLI mirrors: it is written when there is time for it.
    Transcript,
}

impl Sequence {
    pub(crate) const ALL: [Self; 3] = [Self::Input, Self::Output, Self::Transcript];

    /// The stream that it is a part of.
    pub(crate) const fn channel(self) -> Channel {
        match self {
            Self::Input => Channel::In,
            Self::Output | Self::Transcript => Channel::Out,
        }
    }
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
    pub(super) fn number(&mut self, word: String) -> u32 {
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
    /// The marks of each [`Sequence`], in its order.
    pub(super) marks: [Vec<Mark>; 3],
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
        shapes: Canonical,
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
            marks: Default::default(),
            end: None,
            remarks: Vec::new(),
            file: BufReader::new(open()?),
        };
        let starts = reader.starts();
        let mut build = Build::new(shapes, options, words);
        let mut lines = TapeLines::new(reader);
        for item in lines.by_ref() {
            match item {
                Ok(TapeItem::Line(line)) => build.line(&line, starts.of(line.channel)),
                Ok(TapeItem::TooLong { seq, channel, length, .. }) => index
                    .remarks
                    .push(format!("its record {seq} ({channel}) has {length} bytes: passed over")),
                Ok(TapeItem::Note { seq, note, .. }) => match note {
                    Note::Closed { channel: Channel::In } => {
                        build.event(seq, "the client closes its end");
                    }
                    Note::Signal { number } => build.event(seq, &format!("signal {number}")),
                    Note::Gap { bytes, reason } => index
                        .remarks
                        .push(format!("{bytes} bytes are missing after record {seq}: {reason}")),
                    _ => {}
                },
                Ok(TapeItem::End { end, .. }) => index.end = Some(end),
                // What is broken in the middle is told, and the rest is compared all the same.
                Err(source @ (TapeError::Broken { .. } | TapeError::TooLong { .. })) => {
                    index.remarks.push(source.to_string());
                }
                Err(source) => return Err(error(source)),
            }
        }
        index.marks = build.finish();
        match lines.get_ref().tail() {
            Tail::Whole => {}
            Tail::Unfinished => index.remarks.push("it does not say how the process ended".into()),
            Tail::Torn { .. } => index.remarks.push("its end was cut off".into()),
        }
        Ok(index)
    }

    pub(crate) fn marks(&self, sequence: Sequence) -> &[Mark] {
        let [input, output, transcript] = &self.marks;
        match sequence {
            Sequence::Input => input,
            Sequence::Output => output,
            Sequence::Transcript => transcript,
        }
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
            What::Line | What::Entry(_) | What::Event => {
                for line in lines {
                    let line = line.map_err(failed)?;
                    if line.seq != mark.seq {
                        continue;
                    }
                    let whole = whole(&line);
                    return Ok(match (&whole, mark.what) {
                        (Whole::Json(frame), What::Entry(number)) => {
                            entry(frame, number).map_or(whole, Whole::Json)
                        }
                        _ => whole,
                    });
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
