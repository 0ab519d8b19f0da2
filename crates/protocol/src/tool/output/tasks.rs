//! The list of what the model means to do.

use countersign_protocol_derive::WireObject;

use crate::tool::input::{TaskItemId, Todo, TodoStatus};
use crate::wire::Extra;

/// The list before and after it was written.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TodoWriteOutput {
    /// The list before.
    pub old_todos: Vec<Todo>,
    /// The list now.
    pub new_todos: Vec<Todo>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// An item was added.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct TaskCreateOutput {
    /// The item.
    pub task: CreatedTask,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// An item that was added.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct CreatedTask {
    /// Names the item from now on.
    pub id: TaskItemId,
    /// What to do, in a few words.
    pub subject: String,
    /// What to do, in full.
    pub description: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// An item was looked up.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct TaskGetOutput {
    /// The item, or none of that id.
    pub task: Option<TaskDetails>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// An item with all that is known of it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskDetails {
    /// Names the item.
    pub id: TaskItemId,
    /// What to do, in a few words.
    pub subject: String,
    /// What to do, in full.
    pub description: String,
    /// How far it is.
    pub status: TodoStatus,
    /// Items that must wait for this one.
    pub blocks: Vec<TaskItemId>,
    /// Items that this one must wait for.
    pub blocked_by: Vec<TaskItemId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// An item was changed, or not.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskUpdateOutput {
    /// Whether it was changed.
    pub success: bool,
    /// The item.
    pub task_id: TaskItemId,
    /// The names of the fields that were changed.
    pub updated_fields: Vec<String>,
    /// Why it was not changed.
    pub error: Option<String>,
    /// How the status changed.
    pub status_change: Option<StatusChange>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// How the status of an item changed.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct StatusChange {
    /// What it was.
    pub from: TodoStatus,
    /// What it is.
    pub to: TodoStatus,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The list.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct TaskListOutput {
    /// Its items.
    pub tasks: Vec<ListedTask>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// An item of the list.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListedTask {
    /// Names the item.
    pub id: TaskItemId,
    /// What to do, in a few words.
    pub subject: String,
    /// How far it is.
    pub status: TodoStatus,
    /// Who does it.
    pub owner: Option<String>,
    /// Items that this one must wait for.
    pub blocked_by: Vec<TaskItemId>,
    /// Fields this type does not name.
    pub extra: Extra,
}
