//! What a callback is told.

mod agent;
mod conversation;
mod session;
mod tool;
mod workspace;

use countersign_protocol_derive::{WireObject, WireTagged};

use super::HookEvent;
use crate::ids::{AgentId, SessionId};
use crate::permission::PermissionMode;
use crate::request::EffortLevel;
use crate::wire::{Extra, Named};

pub use self::agent::{
    BackgroundTask, Cron, StopFailureInput, StopInput, SubagentStartInput, SubagentStopInput,
    TaskCompletedInput, TaskCreatedInput, TeammateIdleInput,
};
pub use self::conversation::{
    ElicitationInput, ElicitationResultInput, ExpansionType, MessageDisplayInput,
    NotificationInput, PromptSource, UserPromptExpansionInput, UserPromptSubmitInput,
};
pub use self::session::{
    ModelSwitch, ModelSwitchSource, PostCompactInput, PostModelSwitchInput, PreCompactInput,
    PreModelSwitchInput, PricingBasis, SessionEndInput, SessionEndReason, SessionStartInput,
    SessionStartSource, SetupInput, SetupTrigger,
};
pub use self::tool::{
    BatchedToolCall, PermissionDeniedInput, PermissionRequestInput, PostToolBatchInput,
    PostToolUseFailureInput, PostToolUseInput, PreToolUseInput,
};
pub use self::workspace::{
    ConfigChangeInput, ConfigSource, CwdChangedInput, DirectoryAddedInput, DirectorySource,
    FileChangedInput, FileEvent, InstructionsLoadedInput, LoadReason, MemoryType,
    WorktreeCreateInput, WorktreeRemoveInput,
};

/// What a callback is told: the event, and what is known about it.
///
/// ```
/// use countersign_protocol::hook::{HookEvent, HookInput};
///
/// let input: HookInput = serde_json::from_str(
///     r#"{
///         "hook_event_name": "PreToolUse",
///         "session_id": "0b1c472f",
///         "transcript_path": "/home/dev/.claude/projects/p/0b1c472f.jsonl",
///         "cwd": "/home/dev/p",
///         "permission_mode": "default",
///         "tool_name": "Bash",
///         "tool_input": {"command": "rm -rf /"},
///         "tool_use_id": "toolu_01"
///     }"#,
/// )?;
/// assert_eq!(input.event(), HookEvent::PreToolUse);
///
/// let HookInput::PreToolUse(call) = input else { panic!() };
/// assert_eq!(call.tool_name, "Bash");
/// assert_eq!(call.tool_input.as_str(), r#"{"command": "rm -rf /"}"#);
/// assert_eq!(call.base.cwd, "/home/dev/p");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, WireTagged)]
#[wire(tag = "hook_event_name")]
#[non_exhaustive]
pub enum HookInput {
    /// A tool is about to run.
    #[wire(name = "PreToolUse")]
    PreToolUse(PreToolUseInput),
    /// A tool has run.
    #[wire(name = "PostToolUse")]
    PostToolUse(PostToolUseInput),
    /// A tool has run and failed.
    #[wire(name = "PostToolUseFailure")]
    PostToolUseFailure(PostToolUseFailureInput),
    /// All tool calls of one response are done.
    #[wire(name = "PostToolBatch")]
    PostToolBatch(PostToolBatchInput),
    /// A permission is about to be asked for.
    #[wire(name = "PermissionRequest")]
    PermissionRequest(PermissionRequestInput),
    /// The classifier of the mode `auto` has refused a call.
    #[wire(name = "PermissionDenied")]
    PermissionDenied(PermissionDeniedInput),
    /// The CLI wants to draw attention to something.
    #[wire(name = "Notification")]
    Notification(NotificationInput),
    /// A prompt is about to be processed.
    #[wire(name = "UserPromptSubmit")]
    UserPromptSubmit(UserPromptSubmitInput),
    /// A slash command or an MCP prompt is about to become a prompt.
    #[wire(name = "UserPromptExpansion")]
    UserPromptExpansion(UserPromptExpansionInput),
    /// A session begins, or begins again.
    #[wire(name = "SessionStart")]
    SessionStart(SessionStartInput),
    /// A session ends.
    #[wire(name = "SessionEnd")]
    SessionEnd(SessionEndInput),
    /// The CLI was launched to prepare or maintain a project.
    #[wire(name = "Setup")]
    Setup(SetupInput),
    /// The model is about to end its turn.
    #[wire(name = "Stop")]
    Stop(StopInput),
    /// A turn has ended with an error of the model API.
    #[wire(name = "StopFailure")]
    StopFailure(StopFailureInput),
    /// A sub-agent begins.
    #[wire(name = "SubagentStart")]
    SubagentStart(SubagentStartInput),
    /// A sub-agent is about to end.
    #[wire(name = "SubagentStop")]
    SubagentStop(SubagentStopInput),
    /// The conversation is about to be compacted.
    #[wire(name = "PreCompact")]
    PreCompact(PreCompactInput),
    /// The conversation has been compacted.
    #[wire(name = "PostCompact")]
    PostCompact(PostCompactInput),
    /// The model is about to be changed because someone asked for it.
    #[wire(name = "PreModelSwitch")]
    PreModelSwitch(PreModelSwitchInput),
    /// The model has been changed.
    #[wire(name = "PostModelSwitch")]
    PostModelSwitch(PostModelSwitchInput),
    /// A teammate is about to become idle.
    #[wire(name = "TeammateIdle")]
    TeammateIdle(TeammateIdleInput),
    /// A task is being put on the task list.
    #[wire(name = "TaskCreated")]
    TaskCreated(TaskCreatedInput),
    /// A task is being marked as completed.
    #[wire(name = "TaskCompleted")]
    TaskCompleted(TaskCompletedInput),
    /// An MCP server asks the user something.
    #[wire(name = "Elicitation")]
    Elicitation(ElicitationInput),
    /// The user has answered an MCP server.
    #[wire(name = "ElicitationResult")]
    ElicitationResult(ElicitationResultInput),
    /// A settings file or a skill has changed on disk.
    #[wire(name = "ConfigChange")]
    ConfigChange(ConfigChangeInput),
    /// A worktree is needed.
    #[wire(name = "WorktreeCreate")]
    WorktreeCreate(WorktreeCreateInput),
    /// A worktree is being removed.
    #[wire(name = "WorktreeRemove")]
    WorktreeRemove(WorktreeRemoveInput),
    /// A file of instructions has been read.
    #[wire(name = "InstructionsLoaded")]
    InstructionsLoaded(InstructionsLoadedInput),
    /// The working directory has changed.
    #[wire(name = "CwdChanged")]
    CwdChanged(CwdChangedInput),
    /// A watched file has changed.
    #[wire(name = "FileChanged")]
    FileChanged(FileChangedInput),
    /// A directory has been added to the session.
    #[wire(name = "DirectoryAdded")]
    DirectoryAdded(DirectoryAddedInput),
    /// Text of the model is about to be shown.
    #[wire(name = "MessageDisplay")]
    MessageDisplay(MessageDisplayInput),
    /// An event this crate does not know.
    #[wire(other)]
    Other(Named),
}

impl HookInput {
    /// The event.
    #[must_use]
    pub fn event(&self) -> HookEvent {
        HookEvent::from(self.name())
    }

    /// What the input of every event has. Nothing for an event this crate does not know: its
    /// fields are all in [`Named::fields`].
    #[must_use]
    pub fn base(&self) -> Option<&HookBase> {
        Some(match self {
            Self::PreToolUse(input) => &input.base,
            Self::PostToolUse(input) => &input.base,
            Self::PostToolUseFailure(input) => &input.base,
            Self::PostToolBatch(input) => &input.base,
            Self::PermissionRequest(input) => &input.base,
            Self::PermissionDenied(input) => &input.base,
            Self::Notification(input) => &input.base,
            Self::UserPromptSubmit(input) => &input.base,
            Self::UserPromptExpansion(input) => &input.base,
            Self::SessionStart(input) => &input.base,
            Self::SessionEnd(input) => &input.base,
            Self::Setup(input) => &input.base,
            Self::Stop(input) => &input.base,
            Self::StopFailure(input) => &input.base,
            Self::SubagentStart(input) => &input.base,
            Self::SubagentStop(input) => &input.base,
            Self::PreCompact(input) => &input.base,
            Self::PostCompact(input) => &input.base,
            Self::PreModelSwitch(input) => &input.base,
            Self::PostModelSwitch(input) => &input.base,
            Self::TeammateIdle(input) => &input.base,
            Self::TaskCreated(input) => &input.base,
            Self::TaskCompleted(input) => &input.base,
            Self::Elicitation(input) => &input.base,
            Self::ElicitationResult(input) => &input.base,
            Self::ConfigChange(input) => &input.base,
            Self::WorktreeCreate(input) => &input.base,
            Self::WorktreeRemove(input) => &input.base,
            Self::InstructionsLoaded(input) => &input.base,
            Self::CwdChanged(input) => &input.base,
            Self::FileChanged(input) => &input.base,
            Self::DirectoryAdded(input) => &input.base,
            Self::MessageDisplay(input) => &input.base,
            Self::Other(_) => return None,
        })
    }
}

/// What the input of every event has.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct HookBase {
    /// The session.
    pub session_id: SessionId,
    /// The file that holds the transcript of the session. It may lag behind the event.
    pub transcript_path: String,
    /// The working directory.
    pub cwd: String,
    /// The prompt that is being processed (2.1.197 and later). Absent until there has been one.
    pub prompt_id: Option<String>,
    /// The permission mode.
    pub permission_mode: Option<PermissionMode>,
    /// The sub-agent in which it happens. Absent in the main conversation, and for the events
    /// [`SubagentStart`](SubagentStartInput) and [`SubagentStop`](SubagentStopInput), which have
    /// it as a field of their own.
    pub agent_id: Option<AgentId>,
    /// The kind of that sub-agent, or of the agent that the CLI was launched with.
    pub agent_type: Option<String>,
    /// How hard the model thinks (2.1.197 and later).
    pub effort: Option<HookEffort>,
    /// Fields this type does not name. Always empty in an input: they are in the `extra` of the
    /// event.
    pub extra: Extra,
}

/// How hard the model thinks.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct HookEffort {
    /// The level.
    pub level: EffortLevel,
    /// Fields this type does not name.
    pub extra: Extra,
}
