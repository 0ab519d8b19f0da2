//! Files and notebooks.

use countersign_protocol_derive::WireObject;

use crate::names::open_enum;
use crate::wire::Extra;

/// Reads a file: text, a picture, a PDF or a notebook.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ReadInput {
    /// The file, as an absolute path.
    pub file_path: String,
    /// The first line to read, counted from one.
    pub offset: Option<u64>,
    /// How many lines to read.
    pub limit: Option<u64>,
    /// Which pages of a PDF to read, such as `1-5`.
    pub pages: Option<String>,
    /// Whether a file may be read that is larger than usual.
    pub allow_large: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Writes a file, in place of one that is there.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct WriteInput {
    /// The file, as an absolute path.
    pub file_path: String,
    /// All of the new content.
    pub content: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Replaces text in a file.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct EditInput {
    /// The file, as an absolute path.
    pub file_path: String,
    /// The text to replace.
    pub old_string: String,
    /// What to put in its place.
    pub new_string: String,
    /// Whether every occurrence is replaced. Otherwise there must be one only.
    pub replace_all: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Changes one cell of a Jupyter notebook.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct NotebookEditInput {
    /// The notebook, as an absolute path.
    pub notebook_path: String,
    /// The new text of the cell.
    pub new_source: String,
    /// The cell to change, or the one after which a new cell is put.
    pub cell_id: Option<String>,
    /// What the cell holds.
    pub cell_type: Option<CellType>,
    /// What to do. Absent means [`CellEdit::Replace`].
    pub edit_mode: Option<CellEdit>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// What a cell of a notebook holds.
    CellType {
        /// Code.
        Code = "code",
        /// Prose.
        Markdown = "markdown",
    }

    /// What is done to a cell of a notebook.
    CellEdit {
        /// Its text is replaced.
        Replace = "replace",
        /// A new cell is put after it.
        Insert = "insert",
        /// It is removed.
        Delete = "delete",
    }
}
