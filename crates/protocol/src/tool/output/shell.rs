//! Commands, and what runs in the background.

use countersign_protocol_derive::WireObject;

use crate::ids::TaskId;
use crate::names::open_enum;
use crate::wire::{Extra, Num, RawJson};

/// What a shell command gave back.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BashOutput {
    /// What the command wrote. Current versions put its error output here as well.
    pub stdout: String,
    /// What the CLI adds, or the error output.
    pub stderr: String,
    /// Whether the command was stopped.
    pub interrupted: bool,
    /// Whether the output is a picture.
    pub is_image: Option<bool>,
    /// The task, if the command went on in the background.
    pub background_task_id: Option<TaskId>,
    /// Whether the user sent it to the background.
    pub backgrounded_by_user: Option<bool>,
    /// The limit in milliseconds, if the command reached it and went on in the background.
    pub timed_out_after_ms: Option<Num>,
    /// What an exit code other than zero means for this command.
    pub return_code_interpretation: Option<String>,
    /// Whether the command usually writes nothing. Versions up to 2.1.20 do not say.
    pub no_output_expected: Option<bool>,
    /// The file that holds an output too long to be given back.
    pub persisted_output_path: Option<String>,
    /// The size of that file in bytes.
    pub persisted_output_size: Option<u64>,
    /// The file that holds the output as it was written.
    pub raw_output_path: Option<String>,
    /// The output as blocks.
    pub structured_content: Option<Vec<RawJson>>,
    /// What the command did to a git repository, as far as the CLI can tell.
    pub git_operation: Option<GitOperation>,
    /// Whether the command ran outside the sandbox.
    pub dangerously_disable_sandbox: Option<bool>,
    /// A note for the model that the command's change of directory does not last.
    pub background_cwd_hint: Option<String>,
    /// Whether the background command ends when the sub-agent that began it does.
    pub background_ends_with_final_response: Option<bool>,
    /// Whether the end of the background command wakes who began it. Never seen in a recording.
    pub background_wakes_owner: Option<bool>,
    /// A note for the model that files it has read were changed.
    pub stale_read_file_state_hint: Option<String>,
    /// A note for the model about GitHub's rate limit.
    pub gh_rate_limit_hint: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What a command did to a git repository.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GitOperation {
    /// It made a commit.
    pub commit: Option<GitCommit>,
    /// It pushed a branch.
    pub push: Option<GitPush>,
    /// It merged or rebased.
    pub branch: Option<GitBranchChange>,
    /// It did something to a pull request.
    pub pr: Option<PullRequest>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A commit that was made.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GitCommit {
    /// Its hash, shortened or not.
    pub sha: String,
    /// How it was made.
    pub kind: CommitKind,
    /// The branch it is on. Absent when there is none.
    pub branch: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A branch that was pushed.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GitPush {
    /// The branch.
    pub branch: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A merge or a rebase.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GitBranchChange {
    /// What was merged, or what was rebased onto.
    #[wire(name = "ref")]
    pub reference: String,
    /// Which of the two.
    pub action: GitBranchAction,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A pull request that something was done to.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct PullRequest {
    /// Its number.
    pub number: u64,
    /// Where it is.
    pub url: Option<String>,
    /// What was done.
    pub action: PullRequestAction,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// How a commit was made.
    CommitKind {
        /// It is new.
        Committed = "committed",
        /// It takes the place of the last one.
        Amended = "amended",
        /// It was taken from another branch.
        CherryPicked = "cherry-picked",
    }

    /// What was done to a branch.
    GitBranchAction {
        /// Another was merged into it.
        Merged = "merged",
        /// It was put on top of another.
        Rebased = "rebased",
    }

    /// What was done to a pull request.
    PullRequestAction {
        /// It was opened.
        Created = "created",
        /// Its text was changed.
        Edited = "edited",
        /// It was merged.
        Merged = "merged",
        /// It was commented on.
        Commented = "commented",
        /// It was closed.
        Closed = "closed",
        /// It was opened again.
        Reopened = "reopened",
        /// It was marked as ready for review.
        Ready = "ready",
        /// It was made a draft.
        Draft = "draft",
        /// It will be merged once its checks pass.
        AutoMergeEnabled = "auto-merge-enabled",
        /// It will not be merged by itself any more.
        AutoMergeDisabled = "auto-merge-disabled",
    }
}

/// A watch that was begun.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MonitorOutput {
    /// The background task.
    pub task_id: TaskId,
    /// After how many milliseconds it ends.
    pub timeout_ms: Num,
    /// Whether it lasts as long as the session.
    pub persistent: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A background task that was stopped.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct TaskStopOutput {
    /// What the model is told.
    pub message: String,
    /// The task.
    pub task_id: TaskId,
    /// What kind of task it was.
    pub task_type: String,
    /// The command it ran.
    pub command: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}
