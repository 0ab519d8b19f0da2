//! What a client writes.

use std::collections::BTreeMap;

use countersign_protocol_derive::{WireObject, WireTagged};

use crate::control::{ControlCancelRequest, ControlRequest, ControlResponse};
use crate::decode::{Decoded, Frame, decode_frame};
use crate::encode::{EncodeError, encode_line};
use crate::event::KeepAlive;
use crate::ids::{MessageUuid, RequestId, SessionId};
use crate::line::{Kind, Line};
use crate::message::{AssistantMessage, UserMessage};
use crate::request::ClientRequest;
use crate::system::SystemMessage;
use crate::wire::{Extra, Named};

/// A frame that a client writes to the CLI's standard input.
///
/// One bad line ends the CLI: a `user` frame without its role, a control request without its
/// request. These types do not make one, and a name that has a type is not written as
/// [`Other`](Self::Other); never pass on a line that did not go through them.
#[derive(Debug, Clone, PartialEq, WireTagged)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum ToCli {
    /// A user message.
    #[wire(name = "user")]
    User(Box<UserMessage>),
    /// The client asks; the CLI answers.
    #[wire(name = "control_request")]
    ControlRequest(Box<ControlRequest<ClientRequest>>),
    /// The answer to a request of the CLI.
    #[wire(name = "control_response")]
    ControlResponse(Box<ControlResponse>),
    /// The client no longer wants an answer.
    #[wire(name = "control_cancel_request")]
    ControlCancelRequest(ControlCancelRequest),
    /// Nothing.
    #[wire(name = "keep_alive")]
    KeepAlive(KeepAlive),
    /// New credentials.
    #[wire(name = "update_environment_variables")]
    UpdateEnvironmentVariables(UpdateEnvironmentVariables),
    /// A message of an earlier conversation, to be appended. Not part of the public types.
    #[wire(name = "assistant")]
    Assistant(Box<AssistantMessage>),
    /// A frame of an earlier conversation, to be appended. Not part of the public types.
    #[wire(name = "system")]
    System(SystemMessage),
    /// A command to run without the model. For hosted workers.
    #[wire(name = "bash_command")]
    BashCommand(BashCommand),
    /// Frames for hosted workers.
    #[wire(internal("queued_notification", "session_notice", "workflow_launch"))]
    Internal(Named),
    /// A frame this crate does not know. The CLI ignores it.
    #[wire(other)]
    Other(Named),
}

impl Frame for ToCli {
    fn kind(&self) -> Kind {
        let subtype = match self {
            Self::System(frame) => Some(frame.name()),
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

/// New credentials for a running process.
///
/// 2.1.62 takes any variable; later versions take a few credentials and drop the rest without a
/// word. With a `request_id` the CLI answers which ones it took.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct UpdateEnvironmentVariables {
    /// The variables.
    pub variables: BTreeMap<String, String>,
    /// Asks for an answer.
    pub request_id: Option<RequestId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`UpdateEnvironmentVariables`], when it asked for one.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct AppliedEnvironmentVariables {
    /// The variables that were taken.
    pub applied: Vec<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A command to run without the model.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct BashCommand {
    /// The command.
    pub command: String,
    /// Where to run it.
    pub cwd: Option<String>,
    /// Names the frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}
