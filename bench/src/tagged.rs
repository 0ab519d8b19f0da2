//! The reader to compare with: what one writes first, an enum with `#[serde(tag)]`.
//!
//! It names the fields that a client uses and drops all others.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// A frame.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are those of the wire")]
pub enum Frame {
    Assistant {
        message: Message,
        parent_tool_use_id: Option<String>,
        session_id: String,
        uuid: String,
        request_id: Option<String>,
        timestamp: Option<String>,
    },
    User {
        message: Message,
        parent_tool_use_id: Option<String>,
        session_id: String,
        uuid: Option<String>,
        timestamp: Option<String>,
        tool_use_result: Option<Value>,
    },
    Result {
        subtype: String,
        is_error: bool,
        duration_ms: f64,
        duration_api_ms: f64,
        num_turns: u64,
        result: Option<String>,
        stop_reason: Option<String>,
        total_cost_usd: f64,
        usage: Value,
        #[serde(rename = "modelUsage")]
        model_usage: BTreeMap<String, Value>,
        permission_denials: Vec<Value>,
        session_id: String,
        uuid: String,
    },
    StreamEvent {
        event: Event,
        parent_tool_use_id: Option<String>,
        session_id: String,
        uuid: String,
    },
}

/// A message of the API.
#[derive(Debug, Deserialize)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are those of the wire")]
pub struct Message {
    pub id: Option<String>,
    pub model: Option<String>,
    pub role: String,
    pub content: Vec<Block>,
    pub stop_reason: Option<String>,
    pub usage: Option<Value>,
}

/// A content block.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are those of the wire")]
pub enum Block {
    Text { text: String },
    ToolUse { id: String, name: String, input: Value },
    ToolResult { tool_use_id: String, content: Value, is_error: Option<bool> },
}

/// An event of the stream.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are those of the wire")]
pub enum Event {
    ContentBlockDelta { index: u64, delta: Delta },
    MessageStop,
}

/// A piece of a block.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are those of the wire")]
pub enum Delta {
    TextDelta { text: String },
    InputJsonDelta { partial_json: String },
}
