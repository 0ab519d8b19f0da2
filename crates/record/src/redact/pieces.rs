//! Lines put together from their pieces, with the way back to the records.

use std::ops::Range;
use std::rc::Rc;

use super::edit::{Edit, distribute};
use super::pem::{ends_in_private_key, goes_on_in_private_key};
use crate::format::{Channel, Entry, Note, Text};

/// How long a private key may be that is printed over many lines. The longest there are, with all
/// that PGP puts into one, have some tens of kilobytes; what goes on after that is not a key but
/// words, for which nobody should have to wait.
const MAX_KEY: usize = 256 * 1024;

/// A line, or several that have to be looked at together.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) channel: Channel,
    pub(super) text: Vec<u8>,
    pub(super) pieces: Rc<[Piece]>,
}

/// A record that holds a part of a line.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) record: RecordId,
    /// Where its text stands in that of the line.
    range: Range<usize>,
}

/// A record, by its place on the tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct RecordId {
    /// How many records stand before it; the header counts as one.
    pub(super) index: u64,
    /// Its number; 0 for the header.
    pub(super) seq: u64,
}

impl Line {
    /// Whether the line is in more than one record, or might have been.
    pub(super) fn is_joined(&self) -> bool {
        self.pieces.len() > 1
    }
}

/// Brings edits of a line to its records.
pub(super) fn to_records(pieces: &[Piece], edit: &Edit) -> Vec<(RecordId, Edit)> {
    let parts = distribute(edit, pieces, |piece| &piece.range);
    parts.map(|(piece, edit)| (piece.record, edit)).collect()
}

/// Joins pieces, one line a channel at a time, by the rules of [`TapeLines`](crate::TapeLines).
///
/// A private key that is printed takes many lines. They are joined, too, as long as the key goes
/// on; between them stands a newline that belongs to no record.
#[derive(Debug)]
pub(super) struct Joiner {
    open: Vec<Open>,
    max_line: usize,
}

#[derive(Debug)]
struct Open {
    channel: Channel,
    text: Vec<u8>,
    pieces: Vec<Piece>,
    /// The last record had a newline after it: only a key keeps this open.
    ended: bool,
    /// How much was added because a key went on.
    key: usize,
}

/// A line that is longer than may be held.
#[derive(Debug)]
pub(super) struct TooLong(pub(super) RecordId);

impl Joiner {
    pub(super) const fn new(max_line: usize) -> Self {
        Self { open: Vec::new(), max_line }
    }

    /// Takes in a record, and hands out the lines that are complete then.
    pub(super) fn take(
        &mut self,
        record: RecordId,
        entry: &Entry,
        lines: &mut Vec<Line>,
    ) -> Result<(), TooLong> {
        match entry {
            Entry::Line { channel, text, more } => self.piece(record, *channel, text, *more, lines),
            Entry::Note(Note::Closed { channel }) => {
                let closed = *channel;
                self.close(|open| open.channel == closed, lines);
                Ok(())
            }
            Entry::Note(Note::Gap { .. }) | Entry::End(_) => {
                self.finish(lines);
                Ok(())
            }
            Entry::Note(_) => Ok(()),
        }
    }

    /// Hands out everything that is still open: the tape has ended.
    pub(super) fn finish(&mut self, lines: &mut Vec<Line>) {
        self.close(|_| true, lines);
    }

    fn piece(
        &mut self,
        record: RecordId,
        channel: Channel,
        text: &Text,
        more: bool,
        lines: &mut Vec<Line>,
    ) -> Result<(), TooLong> {
        let bytes = text.as_bytes();
        // A frame never goes on with a key that was printed before it.
        if bytes.starts_with(b"{") {
            self.close(|open| open.channel == channel && open.ended, lines);
        }
        let at = self.open.iter().position(|open| open.channel == channel);
        let mut open = match at {
            Some(at) => self.open.swap_remove(at),
            None => Open { channel, text: Vec::new(), pieces: Vec::new(), ended: false, key: 0 },
        };
        let in_key = open.ended;
        if in_key {
            open.text.push(b'\n');
        }
        if in_key || open.key > 0 {
            open.key += bytes.len() + 1;
        }
        let start = open.text.len();
        if start.saturating_add(bytes.len()) > self.max_line {
            return Err(TooLong(record));
        }
        open.text.extend_from_slice(bytes);
        open.pieces.push(Piece { record, range: start..open.text.len() });
        open.ended = !more;
        let key_goes_on = || {
            if open.text.starts_with(b"{") || open.key > MAX_KEY {
                false
            } else if in_key && open.ended {
                goes_on_in_private_key(&open.text, bytes)
            } else {
                ends_in_private_key(&open.text)
            }
        };
        if open.ended && !key_goes_on() {
            lines.push(open.into());
        } else {
            self.open.push(open);
        }
        Ok(())
    }

    fn close(&mut self, which: impl Fn(&Open) -> bool, lines: &mut Vec<Line>) {
        lines.extend(self.open.extract_if(.., |open| which(open)).map(Line::from));
    }
}

impl From<Open> for Line {
    fn from(open: Open) -> Self {
        Self { channel: open.channel, text: open.text, pieces: open.pieces.into() }
    }
}
