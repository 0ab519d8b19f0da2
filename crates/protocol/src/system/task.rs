//! `system` frames about tasks: sub-agents, commands in the background, workflows.

use countersign_protocol_derive::WireObject;

use crate::ids::{MessageUuid, RunId, SessionId, TaskId, ToolUseId};
use crate::names::open_enum;
use crate::wire::{Extra, Num, RawJson};

/// A task began.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct TaskStarted {
    /// The task.
    pub task_id: TaskId,
    /// What it is to do, in short.
    pub description: String,
    /// The run of the task.
    pub run_id: Option<RunId>,
    /// The call that started it.
    pub tool_use_id: Option<ToolUseId>,
    /// The kind of sub-agent.
    pub subagent_type: Option<String>,
    /// Whether it runs in the background.
    pub is_backgrounded: Option<bool>,
    /// How many agents stand above it.
    pub spawn_depth: Option<u64>,
    /// The task that started it.
    pub parent_task_id: Option<TaskId>,
    /// Seen: `local_bash`, `local_agent`, `local_workflow`, `mcp_task`, `remote_agent`.
    pub task_type: Option<String>,
    /// The workflow.
    pub workflow_name: Option<String>,
    /// What the sub-agent was told.
    pub prompt: Option<String>,
    /// Whether it stays out of the transcript.
    pub skip_transcript: Option<bool>,
    /// Whether it runs without anybody having asked for it.
    pub ambient: Option<bool>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A task did something.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct TaskProgress {
    /// The task.
    pub task_id: TaskId,
    /// What it is doing.
    pub description: String,
    /// The run of the task.
    pub run_id: Option<RunId>,
    /// The call that started it.
    pub tool_use_id: Option<ToolUseId>,
    /// The kind of sub-agent.
    pub subagent_type: Option<String>,
    /// What it has used so far.
    pub usage: Option<TaskUsage>,
    /// The tool it used last.
    pub last_tool_name: Option<String>,
    /// What it has done so far.
    pub summary: Option<String>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What a task has used.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct TaskUsage {
    /// Tokens.
    pub total_tokens: Option<u64>,
    /// Tool calls.
    pub tool_uses: Option<u64>,
    /// Time.
    pub duration_ms: Option<Num>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A task changed.
///
/// The end of a task may come this way only, so a client looks for it here and in
/// [`TaskNotification`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct TaskUpdated {
    /// The task.
    pub task_id: TaskId,
    /// What changed.
    pub patch: TaskPatch,
    /// The run of the task.
    pub run_id: Option<RunId>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What changed of a task.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct TaskPatch {
    /// Its state.
    pub status: Option<TaskStatus>,
    /// What it is doing.
    pub description: Option<String>,
    /// When it ended, in milliseconds since 1970.
    pub end_time: Option<Num>,
    /// How long it was paused.
    pub total_paused_ms: Option<Num>,
    /// What went wrong.
    pub error: Option<String>,
    /// Whether it runs in the background.
    pub is_backgrounded: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A task ended. The CLI may start a turn by itself to tell the model.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct TaskNotification {
    /// The task.
    pub task_id: TaskId,
    /// How it ended.
    pub status: TaskEnd,
    /// The file with its output, or nothing.
    pub output_file: String,
    /// What it was, or what came of it.
    pub summary: String,
    /// The run of the task.
    pub run_id: Option<RunId>,
    /// The call that started it.
    pub tool_use_id: Option<ToolUseId>,
    /// Why, when a worker restarted: `worker_restart`.
    pub reason: Option<String>,
    /// What it used.
    pub usage: Option<TaskUsage>,
    /// Links that an MCP task gave back.
    pub resource_links: Option<RawJson>,
    /// Whether it stays out of the transcript.
    pub skip_transcript: Option<bool>,
    /// Whether it ran without anybody having asked for it.
    pub ambient: Option<bool>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The tasks in the background: all of them, in place of those listed before.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct BackgroundTasksChanged {
    /// The tasks.
    pub tasks: Vec<BackgroundTaskInfo>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A task in the background.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct BackgroundTaskInfo {
    /// The task.
    pub task_id: TaskId,
    /// The run of the task.
    pub run_id: Option<RunId>,
    /// Its kind, as in [`TaskStarted::task_type`].
    pub task_type: String,
    /// The kind of sub-agent.
    pub subagent_type: Option<String>,
    /// What it is to do, in short.
    pub description: String,
    /// The task that started it.
    pub parent_task_id: Option<TaskId>,
    /// Whether it runs without anybody having asked for it.
    pub ambient: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// The state of a task.
    TaskStatus {
        /// It has not begun.
        Pending = "pending",
        /// It runs.
        Running = "running",
        /// It ended.
        Completed = "completed",
        /// It failed.
        Failed = "failed",
        /// It was stopped.
        Killed = "killed",
        /// It is paused.
        Paused = "paused",
    }

    /// How a task ended.
    TaskEnd {
        /// By itself.
        Completed = "completed",
        /// With an error.
        Failed = "failed",
        /// It was stopped.
        Stopped = "stopped",
    }
}
