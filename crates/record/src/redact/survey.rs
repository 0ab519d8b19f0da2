//! One pass over a tape, looking at everything that has to be looked at together.

use std::path::Path;

use super::blocks::{Blocks, Joined, TooMuch};
use super::edit::Place;
use super::error::RedactError;
use super::find::Finder;
use super::json::{Leaf, LeafKind, leaves};
use super::pieces::{Joiner, Line, RecordId, TooLong};
use crate::lines::DEFAULT_MAX_LINE;
use crate::reader::{Tail, TapeError, TapeReader};

/// A text of a tape in which something may have been found.
#[derive(Debug)]
pub(super) enum Source<'a> {
    /// The header, or what a record holds besides its line, as it stands in the file.
    Tape(RecordId, &'a [u8]),
    /// A line.
    Line(&'a Line),
    /// A block of a stream.
    Block(&'a Joined),
}

impl Source<'_> {
    /// The text itself.
    pub(super) fn text(&self) -> &[u8] {
        match self {
            Self::Tape(_, raw) => raw,
            Self::Line(line) => &line.text,
            Self::Block(block) => &block.text,
        }
    }
}

/// What a survey says at its end.
#[derive(Debug)]
pub(super) struct Summary {
    /// How many records there are.
    pub(super) records: u64,
    /// How many bytes of a record that was cut are at the end.
    pub(super) torn: u64,
}

/// Goes over a tape and hands each text, with what was found in it, to `found`.
pub(super) fn survey(
    path: &Path,
    finder: &Finder<'_>,
    mut found: impl FnMut(&Source<'_>, Vec<Place>),
) -> Result<Summary, RedactError> {
    let too_long =
        |record: RecordId| RedactError::TooLong { path: path.to_owned(), seq: record.seq };
    let mut reader = open(path)?;
    let mut joiner = Joiner::new(DEFAULT_MAX_LINE);
    let mut blocks = Blocks::default();
    let mut lines = Vec::new();
    let mut record_id = RecordId { index: 0, seq: 0 };
    tape(finder, record_id, reader.raw_line(), &mut found);
    loop {
        let record = reader.next().transpose().map_err(|error| unreadable(path, error))?;
        match &record {
            Some(record) => {
                record_id = RecordId { index: record_id.index + 1, seq: record.seq };
                tape(finder, record_id, reader.raw_line(), &mut found);
                let taken = joiner.take(record_id, &record.entry, &mut lines);
                taken.map_err(|TooLong(record)| too_long(record))?;
            }
            None => joiner.finish(&mut lines),
        }
        for line in lines.drain(..) {
            let complete = look_at_line(finder, &line, &mut blocks, &mut found);
            complete.map_err(|TooMuch| too_long(record_id))?;
        }
        if record.is_none() {
            break;
        }
    }
    let mut rest = Vec::new();
    blocks.finish(&mut rest);
    rest.iter().for_each(|block| look_at_block(finder, block, &mut found));
    let torn = match reader.tail() {
        Tail::Torn { bytes } => bytes,
        Tail::Whole | Tail::Unfinished => 0,
    };
    Ok(Summary { records: record_id.index, torn })
}

/// Opens a tape.
pub(super) fn open(
    path: &Path,
) -> Result<TapeReader<std::io::BufReader<std::fs::File>>, RedactError> {
    TapeReader::open(path).map_err(|error| unreadable(path, error))
}

/// Why a tape cannot be read, without what stands there instead of a record.
pub(super) fn unreadable(path: &Path, error: TapeError) -> RedactError {
    let path = path.to_owned();
    match error {
        TapeError::Broken { line, .. } => RedactError::Broken { path, line },
        source => RedactError::Tape { path, source },
    }
}

/// The strings of a line of the file that are not lines of a channel, nor part of the format.
pub(super) fn tape_strings<'a>(raw: &[u8], all: &'a [Leaf]) -> Vec<&'a Leaf> {
    let spelled = |key: Option<usize>| {
        let span = all.get(key?)?.span.clone();
        raw.get(span)
    };
    let is_ours = |leaf: &&Leaf| {
        let key = spelled(leaf.holder);
        let holder = leaf.holder.and_then(|key| all.get(key)).and_then(|key| key.holder);
        match (holder, key) {
            (None, Some(key)) => {
                !matches!(key, b"tape" | b"format" | b"start" | b"ch" | b"text" | b"base64")
            }
            (Some(_), Some(b"kind" | b"channel")) => spelled(holder) != Some(b"note"),
            _ => true,
        }
    };
    all.iter().filter(|leaf| leaf.kind == LeafKind::Text).filter(is_ours).collect()
}

/// Finds everything in the strings of a line of the file that are not lines of a channel.
pub(super) fn find_in_tape(finder: &Finder<'_>, raw: &[u8]) -> Vec<Place> {
    let all = leaves(raw).unwrap_or_default();
    let mut places = Vec::new();
    for leaf in tape_strings(raw, &all) {
        finder.leaf(raw, &all, leaf, &mut places);
    }
    places
}

fn tape(
    finder: &Finder<'_>,
    record: RecordId,
    raw: &[u8],
    found: &mut impl FnMut(&Source<'_>, Vec<Place>),
) {
    found(&Source::Tape(record, raw), find_in_tape(finder, raw));
}

fn look_at_line(
    finder: &Finder<'_>,
    line: &Line,
    blocks: &mut Blocks,
    found: &mut impl FnMut(&Source<'_>, Vec<Place>),
) -> Result<(), TooMuch> {
    let mut places = Vec::new();
    let event = finder.line(&line.text, &mut places);
    found(&Source::Line(line), places);
    let Some(event) = event else { return Ok(()) };
    let mut complete = Vec::new();
    blocks.take(line, event, &mut complete)?;
    complete.iter().for_each(|block| look_at_block(finder, block, found));
    Ok(())
}

/// Looks at all parts of a block together. A part alone can look like something that it is not:
/// it may end in the middle of a name, or of an escape.
fn look_at_block(
    finder: &Finder<'_>,
    block: &Joined,
    found: &mut impl FnMut(&Source<'_>, Vec<Place>),
) {
    let mut places = Vec::new();
    finder.string(&block.text, &mut places);
    found(&Source::Block(block), places);
}
