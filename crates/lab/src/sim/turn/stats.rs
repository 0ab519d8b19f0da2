//! What the calls of a subagent were, as its result counts them.

use crate::sim::json::{Json, Object, obj};

/// Counts of calls. A call counts whether or not it was allowed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ToolStats {
    reads: u64,
    searches: u64,
    commands: u64,
    edits: u64,
    lines_added: u64,
    lines_removed: u64,
    others: u64,
}

impl ToolStats {
    /// Counts a call.
    pub(super) fn count(&mut self, tool: &str, input: &Json) {
        let lines = |key: &str| {
            let text = input.text(key).unwrap_or_default();
            if text.is_empty() { 0 } else { text.split('\n').map(|_| 1).sum() }
        };
        match tool {
            "Read" => self.reads += 1,
            "Glob" | "Grep" => self.searches += 1,
            "Bash" => self.commands += 1,
            "Write" => {
                self.edits += 1;
                self.lines_added += lines("content");
            }
            "Edit" => {
                self.edits += 1;
                self.lines_added += lines("new_string");
                self.lines_removed += lines("old_string");
            }
            _ => self.others += 1,
        }
    }

    /// The counts as they are told.
    pub(super) fn told(self) -> Object {
        obj! {
            "readCount": self.reads,
            "searchCount": self.searches,
            "bashCount": self.commands,
            "editFileCount": self.edits,
            "linesAdded": self.lines_added,
            "linesRemoved": self.lines_removed,
            "otherToolCount": self.others,
        }
    }
}
