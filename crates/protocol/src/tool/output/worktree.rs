//! Git worktrees.

use countersign_protocol_derive::WireObject;

use crate::tool::input::WorktreeAction;
use crate::wire::Extra;

/// The session moved to a worktree.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EnterWorktreeOutput {
    /// The worktree.
    pub worktree_path: String,
    /// Its branch.
    pub worktree_branch: Option<String>,
    /// What the model is told.
    pub message: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The session moved back.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExitWorktreeOutput {
    /// What became of the worktree.
    pub action: WorktreeAction,
    /// Where the session was before.
    pub original_cwd: String,
    /// The worktree.
    pub worktree_path: String,
    /// Its branch.
    pub worktree_branch: Option<String>,
    /// The tmux session that belongs to it.
    pub tmux_session_name: Option<String>,
    /// How many changed files were lost.
    pub discarded_files: Option<u64>,
    /// How many commits were lost.
    pub discarded_commits: Option<u64>,
    /// What the model is told.
    pub message: String,
    /// Fields this type does not name.
    pub extra: Extra,
}
