//! Files of the workspace.

use countersign_protocol_derive::WireObject;

use crate::ids::MessageUuid;
use crate::names::open_enum;
use crate::tool::Hunk;
use crate::wire::{Extra, Num};

/// Reads a file, if the rules let it be read. From 2.1.197 on.
///
/// A file that does not exist is answered with the same error as one that may not be read.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ReadFile {
    /// The path, absolute or from the working directory.
    pub path: String,
    /// How many bytes to read at most.
    pub max_bytes: Option<u64>,
    /// How the bytes are written in the answer. Absent: as text.
    pub encoding: Option<FileEncoding>,
    /// What the path starts from. *Unstable.*
    pub anchor: Option<String>,
    /// At which byte to begin. *Unstable.*
    pub offset: Option<u64>,
    /// Whether the file is to be uploaded. *Unstable.*
    pub for_upload: Option<bool>,
    /// Only for hosted workers. *Unstable.*
    #[wire(name = "liveReply")]
    pub live_reply: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`ReadFile`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReadFileResponse {
    /// The file, or its beginning.
    pub contents: String,
    /// Where it is.
    pub abs_path: String,
    /// Whether there is more.
    pub truncated: Option<bool>,
    /// [`FileEncoding::Base64`] if `contents` is that; absent if it is text.
    pub encoding: Option<FileEncoding>,
    /// Whether the text is not exactly what is in the file, because that is not UTF-8. From
    /// 2.1.325 on, for text only.
    pub lossy: Option<bool>,
    /// The path that was asked for. *Unstable.*
    #[wire(name = "requested_path")]
    pub requested_path: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Asks which files a few letters could mean. From 2.1.197 on.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct FileSuggestions {
    /// The letters.
    pub query: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`FileSuggestions`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct FileSuggestionsResponse {
    /// Files, the best first.
    pub suggestions: Vec<FileSuggestion>,
    /// The folder that the paths start from. From 2.1.325 on.
    pub cwd: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A file that may be meant.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct FileSuggestion {
    /// Its path.
    pub path: String,
    /// How well it fits.
    pub score: Option<Num>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Takes a file as read by the model, so that it may edit it. From 2.1.197 on.
///
/// For a file that the model read in a part of the conversation that is gone. Where it does not
/// apply it is acknowledged all the same.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct SeedReadState {
    /// The path.
    pub path: String,
    /// When the file was last changed when it was read, in milliseconds since 1970. If it was
    /// changed since, it does not count as read.
    pub mtime: Num,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Puts files back to what they were when a message was sent.
///
/// The process must have been started with `CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=1`. When it
/// cannot be done, a dry run answers success with `canRewind: false`, and a real one an error.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct RewindFiles {
    /// The message, by the `uuid` that it was sent with.
    pub user_message_id: MessageUuid,
    /// Whether to say only what would change.
    pub dry_run: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`RewindFiles`]. What changes is said by a dry run only.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RewindFilesResponse {
    /// Whether it can be done, or was.
    pub can_rewind: bool,
    /// Why not.
    pub error: Option<String>,
    /// The files that would change.
    pub files_changed: Option<Vec<String>>,
    /// Lines that would be added.
    pub insertions: Option<u64>,
    /// Lines that would go.
    pub deletions: Option<u64>,
    /// Files that were left alone because a link is in the way. From 2.1.325 on, not for a dry
    /// run.
    pub skipped_links: Option<u64>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Adds a folder to the workspace.
///
/// It must lie below the working directory or a folder that was given with `--add-dir`. One that
/// is in the workspace already is an error.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct RegisterRepoRoot {
    /// The folder.
    pub directory: String,
    /// Whether its `CLAUDE.md` is read.
    pub reload_claude_md: Option<bool>,
    /// Whether its plugins are loaded.
    pub reload_plugins: Option<bool>,
    /// Whether its skills are loaded.
    pub reload_skills: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`RegisterRepoRoot`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct RegisterRepoRootResponse {
    /// The folder, as it was resolved.
    pub directory: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Asks what changed in the workspace since the last commit. *Unstable.*
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GetWorkspaceDiff {
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to [`GetWorkspaceDiff`].
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GetWorkspaceDiffResponse {
    /// What changed.
    pub diff: Option<WorkspaceDiff>,
    /// Why there is no diff.
    pub no_diff_reason: Option<NoDiffReason>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What changed in a workspace.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorkspaceDiff {
    /// Totals.
    pub stats: DiffStats,
    /// The files.
    pub per_file_stats: Vec<DiffFile>,
    /// The changes themselves. Not for every file: see `skipped_large` and `restricted`.
    pub hunks: Vec<FileHunks>,
    /// Files whose changes are too large to send.
    pub skipped_large: Vec<String>,
    /// Files whose contents may not be read.
    pub restricted: Vec<String>,
    /// Files that are not even listed.
    pub omitted: Option<DiffOmitted>,
    /// What the workspace was compared with.
    pub source: DiffSource,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Totals of a diff.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DiffStats {
    /// How many files changed.
    pub files_count: u64,
    /// Lines that were added.
    pub lines_added: u64,
    /// Lines that are gone.
    pub lines_removed: u64,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A file that changed.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DiffFile {
    /// Its path.
    pub path: String,
    /// Lines that were added.
    pub added: u64,
    /// Lines that are gone.
    pub removed: u64,
    /// Whether it is not text.
    pub is_binary: bool,
    /// Whether git does not know it.
    pub is_untracked: bool,
    /// What happened to it.
    pub status: Option<DiffFileStatus>,
    /// Its path before.
    pub previous_path: Option<String>,
    /// Its path now, where `path` is another one.
    pub new_path: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The changes of a file.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct FileHunks {
    /// Its path.
    pub path: String,
    /// The changes, from top to bottom.
    pub hunks: Vec<Hunk>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Files that a diff does not list.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct DiffOmitted {
    /// How many.
    pub files: u64,
    /// Whether that is exact, or the least.
    pub exact: bool,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// What a workspace was compared with.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DiffSource {
    /// `working-tree` for what is not committed, `branch` for a whole branch.
    pub kind: String,
    /// The branch it was compared with.
    pub base_branch: Option<String>,
    /// The commit it was compared with.
    pub base_ref: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// How bytes are written.
    FileEncoding {
        /// As text. What is not UTF-8 becomes U+FFFD.
        Utf8 = "utf-8",
        /// In base64.
        Base64 = "base64",
    }

    /// What happened to a file.
    DiffFileStatus {
        /// It is new.
        Added = "added",
        /// It is different.
        Modified = "modified",
        /// It is gone.
        Removed = "removed",
        /// It has another name.
        Renamed = "renamed",
        /// It is a copy.
        Copied = "copied",
    }

    /// Why there is no diff.
    NoDiffReason {
        /// The folder is in no repository.
        NoRepository = "no-repository",
        /// The repository is not trusted.
        RepositoryRefused = "repository-refused",
        /// Something is being done in the repository.
        RepositoryBusy = "repository-busy",
        /// It failed.
        DiffFailed = "diff-failed",
        /// The folder is not what it was.
        RootMoved = "root-moved",
    }
}
