//! What a callback answers.

mod permission;
mod reaction;

use std::time::Duration;

use countersign_protocol_derive::{WireObject, WireTagged};

use crate::names::open_enum;
use crate::wire::{Extra, Named, Num};

pub use self::permission::{
    HookPermission, PermissionDeniedOutput, PermissionDisplay, PermissionRequestAllow,
    PermissionRequestDecision, PermissionRequestDeny, PermissionRequestOutput,
    PreModelSwitchOutput, PreToolUseOutput,
};
pub use self::reaction::{
    CwdChangedOutput, ElicitationOutput, ElicitationResultOutput, FileChangedOutput,
    MessageDisplayOutput, NotificationOutput, PostModelSwitchOutput, PostToolBatchOutput,
    PostToolUseFailureOutput, PostToolUseOutput, SessionStartOutput, SetupOutput, StopOutput,
    SubagentStartOutput, SubagentStopOutput, UserPromptExpansionOutput, UserPromptSubmitOutput,
    WorktreeCreateOutput,
};

/// What a callback answers.
///
/// Everything is optional, and the empty answer has no opinion. What an answer can do depends on
/// the event; most of it is in [`HookSpecificOutput`]. The CLI takes an answer it cannot read as
/// no opinion, so build it with these types.
///
/// ```
/// use countersign_protocol::hook::{HookOutput, PreToolUseOutput};
///
/// let output = HookOutput::from(PreToolUseOutput::deny("not on a Friday"));
/// assert_eq!(
///     serde_json::to_value(&output)?,
///     serde_json::json!({
///         "hookSpecificOutput": {
///             "hookEventName": "PreToolUse",
///             "permissionDecision": "deny",
///             "permissionDecisionReason": "not on a Friday",
///         },
///     }),
/// );
/// assert_eq!(serde_json::to_string(&HookOutput::no_opinion())?, "{}");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HookOutput {
    /// Whether the callback goes on by itself and the CLI does not wait. It has no opinion then:
    /// of the other fields only [`async_timeout`](Self::async_timeout) counts.
    #[wire(name = "async")]
    pub is_async: Option<bool>,
    /// How long it goes on at most, in milliseconds.
    pub async_timeout: Option<Num>,
    /// `false` ends the turn. It does not stop the tool call at hand: that is still asked for and
    /// still runs.
    #[wire(name = "continue")]
    pub keep_going: Option<bool>,
    /// Whether to keep what the hook puts out from being shown.
    pub suppress_output: Option<bool>,
    /// Why the turn ends, for [`keep_going`](Self::keep_going).
    pub stop_reason: Option<String>,
    /// Whether what the event is about may happen. For `Stop` and `SubagentStop`, blocking means
    /// to go on.
    pub decision: Option<HookDecision>,
    /// Why.
    pub reason: Option<String>,
    /// What the user is shown.
    pub system_message: Option<String>,
    /// What is written to the user's terminal, such as a bell.
    pub terminal_sequence: Option<String>,
    /// What only this event has.
    pub hook_specific_output: Option<HookSpecificOutput>,
    /// Fields this type does not name.
    pub extra: Extra,
}

impl HookOutput {
    /// Leaves everything as if there were no callback.
    #[must_use]
    pub fn no_opinion() -> Self {
        Self::new()
    }

    /// Blocks what the event is about.
    ///
    /// For a tool it is the same as [`PreToolUseOutput::deny`]. A prompt is not processed. A turn
    /// or a sub-agent does not end but goes on, and is told the reason. Events that only report
    /// something cannot be blocked.
    #[must_use]
    pub fn block(reason: impl Into<String>) -> Self {
        Self::new().with_decision(HookDecision::Block).with_reason(reason)
    }

    /// Lets the CLI go on without waiting, for a callback that takes its time.
    ///
    /// The callback can no longer decide anything. The timeout is in milliseconds on the wire,
    /// unlike that of a [`HookMatcher`](crate::hook::HookMatcher).
    #[must_use]
    pub fn in_background(timeout: Duration) -> Self {
        let timeout = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        Self::new().with_is_async(true).with_async_timeout(timeout)
    }
}

/// From a [`HookSpecificOutput`], or from what can be one.
impl<T: Into<HookSpecificOutput>> From<T> for HookOutput {
    fn from(output: T) -> Self {
        Self::new().with_hook_specific_output(output)
    }
}

open_enum! {
    /// Whether what an event is about may happen.
    HookDecision {
        /// It may.
        Approve = "approve",
        /// It may not.
        Block = "block",
    }
}

/// What only the answer to a certain event has.
///
/// It must be that of the event the callback was called for. Events that are not here take none.
#[derive(Debug, Clone, PartialEq, WireTagged)]
#[wire(tag = "hookEventName")]
#[non_exhaustive]
pub enum HookSpecificOutput {
    /// Decides about a tool call.
    #[wire(name = "PreToolUse")]
    PreToolUse(PreToolUseOutput),
    /// Changes what the model sees of a result.
    #[wire(name = "PostToolUse")]
    PostToolUse(PostToolUseOutput),
    /// Adds to what the model is told of a failure.
    #[wire(name = "PostToolUseFailure")]
    PostToolUseFailure(PostToolUseFailureOutput),
    /// Adds to what the model is told of the results.
    #[wire(name = "PostToolBatch")]
    PostToolBatch(PostToolBatchOutput),
    /// Gives or refuses a permission.
    #[wire(name = "PermissionRequest")]
    PermissionRequest(PermissionRequestOutput),
    /// Lets the model try again what the classifier has refused.
    #[wire(name = "PermissionDenied")]
    PermissionDenied(PermissionDeniedOutput),
    /// Adds to the conversation.
    #[wire(name = "Notification")]
    Notification(NotificationOutput),
    /// Adds to a prompt.
    #[wire(name = "UserPromptSubmit")]
    UserPromptSubmit(UserPromptSubmitOutput),
    /// Adds to a command that becomes a prompt.
    #[wire(name = "UserPromptExpansion")]
    UserPromptExpansion(UserPromptExpansionOutput),
    /// Equips a session that begins.
    #[wire(name = "SessionStart")]
    SessionStart(SessionStartOutput),
    /// Adds to the conversation.
    #[wire(name = "Setup")]
    Setup(SetupOutput),
    /// Tells the model something, and makes it go on.
    #[wire(name = "Stop")]
    Stop(StopOutput),
    /// Adds to what a sub-agent is told.
    #[wire(name = "SubagentStart")]
    SubagentStart(SubagentStartOutput),
    /// Tells a sub-agent something, and makes it go on.
    #[wire(name = "SubagentStop")]
    SubagentStop(SubagentStopOutput),
    /// Decides about a change of the model.
    #[wire(name = "PreModelSwitch")]
    PreModelSwitch(PreModelSwitchOutput),
    /// Adds to what the new model is told.
    #[wire(name = "PostModelSwitch")]
    PostModelSwitch(PostModelSwitchOutput),
    /// Answers an MCP server in the user's place.
    #[wire(name = "Elicitation")]
    Elicitation(ElicitationOutput),
    /// Changes the user's answer to an MCP server.
    #[wire(name = "ElicitationResult")]
    ElicitationResult(ElicitationResultOutput),
    /// Says where the worktree is.
    #[wire(name = "WorktreeCreate")]
    WorktreeCreate(WorktreeCreateOutput),
    /// Sets which files are watched.
    #[wire(name = "CwdChanged")]
    CwdChanged(CwdChangedOutput),
    /// Sets which files are watched.
    #[wire(name = "FileChanged")]
    FileChanged(FileChangedOutput),
    /// Changes what is shown of a message.
    #[wire(name = "MessageDisplay")]
    MessageDisplay(MessageDisplayOutput),
    /// That of an event for which this crate has no type.
    #[wire(other)]
    Other(Named),
}
