//! The `user` frame, in both directions.

use countersign_protocol_derive::WireObject;
use serde::de::{DeserializeSeed as _, Deserializer, Error as _, Unexpected};
use serde::ser::{Serialize, Serializer};

use super::MessageOrigin;
use crate::content::Content;
use crate::ids::{AgentId, MessageUuid, SessionId, ToolUseId};
use crate::names::open_enum;
use crate::wire::{Extra, FromWire, Place, RawJson, Text};

/// What the user said, or what a tool gave back.
///
/// A client sends it to start a turn. The CLI sends it with tool results, with notes of its own
/// (an interrupt, a compacted conversation), and as an echo where that was asked for.
///
/// ```
/// use countersign_protocol::message::UserMessage;
/// use countersign_protocol::{Frame as _, ToCli};
///
/// let line = ToCli::from(UserMessage::prompt("What is 2+2?")).to_line()?;
/// assert_eq!(line, br#"{"type":"user","message":{"role":"user","content":"What is 2+2?"}}
/// "#);
/// # Ok::<(), countersign_protocol::EncodeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct UserMessage {
    /// The message as the API takes it.
    pub message: UserContent,
    /// The `Agent` call this belongs to; none in the main conversation.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// The session. The CLI does not look at what a client puts here.
    pub session_id: Option<SessionId>,
    /// Names the message. A client should choose one: a message that is sent again under the
    /// same name, even after a resume, is dropped instead of being run twice, and replies refer
    /// to it.
    pub uuid: Option<MessageUuid>,
    /// When it runs, if a turn is running.
    pub priority: Option<Priority>,
    /// False to add it to the conversation without asking the model.
    #[wire(name = "shouldQuery")]
    pub should_query: Option<bool>,
    /// Whether it was not typed by a person.
    #[wire(name = "isSynthetic")]
    pub is_synthetic: Option<bool>,
    /// Where it came from.
    pub origin: Option<MessageOrigin>,
    /// True to have the text taken as it is: no `@path`, no slash command. Since 2.1.248.
    pub client_composed: Option<bool>,
    /// Pasted texts that are kept out of the message and follow it.
    pub pasted_content: Option<Vec<Content>>,
    /// Pasted texts that stand in the message.
    pub inline_pastes: Option<Vec<String>>,
    /// When it was written, in ISO 8601.
    pub timestamp: Option<String>,
    /// What the tool gave back, in a form of its own; a string when it failed. See
    /// [`ToolOutput`](crate::tool::ToolOutput) for types.
    pub tool_use_result: Option<RawJson>,
    /// Whether this is the echo of a message that the client sent.
    #[wire(name = "isReplay")]
    pub is_replay: Option<bool>,
    /// Files that came with an echoed message.
    pub file_attachments: Option<RawJson>,
    /// The sub-agent it belongs to.
    pub agent_id: Option<AgentId>,
    /// The kind of sub-agent.
    pub subagent_type: Option<String>,
    /// What the sub-agent was asked to do, in short.
    pub task_description: Option<String>,
    /// Why a tool did not run, and who decided. Not part of the public types; since 2.1.325.
    pub tool_result_meta: Option<Vec<ToolResultMeta>>,
    /// Fields this type does not name.
    pub extra: Extra,
}

impl UserMessage {
    /// A prompt: the message that starts a turn.
    #[must_use]
    pub fn prompt(content: impl Into<Content>) -> Self {
        Self::new(UserContent::new(content))
    }
}

/// A message of the Messages API, as a user writes it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct UserContent {
    /// Always `user`.
    #[wire(fixed)]
    pub role: UserRole,
    /// What was said.
    pub content: Content,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The role of a user message. The CLI ends at once when it reads another one, so there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct UserRole;

impl FromWire for UserRole {
    fn from_wire<'de, D: Deserializer<'de>>(source: D, _: Place) -> Result<Self, D::Error> {
        match &*Text.deserialize(source)? {
            "user" => Ok(Self),
            other => Err(D::Error::invalid_value(Unexpected::Str(other), &"`user`")),
        }
    }
}

impl Serialize for UserRole {
    fn serialize<S: Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        sink.serialize_str("user")
    }
}

/// How a tool call came to be run or not.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ToolResultMeta {
    /// The call.
    pub id: ToolUseId,
    /// Why it did not run.
    pub non_execution_kind: Option<NonExecutionKind>,
    /// What the person said who refused it.
    pub user_feedback: Option<String>,
    /// What would help.
    pub remedy: Option<RawJson>,
    /// Who decided.
    pub permission_decision: Option<PermissionDecision>,
    /// The built-in tool behind the call.
    pub built_in_tool: Option<RawJson>,
    /// The input it ran with, where that was changed.
    pub run_input: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Who decided on a tool call.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct PermissionDecision {
    /// What was decided.
    pub decision: PermissionDecisionKind,
    /// By whom or by what.
    pub source: Option<String>,
    /// What kind of reason there was.
    pub reason_type: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// When a message runs that is sent during a turn.
    ///
    /// 2.1.197 and 2.1.325 tell them apart. 2.1.62 does not: there, each is read with the results of
    /// the tools that run, as [`Next`](Self::Next).
    Priority {
        /// As soon as can be: what the model is writing is cut off, a tool that runs is waited for,
        /// and the turn ends there; the message has the next one.
        Now = "now",
        /// With the results of the tools that run, in the same turn; if the model calls none, in
        /// the next one. It is what a message without a priority has.
        Next = "next",
        /// In a turn of its own, after the running one.
        Later = "later",
    }

    /// Why a tool call did not run.
    NonExecutionKind {
        /// A person refused it.
        UserRejected = "user-rejected",
        /// A rule refused it.
        PermissionRule = "permission-rule",
        /// The classifier of auto mode refused it.
        AutomodeBlocked = "automode-blocked",
        /// The classifier could not be reached.
        AutomodeUnavailable = "automode-unavailable",
        /// The classifier could not be understood.
        AutomodeParsingError = "automode-parsing-error",
        /// The turn was interrupted.
        Interrupted = "interrupted",
        /// The call was cancelled.
        Cancelled = "cancelled",
    }

    /// What was decided on a tool call.
    PermissionDecisionKind {
        /// It may run.
        Accept = "accept",
        /// It may not.
        Reject = "reject",
        /// Nobody decided any more.
        Cancelled = "cancelled",
    }
}
