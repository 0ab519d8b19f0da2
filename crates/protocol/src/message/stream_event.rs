//! The `stream_event` frame: a response as it is being written.

use countersign_protocol_derive::{WireObject, WireTagged};

use super::ModelMessage;
use crate::content::ContentBlock;
use crate::ids::{ApiMessageId, MessageUuid, SessionId, ToolUseId};
use crate::usage::Usage;
use crate::wire::{Extra, Named, Num, RawJson};

/// One event of the stream in which the API answers.
///
/// Sent when partial messages were asked for. The `assistant` frame of a block comes just before
/// the block's `content_block_stop`, and is the truth: after a broken stream, what was streamed
/// before is void.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct StreamEventMessage {
    /// The event, as the API sends it.
    pub event: StreamEvent,
    /// The `Agent` call this belongs to; none in the main conversation.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// From the prompt to the first token. On the first event of a response.
    pub ttft_ms: Option<Num>,
    /// The user message that is being answered.
    pub user_message_uuid: Option<MessageUuid>,
    /// All user messages that are being answered.
    pub user_message_uuids: Option<Vec<MessageUuid>>,
    /// Why the turn was resumed.
    pub resume_reason: Option<String>,
    /// The response this belongs to. Not part of the public types.
    pub api_message_id: Option<ApiMessageId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// An event of the Messages API.
#[derive(Debug, Clone, PartialEq, WireTagged)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum StreamEvent {
    /// A piece of a block.
    #[wire(name = "content_block_delta")]
    ContentBlockDelta(ContentBlockDelta),
    /// A response begins.
    #[wire(name = "message_start")]
    MessageStart(Box<MessageStart>),
    /// A block begins.
    #[wire(name = "content_block_start")]
    ContentBlockStart(Box<ContentBlockStart>),
    /// A block ends.
    #[wire(name = "content_block_stop")]
    ContentBlockStop(ContentBlockStop),
    /// The response is about to end: why, and what it used.
    #[wire(name = "message_delta")]
    MessageDelta(Box<MessageDelta>),
    /// The response ended.
    #[wire(name = "message_stop")]
    MessageStop(MessageStop),
    /// Nothing; the connection is alive.
    #[wire(name = "ping")]
    Ping(Ping),
    /// The API failed in the middle of the response.
    #[wire(name = "error")]
    Error(ApiErrorEvent),
    /// An event this crate does not know.
    #[wire(other)]
    Other(Named),
}

/// A response begins.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct MessageStart {
    /// The message, still empty.
    pub message: ModelMessage,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A block begins.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ContentBlockStart {
    /// The number of the block in the response, from 0.
    pub index: u64,
    /// The block, still empty.
    pub content_block: ContentBlock,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A piece of a block.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ContentBlockDelta {
    /// The number of the block in the response, from 0.
    pub index: u64,
    /// The piece.
    pub delta: BlockDelta,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A piece of a block, by the kind of block.
#[derive(Debug, Clone, PartialEq, WireTagged)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum BlockDelta {
    /// More text.
    #[wire(name = "text_delta")]
    Text(TextDelta),
    /// More of a tool's input.
    #[wire(name = "input_json_delta")]
    InputJson(InputJsonDelta),
    /// More reasoning.
    #[wire(name = "thinking_delta")]
    Thinking(ThinkingDelta),
    /// The signature of the reasoning.
    #[wire(name = "signature_delta")]
    Signature(SignatureDelta),
    /// A citation.
    #[wire(name = "citations_delta")]
    Citations(CitationsDelta),
    /// A piece this crate does not know.
    #[wire(other)]
    Other(Named),
}

/// More text.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct TextDelta {
    /// The text to append.
    pub text: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// More of a tool's input.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct InputJsonDelta {
    /// A piece of JSON; only all of them together are JSON.
    pub partial_json: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// More reasoning.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ThinkingDelta {
    /// The text to append.
    pub thinking: String,
    /// How many tokens it was, where the text is not shown.
    pub estimated_tokens: Option<Num>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The signature of the reasoning.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SignatureDelta {
    /// The signature.
    pub signature: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A citation.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct CitationsDelta {
    /// The citation.
    pub citation: RawJson,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A block ends.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ContentBlockStop {
    /// The number of the block in the response, from 0.
    pub index: u64,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The response is about to end.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct MessageDelta {
    /// Why it ends.
    pub delta: MessageDeltaBody,
    /// What the response used.
    pub usage: Option<Usage>,
    /// What the API left out of the context.
    pub context_management: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Why a response ends.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct MessageDeltaBody {
    /// Why the model stopped.
    pub stop_reason: Option<String>,
    /// The sequence at which it stopped.
    pub stop_sequence: Option<String>,
    /// Details of why it stopped.
    pub stop_details: Option<RawJson>,
    /// The container in which the API ran code.
    pub container: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The response ended.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct MessageStop {
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Nothing; the connection is alive.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct Ping {
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The API failed in the middle of a response.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ApiErrorEvent {
    /// The API's own error object, with `type` and `message`.
    pub error: RawJson,
    /// Fields this type does not name.
    pub extra: Extra,
}
