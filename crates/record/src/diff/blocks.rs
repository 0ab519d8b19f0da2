//! Deltas of a stream, joined to the blocks that they are pieces of.
//!
//! Into how many pieces the text of a block is cut is a matter of time, and means nothing.

use serde_json::Value;

/// A block larger than this is handed out in parts.
const MAX_BLOCK: usize = 64 * 1024 * 1024;

/// Joins the deltas of each block. `T` is what the caller wants to know of where a block began.
#[derive(Debug)]
pub(crate) struct Blocks<T> {
    open: Vec<Open<T>>,
}

#[derive(Debug)]
struct Open<T> {
    parent: Option<String>,
    index: Option<u64>,
    /// The kind of the deltas, and where their text is.
    kind: &'static Kind,
    first: Value,
    joined: String,
    token: T,
}

#[derive(Debug, PartialEq, Eq)]
struct Kind {
    name: &'static str,
    text: &'static str,
}

const KINDS: [Kind; 4] = [
    Kind { name: "text_delta", text: "text" },
    Kind { name: "input_json_delta", text: "partial_json" },
    Kind { name: "thinking_delta", text: "thinking" },
    Kind { name: "signature_delta", text: "signature" },
];

/// What became of a frame.
#[derive(Debug)]
pub(crate) enum Fed {
    /// It is not a delta.
    Frame(Value),
    /// It is the first delta of a block; the token is given back when the block is complete.
    Began,
    /// It is part of a block that began before.
    Joined,
}

impl<T> Default for Blocks<T> {
    fn default() -> Self {
        Self { open: Vec::new() }
    }
}

impl<T> Blocks<T> {
    /// Takes in the next frame of the output. Blocks that it completes go to `complete`, as one
    /// delta each.
    pub(crate) fn feed(
        &mut self,
        frame: Value,
        token: T,
        mut complete: impl FnMut(T, Value),
    ) -> Fed {
        if frame.get("type").and_then(Value::as_str) != Some("stream_event") {
            return Fed::Frame(frame);
        }
        let parent = frame.get("parent_tool_use_id").and_then(Value::as_str).map(str::to_owned);
        let index = frame.pointer("/event/index").and_then(Value::as_u64);
        let text = |pointer: &str| frame.pointer(pointer).and_then(Value::as_str);
        match text("/event/type") {
            Some("content_block_delta") => {}
            Some("content_block_start" | "content_block_stop") => {
                self.close(|open| open.parent == parent && open.index == index, complete);
                return Fed::Frame(frame);
            }
            Some("message_start" | "message_stop" | "error") => {
                self.close(|open| open.parent == parent, complete);
                return Fed::Frame(frame);
            }
            _ => return Fed::Frame(frame),
        }
        let kind = KINDS.iter().find(|kind| text("/event/delta/type") == Some(kind.name));
        let piece = kind.and_then(|kind| frame.pointer("/event/delta")?.get(kind.text)?.as_str());
        let (Some(kind), Some(piece)) = (kind, piece) else { return Fed::Frame(frame) };
        let same =
            |open: &&mut Open<T>| open.parent == parent && open.index == index && open.kind == kind;
        if let Some(open) = self.open.iter_mut().find(same) {
            open.joined.push_str(piece);
            if open.joined.len() > MAX_BLOCK {
                self.close(|open| open.joined.len() > MAX_BLOCK, complete);
            }
            return Fed::Joined;
        }
        // A block has one kind of delta at a time: a signature comes after all of the thinking.
        self.close(|open| open.parent == parent && open.index == index, &mut complete);
        let joined = piece.to_owned();
        self.open.push(Open { parent, index, kind, first: frame, joined, token });
        Fed::Began
    }

    /// Hands out what is left at the end of the tape.
    pub(crate) fn finish(&mut self, complete: impl FnMut(T, Value)) {
        self.close(|_| true, complete);
    }

    /// Whether such a block is not complete yet.
    pub(crate) fn is_open(&self, which: impl Fn(&T) -> bool) -> bool {
        self.open.iter().any(|open| which(&open.token))
    }

    fn close(&mut self, which: impl Fn(&Open<T>) -> bool, mut complete: impl FnMut(T, Value)) {
        for open in self.open.extract_if(.., |open| which(open)) {
            complete(open.token, joined(open.first, open.kind, open.joined));
        }
    }
}

/// The first delta of a block with the text of all of them.
fn joined(mut first: Value, kind: &Kind, text: String) -> Value {
    if let Some(delta) = first.pointer_mut("/event/delta").and_then(Value::as_object_mut) {
        delta.insert(kind.text.to_owned(), text.into());
        // An estimate for the first piece says nothing about the whole.
        delta.remove("estimated_tokens");
    }
    first
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn delta(parent: Option<&str>, index: u64, text: &str) -> Value {
        json!({"type": "stream_event", "parent_tool_use_id": parent, "event":
            {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text}}})
    }

    fn event(parent: Option<&str>, event: &str, index: u64) -> Value {
        json!({"type": "stream_event", "parent_tool_use_id": parent, "event": {"type": event, "index": index}})
    }

    /// The blocks of a stream, as where they began and their text.
    fn check(frames: &[Value], expected: &[(usize, &str)]) {
        let mut blocks = Blocks::default();
        let mut found = Vec::new();
        let mut take = |token, block: Value| {
            let text = block.pointer("/event/delta/text").unwrap().as_str().unwrap().to_owned();
            found.push((token, text));
        };
        for (at, frame) in frames.iter().enumerate() {
            blocks.feed(frame.clone(), at, &mut take);
        }
        blocks.finish(take);
        let expected: Vec<_> =
            expected.iter().map(|(at, text)| (*at, (*text).to_owned())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_deltas_of_a_block_are_joined_until_it_ends() {
        check(
            &[
                event(None, "content_block_start", 0),
                delta(None, 0, "a"),
                json!({"type": "assistant"}),
                delta(None, 0, "b"),
                event(None, "content_block_stop", 0),
                delta(None, 0, "c"),
                delta(None, 1, "d"),
                delta(Some("t"), 1, "e"),
                event(None, "message_stop", 0),
                delta(Some("t"), 1, "f"),
            ],
            &[(1, "ab"), (5, "c"), (6, "d"), (7, "ef")],
        );
    }

    #[test]
    fn a_stream_that_breaks_off_and_begins_again_is_two_blocks() {
        check(
            &[delta(None, 0, "a"), event(None, "message_start", 0), delta(None, 0, "b")],
            &[(0, "a"), (2, "b")],
        );
    }
}
