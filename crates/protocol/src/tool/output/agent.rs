//! Sub-agents, and what else works on the model's behalf.

use countersign_protocol_derive::{WireObject, WireTagged};

use crate::content::ContentBlock;
use crate::ids::{AgentId, RunId, TaskId};
use crate::names::open_enum;
use crate::usage::Usage;
use crate::wire::{Extra, Named, Num};

/// What came of a sub-agent.
#[derive(Debug, Clone, PartialEq, WireTagged)]
#[wire(tag = "status")]
#[non_exhaustive]
pub enum AgentOutput {
    /// It is done.
    #[wire(name = "completed")]
    Completed(Box<AgentCompleted>),
    /// It runs in the background.
    #[wire(name = "async_launched")]
    Launched(AgentLaunched),
    /// It runs on another machine.
    #[wire(name = "remote_launched")]
    LaunchedRemotely(AgentLaunchedRemotely),
    /// Something this crate does not know.
    #[wire(other)]
    Other(Named),
}

/// A sub-agent that is done.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AgentCompleted {
    /// The agent.
    pub agent_id: AgentId,
    /// Which kind of agent it is. 2.1.62 does not say.
    pub agent_type: Option<String>,
    /// Its last message. 2.1.325 may put a text block with the tools it used before it.
    pub content: Vec<ContentBlock>,
    /// What it was told.
    pub prompt: String,
    /// How often it called a tool.
    pub total_tool_use_count: u64,
    /// How long it took, in milliseconds.
    pub total_duration_ms: Num,
    /// The tokens of its last request, not of all of them.
    pub total_tokens: u64,
    /// The same in detail.
    pub usage: Usage,
    /// The model it began with.
    pub resolved_model: Option<String>,
    /// The models it used, if it changed from one to another.
    pub models_used: Option<Vec<String>>,
    /// The tools it used.
    pub tools_used: Option<Vec<String>>,
    /// What it did with tools.
    pub tool_stats: Option<AgentToolStats>,
    /// The worktree it worked in, if that is still there.
    pub worktree_path: Option<String>,
    /// The branch of that worktree.
    pub worktree_branch: Option<String>,
    /// Whether it can be given more to do.
    pub can_continue_agent: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// How often a sub-agent used which kind of tool.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AgentToolStats {
    /// Files read.
    pub read_count: u64,
    /// Searches.
    pub search_count: u64,
    /// Commands.
    pub bash_count: u64,
    /// Files changed.
    pub edit_file_count: u64,
    /// Lines added by that.
    pub lines_added: u64,
    /// Lines removed by that.
    pub lines_removed: u64,
    /// Everything else.
    pub other_tool_count: u64,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A sub-agent that runs in the background.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AgentLaunched {
    /// The agent.
    pub agent_id: AgentId,
    /// What it is for, in a few words.
    pub description: String,
    /// What it was told.
    pub prompt: String,
    /// The file to which it writes what it does.
    pub output_file: String,
    /// True.
    pub is_async: Option<bool>,
    /// Whether whoever called it has the tools to read that file.
    pub can_read_output_file: Option<bool>,
    /// Whether it can be given more to do.
    pub can_continue_agent: Option<bool>,
    /// The model it uses.
    pub resolved_model: Option<String>,
    /// The models it used so far, if it changed from one to another.
    pub models_used: Option<Vec<String>>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A sub-agent that runs on another machine.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AgentLaunchedRemotely {
    /// The background task.
    pub task_id: TaskId,
    /// Where to watch it.
    pub session_url: String,
    /// What it is for, in a few words.
    pub description: Option<String>,
    /// What it was told.
    pub prompt: Option<String>,
    /// The file to which it writes what it does.
    pub output_file: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A workflow that was begun.
///
/// Look at [`error`](Self::error) first: with one, the workflow does not run, whatever the status
/// says.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorkflowOutput {
    /// Where it runs.
    pub status: WorkflowStatus,
    /// The background task.
    pub task_id: TaskId,
    /// What kind of task that is.
    pub task_type: Option<WorkflowTaskType>,
    /// What the script calls itself.
    pub workflow_name: Option<String>,
    /// The run, to go on with it later.
    pub run_id: Option<RunId>,
    /// What it does, in a line.
    pub summary: Option<String>,
    /// The folder with the transcripts of its agents.
    pub transcript_dir: Option<String>,
    /// The file that holds the script.
    pub script_path: Option<String>,
    /// Where to watch it, if it runs on another machine.
    pub session_url: Option<String>,
    /// What may go wrong.
    pub warning: Option<String>,
    /// Why it does not run.
    pub error: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// Where a workflow runs.
    WorkflowStatus {
        /// In the background of this process.
        AsyncLaunched = "async_launched",
        /// On another machine.
        RemoteLaunched = "remote_launched",
    }

    /// What kind of background task a workflow is.
    WorkflowTaskType {
        /// One of this process.
        LocalWorkflow = "local_workflow",
        /// One on another machine.
        RemoteAgent = "remote_agent",
    }
}
