//! What tools are called with.

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

pub use self::agent::{
    AgentInput, AgentIsolation, AgentModel, ListAgentsInput, SendUserMessageInput, SkillInput,
    WorkflowInput,
};
pub use self::files::{CellEdit, CellType, EditInput, NotebookEditInput, ReadInput, WriteInput};
pub use self::mcp::{
    ListMcpResourcesInput, ReadMcpResourceDirInput, ReadMcpResourceInput, RefreshMcpToolsInput,
};
pub use self::plan_and_question::{
    AllowedPrompt, Annotation, Answer, AskUserQuestionInput, EnterPlanModeInput, ExitPlanModeInput,
    Question, QuestionMetadata, QuestionOption, Unanswered,
};
pub use self::review::{
    Finding, FindingOutcome, FindingVerdict, ProposeGoalInput, ReportFindingsInput,
};
pub use self::schedule::{
    CronCreateInput, CronDeleteInput, CronJobId, CronListInput, ScheduleWakeupInput,
};
pub use self::search::{GlobInput, GrepInput, GrepMode};
pub use self::shell::{BashInput, MonitorInput, TaskStopInput, WebSocketSource};
pub use self::tasks::{
    TaskCreateInput, TaskGetInput, TaskItemId, TaskListInput, TaskUpdateInput, Todo, TodoStatus,
    TodoWriteInput,
};
pub use self::web::{WebFetchInput, WebSearchInput};
pub use self::worktree::{EnterWorktreeInput, ExitWorktreeInput, WorktreeAction};
