//! The small frames around the messages.

use countersign_protocol_derive::WireObject;

use crate::ids::{AgentId, MessageUuid, SessionId, TaskId, ToolUseId};
use crate::names::open_enum;
use crate::wire::{Extra, Num, RawJson};

/// A tool is still running.
///
/// A slow hook is told this way, too, under an id that is made up for it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ToolProgress {
    /// The call.
    pub tool_use_id: ToolUseId,
    /// The tool.
    pub tool_name: String,
    /// The `Agent` call in which it runs.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// How long it has run.
    pub elapsed_time_seconds: Num,
    /// The task it belongs to.
    pub task_id: Option<TaskId>,
    /// Whether this says no more than that it is alive.
    pub heartbeat: Option<bool>,
    /// The kind of sub-agent.
    pub subagent_type: Option<String>,
    /// The request of a sub-agent that is tried again.
    pub subagent_retry: Option<SubagentRetry>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A request of a sub-agent that is tried again.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SubagentRetry {
    /// The sub-agent.
    pub agent_id: Option<AgentId>,
    /// The number of the attempt.
    pub attempt: Option<u64>,
    /// How often it is tried at most.
    pub max_retries: Option<u64>,
    /// How long it waits.
    pub retry_delay_ms: Option<Num>,
    /// The HTTP status.
    pub error_status: Option<u64>,
    /// What went wrong.
    pub error_category: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What a few tool calls did, in short.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ToolUseSummary {
    /// The text.
    pub summary: String,
    /// The calls.
    pub preceding_tool_use_ids: Vec<ToolUseId>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A sign-in is going on.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct AuthStatus {
    /// Whether it still is.
    #[wire(name = "isAuthenticating")]
    pub is_authenticating: bool,
    /// What to show.
    pub output: Vec<String>,
    /// What went wrong.
    pub error: Option<String>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A limit of the subscription is near or reached.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct RateLimitEvent {
    /// The limit.
    pub rate_limit_info: RateLimitInfo,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A limit of the subscription.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RateLimitInfo {
    /// Whether requests are allowed.
    pub status: RateLimitStatus,
    /// When it ends, in seconds since 1970.
    pub resets_at: Option<Num>,
    /// Which limit.
    pub rate_limit_type: Option<RateLimitType>,
    /// How much of it is used.
    pub utilization: Option<Num>,
    /// Whether requests beyond it are allowed.
    pub overage_status: Option<RateLimitStatus>,
    /// When that ends.
    pub overage_resets_at: Option<Num>,
    /// Why requests beyond it are not allowed.
    pub overage_disabled_reason: Option<String>,
    /// Whether requests beyond it are being used.
    pub is_using_overage: Option<bool>,
    /// Whether requests beyond it are in use.
    pub overage_in_use: Option<bool>,
    /// Whether requests beyond it are switched on.
    pub overage_enabled: Option<bool>,
    /// The share of the limit that was just passed.
    pub surpassed_threshold: Option<Num>,
    /// Whose limit.
    pub limit_scope: Option<LimitScope>,
    /// `credits_required`.
    pub error_code: Option<String>,
    /// Whether the user can buy more.
    pub can_user_purchase_credits: Option<bool>,
    /// Whether a means of payment is known.
    pub has_chargeable_saved_payment_method: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What the user might say next. At most one a turn, after its result.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct PromptSuggestion {
    /// The text.
    pub suggestion: String,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The conversation was cleared, and another one begins in the same process.
///
/// The `session_id` here is the one that ends. The next one is in the next `init`.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ConversationReset {
    /// Names the new conversation. Not the next session id.
    pub new_conversation_id: String,
    /// Why.
    pub trigger: Option<ResetTrigger>,
    /// The message that asked for it.
    pub user_message_uuid: Option<MessageUuid>,
    /// When, in ISO 8601.
    pub timestamp: Option<String>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The goal that the session works towards; none when there is no longer one.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ActiveGoal {
    /// The goal.
    pub value: Option<Goal>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A goal.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct Goal {
    /// When it is reached.
    pub condition: String,
    /// How often it was tried.
    pub iterations: u64,
    /// When it was set.
    pub set_at: RawJson,
    /// Tokens used before.
    pub tokens_at_start: Num,
    /// Why it was not reached yet.
    pub last_reason: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Nothing: the process is alive. A client may send it, too, and it is ignored.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct KeepAlive {
    /// How far the process has come in starting, where that was asked for.
    pub startup_mark: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Lines that were written to a transcript. Sent when the client keeps a copy of it.
///
/// Not part of the public types: the SDKs do not show it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TranscriptMirror {
    /// The transcript, as an absolute path.
    pub file_path: String,
    /// The lines.
    pub entries: Vec<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What became of a user message that had a `uuid`.
///
/// Not part of the public types; since 2.1.325.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct CommandLifecycle {
    /// The message.
    pub command_uuid: MessageUuid,
    /// What became of it.
    pub state: CommandState,
    /// What woke the session.
    pub wakeup_source: Option<String>,
    /// When it is to run.
    pub scheduled_for: Option<RawJson>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// When the conversation is compacted by itself. Not part of the public types.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct AutocompactState {
    /// `enabled`, `effective_window`, `threshold`, `enforced` and `source`.
    pub value: RawJson,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// An entry of the transcript that is not a message, such as the outcome of a hook.
///
/// Not part of the public types; seen on 2.1.197.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct Attachment {
    /// The entry, told apart by its `type`.
    pub attachment: RawJson,
    /// The `Agent` call this belongs to.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// When, in ISO 8601.
    pub timestamp: Option<String>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// An entry of the transcript about something that goes on, such as a hook.
///
/// Not part of the public types; seen on 2.1.197.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct Progress {
    /// The entry, told apart by its `type`.
    pub data: RawJson,
    /// The `Agent` call this belongs to.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// When, in ISO 8601.
    pub timestamp: Option<String>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// Whether requests are allowed.
    RateLimitStatus {
        /// They are.
        Allowed = "allowed",
        /// They are, but not for long.
        AllowedWarning = "allowed_warning",
        /// They are not.
        Rejected = "rejected",
    }

    /// Which limit it is.
    RateLimitType {
        /// That of five hours.
        FiveHour = "five_hour",
        /// That of seven days.
        SevenDay = "seven_day",
        /// That of seven days for Opus.
        SevenDayOpus = "seven_day_opus",
        /// That of seven days for Sonnet.
        SevenDaySonnet = "seven_day_sonnet",
        /// That of seven days, with what is paid beyond it.
        SevenDayOverageIncluded = "seven_day_overage_included",
        /// That of what is paid beyond the subscription.
        Overage = "overage",
    }

    /// Whose limit it is.
    LimitScope {
        /// The service's.
        Service = "service",
        /// A channel's.
        Channel = "channel",
        /// A group's.
        GroupPool = "group_pool",
    }

    /// Why a conversation was cleared.
    ResetTrigger {
        /// Somebody asked for it.
        Clear = "clear",
        /// A plan was approved with a cleared context.
        PlanModeExit = "plan_mode_exit",
        /// A new session was asked for.
        FreshSession = "fresh_session",
        /// The introduction ended.
        Onboarding = "onboarding",
    }

    /// What became of a user message.
    CommandState {
        /// It waits.
        Queued = "queued",
        /// It runs.
        Started = "started",
        /// It was answered.
        Completed = "completed",
        /// It was taken back.
        Cancelled = "cancelled",
        /// It was dropped.
        Discarded = "discarded",
        /// It was refused.
        Refused = "refused",
    }
}
