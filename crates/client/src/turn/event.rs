//! What happens in a turn.

use countersign_protocol::ids::ToolUseId;
use countersign_protocol::message::ResultMessage;
use countersign_protocol::system::{ApiRetry, SystemInit};

use super::tool_call::ToolCall;
use crate::message::Message;

/// What happens in a turn.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TurnEvent {
    /// The model is about to be asked. In a turn that takes up several messages, once.
    Began(Box<SystemInit>),
    /// A piece of text, as the model writes it. Only with partial messages; the whole follows as
    /// [`TurnEvent::Text`], and that is what counts: pieces of a response that broke off are void.
    TextDelta {
        /// The piece.
        text: String,
        /// The call of the sub-agent that writes it.
        parent: Option<ToolUseId>,
    },
    /// A piece of what the model thinks, as it thinks it. Only with partial messages.
    ThinkingDelta {
        /// The piece.
        text: String,
        /// The call of the sub-agent that thinks it.
        parent: Option<ToolUseId>,
    },
    /// A whole text.
    Text {
        /// The text.
        text: String,
        /// The call of the sub-agent that wrote it.
        parent: Option<ToolUseId>,
    },
    /// A whole thought.
    Thinking {
        /// The thought.
        text: String,
        /// The call of the sub-agent that had it.
        parent: Option<ToolUseId>,
    },
    /// The model calls a tool. Whether it runs is not decided yet.
    ToolCall(ToolCall),
    /// A tool has run, or was refused: the call, with its result.
    ToolDone(ToolCall),
    /// A request to the API failed and is tried again.
    Retry(Box<ApiRetry>),
    /// A turn that nobody asked for has ended: a background task had something to say.
    Unasked(Box<ResultMessage>),
    /// The turn is over.
    Done(Box<ResultMessage>),
    /// Anything else that the CLI says.
    Other(Message),
}
