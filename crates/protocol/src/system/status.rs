//! `system` frames about the state of the session.

use countersign_protocol_derive::WireObject;

use crate::ids::{MessageUuid, SessionId};
use crate::names::open_enum;
use crate::permission::PermissionMode;
use crate::request::SlashCommand;
use crate::wire::{Extra, Num};

/// What the CLI is doing.
///
/// Every change of the permission mode is told this way.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct Status {
    /// What it is doing; none when nothing in particular.
    pub status: Option<StatusKind>,
    /// The permission mode, when it changed.
    #[wire(name = "permissionMode")]
    pub permission_mode: Option<PermissionMode>,
    /// How compacting ended.
    pub compact_result: Option<CompactResult>,
    /// Why compacting failed.
    pub compact_error: Option<String>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The conversation was compacted: what came before is a summary now.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct CompactBoundary {
    /// How.
    pub compact_metadata: CompactMetadata,
    /// The message before. Not part of the public types.
    pub logical_parent_uuid: Option<MessageUuid>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// How a conversation was compacted.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct CompactMetadata {
    /// Who asked for it.
    pub trigger: CompactTrigger,
    /// Tokens before.
    pub pre_tokens: u64,
    /// Tokens after.
    pub post_tokens: Option<u64>,
    /// How long it took.
    pub duration_ms: Option<Num>,
    /// The part that was kept word for word.
    pub preserved_segment: Option<PreservedSegment>,
    /// The messages that were kept word for word.
    pub preserved_messages: Option<PreservedMessages>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A part of a conversation.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct PreservedSegment {
    /// Its first message.
    pub head_uuid: MessageUuid,
    /// The message it hangs on.
    pub anchor_uuid: MessageUuid,
    /// Its last message.
    pub tail_uuid: MessageUuid,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Messages of a conversation.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct PreservedMessages {
    /// The message they hang on.
    pub anchor_uuid: MessageUuid,
    /// The messages.
    pub uuids: Vec<MessageUuid>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// How much the model has reasoned, as an estimate.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ThinkingTokens {
    /// Tokens in this response so far.
    pub estimated_tokens: Num,
    /// Tokens since the last such frame.
    pub estimated_tokens_delta: Num,
    /// The user message that is being answered.
    pub user_message_uuid: Option<MessageUuid>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The session is idle, running, or waits for somebody.
///
/// Sent only when the environment asks for it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SessionStateChanged {
    /// The state.
    pub state: SessionState,
    /// Whether it was sent because an SDK reads it, and is not for others.
    pub sdk_host_only: Option<bool>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A hosted worker is about to end.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct WorkerShuttingDown {
    /// Why.
    pub reason: Option<String>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The slash commands: all of them, in place of those listed before.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct CommandsChanged {
    /// The commands.
    pub commands: Vec<SlashCommand>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The transcript could not be mirrored.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct MirrorError {
    /// Why.
    pub error: String,
    /// Which transcript.
    pub key: MirrorKey,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A transcript in a session store.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MirrorKey {
    /// The project.
    pub project_key: String,
    /// The session.
    pub session_id: SessionId,
    /// The sub-agent.
    pub subpath: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The disk is full, and something could not be written.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SessionWritesLost {
    /// `ENOSPC` or `EDQUOT`.
    pub error_code: String,
    /// What was lost.
    pub lost: Vec<LostWrite>,
    /// Whose transcripts.
    pub transcript_session_ids: Option<Vec<SessionId>>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The session has another title.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SessionTitleChanged {
    /// The title.
    pub title: String,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Something was committed, pushed, merged or rebased.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct VcsStateChanged {
    /// What.
    pub kind: VcsChange,
    /// Where.
    pub cwd: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// What the CLI is doing.
    StatusKind {
        /// It compacts the conversation.
        Compacting = "compacting",
        /// It asks the model. Sent with partial messages.
        Requesting = "requesting",
    }

    /// How compacting ended.
    CompactResult {
        /// Well.
        Success = "success",
        /// With an error.
        Failed = "failed",
    }

    /// Who asked for compacting.
    CompactTrigger {
        /// A person.
        Manual = "manual",
        /// The CLI, because the context was full.
        Auto = "auto",
    }

    /// What a session is doing.
    SessionState {
        /// Nothing, and nothing waits.
        Idle = "idle",
        /// A turn runs.
        Running = "running",
        /// It waits for an answer.
        RequiresAction = "requires_action",
    }

    /// What could not be written.
    LostWrite {
        /// A transcript.
        Transcript = "transcript",
        /// The configuration for all projects.
        GlobalConfig = "global_config",
    }

    /// What happened to a repository.
    VcsChange {
        /// A commit.
        Commit = "commit",
        /// A push.
        Push = "push",
        /// A merge.
        Merge = "merge",
        /// A rebase.
        Rebase = "rebase",
    }
}
