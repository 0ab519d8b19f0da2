//! Events of tools and permissions.

use countersign_protocol_derive::WireObject;

use super::HookBase;
use crate::ask::McpServerRef;
use crate::ids::ToolUseId;
use crate::permission::PermissionUpdate;
use crate::wire::{Extra, Num, RawJson};

/// A tool is about to run.
///
/// It comes before permissions are looked at, for every call in every mode, in sub-agents too.
/// Answer with a [`PreToolUseOutput`](crate::hook::PreToolUseOutput). The exception is a call that
/// was deferred: when 2.1.325 resumes the session, it may be put to the host without the hook.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct PreToolUseInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// The tool.
    pub tool_name: String,
    /// What it is called with.
    pub tool_input: RawJson,
    /// The call.
    pub tool_use_id: ToolUseId,
    /// The MCP server that has the tool, if one has it (2.1.325).
    pub mcp_server: Option<McpServerRef>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A tool has run.
///
/// A call that failed is reported as [`PostToolUseFailureInput`] instead.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct PostToolUseInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// The tool.
    pub tool_name: String,
    /// What it was called with.
    pub tool_input: RawJson,
    /// The call.
    pub tool_use_id: ToolUseId,
    /// What it gave: the structured result, not the text that the model sees.
    pub tool_response: RawJson,
    /// How long it ran, in milliseconds (2.1.197 and later). Neither hooks nor the wait for a
    /// permission count.
    pub duration_ms: Option<Num>,
    /// The MCP server that has the tool, if one has it (2.1.325).
    pub mcp_server: Option<McpServerRef>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A tool has run and failed.
///
/// Only a tool that did begin to run can fail. A call that was refused is not reported here.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct PostToolUseFailureInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// The tool.
    pub tool_name: String,
    /// What it was called with.
    pub tool_input: RawJson,
    /// The call.
    pub tool_use_id: ToolUseId,
    /// What went wrong, as text for display.
    pub error: String,
    /// Whether it was stopped rather than failing by itself.
    pub is_interrupt: Option<bool>,
    /// How long it ran, in milliseconds.
    pub duration_ms: Option<Num>,
    /// The MCP server that has the tool, if one has it (2.1.325).
    pub mcp_server: Option<McpServerRef>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// All tool calls of one response are done, and the model is about to be called again.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct PostToolBatchInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// The calls.
    pub tool_calls: Vec<BatchedToolCall>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// One of the calls of a [`PostToolBatchInput`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct BatchedToolCall {
    /// The tool.
    pub tool_name: String,
    /// What it was called with.
    pub tool_input: RawJson,
    /// The call.
    pub tool_use_id: ToolUseId,
    /// What the model is going to see of the result, other than in [`PostToolUseInput`].
    pub tool_response: Option<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A permission is about to be asked for.
///
/// The request to the host goes out at the same time, and the first answer wins; answer with a
/// [`PermissionRequestOutput`](crate::hook::PermissionRequestOutput). The input does not say which
/// call it is about; the `tool_use_id` beside it in the `hook_callback` request does.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct PermissionRequestInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// The tool.
    pub tool_name: String,
    /// What it is called with.
    pub tool_input: RawJson,
    /// Changes that would make the CLI not ask again.
    pub permission_suggestions: Option<Vec<PermissionUpdate>>,
    /// The MCP server that has the tool, if one has it (2.1.325).
    pub mcp_server: Option<McpServerRef>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The classifier of the mode `auto` has refused a call.
///
/// Calls that a person, a rule or another hook refused are not reported here.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct PermissionDeniedInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// The tool.
    pub tool_name: String,
    /// What it was called with.
    pub tool_input: RawJson,
    /// The call.
    pub tool_use_id: ToolUseId,
    /// Why it was refused.
    pub reason: String,
    /// The MCP server that has the tool, if one has it (2.1.325).
    pub mcp_server: Option<McpServerRef>,
    /// Fields this type does not name.
    pub extra: Extra,
}
