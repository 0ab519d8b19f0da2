//! `system` frames that tell of something that happened.

use countersign_protocol_derive::WireObject;

use crate::ask::DecisionReasonType;
use crate::hook::HookEvent;
use crate::ids::{AgentId, ElicitationId, MessageUuid, SessionId, ToolUseId};
use crate::names::open_enum;
use crate::wire::{Extra, Num};

/// What a slash command printed.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct LocalCommandOutput {
    /// The text.
    pub content: String,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A hook of the settings began. Hooks of the client are not told this way.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct HookStarted {
    /// Names the run of the hook.
    pub hook_id: Option<String>,
    /// The hook: event and matcher.
    pub hook_name: String,
    /// The event.
    pub hook_event: HookEvent,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A hook of the settings printed something.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct HookProgress {
    /// Names the run of the hook.
    pub hook_id: Option<String>,
    /// The hook: event and matcher.
    pub hook_name: String,
    /// The event.
    pub hook_event: HookEvent,
    /// Its standard output so far.
    pub stdout: Option<String>,
    /// Its standard error so far.
    pub stderr: Option<String>,
    /// Both.
    pub output: Option<String>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A hook of the settings ended.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct HookResponse {
    /// Names the run of the hook.
    pub hook_id: Option<String>,
    /// The hook: event and matcher.
    pub hook_name: String,
    /// The event.
    pub hook_event: HookEvent,
    /// What it printed.
    pub output: Option<String>,
    /// Its standard output.
    pub stdout: Option<String>,
    /// Its standard error.
    pub stderr: Option<String>,
    /// Its exit code.
    pub exit_code: Option<Num>,
    /// How it ended.
    pub outcome: Option<HookOutcome>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A plugin is being installed.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct PluginInstall {
    /// How far it is.
    pub status: PluginInstallStatus,
    /// The plugin.
    pub name: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Something for a person to read.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct Notification {
    /// Names the notification; a later one of the same name replaces it.
    pub key: String,
    /// The text.
    pub text: String,
    /// How much it matters.
    pub priority: NotificationPriority,
    /// Its colour.
    pub color: Option<String>,
    /// How long to show it.
    pub timeout_ms: Option<Num>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Files were stored.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct FilesPersisted {
    /// The files.
    pub files: Vec<PersistedFile>,
    /// Files that could not be stored.
    pub failed: Vec<FailedFile>,
    /// When.
    pub processed_at: Option<String>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A file that was stored.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct PersistedFile {
    /// Its name.
    pub filename: String,
    /// Its id.
    pub file_id: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A file that could not be stored.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct FailedFile {
    /// Its name.
    pub filename: String,
    /// Why.
    pub error: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Memories were looked up.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct MemoryRecall {
    /// How.
    pub mode: MemoryMode,
    /// What was found.
    pub memories: Vec<RecalledMemory>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A memory that was found.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct RecalledMemory {
    /// Its file.
    pub path: String,
    /// Whose it is.
    pub scope: MemoryScope,
    /// What it says.
    pub content: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// An elicitation that went on elsewhere is over.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ElicitationComplete {
    /// The server that asked.
    pub mcp_server_name: String,
    /// The elicitation.
    pub elicitation_id: ElicitationId,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A tool call was refused without anybody being asked: by a rule, by the mode, by a
/// classifier, or because there was nobody to ask.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct PermissionDenied {
    /// The tool.
    pub tool_name: String,
    /// The call.
    pub tool_use_id: ToolUseId,
    /// The sub-agent that made it.
    pub agent_id: Option<AgentId>,
    /// What kind of reason.
    pub decision_reason_type: Option<DecisionReasonType>,
    /// The reason.
    pub decision_reason: Option<String>,
    /// The reason as a code. Not part of the public types.
    pub decision_reason_code: Option<String>,
    /// What the model was told.
    pub message: String,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A note, such as that a prompt was blocked by a hook.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct Informational {
    /// The text.
    pub content: String,
    /// How much it matters.
    pub level: InformationalLevel,
    /// The call it is about.
    pub tool_use_id: Option<ToolUseId>,
    /// Whether the turn ends here.
    pub prevent_continuation: Option<bool>,
    /// What it is about, as a code.
    pub tag: Option<String>,
    /// When, in ISO 8601.
    pub timestamp: Option<String>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A classifier is looking at a tool call.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct PermissionCheckStatus {
    /// The call.
    pub tool_use_id: ToolUseId,
    /// The sub-agent that made it.
    pub agent_id: Option<AgentId>,
    /// Whether it is done.
    pub status: PermissionCheckState,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// How a hook ended.
    HookOutcome {
        /// Well.
        Success = "success",
        /// With an error.
        Error = "error",
        /// It was cancelled.
        Cancelled = "cancelled",
    }

    /// How far the installation of a plugin is.
    PluginInstallStatus {
        /// It was begun.
        Started = "started",
        /// One plugin is there.
        Installed = "installed",
        /// One plugin could not be installed.
        Failed = "failed",
        /// It is over.
        Completed = "completed",
    }

    /// How much a notification matters.
    NotificationPriority {
        /// Little.
        Low = "low",
        /// Somewhat.
        Medium = "medium",
        /// Much.
        High = "high",
        /// It is to be shown at once.
        Immediate = "immediate",
    }

    /// How memories were looked up.
    MemoryMode {
        /// Some were chosen.
        Select = "select",
        /// A summary was written.
        Synthesize = "synthesize",
    }

    /// Whose a memory is.
    MemoryScope {
        /// One person's.
        Personal = "personal",
        /// A team's.
        Team = "team",
        /// An organisation's.
        Organization = "organization",
    }

    /// How much a note matters.
    InformationalLevel {
        /// It is said for completeness.
        Info = "info",
        /// It is worth reading.
        Notice = "notice",
        /// It suggests something.
        Suggestion = "suggestion",
        /// It warns.
        Warning = "warning",
    }

    /// Whether a classifier is done.
    PermissionCheckState {
        /// It is looking.
        Checking = "checking",
        /// It is done.
        Done = "done",
    }
}
