//! The blocks of streams that are open, each with the parts that came so far.

use std::ops::Range;
use std::rc::Rc;

use super::edit::{Edit, distribute};
use super::pieces::{Line, Piece, RecordId, to_records};
use super::stream::{Block, Field, Part, StreamEvent};
use super::view::Map;
use crate::format::Channel;

/// How many blocks may be open at once. Each agent has one or two.
const MAX_BLOCKS: usize = 1024;

/// How much text all open blocks together may have.
const MAX_TEXT: usize = 256 * 1024 * 1024;

/// How many parts all open blocks together may have.
const MAX_PARTS: usize = 4 * 1024 * 1024;

/// A block with all its parts.
#[derive(Debug)]
pub(super) struct Joined {
    key: Key,
    /// The text of all parts.
    pub(super) text: Vec<u8>,
    parts: Vec<JoinedPart>,
}

#[derive(Debug, PartialEq, Eq)]
struct Key {
    channel: Channel,
    block: Block,
    field: Field,
}

/// A part, with the way back to where it stands.
#[derive(Debug)]
struct JoinedPart {
    /// Where it stands in the text of the block.
    range: Range<usize>,
    map: Map,
    /// Where the string stands in its line.
    offset: usize,
    /// The records of that line.
    pieces: Rc<[Piece]>,
}

/// The blocks that are open.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    open: Vec<Joined>,
    text: usize,
    parts: usize,
}

/// There is more text in open blocks than may be held.
#[derive(Debug)]
pub(super) struct TooMuch;

impl Joined {
    /// The record with the first part.
    pub(super) fn first(&self) -> Option<RecordId> {
        self.parts.first().and_then(|part| part.pieces.first()).map(|piece| piece.record)
    }

    /// Brings an edit of the text to the records.
    pub(super) fn to_records(&self, edit: &Edit) -> Vec<(RecordId, Edit)> {
        let mut edits = Vec::new();
        for (part, edit) in distribute(edit, &self.parts, |part| &part.range) {
            let source = part.map.source(&edit.range);
            let range = source.start + part.offset..source.end + part.offset;
            edits.extend(to_records(&part.pieces, &Edit { range, with: edit.with }));
        }
        edits
    }
}

impl Blocks {
    /// Takes in what a line says of a stream, and hands out the blocks that are complete then.
    pub(super) fn take(
        &mut self,
        line: &Line,
        event: StreamEvent,
        blocks: &mut Vec<Joined>,
    ) -> Result<(), TooMuch> {
        let channel = line.channel;
        match event {
            StreamEvent::Part(part) => self.part(line, part),
            StreamEvent::BlockEnd(block) => {
                self.close(|key| key.channel == channel && key.block == block, blocks);
                Ok(())
            }
            StreamEvent::MessageEnd(stream) => {
                self.close(|key| key.channel == channel && key.block.stream == stream, blocks);
                Ok(())
            }
        }
    }

    /// Hands out everything that is still open: the tape has ended.
    pub(super) fn finish(&mut self, blocks: &mut Vec<Joined>) {
        self.close(|_| true, blocks);
    }

    fn part(&mut self, line: &Line, part: Part) -> Result<(), TooMuch> {
        let Part { span, text, map, block, field, .. } = part;
        self.text += text.len();
        self.parts += 1;
        if self.text > MAX_TEXT || self.parts > MAX_PARTS {
            return Err(TooMuch);
        }
        let key = Key { channel: line.channel, block, field };
        let joined = match self.open.iter().position(|open| open.key == key) {
            Some(at) => self.open.get_mut(at),
            None if self.open.len() == MAX_BLOCKS => return Err(TooMuch),
            None => {
                self.open.push(Joined { key, text: Vec::new(), parts: Vec::new() });
                self.open.last_mut()
            }
        };
        if let Some(joined) = joined {
            let start = joined.text.len();
            joined.text.extend_from_slice(&text);
            let range = start..joined.text.len();
            let pieces = Rc::clone(&line.pieces);
            joined.parts.push(JoinedPart { range, map, offset: span.start, pieces });
        }
        Ok(())
    }

    fn close(&mut self, which: impl Fn(&Key) -> bool, blocks: &mut Vec<Joined>) {
        for joined in self.open.extract_if(.., |open| which(&open.key)) {
            self.text -= joined.text.len();
            self.parts -= joined.parts.len();
            blocks.push(joined);
        }
    }
}
