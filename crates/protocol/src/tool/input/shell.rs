//! Commands, and what runs in the background.

use countersign_protocol_derive::WireObject;

use crate::ids::TaskId;
use crate::wire::{Extra, Num};

/// Runs a shell command.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct BashInput {
    /// The command line, as it is given to the shell. It may hold several commands.
    pub command: String,
    /// What the command does, in the model's words. It proves nothing: decide by
    /// [`command`](Self::command).
    pub description: Option<String>,
    /// After how many milliseconds the CLI stops waiting.
    pub timeout: Option<Num>,
    /// Whether the command runs in the background. Its result then comes at once, with the id
    /// of a task, and an interrupt does not stop it.
    pub run_in_background: Option<bool>,
    /// Whether the command runs outside the sandbox.
    #[wire(name = "dangerouslyDisableSandbox")]
    pub dangerously_disable_sandbox: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Watches the output of a command or of a WebSocket in the background, one event a line.
///
/// Either [`command`](Self::command) or [`ws`](Self::ws) is set.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct MonitorInput {
    /// What is watched, in the model's words.
    pub description: String,
    /// After how many milliseconds the watch ends. The CLI fills it in when the model leaves it
    /// out.
    pub timeout_ms: Option<Num>,
    /// Whether the watch lasts as long as the session. Not in newer versions.
    pub persistent: Option<bool>,
    /// The command line whose output is watched.
    pub command: Option<String>,
    /// The WebSocket that is watched.
    pub ws: Option<WebSocketSource>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A WebSocket to watch.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct WebSocketSource {
    /// Where to connect.
    pub url: String,
    /// The protocols to offer.
    pub protocols: Option<Vec<String>>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Stops a background task. Also called `KillShell` and `KillBash`.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct TaskStopInput {
    /// The task. Newer versions also take the name of an agent.
    pub task_id: Option<TaskId>,
    /// The task, in the spelling of older versions.
    pub shell_id: Option<TaskId>,
    /// Fields this type does not name.
    pub extra: Extra,
}
