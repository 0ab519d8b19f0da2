//! Events of what is said: prompts, questions, messages.

use countersign_protocol_derive::WireObject;

use super::HookBase;
use crate::ask::{ElicitationAction, ElicitationMode};
use crate::ids::ElicitationId;
use crate::names::open_enum;
use crate::wire::{Extra, RawJson};

/// A prompt is about to be processed.
///
/// A callback that does not answer in time blocks the prompt.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct UserPromptSubmitInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// The text.
    pub prompt: String,
    /// Where it comes from.
    pub source: Option<PromptSource>,
    /// The title of the session, if it has one.
    pub session_title: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A slash command or an MCP prompt is about to become a prompt.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct UserPromptExpansionInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// What kind of command it is.
    pub expansion_type: ExpansionType,
    /// The command, without the slash.
    pub command_name: String,
    /// What follows the command.
    pub command_args: String,
    /// Where the command is defined.
    pub command_source: Option<String>,
    /// The text as it was typed.
    pub prompt: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The CLI wants to draw attention to something.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct NotificationInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// The text.
    pub message: String,
    /// A heading.
    pub title: Option<String>,
    /// What it is about, such as `permission_prompt` or `idle_prompt`.
    pub notification_type: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Text of the model is about to be shown.
///
/// A message comes in several pieces, and each is an event. The callback has 10 seconds unless it
/// was registered with another timeout.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct MessageDisplayInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// The turn.
    pub turn_id: String,
    /// The message. Neither its `uuid` nor its id at the API: it only tells which pieces belong
    /// together.
    pub message_id: String,
    /// Which piece of the message it is, counted from 0.
    pub index: u64,
    /// Whether it is the last piece of the message. It may be empty.
    #[wire(name = "final")]
    pub is_final: bool,
    /// The text of this piece.
    pub delta: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// An MCP server asks the user something.
///
/// Answer with an [`ElicitationOutput`](crate::hook::ElicitationOutput), and the user is not
/// asked.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ElicitationInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// The server.
    pub mcp_server_name: String,
    /// The question.
    pub message: String,
    /// How it is to be answered.
    pub mode: Option<ElicitationMode>,
    /// The page to open, for [`ElicitationMode::Url`].
    pub url: Option<String>,
    /// The elicitation, for [`ElicitationMode::Url`].
    pub elicitation_id: Option<ElicitationId>,
    /// The JSON schema of the answer, for [`ElicitationMode::Form`].
    pub requested_schema: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The user has answered an MCP server, and the server has not been told yet.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ElicitationResultInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// The server.
    pub mcp_server_name: String,
    /// The elicitation.
    pub elicitation_id: Option<ElicitationId>,
    /// How it was answered.
    pub mode: Option<ElicitationMode>,
    /// What the user did.
    pub action: ElicitationAction,
    /// The answer.
    pub content: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// Where a prompt comes from.
    PromptSource {
        /// A person typed it.
        User = "user",
        /// The client sent it.
        Sdk = "sdk",
        /// The CLI made it.
        System = "system",
        /// A loop came round.
        LoopWakeup = "loop_wakeup",
        /// Its time had come.
        ScheduleWakeup = "schedule_wakeup",
        /// Something that was polled for happened.
        PollEvent = "poll_event",
    }

    /// What becomes a prompt.
    ExpansionType {
        /// A slash command.
        SlashCommand = "slash_command",
        /// A prompt of an MCP server.
        McpPrompt = "mcp_prompt",
    }
}
