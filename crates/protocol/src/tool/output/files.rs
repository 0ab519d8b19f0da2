//! Files and notebooks.

use countersign_protocol_derive::{WireObject, WireTagged};

use crate::names::open_enum;
use crate::tool::input::CellType;
use crate::wire::{Extra, Named, RawJson};

/// A file that was read.
#[derive(Debug, Clone, PartialEq, WireTagged)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum ReadOutput {
    /// Lines of text.
    #[wire(name = "text")]
    Text(ReadText),
    /// A picture.
    #[wire(name = "image")]
    Image(ReadImage),
    /// A notebook.
    #[wire(name = "notebook")]
    Notebook(ReadNotebook),
    /// A PDF as a whole.
    #[wire(name = "pdf")]
    Pdf(ReadPdf),
    /// Pages of a PDF, as pictures in a folder.
    #[wire(name = "parts")]
    Parts(ReadPdfParts),
    /// A file that has not changed since the model last read it.
    #[wire(name = "file_unchanged")]
    Unchanged(ReadUnchanged),
    /// Something this crate does not know.
    #[wire(other)]
    Other(Named),
}

/// Lines of text that were read.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ReadText {
    /// The lines.
    pub file: TextFile,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Lines of a text file.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TextFile {
    /// The file.
    pub file_path: String,
    /// The text, without line numbers.
    pub content: String,
    /// How many lines that is.
    pub num_lines: u64,
    /// The first of them, counted from one.
    pub start_line: u64,
    /// How many lines the file has. An empty one counts after a line break at the end.
    pub total_lines: u64,
    /// Whether there is more of the file than would fit.
    pub truncated_by_token_cap: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A picture that was read.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ReadImage {
    /// The picture.
    pub file: ImageFile,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A picture, perhaps made smaller.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ImageFile {
    /// The bytes, as base64.
    pub base64: String,
    /// What they are, such as `image/png`.
    #[wire(name = "type")]
    pub media_type: String,
    /// The size of the file in bytes.
    pub original_size: u64,
    /// Width and height.
    pub dimensions: Option<ImageDimensions>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Width and height of a picture in pixels: in the file, and as the model is shown it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ImageDimensions {
    /// Width in the file.
    pub original_width: Option<u64>,
    /// Height in the file.
    pub original_height: Option<u64>,
    /// Width as shown.
    pub display_width: Option<u64>,
    /// Height as shown.
    pub display_height: Option<u64>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A notebook that was read.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ReadNotebook {
    /// The notebook.
    pub file: NotebookFile,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A notebook.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NotebookFile {
    /// The file.
    pub file_path: String,
    /// Its cells.
    pub cells: Vec<RawJson>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A PDF that was read as a whole.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ReadPdf {
    /// The PDF.
    pub file: PdfFile,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A PDF.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PdfFile {
    /// The file.
    pub file_path: String,
    /// The bytes, as base64.
    pub base64: String,
    /// The size of the file in bytes.
    pub original_size: u64,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Pages of a PDF that were read.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReadPdfParts {
    /// Where the pages are.
    pub file: PdfPartsFile,
    /// The number of the first page, counted from one.
    pub first_page: Option<u64>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Pages of a PDF, as pictures in a folder.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PdfPartsFile {
    /// The file.
    pub file_path: String,
    /// The size of the file in bytes.
    pub original_size: u64,
    /// How many pages.
    pub count: u64,
    /// The folder.
    pub output_dir: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A file that was not read again.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ReadUnchanged {
    /// The file.
    pub file: UnchangedFile,
    /// Where the model has it from, if not from an earlier call.
    pub source: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A file of which the model has the text already.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UnchangedFile {
    /// The file.
    pub file_path: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WriteOutput {
    /// Whether the file is new.
    #[wire(name = "type")]
    pub kind: WriteKind,
    /// The file.
    pub file_path: String,
    /// What was written.
    pub content: String,
    /// What changed. Empty for a new file, and where nothing changed or the CLI made no diff.
    pub structured_patch: Vec<Hunk>,
    /// What the file held before. Absent for a new file, and for a very large one.
    pub original_file: Option<String>,
    /// What changed, as git sees it.
    pub git_diff: Option<GitDiff>,
    /// Whether the user changed the content before it was written. 2.1.62 does not say.
    pub user_modified: Option<bool>,
    /// Whether the change is staged. Never seen in a recording.
    pub staged: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// Whether a file that was written is new.
    WriteKind {
        /// It is.
        Create = "create",
        /// It took the place of another.
        Update = "update",
    }

    /// Whether a file is new to git.
    GitDiffStatus {
        /// It is not.
        Modified = "modified",
        /// It is.
        Added = "added",
    }
}

/// A file in which text was replaced.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EditOutput {
    /// The file.
    pub file_path: String,
    /// The text that was replaced.
    pub old_string: String,
    /// What stands in its place.
    pub new_string: String,
    /// What the file held before. Absent for a very large one.
    pub original_file: Option<String>,
    /// What changed.
    pub structured_patch: Vec<Hunk>,
    /// Whether the user changed the edit before it was made.
    pub user_modified: bool,
    /// Whether every occurrence was replaced.
    pub replace_all: bool,
    /// What changed, as git sees it.
    pub git_diff: Option<GitDiff>,
    /// Whether the change is staged. Never seen in a recording.
    pub staged: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A run of lines that changed, with the lines around it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Hunk {
    /// The first line in the old file, counted from one.
    pub old_start: u64,
    /// How many lines of the old file it covers.
    pub old_lines: u64,
    /// The first line in the new file, counted from one.
    pub new_start: u64,
    /// How many lines of the new file it covers.
    pub new_lines: u64,
    /// The lines, each after a space, a `+` or a `-`.
    pub lines: Vec<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The change of one file, as git sees it.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GitDiff {
    /// The file, relative to the repository.
    pub filename: String,
    /// Whether it is new.
    pub status: GitDiffStatus,
    /// How many lines were added.
    pub additions: u64,
    /// How many lines were removed.
    pub deletions: u64,
    /// Both together.
    pub changes: u64,
    /// The change, as a unified diff.
    pub patch: String,
    /// The repository.
    pub repository: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A cell of a notebook that was changed.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct NotebookEditOutput {
    /// The new text of the cell.
    pub new_source: String,
    /// The old text of the cell.
    pub old_source: Option<String>,
    /// The cell.
    pub cell_id: Option<String>,
    /// What the cell holds.
    pub cell_type: CellType,
    /// The programming language of the notebook.
    pub language: String,
    /// What was done, spelled as in [`CellEdit`](crate::tool::CellEdit).
    pub edit_mode: String,
    /// What went wrong.
    pub error: Option<String>,
    /// The notebook.
    pub notebook_path: String,
    /// All that the file held before.
    pub original_file: String,
    /// All that it holds now.
    pub updated_file: String,
    /// Fields this type does not name.
    pub extra: Extra,
}
