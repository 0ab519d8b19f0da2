//! Answers that add something or change it.

use countersign_protocol_derive::WireObject;

use crate::ask::ElicitationAction;
use crate::wire::{Extra, RawJson};

/// Changes what the model sees of a result.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PostToolUseOutput {
    /// What the model is told besides.
    pub additional_context: Option<String>,
    /// What takes the place of the result. For a built-in tool it must have the shape of the
    /// tool's own, or it is ignored.
    pub updated_tool_output: Option<RawJson>,
    /// What takes the place of the result of an MCP tool.
    #[wire(name = "updatedMCPToolOutput")]
    pub updated_mcp_tool_output: Option<RawJson>,
    /// What the classifier of the mode `auto` is told.
    pub classifier_context: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Adds to a prompt. The prompt itself cannot be changed.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UserPromptSubmitOutput {
    /// What the model is told besides.
    pub additional_context: Option<String>,
    /// A title for the session.
    pub session_title: Option<String>,
    /// Whether to leave the prompt out of the message that says it was blocked.
    pub suppress_original_prompt: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Adds to a command that becomes a prompt.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UserPromptExpansionOutput {
    /// What the model is told besides.
    pub additional_context: Option<String>,
    /// Whether to leave the prompt out of the message that says it was blocked.
    pub suppress_original_prompt: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Equips a session that begins.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionStartOutput {
    /// What the model is told.
    pub additional_context: Option<String>,
    /// A first prompt.
    pub initial_user_message: Option<String>,
    /// A title for the session.
    pub session_title: Option<String>,
    /// Files to watch, as absolute paths.
    pub watch_paths: Option<Vec<String>>,
    /// Whether to look for skills again, because the hook has installed some.
    pub reload_skills: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Answers an MCP server in the user's place.
///
/// When a callback of a client answers, 2.1.197 and 2.1.325 ask the client all the same.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitationOutput {
    /// What is done with the question. Without it the user is asked.
    pub action: Option<ElicitationAction>,
    /// The answer, for [`ElicitationAction::Accept`].
    pub content: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Changes the user's answer to an MCP server.
///
/// 2.1.197 and 2.1.325 do not heed it from a callback of a client.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitationResultOutput {
    /// What is done with the question, in place of what the user did.
    pub action: Option<ElicitationAction>,
    /// The answer, in place of the user's.
    pub content: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Says where the worktree is that the callback has made.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorktreeCreateOutput {
    /// Its directory.
    pub worktree_path: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Sets which files are watched, after the working directory has changed.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CwdChangedOutput {
    /// Files to watch, as absolute paths, in place of those that hooks have set before.
    pub watch_paths: Option<Vec<String>>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Sets which files are watched, after one of them has changed.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FileChangedOutput {
    /// Files to watch, as absolute paths, in place of those that hooks have set before.
    pub watch_paths: Option<Vec<String>>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Changes what is shown of a message. Neither the model nor the transcript sees it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MessageDisplayOutput {
    /// What is shown in place of [`delta`](crate::hook::MessageDisplayInput::delta).
    pub display_content: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Makes a type for each event whose answer can only add context.
macro_rules! context_output {
    ($($(#[$meta:meta])* $name:ident;)+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, WireObject)]
        #[wire(rename_all = "camelCase")]
        #[non_exhaustive]
        pub struct $name {
            /// What the model is told.
            pub additional_context: Option<String>,
            /// Fields this type does not name.
            pub extra: Extra,
        }
    )+};
}

context_output! {
    /// Adds to what the model is told of a failure.
    PostToolUseFailureOutput;
    /// Adds to what the model is told of the results.
    PostToolBatchOutput;
    /// Adds to the conversation when there is a notification.
    NotificationOutput;
    /// Adds to the conversation when a project is set up.
    SetupOutput;
    /// Tells the model something, and makes it go on. Unlike [`HookOutput::block`] it does not
    /// count as an error of the hook.
    ///
    /// [`HookOutput::block`]: crate::hook::HookOutput::block
    StopOutput;
    /// Adds to what a sub-agent is told.
    SubagentStartOutput;
    /// Tells a sub-agent something, and makes it go on. Unlike [`HookOutput::block`] it does not
    /// count as an error of the hook.
    ///
    /// [`HookOutput::block`]: crate::hook::HookOutput::block
    SubagentStopOutput;
    /// Adds to what the new model is told.
    PostModelSwitchOutput;
}
