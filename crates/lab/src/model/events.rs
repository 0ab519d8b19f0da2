//! An answer as the Messages API sends it: a stream of events, or one message.

use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::script::{Answer, ApiError, Block, Ending, SIGNATURE, ToolUse, Usage};

/// An event of a stream.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Event {
    /// Its name, which is also the `type` of its data.
    pub(super) name: &'static str,
    /// The data.
    pub(super) data: Value,
}

impl Event {
    fn new(name: &'static str, mut data: Value) -> Self {
        if let Value::Object(fields) = &mut data {
            fields.insert("type".to_owned(), name.into());
        }
        Self { name, data }
    }

    /// Whether it is a piece of what the model says; these are what is paced.
    pub(super) fn is_delta(&self) -> bool {
        self.name == "content_block_delta"
    }

    /// The event as it is sent.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        format!("event: {}\ndata: {}\n\n", self.name, self.data).into_bytes()
    }
}

/// The events of an answer, made one at a time: a long text is never held twice.
pub(super) struct Events {
    /// The answer, without its blocks.
    answer: Answer,
    message: Value,
    stop_reason: String,
    blocks: VecDeque<Block>,
    index: usize,
    stage: Stage,
    deltas: usize,
}

/// What comes next.
enum Stage {
    Start,
    BlockStart,
    /// Pieces of a block, from this byte of its text on.
    Pieces {
        block: Piecewise,
        from: usize,
    },
    BlockStop,
    Delta,
    Stop,
    Done,
}

/// A block that is sent in pieces.
enum Piecewise {
    Text(String),
    Thinking(String),
    Input(String),
    Signature,
}

impl Events {
    /// The events of an answer to a request for `model`.
    pub(super) fn new(mut answer: Answer, id: &str, model: &str) -> Self {
        let message = envelope(&answer, id, model);
        let stop_reason = answer.effective_stop_reason().to_owned();
        let blocks = std::mem::take(&mut answer.blocks).into();
        let stage = Stage::Start;
        Self { answer, message, stop_reason, blocks, index: 0, stage, deltas: 0 }
    }

    /// The error that takes the place of what would come now, if the answer ends with one.
    fn breaks_off(&self) -> Option<Event> {
        let Ending::StreamError { after, error } = &self.answer.ending else { return None };
        let due = match &self.stage {
            Stage::Pieces { .. } => self.deltas >= *after,
            Stage::Delta => true,
            Stage::Start | Stage::BlockStart | Stage::BlockStop | Stage::Stop | Stage::Done => {
                false
            }
        };
        due.then(|| Event::new("error", json!({"error": error_body(error)})))
    }
}

impl Iterator for Events {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(error) = self.breaks_off() {
                self.stage = Stage::Done;
                return Some(error);
            }
            match std::mem::replace(&mut self.stage, Stage::Done) {
                Stage::Start => {
                    self.stage = Stage::BlockStart;
                    let message = std::mem::take(&mut self.message);
                    return Some(Event::new("message_start", json!({"message": message})));
                }
                Stage::BlockStart => {
                    let Some(block) = self.blocks.pop_front() else {
                        self.stage = Stage::Delta;
                        continue;
                    };
                    let Some((start, pieces)) = open(block) else {
                        self.stage = Stage::BlockStart;
                        continue;
                    };
                    self.stage = Stage::Pieces { block: pieces, from: 0 };
                    let data = json!({"index": self.index, "content_block": start});
                    return Some(Event::new("content_block_start", data));
                }
                Stage::Pieces { block, from } => {
                    let Some((delta, to)) = block.piece(from) else {
                        self.stage = match block {
                            Piecewise::Thinking(_) => {
                                Stage::Pieces { block: Piecewise::Signature, from: 0 }
                            }
                            Piecewise::Text(_) | Piecewise::Input(_) | Piecewise::Signature => {
                                Stage::BlockStop
                            }
                        };
                        continue;
                    };
                    self.stage = Stage::Pieces { block, from: to };
                    self.deltas += 1;
                    let data = json!({"index": self.index, "delta": delta});
                    return Some(Event::new("content_block_delta", data));
                }
                Stage::BlockStop => {
                    self.stage = Stage::BlockStart;
                    let data = json!({"index": self.index});
                    self.index += 1;
                    return Some(Event::new("content_block_stop", data));
                }
                Stage::Delta => {
                    self.stage = Stage::Stop;
                    let reason = &self.stop_reason;
                    let output = output_tokens(self.answer.usage);
                    let data = json!({
                        "delta": {"stop_reason": reason, "stop_sequence": null},
                        "usage": {"output_tokens": output},
                    });
                    return Some(Event::new("message_delta", data));
                }
                Stage::Stop => return Some(Event::new("message_stop", json!({}))),
                Stage::Done => return None,
            }
        }
    }
}

/// How a block begins, and what is sent in pieces after that. What only the simulated CLI can do
/// is not said here.
fn open(block: Block) -> Option<(Value, Piecewise)> {
    match block {
        Block::Text(text) => Some((json!({"type": "text", "text": ""}), Piecewise::Text(text))),
        Block::Thinking(text) => {
            let start = json!({"type": "thinking", "thinking": "", "signature": ""});
            Some((start, Piecewise::Thinking(text)))
        }
        Block::ToolUse(call) => {
            let start = json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}});
            Some((start, Piecewise::Input(call.input.to_string())))
        }
        Block::Fault(_) => None,
    }
}

impl Piecewise {
    /// The piece from a byte of the text on, and where it ends.
    fn piece(&self, from: usize) -> Option<(Value, usize)> {
        match self {
            Self::Text(text) => {
                let (piece, to) = word(text, from)?;
                Some((json!({"type": "text_delta", "text": piece}), to))
            }
            Self::Thinking(text) => {
                let (piece, to) = word(text, from)?;
                Some((json!({"type": "thinking_delta", "thinking": piece}), to))
            }
            Self::Input(text) => {
                let (piece, to) = half(text, from)?;
                Some((json!({"type": "input_json_delta", "partial_json": piece}), to))
            }
            Self::Signature if from == 0 => {
                Some((json!({"type": "signature_delta", "signature": SIGNATURE}), 1))
            }
            Self::Signature => None,
        }
    }
}

/// The word at a place of a text, with the space after it.
fn word(text: &str, from: usize) -> Option<(&str, usize)> {
    let rest = text.get(from..)?;
    let end = rest.find(' ').map_or(rest.len(), |at| at + 1);
    let word = rest.get(..end)?;
    (!word.is_empty()).then_some((word, from + end))
}

/// The first half of a text, or from there on all of the rest.
fn half(text: &str, from: usize) -> Option<(&str, usize)> {
    let rest = text.get(from..)?;
    let middle =
        if from == 0 { text.floor_char_boundary(text.len() / 2).max(1) } else { rest.len() };
    let piece = rest.get(..middle).unwrap_or(rest);
    (!piece.is_empty()).then_some((piece, from + piece.len()))
}

/// The whole answer as one message, for a request that wants no stream.
pub(super) fn whole(answer: &Answer, id: &str, model: &str) -> Value {
    let content = answer.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(json!({"type": "text", "text": text})),
        Block::Thinking(text) => {
            Some(json!({"type": "thinking", "thinking": text, "signature": SIGNATURE}))
        }
        Block::ToolUse(ToolUse { id, name, input, .. }) => {
            Some(json!({"type": "tool_use", "id": id, "name": name, "input": input}))
        }
        Block::Fault(_) => None,
    });
    let content: Vec<_> = content.collect();
    let mut message = envelope(answer, id, model);
    if let Value::Object(fields) = &mut message {
        fields.insert("content".to_owned(), content.into());
        fields.insert("stop_reason".to_owned(), answer.effective_stop_reason().into());
        let usage = usage(answer.usage, output_tokens(answer.usage));
        fields.insert("usage".to_owned(), usage);
    }
    message
}

/// The message around an answer that has not begun yet.
fn envelope(answer: &Answer, id: &str, model: &str) -> Value {
    json!({
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": answer.model.as_deref().unwrap_or(model),
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage(answer.usage, 1),
    })
}

/// Tokens that went in when the script does not say.
const INPUT_TOKENS: u64 = 10;
/// Tokens that came out when the script does not say.
const OUTPUT_TOKENS: u64 = 20;

fn output_tokens(usage: Usage) -> u64 {
    usage.output_tokens.unwrap_or(OUTPUT_TOKENS)
}

fn usage(usage: Usage, output_tokens: u64) -> Value {
    json!({
        "input_tokens": usage.input_tokens.unwrap_or(INPUT_TOKENS),
        "output_tokens": output_tokens,
        "cache_creation_input_tokens": usage.cache_creation_input_tokens.unwrap_or(0),
        "cache_read_input_tokens": usage.cache_read_input_tokens.unwrap_or(0),
    })
}

/// The inner object of an error.
pub(super) fn error_body(error: &ApiError) -> Value {
    json!({"type": error.kind, "message": error.message})
}
