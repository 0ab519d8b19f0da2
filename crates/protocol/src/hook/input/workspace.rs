//! Events of files and directories.

use countersign_protocol_derive::WireObject;

use super::HookBase;
use crate::names::open_enum;
use crate::wire::Extra;

/// A settings file or a skill has changed on disk.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ConfigChangeInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// What has changed.
    pub source: ConfigSource,
    /// The file.
    pub file_path: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A worktree is needed.
///
/// A callback for this event takes the place of `git worktree`: it makes the worktree and says
/// where with a [`WorktreeCreateOutput`](crate::hook::WorktreeCreateOutput).
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct WorktreeCreateInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// A short name for the worktree.
    pub name: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A worktree is being removed.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct WorktreeRemoveInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// Where it is.
    pub worktree_path: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A file of instructions, such as `CLAUDE.md`, has been read.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct InstructionsLoadedInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// The file.
    pub file_path: String,
    /// Whose instructions they are.
    pub memory_type: MemoryType,
    /// Why it was read.
    pub load_reason: LoadReason,
    /// The patterns of paths that the instructions are for.
    pub globs: Option<Vec<String>>,
    /// The file that was worked on and led to it.
    pub trigger_file_path: Option<String>,
    /// The file that includes it.
    pub parent_file_path: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The working directory has changed.
///
/// 2.1.197 and 2.1.325 call a callback of a client only when there is a hook for it in the settings
/// as well.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct CwdChangedInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// The directory before.
    pub old_cwd: String,
    /// The directory after.
    pub new_cwd: String,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A watched file has changed.
///
/// Which files are watched can be set with the answer to this event, to `SessionStart` and to
/// `CwdChanged`.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct FileChangedInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// The file.
    pub file_path: String,
    /// What happened to it.
    pub event: FileEvent,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A directory has been added to the session.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct DirectoryAddedInput {
    /// What every event has.
    #[wire(flatten)]
    pub base: HookBase,
    /// The directory, as an absolute path.
    pub directory: String,
    /// How it was added.
    pub source: DirectorySource,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// What configuration has changed.
    ConfigSource {
        /// The user's settings file.
        UserSettings = "user_settings",
        /// The settings file of the project that is shared with others.
        ProjectSettings = "project_settings",
        /// The settings file of the project that is not shared.
        LocalSettings = "local_settings",
        /// Managed settings.
        PolicySettings = "policy_settings",
        /// A skill.
        Skills = "skills",
    }

    /// Whose instructions a file holds.
    MemoryType {
        /// The user's, for all projects.
        User = "User",
        /// The project's, shared with others.
        Project = "Project",
        /// The user's, for this project.
        Local = "Local",
        /// The organization's.
        Managed = "Managed",
    }

    /// Why a file of instructions was read.
    LoadReason {
        /// The session began.
        SessionStart = "session_start",
        /// A file in its directory was worked on.
        NestedTraversal = "nested_traversal",
        /// A file that its patterns match was worked on.
        PathGlobMatch = "path_glob_match",
        /// Another file includes it.
        Include = "include",
        /// The conversation was compacted.
        Compact = "compact",
    }

    /// What happened to a file.
    FileEvent {
        /// It has other content.
        Change = "change",
        /// It is new.
        Add = "add",
        /// It is gone.
        Unlink = "unlink",
    }

    /// How a directory was added.
    DirectorySource {
        /// With `/add-dir`.
        SlashCommand = "slash_command",
        /// With the control request `register_repo_root`.
        RegisterRepoRoot = "register_repo_root",
    }
}
