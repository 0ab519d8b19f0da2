//! The list of what the model means to do.
//!
//! Versions differ in which tools keep it: `TodoWrite` writes the whole list at once, the `Task…`
//! tools change one item at a time. It has nothing to do with background tasks.

use std::collections::BTreeMap;

use countersign_protocol_derive::WireObject;

use crate::names::{id, open_enum};
use crate::wire::{Extra, RawJson};

id! {
    /// Names an item of the model's task list. Not a background task, which has a
    /// [`TaskId`](crate::ids::TaskId).
    TaskItemId;
}

open_enum! {
    /// How far an item of the list is.
    TodoStatus {
        /// Not begun.
        Pending = "pending",
        /// Begun.
        InProgress = "in_progress",
        /// Done.
        Completed = "completed",
        /// No longer in the list. `TaskUpdate` only.
        Deleted = "deleted",
    }
}

/// Writes the whole list.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct TodoWriteInput {
    /// The list, in place of the one before.
    pub todos: Vec<Todo>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// An item of the list that `TodoWrite` keeps.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Todo {
    /// What to do, such as "Run the tests".
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
    /// What is shown while it is being done, such as "Running the tests".
    pub active_form: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Adds an item to the list.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskCreateInput {
    /// What to do, in a few words.
    pub subject: String,
    /// What to do, in full.
    pub description: String,
    /// What is shown while it is being done.
    pub active_form: Option<String>,
    /// What else is kept with it.
    pub metadata: Option<BTreeMap<String, RawJson>>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Reads one item of the list.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskGetInput {
    /// The item.
    pub task_id: TaskItemId,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Changes one item of the list. What is absent stays as it is.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskUpdateInput {
    /// The item.
    pub task_id: TaskItemId,
    /// What to do, in a few words.
    pub subject: Option<String>,
    /// What to do, in full.
    pub description: Option<String>,
    /// What is shown while it is being done.
    pub active_form: Option<String>,
    /// How far it is; [`TodoStatus::Deleted`] removes it.
    pub status: Option<TodoStatus>,
    /// Items that must wait for this one.
    pub add_blocks: Option<Vec<TaskItemId>>,
    /// Items that this one must wait for.
    pub add_blocked_by: Option<Vec<TaskItemId>>,
    /// Who does it.
    pub owner: Option<String>,
    /// What else is kept with it.
    pub metadata: Option<BTreeMap<String, RawJson>>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Reads the list.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct TaskListInput {
    /// Fields this type does not name.
    pub extra: Extra,
}
