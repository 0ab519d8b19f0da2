//! One answer of the model.

use std::time::Duration;

use serde_json::Value;

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

/// What the simulated CLI can do wrong, at a place in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The process ends in the middle of a line.
    DieMidLine,
    /// The process ends with this exit code, without a word.
    Exit(i32),
    /// Nothing is read and nothing is written any more; the process stays.
    Freeze,
    /// This many bytes on standard error, as fast as they go.
    FloodStderr(usize),
    /// A frame with a text of this many bytes.
    LongLine(usize),
    /// A line that is not JSON.
    NotJson,
    /// A frame of a type that nobody knows.
    UnknownFrame,
    /// A control request that nobody knows; the turn waits for its answer.
    UnknownRequest,
}
