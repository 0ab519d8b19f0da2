//! Text that comes in parts: which frames carry a part of a block, and which end one.

use std::ops::Range;

use super::json::Leaf;
use super::view::{Map, View};

/// What a frame has to do with the blocks of a stream.
#[derive(Debug)]
pub(super) enum StreamEvent {
    /// It carries a part of a block.
    Part(Part),
    /// It ends a block.
    BlockEnd(Block),
    /// It begins or ends a message, so no block goes on.
    MessageEnd(Stream),
}

/// A part of the text of a block.
#[derive(Debug)]
pub(super) struct Part {
    /// The string that is the part, among the leaves of the frame.
    pub(super) leaf: usize,
    /// Where it stands in the frame.
    pub(super) span: Range<usize>,
    /// Its text.
    pub(super) text: Vec<u8>,
    /// From the text to what stands in `span`.
    pub(super) map: Map,
    /// The block it belongs to.
    pub(super) block: Block,
    /// What of the block it is part of.
    pub(super) field: Field,
}

/// A stream: one of the main conversation, and one for each agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Stream {
    session: Vec<u8>,
    parent: Vec<u8>,
}

/// A block of the message that a stream is at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Block {
    pub(super) stream: Stream,
    pub(super) index: Vec<u8>,
}

/// What of a block comes in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Field {
    Text,
    Thinking,
    Json,
}

/// Says what a frame has to do with a stream, if it has.
pub(super) fn stream_event(line: &[u8], leaves: &[Leaf]) -> Option<StreamEvent> {
    let frame = Frame { line, leaves };
    if frame.text(&["type"])? != b"stream_event" {
        return None;
    }
    let stream = Stream {
        session: frame.text(&["session_id"]).unwrap_or_default(),
        parent: frame.text(&["parent_tool_use_id"]).unwrap_or_default(),
    };
    match frame.text(&["event", "type"])?.as_slice() {
        b"message_start" | b"message_stop" => return Some(StreamEvent::MessageEnd(stream)),
        _ => {}
    }
    let index = frame.text(&["event", "index"])?;
    let block = Block { stream, index };
    if frame.text(&["event", "type"])? == b"content_block_stop" {
        return Some(StreamEvent::BlockEnd(block));
    }
    let fields = [
        (["event", "delta", "text"], Field::Text),
        (["event", "delta", "thinking"], Field::Thinking),
        (["event", "delta", "partial_json"], Field::Json),
        (["event", "content_block", "text"], Field::Text),
        (["event", "content_block", "thinking"], Field::Thinking),
    ];
    fields.iter().find_map(|(path, field)| {
        let (leaf, span) = frame.find(path)?;
        let (text, map) = View::unescaped(line.get(span.clone())?).into_parts();
        let (text, block, field) = (text.into_owned(), block.clone(), *field);
        Some(StreamEvent::Part(Part { leaf, span, text, map, block, field }))
    })
}

struct Frame<'a> {
    line: &'a [u8],
    leaves: &'a [Leaf],
}

impl Frame<'_> {
    /// The text of the value at a path of keys.
    fn text(&self, path: &[&str]) -> Option<Vec<u8>> {
        let (_, span) = self.find(path)?;
        Some(View::unescaped(self.line.get(span)?).into_parts().0.into_owned())
    }

    /// The first string or number at a path of keys.
    fn find(&self, path: &[&str]) -> Option<(usize, Range<usize>)> {
        let mut leaves = self.leaves.iter().enumerate();
        let (at, leaf) = leaves.find(|(_, leaf)| !leaf.is_key() && self.is_at(leaf, path))?;
        Some((at, leaf.span.clone()))
    }

    fn is_at(&self, leaf: &Leaf, path: &[&str]) -> bool {
        let mut holder = leaf.holder;
        for name in path.iter().rev() {
            let Some(key) = holder.and_then(|key| self.leaves.get(key)) else { return false };
            let spelled = self.line.get(key.span.clone()).unwrap_or_default();
            let same = spelled == name.as_bytes()
                || spelled.contains(&b'\\') && View::unescaped(spelled).text() == name.as_bytes();
            if !same {
                return false;
            }
            holder = key.holder;
        }
        holder.is_none()
    }
}
