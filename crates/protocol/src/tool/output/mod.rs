//! What tools give back.

mod agent;
mod files;
mod mcp;
mod plan_and_question;
mod review;
mod schedule;
mod search;
mod shell;
mod tasks;
mod web;
mod worktree;

use countersign_protocol_derive::WireObject;
use thiserror::Error;

pub use self::agent::{
    AgentCompleted, AgentLaunched, AgentLaunchedRemotely, AgentOutput, AgentToolStats,
    WorkflowOutput, WorkflowStatus, WorkflowTaskType,
};
pub use self::files::{
    EditOutput, GitDiff, GitDiffStatus, Hunk, ImageDimensions, ImageFile, NotebookEditOutput,
    NotebookFile, PdfFile, PdfPartsFile, ReadImage, ReadNotebook, ReadOutput, ReadPdf,
    ReadPdfParts, ReadText, ReadUnchanged, TextFile, UnchangedFile, WriteKind, WriteOutput,
};
pub use self::mcp::{
    McpOutput, McpRefresh, McpRefreshStatus, McpResource, McpResourceContents, McpResourceEntry,
    McpStructuredOutput, ReadMcpResourceDirOutput, ReadMcpResourceOutput,
};
pub use self::plan_and_question::{AskUserQuestionOutput, EnterPlanModeOutput, ExitPlanModeOutput};
pub use self::review::ReportFindingsOutput;
pub use self::schedule::{
    CronCreateOutput, CronDeleteOutput, CronJob, CronListOutput, ScheduleWakeupOutput,
};
pub use self::search::{GlobOutput, GrepOutput};
pub use self::shell::{
    BashOutput, CommitKind, GitBranchAction, GitBranchChange, GitCommit, GitOperation, GitPush,
    MonitorOutput, PullRequest, PullRequestAction, TaskStopOutput,
};
pub use self::tasks::{
    CreatedTask, ListedTask, StatusChange, TaskCreateOutput, TaskDetails, TaskGetOutput,
    TaskListOutput, TaskUpdateOutput, TodoWriteOutput,
};
pub use self::web::{
    WebFetchOutput, WebSearchHit, WebSearchHits, WebSearchOutput, WebSearchResult,
};
pub use self::worktree::{EnterWorktreeOutput, ExitWorktreeOutput};
use super::current_name;
use crate::wire::{Extra, RawJson};

/// The result of a tool call for programs, by tool: the `tool_use_result` of a `user` frame, and
/// the `tool_response` of a hook.
///
/// The model is shown something else, in the `tool_result` block of the same frame.
///
/// ```
/// use countersign_protocol::RawJson;
/// use countersign_protocol::tool::ToolOutput;
///
/// let result: RawJson = r#"{"stdout":"ok","stderr":"","interrupted":false}"#.parse()?;
/// let ToolOutput::Bash(bash) = ToolOutput::parse("Bash", &result)? else { panic!() };
/// assert_eq!(bash.stdout, "ok");
///
/// let refused: RawJson = r#""Error: not now""#.parse()?;
/// let ToolOutput::Text(text) = ToolOutput::parse("Bash", &refused)? else { panic!() };
/// assert_eq!(text, "Error: not now");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ToolOutput {
    /// A plain string, of any tool. A call that failed or was refused has one, usually with
    /// `Error: ` before it; so have `StructuredOutput` and tools of MCP servers that succeed.
    /// Whether it is a failure stands in the `tool_result` block.
    Text(String),
    /// `Agent`, before `Task`.
    Agent(AgentOutput),
    /// `AskUserQuestion`.
    AskUserQuestion(AskUserQuestionOutput),
    /// `Bash`.
    Bash(Box<BashOutput>),
    /// `CronCreate`.
    CronCreate(CronCreateOutput),
    /// `CronDelete`.
    CronDelete(CronDeleteOutput),
    /// `CronList`.
    CronList(CronListOutput),
    /// `Edit`.
    Edit(Box<EditOutput>),
    /// `EnterPlanMode`.
    EnterPlanMode(EnterPlanModeOutput),
    /// `EnterWorktree`.
    EnterWorktree(EnterWorktreeOutput),
    /// `ExitPlanMode`.
    ExitPlanMode(ExitPlanModeOutput),
    /// `ExitWorktree`.
    ExitWorktree(ExitWorktreeOutput),
    /// `Glob`.
    Glob(GlobOutput),
    /// `Grep`.
    Grep(Box<GrepOutput>),
    /// `ListMcpResourcesTool`, before `ListMcpResources`.
    ListMcpResources(Vec<McpResource>),
    /// A tool of an MCP server.
    Mcp(McpOutput),
    /// `Monitor`.
    Monitor(MonitorOutput),
    /// `NotebookEdit`.
    NotebookEdit(Box<NotebookEditOutput>),
    /// `Read`.
    Read(ReadOutput),
    /// `ReadMcpResourceDirTool`, before `ReadMcpResourceDir`.
    ReadMcpResourceDir(ReadMcpResourceDirOutput),
    /// `ReadMcpResourceTool`, before `ReadMcpResource`.
    ReadMcpResource(ReadMcpResourceOutput),
    /// `RefreshMcpTools`.
    RefreshMcpTools(Vec<McpRefresh>),
    /// `ReportFindings`.
    ReportFindings(ReportFindingsOutput),
    /// `ScheduleWakeup`.
    ScheduleWakeup(ScheduleWakeupOutput),
    /// `TaskCreate`.
    TaskCreate(TaskCreateOutput),
    /// `TaskGet`.
    TaskGet(TaskGetOutput),
    /// `TaskList`.
    TaskList(TaskListOutput),
    /// `TaskStop`, before `KillShell` and `KillBash`.
    TaskStop(TaskStopOutput),
    /// `TaskUpdate`.
    TaskUpdate(TaskUpdateOutput),
    /// `TodoWrite`.
    TodoWrite(TodoWriteOutput),
    /// `WebFetch`.
    WebFetch(WebFetchOutput),
    /// `WebSearch`.
    WebSearch(WebSearchOutput),
    /// `Workflow`.
    Workflow(Box<WorkflowOutput>),
    /// `Write`.
    Write(Box<WriteOutput>),
    /// The call moved aside and goes on in the background, whatever the tool.
    Detached(DetachedOutput),
    /// A tool without a type here. The result is not copied; the caller has it.
    Other,
}

/// A call that moved aside.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DetachedOutput {
    /// Always true.
    pub detached_tool_call: bool,
    /// Fields this type does not name.
    pub extra: Extra,
}

impl ToolOutput {
    /// Reads the result of a call of that tool. Old names count too; see [`current_name`].
    ///
    /// The frame does not name the tool: it names the call, and the `tool_use` block of that call
    /// names the tool.
    ///
    /// # Errors
    /// When the tool has a type here and the result is of another shape. Show the `tool_result`
    /// block then.
    pub fn parse(tool_name: &str, output: &RawJson) -> Result<Self, ToolOutputError> {
        Self::read(current_name(tool_name), output)
            .map_err(|error| ToolOutputError { tool: tool_name.into(), reason: error.to_string() })
    }

    fn read(tool: &str, output: &RawJson) -> Result<Self, serde_json::Error> {
        if output.as_str().starts_with('"') {
            return Ok(Self::Text(output.read()?));
        }
        // Any tool can be moved aside, and then says little; longer results need not be tried.
        if output.as_str().len() < 64
            && let Ok(detached) = output.read()
        {
            return Ok(Self::Detached(detached));
        }
        Ok(match tool {
            "Agent" => Self::Agent(output.read()?),
            "AskUserQuestion" => Self::AskUserQuestion(output.read()?),
            "Bash" => Self::Bash(output.read()?),
            "CronCreate" => Self::CronCreate(output.read()?),
            "CronDelete" => Self::CronDelete(output.read()?),
            "CronList" => Self::CronList(output.read()?),
            "Edit" => Self::Edit(output.read()?),
            "EnterPlanMode" => Self::EnterPlanMode(output.read()?),
            "EnterWorktree" => Self::EnterWorktree(output.read()?),
            "ExitPlanMode" => Self::ExitPlanMode(output.read()?),
            "ExitWorktree" => Self::ExitWorktree(output.read()?),
            "Glob" => Self::Glob(output.read()?),
            "Grep" => Self::Grep(output.read()?),
            "ListMcpResourcesTool" => Self::ListMcpResources(output.read()?),
            "Monitor" => Self::Monitor(output.read()?),
            "NotebookEdit" => Self::NotebookEdit(output.read()?),
            "Read" => Self::Read(output.read()?),
            "ReadMcpResourceDirTool" => Self::ReadMcpResourceDir(output.read()?),
            "ReadMcpResourceTool" => Self::ReadMcpResource(output.read()?),
            "RefreshMcpTools" => Self::RefreshMcpTools(output.read()?),
            "ReportFindings" => Self::ReportFindings(output.read()?),
            "ScheduleWakeup" => Self::ScheduleWakeup(output.read()?),
            "TaskCreate" => Self::TaskCreate(output.read()?),
            "TaskGet" => Self::TaskGet(output.read()?),
            "TaskList" => Self::TaskList(output.read()?),
            "TaskStop" => Self::TaskStop(output.read()?),
            "TaskUpdate" => Self::TaskUpdate(output.read()?),
            "TodoWrite" => Self::TodoWrite(output.read()?),
            "WebFetch" => Self::WebFetch(output.read()?),
            "WebSearch" => Self::WebSearch(output.read()?),
            "Workflow" => Self::Workflow(output.read()?),
            "Write" => Self::Write(output.read()?),
            name if name.starts_with("mcp__") => Self::Mcp(output.read()?),
            _ => Self::Other,
        })
    }
}

/// Why the result of a tool call cannot be read as that tool's type.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("result of {tool} in another shape: {reason}")]
#[non_exhaustive]
pub struct ToolOutputError {
    /// The tool, under the name that was given.
    pub tool: Box<str>,
    /// What is wrong, with the field.
    pub reason: String,
}
