//! `system` frames: what the CLI says about itself.

mod init;
mod notice;
mod retry;
mod status;
mod task;

use countersign_protocol_derive::WireTagged;

pub use self::init::{InitMcpServer, ManagedLock, PluginError, SystemInit, ViewMode};
pub use self::notice::{
    ElicitationComplete, FailedFile, FilesPersisted, HookOutcome, HookProgress, HookResponse,
    HookStarted, Informational, InformationalLevel, LocalCommandOutput, MemoryMode, MemoryRecall,
    MemoryScope, Notification, NotificationPriority, PermissionCheckState, PermissionCheckStatus,
    PermissionDenied, PersistedFile, PluginInstall, PluginInstallStatus, RecalledMemory,
};
pub use self::retry::{
    ApiRetry, ControlRequestProgress, ControlRequestStatus, FallbackDirection, FallbackScope,
    ModelFallback, ModelRefusalFallback, ModelRefusalNoFallback, NoResponse,
};
pub use self::status::{
    CommandsChanged, CompactBoundary, CompactMetadata, CompactResult, CompactTrigger, LostWrite,
    MirrorError, MirrorKey, PreservedMessages, PreservedSegment, SessionState, SessionStateChanged,
    SessionTitleChanged, SessionWritesLost, Status, StatusKind, ThinkingTokens, VcsChange,
    VcsStateChanged, WorkerShuttingDown,
};
pub use self::task::{
    BackgroundTaskInfo, BackgroundTasksChanged, TaskEnd, TaskNotification, TaskPatch, TaskProgress,
    TaskStarted, TaskStatus, TaskUpdated, TaskUsage,
};
use crate::wire::Named;

/// A `system` frame, by its subtype.
#[derive(Debug, Clone, PartialEq, WireTagged)]
#[wire(tag = "subtype")]
#[non_exhaustive]
pub enum SystemMessage {
    /// A turn begins. Sent at the start of every turn, not of the process.
    #[wire(name = "init")]
    Init(Box<SystemInit>),
    /// What the CLI is doing, and the permission mode whenever it changes.
    #[wire(name = "status")]
    Status(Status),
    /// The conversation was compacted.
    #[wire(name = "compact_boundary")]
    CompactBoundary(Box<CompactBoundary>),
    /// A request to the API failed and is tried again.
    #[wire(name = "api_retry")]
    ApiRetry(ApiRetry),
    /// A control request of the client is being worked on.
    #[wire(name = "control_request_progress")]
    ControlRequestProgress(ControlRequestProgress),
    /// Another model took over, because the first one was overloaded.
    #[wire(name = "model_fallback")]
    ModelFallback(ModelFallback),
    /// The model refused, and another one took over.
    #[wire(name = "model_refusal_fallback")]
    ModelRefusalFallback(Box<ModelRefusalFallback>),
    /// The model refused, and no other one took over.
    #[wire(name = "model_refusal_no_fallback")]
    ModelRefusalNoFallback(Box<ModelRefusalNoFallback>),
    /// What a slash command printed.
    #[wire(name = "local_command_output")]
    LocalCommandOutput(LocalCommandOutput),
    /// A hook of the settings began.
    #[wire(name = "hook_started")]
    HookStarted(HookStarted),
    /// A hook of the settings printed something.
    #[wire(name = "hook_progress")]
    HookProgress(Box<HookProgress>),
    /// A hook of the settings ended.
    #[wire(name = "hook_response")]
    HookResponse(Box<HookResponse>),
    /// A plugin is being installed.
    #[wire(name = "plugin_install")]
    PluginInstall(PluginInstall),
    /// A task began: a sub-agent, a command in the background, a workflow.
    #[wire(name = "task_started")]
    TaskStarted(Box<TaskStarted>),
    /// A task did something.
    #[wire(name = "task_progress")]
    TaskProgress(Box<TaskProgress>),
    /// A task changed. It may end without any other word.
    #[wire(name = "task_updated")]
    TaskUpdated(Box<TaskUpdated>),
    /// A task ended.
    #[wire(name = "task_notification")]
    TaskNotification(Box<TaskNotification>),
    /// The tasks in the background: all of them, in place of those listed before.
    #[wire(name = "background_tasks_changed")]
    BackgroundTasksChanged(BackgroundTasksChanged),
    /// How much the model has reasoned.
    #[wire(name = "thinking_tokens")]
    ThinkingTokens(ThinkingTokens),
    /// The session is idle, running, or waits for somebody.
    #[wire(name = "session_state_changed")]
    SessionStateChanged(SessionStateChanged),
    /// A hosted worker is about to end.
    #[wire(name = "worker_shutting_down")]
    WorkerShuttingDown(WorkerShuttingDown),
    /// The slash commands: all of them, in place of those listed before.
    #[wire(name = "commands_changed")]
    CommandsChanged(CommandsChanged),
    /// Something for a person to read.
    #[wire(name = "notification")]
    Notification(Box<Notification>),
    /// Files were stored.
    #[wire(name = "files_persisted")]
    FilesPersisted(FilesPersisted),
    /// Memories were looked up.
    #[wire(name = "memory_recall")]
    MemoryRecall(MemoryRecall),
    /// An elicitation that went on elsewhere is over.
    #[wire(name = "elicitation_complete")]
    ElicitationComplete(ElicitationComplete),
    /// A tool call was refused without anybody being asked.
    #[wire(name = "permission_denied")]
    PermissionDenied(Box<PermissionDenied>),
    /// The transcript could not be mirrored. Made by the SDKs, not by the CLI.
    #[wire(name = "mirror_error")]
    MirrorError(MirrorError),
    /// A note, such as that a prompt was blocked by a hook.
    #[wire(name = "informational")]
    Informational(Box<Informational>),
    /// The disk is full, and something could not be written.
    #[wire(name = "session_writes_lost")]
    SessionWritesLost(SessionWritesLost),
    /// The session has another title. Not part of the public types.
    #[wire(name = "session_title_changed")]
    SessionTitleChanged(SessionTitleChanged),
    /// A classifier is looking at a tool call. Not part of the public types.
    #[wire(name = "permission_check_status")]
    PermissionCheckStatus(PermissionCheckStatus),
    /// Something was committed, pushed, merged or rebased. Not part of the public types.
    #[wire(name = "vcs_state_changed")]
    VcsStateChanged(VcsStateChanged),
    /// Subtypes that the CLI and its own clients keep to themselves.
    #[wire(internal(
        "post_turn_summary",
        "task_summary",
        "session_metadata",
        "code_change_published",
        "turn_preempted",
        "per_turn_effort_changed",
        "instruction_size_warning",
        "file_attachments_missing",
        "peer_message_hold",
        "feedback_draft_queued",
        "dev_intent",
        "inherited_asks_settled",
        "turn_handoff_available",
        "cloud_session_delta",
        "ui_invalidate",
        "ui_log",
        "ui_notify",
        "ui_notify_cancel",
        "ui_toast",
        "ui_status",
        "ui_placed",
        "ui_panes",
        "ui_scroll",
        "ui_focus"
    ))]
    Internal(Named),
    /// A subtype this crate does not know.
    #[wire(other)]
    Other(Named),
}
