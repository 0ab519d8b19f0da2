//! One answer of the model.

use std::time::Duration;

use serde_json::Value;

use super::{Entry, Fault};

/// One answer of the model: what it says, how fast, and how it ends.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// What the model says, in order.
    pub blocks: Vec<Block>,
    /// Why the model stopped. When absent: `tool_use` if a tool is called, else `end_turn`.
    pub stop_reason: Option<String>,
    /// Tokens, as the model reports them.
    pub usage: Usage,
    /// The model that answers. When absent, the one that was asked.
    pub model: Option<String>,
    /// How long nothing at all comes back.
    pub delay: Duration,
    /// The time between two deltas of a stream.
    pub pace: Duration,
    /// How the answer ends.
    pub ending: Ending,
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Block {
    /// Text.
    Text(String),
    /// Thinking, with a signature that means nothing.
    Thinking(String),
    /// A call of a tool.
    ToolUse(ToolUse),
    /// Something ugly. Only the simulated CLI does these; the model API passes them over.
    Fault(Fault),
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolUse {
    /// The id. When absent, one is made up, the same in every run of the script.
    pub id: Option<String>,
    /// The name under which later answers find the result: `${result.label}`.
    pub label: Option<String>,
    /// The tool.
    pub name: String,
    /// Its input.
    pub input: Value,
    /// What the tool gives back in the simulated CLI, which runs no commands. The real CLI runs
    /// the tool.
    pub result: Option<String>,
    /// The result is an error, in the simulated CLI.
    pub fails: bool,
    /// How long the tool takes, in the simulated CLI.
    pub takes: Duration,
}

/// Tokens of an answer. What is absent has a small default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens that went in.
    pub input_tokens: Option<u64>,
    /// Tokens that came out.
    pub output_tokens: Option<u64>,
    /// Tokens read from the cache.
    pub cache_read_input_tokens: Option<u64>,
    /// Tokens written to the cache.
    pub cache_creation_input_tokens: Option<u64>,
}

/// How an answer ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// As it should.
    #[default]
    Complete,
    /// An HTTP status instead of an answer.
    Error(ApiError),
    /// An error event in the stream, after this many deltas.
    StreamError {
        /// Deltas before the error.
        after: usize,
        /// The error; its status is not sent.
        error: ApiError,
    },
    /// The connection is closed after this many events of the stream.
    Cut {
        /// Events before the end.
        after: usize,
    },
    /// The stream stays open after this many events, and nothing more comes.
    Hang {
        /// Events before the silence.
        after: usize,
    },
    /// The connection is reset before anything is sent.
    Reset,
}

/// An error of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApiError {
    /// The HTTP status.
    pub status: u16,
    /// The kind of the error, such as `rate_limit_error`.
    pub kind: String,
    /// The words.
    pub message: String,
    /// Seconds after which to try again, as the `retry-after` header.
    pub retry_after: Option<u64>,
}

impl Answer {
    /// An answer that says nothing yet; the methods that begin with `and` add to it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An answer of one text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new().and_text(text)
    }

    /// An answer that begins with thinking.
    #[must_use]
    pub fn thinking(text: impl Into<String>) -> Self {
        Self::new().and_thinking(text)
    }

    /// An answer that calls one tool.
    #[must_use]
    pub fn tool(name: impl Into<String>, input: Value) -> Self {
        Self::new().and_tool(ToolUse::new(name, input))
    }

    /// An HTTP error instead of an answer.
    #[must_use]
    pub fn error(error: ApiError) -> Self {
        Self::new().ending(Ending::Error(error))
    }

    /// A connection that is reset before anything is sent.
    #[must_use]
    pub fn reset() -> Self {
        Self::new().ending(Ending::Reset)
    }

    /// Says this, too.
    #[must_use]
    pub fn and_text(self, text: impl Into<String>) -> Self {
        self.and(Block::Text(text.into()))
    }

    /// Thinks this, too.
    #[must_use]
    pub fn and_thinking(self, text: impl Into<String>) -> Self {
        self.and(Block::Thinking(text.into()))
    }

    /// Calls this tool, too.
    #[must_use]
    pub fn and_tool(self, call: ToolUse) -> Self {
        self.and(Block::ToolUse(call))
    }

    /// Does this wrong, too, in the simulated CLI.
    #[must_use]
    pub fn and_fault(self, fault: Fault) -> Self {
        self.and(Block::Fault(fault))
    }

    /// Adds a block.
    #[must_use]
    pub fn and(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    /// Says why the model stopped.
    #[must_use]
    pub fn stop_reason(mut self, reason: impl Into<String>) -> Self {
        self.stop_reason = Some(reason.into());
        self
    }

    /// Reports these tokens.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Answers in the name of this model.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Waits before anything comes back.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Waits between two deltas.
    #[must_use]
    pub fn pace(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }

    /// Ends like this.
    #[must_use]
    pub fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// Closes the connection after this many events of the stream.
    #[must_use]
    pub fn cut_after(self, events: usize) -> Self {
        self.ending(Ending::Cut { after: events })
    }

    /// Falls silent after this many events of the stream.
    #[must_use]
    pub fn hang_after(self, events: usize) -> Self {
        self.ending(Ending::Hang { after: events })
    }

    /// Sends an error event after this many deltas of the stream.
    #[must_use]
    pub fn stream_error_after(self, deltas: usize, error: ApiError) -> Self {
        self.ending(Ending::StreamError { after: deltas, error })
    }

    /// Makes an entry of a script that is served this many times.
    #[must_use]
    pub fn times(self, times: u32) -> Entry {
        Entry::from(self).times(times)
    }

    /// The tools that are called, in order.
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUse> {
        self.blocks.iter().filter_map(|block| match block {
            Block::ToolUse(call) => Some(call),
            Block::Text(_) | Block::Thinking(_) | Block::Fault(_) => None,
        })
    }

    /// Why the model stopped: as it was set, or else what the blocks say.
    #[must_use]
    pub fn effective_stop_reason(&self) -> &str {
        match &self.stop_reason {
            Some(reason) => reason,
            None if self.tool_uses().next().is_some() => "tool_use",
            None => "end_turn",
        }
    }
}

impl ToolUse {
    /// A call of this tool with this input.
    #[must_use]
    pub fn new(name: impl Into<String>, input: Value) -> Self {
        Self {
            id: None,
            label: None,
            name: name.into(),
            input,
            result: None,
            fails: false,
            takes: Duration::ZERO,
        }
    }

    /// Has this id, instead of one that is made up.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Lets later answers find the result as `${result.label}`.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Gives this back, in the simulated CLI.
    #[must_use]
    pub fn result(mut self, result: impl Into<String>) -> Self {
        self.result = Some(result.into());
        self
    }

    /// Gives an error back, in the simulated CLI.
    #[must_use]
    pub fn fails(mut self) -> Self {
        self.fails = true;
        self
    }

    /// Takes this long, in the simulated CLI.
    #[must_use]
    pub fn takes(mut self, takes: Duration) -> Self {
        self.takes = takes;
        self
    }
}

impl Usage {
    /// This many tokens in and out, none of them from the cache.
    #[must_use]
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens: Some(input_tokens),
            output_tokens: Some(output_tokens),
            ..Self::default()
        }
    }

    /// This many tokens read from the cache, and written to it.
    #[must_use]
    pub fn cached(mut self, read: u64, written: u64) -> Self {
        self.cache_read_input_tokens = Some(read);
        self.cache_creation_input_tokens = Some(written);
        self
    }
}

impl ApiError {
    /// The error that the API gives with this status, in words of the script.
    #[must_use]
    pub fn new(status: u16) -> Self {
        let kind = match status {
            400 => "invalid_request_error",
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            _ => "api_error",
        };
        Self {
            status,
            kind: kind.to_owned(),
            message: format!("the script answers with status {status}"),
            retry_after: None,
        }
    }

    /// Has this kind.
    #[must_use]
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.kind = kind.into();
        self
    }

    /// Has these words.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// Asks to try again after this many seconds.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }
}
