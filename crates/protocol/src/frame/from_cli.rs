//! What the CLI writes.

use countersign_protocol_derive::WireTagged;

use crate::ask::CliRequest;
use crate::control::{ControlCancelRequest, ControlRequest, ControlResponse};
use crate::decode::{Decoded, Frame, decode_frame};
use crate::encode::{EncodeError, encode_line};
use crate::event::{
    ActiveGoal, Attachment, AuthStatus, AutocompactState, CommandLifecycle, ConversationReset,
    KeepAlive, Progress, PromptSuggestion, RateLimitEvent, ToolProgress, ToolUseSummary,
    TranscriptMirror,
};
use crate::line::{Kind, Line};
use crate::message::{AssistantMessage, ResultMessage, StreamEventMessage, UserMessage};
use crate::system::SystemMessage;
use crate::wire::Named;

/// A frame that the CLI writes to its standard output.
#[derive(Debug, Clone, PartialEq, WireTagged)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum FromCli {
    /// A finished content block of the model.
    #[wire(name = "assistant")]
    Assistant(Box<AssistantMessage>),
    /// A tool result, a note of the CLI, or an echo.
    #[wire(name = "user")]
    User(Box<UserMessage>),
    /// The end of a turn.
    #[wire(name = "result")]
    Result(Box<ResultMessage>),
    /// Something about the CLI itself.
    #[wire(name = "system")]
    System(SystemMessage),
    /// A piece of a response that is being written.
    #[wire(name = "stream_event")]
    StreamEvent(Box<StreamEventMessage>),
    /// The CLI asks; the client has to answer.
    #[wire(name = "control_request")]
    ControlRequest(Box<ControlRequest<CliRequest>>),
    /// The answer to a request of the client.
    #[wire(name = "control_response")]
    ControlResponse(Box<ControlResponse>),
    /// The CLI no longer wants an answer.
    #[wire(name = "control_cancel_request")]
    ControlCancelRequest(ControlCancelRequest),
    /// Nothing: the process is alive.
    #[wire(name = "keep_alive")]
    KeepAlive(KeepAlive),
    /// A tool is still running.
    #[wire(name = "tool_progress")]
    ToolProgress(Box<ToolProgress>),
    /// What a few tool calls did, in short.
    #[wire(name = "tool_use_summary")]
    ToolUseSummary(Box<ToolUseSummary>),
    /// A sign-in is going on.
    #[wire(name = "auth_status")]
    AuthStatus(Box<AuthStatus>),
    /// A limit of the subscription is near or reached.
    #[wire(name = "rate_limit_event")]
    RateLimitEvent(Box<RateLimitEvent>),
    /// What the user might say next.
    #[wire(name = "prompt_suggestion")]
    PromptSuggestion(PromptSuggestion),
    /// The conversation was cleared.
    #[wire(name = "conversation_reset")]
    ConversationReset(Box<ConversationReset>),
    /// The goal of the session.
    #[wire(name = "active_goal")]
    ActiveGoal(Box<ActiveGoal>),
    /// Lines that were written to a transcript.
    #[wire(name = "transcript_mirror")]
    TranscriptMirror(TranscriptMirror),
    /// What became of a user message.
    #[wire(name = "command_lifecycle")]
    CommandLifecycle(Box<CommandLifecycle>),
    /// When the conversation is compacted by itself.
    #[wire(name = "autocompact_state")]
    AutocompactState(Box<AutocompactState>),
    /// An entry of the transcript that is not a message.
    #[wire(name = "attachment")]
    Attachment(Box<Attachment>),
    /// An entry of the transcript about something that goes on.
    #[wire(name = "progress")]
    Progress(Box<Progress>),
    /// A frame this crate does not know.
    #[wire(other)]
    Other(Named),
}

impl Frame for FromCli {
    fn kind(&self) -> Kind {
        let subtype = match self {
            Self::System(frame) => Some(frame.name()),
            Self::Result(frame) => Some(frame.subtype.as_str()),
            Self::ControlRequest(frame) => Some(frame.request.name()),
            Self::ControlResponse(frame) => Some(frame.response.name()),
            _ => None,
        };
        Kind::new(self.name(), subtype)
    }

    fn decode_line(line: &Line<'_>) -> Decoded<Self> {
        decode_frame(line)
    }

    fn to_line(&self) -> Result<Vec<u8>, EncodeError> {
        encode_line(self)
    }
}
