//! The events, and how a client asks to be called back for them.

use countersign_protocol_derive::WireObject;

use crate::ids::HookCallbackId;
use crate::names::open_enum;
use crate::wire::{Extra, Num};

open_enum! {
    /// Something that happens in the CLI and for which it can call back.
    HookEvent {
        /// A tool is about to run. The answer can allow, refuse, ask, defer or change the call.
        PreToolUse = "PreToolUse",
        /// A tool has run. The answer can replace what the model sees of the result.
        PostToolUse = "PostToolUse",
        /// A tool has run and failed.
        PostToolUseFailure = "PostToolUseFailure",
        /// All tool calls of one response are done, and the model is about to be called again.
        PostToolBatch = "PostToolBatch",
        /// A permission is about to be asked for. The answer can give or refuse it.
        PermissionRequest = "PermissionRequest",
        /// The classifier of the mode `auto` has refused a call. The answer can let the model try
        /// again.
        PermissionDenied = "PermissionDenied",
        /// The CLI wants to draw attention to something.
        Notification = "Notification",
        /// A prompt is about to be processed. The answer can block it or add to it.
        UserPromptSubmit = "UserPromptSubmit",
        /// A slash command or an MCP prompt is about to become a prompt. The answer can block it.
        UserPromptExpansion = "UserPromptExpansion",
        /// A session begins, or begins again.
        SessionStart = "SessionStart",
        /// A session ends.
        SessionEnd = "SessionEnd",
        /// The CLI was launched to prepare or maintain a project.
        Setup = "Setup",
        /// The model is about to end its turn. The answer can make it go on.
        Stop = "Stop",
        /// A turn has ended with an error of the model API.
        StopFailure = "StopFailure",
        /// A sub-agent begins.
        SubagentStart = "SubagentStart",
        /// A sub-agent is about to end. The answer can make it go on.
        SubagentStop = "SubagentStop",
        /// The conversation is about to be compacted.
        PreCompact = "PreCompact",
        /// The conversation has been compacted.
        PostCompact = "PostCompact",
        /// The model is about to be changed because someone asked for it. The answer can refuse.
        PreModelSwitch = "PreModelSwitch",
        /// The model has been changed.
        PostModelSwitch = "PostModelSwitch",
        /// A teammate is about to become idle.
        TeammateIdle = "TeammateIdle",
        /// A task is being put on the task list.
        TaskCreated = "TaskCreated",
        /// A task is being marked as completed.
        TaskCompleted = "TaskCompleted",
        /// An MCP server asks the user something. The answer can answer in the user's place.
        Elicitation = "Elicitation",
        /// The user has answered an MCP server. The answer can change what is sent.
        ElicitationResult = "ElicitationResult",
        /// A settings file or a skill has changed on disk.
        ConfigChange = "ConfigChange",
        /// A worktree is needed. The answer says where the callback has made it.
        WorktreeCreate = "WorktreeCreate",
        /// A worktree is being removed.
        WorktreeRemove = "WorktreeRemove",
        /// A file of instructions, such as `CLAUDE.md`, has been read.
        InstructionsLoaded = "InstructionsLoaded",
        /// The working directory has changed.
        CwdChanged = "CwdChanged",
        /// A watched file has changed.
        FileChanged = "FileChanged",
        /// A directory has been added to the session.
        DirectoryAdded = "DirectoryAdded",
        /// Text of the model is about to be shown. The answer can change what is shown.
        MessageDisplay = "MessageDisplay",
    }

    /// What the CLI makes of a callback that fails: one that answers with an error, or with
    /// something the CLI cannot read.
    OnFailure {
        /// As if the callback had no opinion. The default, and all that 2.1.197 and older know.
        Continue = "continue",
        /// Block what the callback was to guard. Ignored for `Stop`, `SubagentStop`,
        /// `TaskCompleted` and `TeammateIdle`. A CLI that knows it says so with
        /// `hook_on_failure_supported` in its answer to `initialize`.
        Block = "block",
    }
}

/// Which callbacks to call, and when: one entry in the list of an event.
///
/// ```
/// use countersign_protocol::hook::{HookMatcher, OnFailure};
///
/// let gate = HookMatcher::new(["gate".into()]).with_on_failure(OnFailure::Block);
/// assert_eq!(
///     serde_json::to_string(&gate)?,
///     r#"{"hookCallbackIds":["gate"],"onFailure":"block"}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HookMatcher {
    /// A pattern such as `Write|Edit`, compared with the name of the tool for events of tools and
    /// with something else for others. Without it every event of the kind matches.
    pub matcher: Option<String>,
    /// The callbacks. The ids are the client's own; a `hook_callback` request names one of them.
    pub hook_callback_ids: Vec<HookCallbackId>,
    /// How long to wait for an answer, in seconds: 600 unless given, but 30 for
    /// `UserPromptSubmit` and 10 for `MessageDisplay`. After that the request is cancelled.
    /// `UserPromptSubmit` then blocks the prompt, and `PreToolUse` refuses the call (2.1.62: goes
    /// on as if there had been no opinion).
    pub timeout: Option<Num>,
    /// What happens when the callback fails.
    pub on_failure: Option<OnFailure>,
    /// Fields this type does not name.
    pub extra: Extra,
}
