//! Events of those who work: the model's turns, sub-agents, teammates, tasks.

use countersign_protocol_derive::WireObject;

use super::HookBase;
use crate::ids::{AgentId, TaskId};
use crate::message::AssistantErrorKind;
use crate::wire::Extra;

/// The model is about to end its turn.
///
/// An answer that blocks makes it go on, with the reason as what it is told.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct StopInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// Whether the model only goes on because a hook has blocked the end before. A hook that
    /// always blocks never ends.
    pub stop_hook_active: bool,
    /// The text of the last message.
    pub last_assistant_message: Option<String>,
    /// What still runs in the background and may wake the session (2.1.197 and later).
    pub background_tasks: Option<Vec<BackgroundTask>>,
    /// What is going to wake the session at its time (2.1.197 and later).
    pub session_crons: Option<Vec<Cron>>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A turn has ended with an error of the model API.
///
/// It comes in place of [`StopInput`]; the answer does not matter.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct StopFailureInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// What went wrong.
    pub error: AssistantErrorKind,
    /// The same in the words of the API.
    pub error_details: Option<String>,
    /// The text of the last message.
    pub last_assistant_message: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A sub-agent begins.
///
/// The agent is the one that begins. It stands in the fields of this type; those of the same name
/// in [`HookBase`] are empty, and must be when an input is made.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SubagentStartInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// The sub-agent.
    pub agent_id: AgentId,
    /// Its kind.
    pub agent_type: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A sub-agent is about to end.
///
/// The agent is the one that ends. It stands in the fields of this type; those of the same name
/// in [`HookBase`] are empty, and must be when an input is made.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SubagentStopInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// Whether the sub-agent only goes on because a hook has blocked the end before.
    pub stop_hook_active: bool,
    /// The sub-agent.
    pub agent_id: AgentId,
    /// The file that holds its transcript. [`HookBase::transcript_path`] is that of the session.
    pub agent_transcript_path: String,
    /// Its kind.
    pub agent_type: Option<String>,
    /// The text of its last message.
    pub last_assistant_message: Option<String>,
    /// What still runs in the background.
    pub background_tasks: Option<Vec<BackgroundTask>>,
    /// What is going to wake the session at its time.
    pub session_crons: Option<Vec<Cron>>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A teammate is about to become idle.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct TeammateIdleInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// The teammate.
    pub teammate_name: String,
    /// The team.
    pub team_name: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A task is being put on the task list.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct TaskCreatedInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// The task, by its id on the list. Not a [`TaskId`], which names what runs in the
    /// background.
    pub task_id: String,
    /// What is to be done, in a line.
    pub task_subject: String,
    /// What is to be done, in full.
    pub task_description: Option<String>,
    /// The teammate whose task it is.
    pub teammate_name: Option<String>,
    /// The team.
    pub team_name: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A task is being marked as completed.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct TaskCompletedInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// The task, by its id on the list. Not a [`TaskId`], which names what runs in the
    /// background.
    pub task_id: String,
    /// What was to be done, in a line.
    pub task_subject: String,
    /// What was to be done, in full.
    pub task_description: Option<String>,
    /// The teammate whose task it is.
    pub teammate_name: Option<String>,
    /// The team.
    pub team_name: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Something that runs in the background.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct BackgroundTask {
    /// The task.
    pub id: TaskId,
    /// What kind of task it is; which of the optional fields are there depends on it.
    #[wire(name = "type")]
    pub kind: String,
    /// How far it is, such as `running`.
    pub status: String,
    /// What it does.
    pub description: String,
    /// The shell command.
    pub command: Option<String>,
    /// The kind of the sub-agent.
    pub agent_type: Option<String>,
    /// The MCP server.
    pub server: Option<String>,
    /// The tool of the MCP server.
    pub tool: Option<String>,
    /// The name it was given.
    pub name: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A prompt that the session gives itself at its time.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct Cron {
    /// Its id.
    pub id: String,
    /// When, as a cron expression.
    pub schedule: String,
    /// Whether it comes again after the first time.
    pub recurring: bool,
    /// The prompt.
    pub prompt: String,
    /// Fields this type does not name.
    pub extra: Extra,
}
