//! What the built-in tools are called with, and what they give back.
//!
//! On the wire both are any JSON, and they stay [`RawJson`] in the frames. [`ToolInput`] and
//! [`ToolOutput`] look inside, given the name of the tool. They are for showing and for deciding:
//! what is sent back to the CLI is the raw input, because a typed one is written in another
//! order, and because half of a surrogate pair in a string is U+FFFD here.
//!
//! Which tools there are depends on the version, the account and the settings. Read the list that
//! `system/init` gives, and expect others than these.

mod input;
mod output;
#[cfg(test)]
mod tests;

use thiserror::Error;

pub use self::input::*;
pub use self::output::*;
use crate::wire::RawJson;

/// The name that current versions use for a tool.
///
/// Rules, flags and old transcripts may still have the name before, and `system/init` of 2.1.325
/// lists `Task`. Other names are given back as they are.
///
/// ```
/// use countersign_protocol::tool::current_name;
///
/// assert_eq!(current_name("Task"), "Agent");
/// assert_eq!(current_name("Bash"), "Bash");
/// ```
#[must_use]
pub fn current_name(tool_name: &str) -> &str {
    match tool_name {
        "Task" => "Agent",
        "KillShell" | "KillBash" => "TaskStop",
        "ListPeers" => "ListAgents",
        "Brief" => "SendUserMessage",
        "ListMcpResources" => "ListMcpResourcesTool",
        "ReadMcpResource" => "ReadMcpResourceTool",
        "ReadMcpResourceDir" => "ReadMcpResourceDirTool",
        name => name,
    }
}

/// The input of a tool call, by tool.
///
/// ```
/// use countersign_protocol::RawJson;
/// use countersign_protocol::tool::ToolInput;
///
/// let input: RawJson = r#"{"command":"rm -r build","description":"Clean up"}"#.parse()?;
/// let ToolInput::Bash(bash) = ToolInput::parse("Bash", &input)? else { panic!() };
/// assert_eq!(bash.command, "rm -r build");
/// assert_eq!(bash.timeout, None);
///
/// // A tool of an MCP server has whatever input the server defines.
/// assert_eq!(ToolInput::parse("mcp__calc__add", &input)?, ToolInput::Other);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ToolInput {
    /// `Agent`, before `Task`.
    Agent(Box<AgentInput>),
    /// `AskUserQuestion`.
    AskUserQuestion(Box<AskUserQuestionInput>),
    /// `Bash`.
    Bash(BashInput),
    /// `CronCreate`.
    CronCreate(CronCreateInput),
    /// `CronDelete`.
    CronDelete(CronDeleteInput),
    /// `CronList`.
    CronList(CronListInput),
    /// `Edit`.
    Edit(EditInput),
    /// `EnterPlanMode`.
    EnterPlanMode(EnterPlanModeInput),
    /// `EnterWorktree`.
    EnterWorktree(EnterWorktreeInput),
    /// `ExitPlanMode`.
    ExitPlanMode(ExitPlanModeInput),
    /// `ExitWorktree`.
    ExitWorktree(ExitWorktreeInput),
    /// `Glob`.
    Glob(GlobInput),
    /// `Grep`.
    Grep(Box<GrepInput>),
    /// `ListAgents`, before `ListPeers`.
    ListAgents(ListAgentsInput),
    /// `ListMcpResourcesTool`, before `ListMcpResources`.
    ListMcpResources(ListMcpResourcesInput),
    /// `Monitor`.
    Monitor(MonitorInput),
    /// `NotebookEdit`.
    NotebookEdit(NotebookEditInput),
    /// `ProposeGoal`.
    ProposeGoal(ProposeGoalInput),
    /// `Read`.
    Read(ReadInput),
    /// `ReadMcpResourceDirTool`, before `ReadMcpResourceDir`.
    ReadMcpResourceDir(ReadMcpResourceDirInput),
    /// `ReadMcpResourceTool`, before `ReadMcpResource`.
    ReadMcpResource(ReadMcpResourceInput),
    /// `RefreshMcpTools`.
    RefreshMcpTools(RefreshMcpToolsInput),
    /// `ReportFindings`.
    ReportFindings(ReportFindingsInput),
    /// `ScheduleWakeup`.
    ScheduleWakeup(ScheduleWakeupInput),
    /// `SendUserMessage`, before `Brief`.
    SendUserMessage(SendUserMessageInput),
    /// `Skill`.
    Skill(SkillInput),
    /// `TaskCreate`.
    TaskCreate(TaskCreateInput),
    /// `TaskGet`.
    TaskGet(TaskGetInput),
    /// `TaskList`.
    TaskList(TaskListInput),
    /// `TaskStop`, before `KillShell` and `KillBash`.
    TaskStop(TaskStopInput),
    /// `TaskUpdate`.
    TaskUpdate(Box<TaskUpdateInput>),
    /// `TodoWrite`.
    TodoWrite(TodoWriteInput),
    /// `WebFetch`.
    WebFetch(WebFetchInput),
    /// `WebSearch`.
    WebSearch(WebSearchInput),
    /// `Workflow`.
    Workflow(Box<WorkflowInput>),
    /// `Write`.
    Write(WriteInput),
    /// A tool without a type here: one of an MCP server, or one this crate does not know. The
    /// input is not copied; the caller has it.
    Other,
}

impl ToolInput {
    /// Reads the input of a call of that tool. Old names count too; see [`current_name`].
    ///
    /// # Errors
    /// When the tool has a type here and the input is of another shape. The model may send such
    /// an input, and the CLI may still put it to the host, so show the raw input then.
    ///
    /// A field that the type names and that stands there twice is such an error, on purpose: two
    /// readers could disagree on which of them counts, so what a person is shown might not be
    /// what runs.
    pub fn parse(tool_name: &str, input: &RawJson) -> Result<Self, ToolInputError> {
        Self::read(current_name(tool_name), input)
            .map_err(|error| ToolInputError { tool: tool_name.into(), reason: error.to_string() })
    }

    fn read(tool: &str, input: &RawJson) -> Result<Self, serde_json::Error> {
        Ok(match tool {
            "Agent" => Self::Agent(input.read()?),
            "AskUserQuestion" => Self::AskUserQuestion(input.read()?),
            "Bash" => Self::Bash(input.read()?),
            "CronCreate" => Self::CronCreate(input.read()?),
            "CronDelete" => Self::CronDelete(input.read()?),
            "CronList" => Self::CronList(input.read()?),
            "Edit" => Self::Edit(input.read()?),
            "EnterPlanMode" => Self::EnterPlanMode(input.read()?),
            "EnterWorktree" => Self::EnterWorktree(input.read()?),
            "ExitPlanMode" => Self::ExitPlanMode(input.read()?),
            "ExitWorktree" => Self::ExitWorktree(input.read()?),
            "Glob" => Self::Glob(input.read()?),
            "Grep" => Self::Grep(input.read()?),
            "ListAgents" => Self::ListAgents(input.read()?),
            "ListMcpResourcesTool" => Self::ListMcpResources(input.read()?),
            "Monitor" => Self::Monitor(input.read()?),
            "NotebookEdit" => Self::NotebookEdit(input.read()?),
            "ProposeGoal" => Self::ProposeGoal(input.read()?),
            "Read" => Self::Read(input.read()?),
            "ReadMcpResourceDirTool" => Self::ReadMcpResourceDir(input.read()?),
            "ReadMcpResourceTool" => Self::ReadMcpResource(input.read()?),
            "RefreshMcpTools" => Self::RefreshMcpTools(input.read()?),
            "ReportFindings" => Self::ReportFindings(input.read()?),
            "ScheduleWakeup" => Self::ScheduleWakeup(input.read()?),
            "SendUserMessage" => Self::SendUserMessage(input.read()?),
            "Skill" => Self::Skill(input.read()?),
            "TaskCreate" => Self::TaskCreate(input.read()?),
            "TaskGet" => Self::TaskGet(input.read()?),
            "TaskList" => Self::TaskList(input.read()?),
            "TaskStop" => Self::TaskStop(input.read()?),
            "TaskUpdate" => Self::TaskUpdate(input.read()?),
            "TodoWrite" => Self::TodoWrite(input.read()?),
            "WebFetch" => Self::WebFetch(input.read()?),
            "WebSearch" => Self::WebSearch(input.read()?),
            "Workflow" => Self::Workflow(input.read()?),
            "Write" => Self::Write(input.read()?),
            _ => Self::Other,
        })
    }
}

/// Why the input of a tool call cannot be read as that tool's type.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("input of {tool} in another shape: {reason}")]
#[non_exhaustive]
pub struct ToolInputError {
    /// The tool, under the name that was given.
    pub tool: Box<str>,
    /// What is wrong, with the field.
    pub reason: String,
}
