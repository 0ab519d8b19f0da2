//! The `result` frame.

use std::collections::BTreeMap;

use countersign_protocol_derive::WireObject;

use super::MessageOrigin;
use crate::ids::{MessageUuid, SessionId, ToolUseId};
use crate::names::open_enum;
use crate::request::{FastModeDisabledReason, FastModeState};
use crate::usage::{ModelUsage, Usage};
use crate::wire::{Extra, Num, RawJson};

/// The end of a turn.
///
/// Results do not pair with user messages: messages that wait may be merged into one turn, and
/// a background task may start a turn that nobody asked for. `subtype` alone does not tell
/// whether the turn went well; see [`ResultMessage::succeeded`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ResultMessage {
    /// How the turn ended.
    pub subtype: ResultSubtype,
    /// Whether it ended badly. True on `success`, too, when the API failed.
    pub is_error: bool,
    /// The last text of the model, or the text of an API error. On `success` only.
    pub result: Option<String>,
    /// What went wrong. On the other subtypes only.
    pub errors: Option<Vec<String>>,
    /// How long the turn took.
    pub duration_ms: Option<Num>,
    /// How long the API took of that.
    pub duration_api_ms: Option<Num>,
    /// How often the model was called.
    pub num_turns: Option<u64>,
    /// Why the model stopped.
    pub stop_reason: Option<String>,
    /// The cost in USD of the whole conversation in this process so far. Not to be summed.
    pub total_cost_usd: Option<Num>,
    /// Tokens of this turn's main conversation.
    pub usage: Option<Box<Usage>>,
    /// What each model used in the whole conversation so far, sub-agents included.
    #[wire(name = "modelUsage")]
    pub model_usage: Option<BTreeMap<String, ModelUsage>>,
    /// The tool calls that were refused in this turn. This list is the one to go by.
    pub permission_denials: Option<Vec<PermissionDenial>>,
    /// Why the turn ended. Since some version after 2.1.62.
    pub terminal_reason: Option<TerminalReason>,
    /// The value asked for with a JSON schema.
    pub structured_output: Option<RawJson>,
    /// The tool call that a hook put off. Resuming the session raises it again.
    pub deferred_tool_use: Option<DeferredToolUse>,
    /// How many messages still wait.
    pub queued_turn_count: Option<u64>,
    /// The number of this result in the process, from 0. A gap is a lost result.
    pub result_index: Option<u64>,
    /// The user message that was answered.
    pub user_message_uuid: Option<MessageUuid>,
    /// All user messages that were answered.
    pub user_message_uuids: Option<Vec<MessageUuid>>,
    /// Why the turn was resumed.
    pub resume_reason: Option<String>,
    /// What started the turn, if no user message did.
    pub origin: Option<MessageOrigin>,
    /// The slash command that was all the turn did.
    pub local_command: Option<String>,
    /// Whether fast mode is on.
    pub fast_mode_state: Option<FastModeState>,
    /// Why fast mode is not available.
    pub fast_mode_disabled_reason: Option<FastModeDisabledReason>,
    /// When the credential ends.
    pub credential_expires_at: Option<RawJson>,
    /// The HTTP status of an API error.
    pub api_error_status: Option<u64>,
    /// Why the CLI could not start.
    pub startup_failure_reason: Option<StartupFailureReason>,
    /// The configuration file that could not be read.
    pub invalid_config_file: Option<InvalidConfigFile>,
    /// From the prompt to the first token.
    pub ttft_ms: Option<Num>,
    /// From the prompt to the start of the stream.
    pub ttft_stream_ms: Option<Num>,
    /// From the prompt to the request to the API.
    pub time_to_request_ms: Option<Num>,
    /// From the start of the process to the request to the API.
    pub time_to_request_from_spawn_ms: Option<Num>,
    /// When the request to the API was sent, in milliseconds since 1970.
    pub request_sent_wall_ms: Option<Num>,
    /// From the prompt to the first frame with content.
    pub first_content_frame_ms: Option<Num>,
    /// From the prompt to the first post of the stream. This and what follows is for hosted
    /// workers, which post their frames.
    pub first_stream_post_ms: Option<Num>,
    /// How long that post took to be acknowledged.
    pub first_stream_post_ack_ms: Option<Num>,
    /// How long that post waited.
    pub first_stream_post_queue_wait_ms: Option<Num>,
    /// How many posts it waited for.
    pub first_stream_post_queued_behind: Option<Num>,
    /// When it was sent, in milliseconds since 1970.
    pub first_stream_post_wall_ms: Option<Num>,
    /// From the prompt to the first post with text.
    pub first_text_post_ms: Option<Num>,
    /// How long that post waited.
    pub first_text_post_queue_wait_ms: Option<Num>,
    /// How many posts it waited for.
    pub first_text_post_queued_behind: Option<Num>,
    /// When it was sent, in milliseconds since 1970.
    pub first_text_post_wall_ms: Option<Num>,
    /// Whether the process had been started in advance.
    pub warm_spare_claimed: Option<bool>,
    /// When the clock of these figures began, in milliseconds since 1970.
    pub time_origin_ms: Option<Num>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

impl ResultMessage {
    /// Whether the turn went well.
    ///
    /// Both fields count: an API failure is a `success` with `is_error`, and 2.1.62 ends an
    /// interrupted turn as an error without it.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.subtype == ResultSubtype::Success && !self.is_error
    }
}

/// A tool call that was refused.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct PermissionDenial {
    /// The tool.
    pub tool_name: String,
    /// The call.
    pub tool_use_id: ToolUseId,
    /// Its input.
    pub tool_input: RawJson,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A tool call that a hook put off.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct DeferredToolUse {
    /// The call.
    pub id: ToolUseId,
    /// The tool.
    pub name: String,
    /// Its input.
    pub input: RawJson,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A configuration file that could not be read.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct InvalidConfigFile {
    /// The file.
    pub path: String,
    /// Whether it is the one for all projects.
    pub is_global: Option<bool>,
    /// Whether a backup was looked for.
    pub backup_searched: Option<bool>,
    /// The backup that was found.
    pub backup_path: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// How a turn ended.
    ResultSubtype {
        /// The model stopped by itself. Not necessarily well: see
        /// [`ResultMessage::succeeded`].
        Success = "success",
        /// It was interrupted, or could not be carried on.
        ErrorDuringExecution = "error_during_execution",
        /// The model was called as often as it may be.
        ErrorMaxTurns = "error_max_turns",
        /// The budget is used up.
        ErrorMaxBudgetUsd = "error_max_budget_usd",
        /// The model did not produce a value that fits the schema.
        ErrorMaxStructuredOutputRetries = "error_max_structured_output_retries",
    }

    /// Why a turn ended.
    TerminalReason {
        /// The model was done.
        Completed = "completed",
        /// The model was called as often as it may be.
        MaxTurns = "max_turns",
        /// Interrupted while the model was writing.
        AbortedStreaming = "aborted_streaming",
        /// Interrupted while tools were running or being asked for.
        AbortedTools = "aborted_tools",
        /// The API failed.
        ApiError = "api_error",
        /// The conversation is too long.
        PromptTooLong = "prompt_too_long",
        /// The model failed.
        ModelError = "model_error",
        /// A picture could not be used.
        ImageError = "image_error",
        /// The model kept calling tools in a broken way.
        MalformedToolUseExhausted = "malformed_tool_use_exhausted",
        /// A limit that blocks everything was reached.
        BlockingLimit = "blocking_limit",
        /// The context filled up again too fast.
        RapidRefillBreaker = "rapid_refill_breaker",
        /// A stop hook did not let it go on.
        StopHookPrevented = "stop_hook_prevented",
        /// A hook ended it.
        HookStopped = "hook_stopped",
        /// A hook put a tool call off.
        ToolDeferred = "tool_deferred",
        /// A hook put a tool call off that could not be put off.
        ToolDeferredUnavailable = "tool_deferred_unavailable",
        /// The turn was sent to the background.
        BackgroundRequested = "background_requested",
        /// The budget is used up.
        BudgetExhausted = "budget_exhausted",
        /// The model did not produce a value that fits the schema.
        StructuredOutputRetryExhausted = "structured_output_retry_exhausted",
        /// The turn could not be set up.
        TurnSetupFailed = "turn_setup_failed",
    }

    /// Why the CLI could not start.
    StartupFailureReason {
        /// An API key is set although the organisation is pinned.
        OrgPinApiKeyConflict = "org_pin_api_key_conflict",
        /// This provider may not be used.
        ProviderNotAllowed = "provider_not_allowed",
        /// The organisation could not be verified.
        OrgVerifyFailed = "org_verify_failed",
        /// The organisation is another one than the pinned one.
        OrgPinMismatch = "org_pin_mismatch",
        /// The managed settings are not valid.
        ManagedSettingsInvalid = "managed_settings_invalid",
        /// Remote settings are required and could not be fetched.
        RemoteSettingsRequiredUnavailable = "remote_settings_required_unavailable",
        /// The gateway wants a sign-in.
        GatewaySigninRequired = "gateway_signin_required",
        /// The gateway refuses.
        GatewayAccessDenied = "gateway_access_denied",
        /// The proxy setting is not valid.
        ProxyInvalid = "proxy_invalid",
        /// There is no usable folder for temporary files.
        TempDirUnusable = "temp_dir_unusable",
        /// The working directory is gone.
        CwdUnavailable = "cwd_unavailable",
        /// There is no shell to run commands with.
        ShellToolMissing = "shell_tool_missing",
        /// Another process holds the session.
        SessionHeldByBackground = "session_held_by_background",
        /// The session's worktree could not be resumed.
        WorktreeResumeRefused = "worktree_resume_refused",
        /// The worktree could not be verified.
        WorktreeUnverified = "worktree_unverified",
        /// This version is too old.
        CliVersionTooOld = "cli_version_too_old",
        /// Bypass mode is refused to root.
        BypassRoot = "bypass_root",
        /// The organisation's configuration is required and could not be fetched.
        OrgConfigRequiredUnavailable = "org_config_required_unavailable",
        /// The organisation's configuration was refused.
        OrgConfigRefused = "org_config_refused",
        /// The sandbox is required and not available.
        SandboxRequiredUnavailable = "sandbox_required_unavailable",
        /// The first line was not `initialize`.
        InitializeNotFirst = "initialize_not_first",
        /// A configuration file could not be read.
        ConfigFileInvalid = "config_file_invalid",
        /// The managed settings that were announced did not come.
        ManagedSettingsNotDelivered = "managed_settings_not_delivered",
    }
}
