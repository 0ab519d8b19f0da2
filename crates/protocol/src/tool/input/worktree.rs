//! Git worktrees.

use countersign_protocol_derive::WireObject;

use crate::names::open_enum;
use crate::wire::Extra;

/// Moves the session to a git worktree.
///
/// Either [`name`](Self::name) or [`path`](Self::path) is set, or neither.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct EnterWorktreeInput {
    /// What to call the new worktree.
    pub name: Option<String>,
    /// A worktree that is already there.
    pub path: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Moves the session back to where it was.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ExitWorktreeInput {
    /// What becomes of the worktree.
    pub action: WorktreeAction,
    /// Whether changes that would be lost may be lost. Without it the CLI refuses to remove a
    /// worktree that has some.
    pub discard_changes: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// What becomes of a worktree that the session leaves.
    WorktreeAction {
        /// It stays, with its branch.
        Keep = "keep",
        /// It is deleted, with its branch.
        Remove = "remove",
    }
}
