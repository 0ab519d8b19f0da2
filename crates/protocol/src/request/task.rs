//! Background tasks.

use countersign_protocol_derive::WireObject;

use crate::ids::{TaskId, ToolUseId};
use crate::wire::Extra;

/// Stops a background task.
///
/// A `task_updated` frame says when it ended. 2.1.197 and 2.1.325 answer success also when there
/// is no such task; 2.1.62 answers an error.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct StopTask {
    /// The task.
    pub task_id: TaskId,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Moves what runs in the foreground to the background: shell commands and sub-agents. From
/// 2.1.197 on.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct BackgroundTasks {
    /// The tool call to move. Absent: all of them.
    pub tool_use_id: Option<ToolUseId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`BackgroundTasks`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct BackgroundTasksResponse {
    /// Whether the tool call was moved. Only where the request named one.
    pub backgrounded: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Asks for the end of the output of a task: the last 8 KiB of a shell command or monitor.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GetTaskOutput {
    /// The task.
    pub task_id: TaskId,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`GetTaskOutput`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GetTaskOutputResponse {
    /// The end of the output.
    pub output: String,
    /// How long the whole output is, in bytes.
    pub total_bytes: u64,
    /// Whether the beginning is missing.
    pub truncated: bool,
    /// Fields this type does not name.
    pub extra: Extra,
}
