//! Searches in the file system.

use countersign_protocol_derive::WireObject;

use crate::names::open_enum;
use crate::wire::Extra;

/// Finds files by name.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GlobInput {
    /// The pattern, such as `**/*.rs`.
    pub pattern: String,
    /// The folder to search. Absent means the working directory.
    pub path: Option<String>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Finds text in files, with ripgrep.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct GrepInput {
    /// The regular expression.
    pub pattern: String,
    /// The file or folder to search. Absent means the working directory.
    pub path: Option<String>,
    /// Which files to search, such as `*.rs`.
    pub glob: Option<String>,
    /// Which files to search, by ripgrep's name of a kind, such as `rust`.
    #[wire(name = "type")]
    pub file_type: Option<String>,
    /// What to give back. Absent means [`GrepMode::FilesWithMatches`].
    pub output_mode: Option<GrepMode>,
    /// How many lines to show before a match.
    #[wire(name = "-B")]
    pub before_context: Option<u64>,
    /// How many lines to show after a match.
    #[wire(name = "-A")]
    pub after_context: Option<u64>,
    /// How many lines to show around a match, under its short name.
    #[wire(name = "-C")]
    pub around_context: Option<u64>,
    /// How many lines to show around a match.
    pub context: Option<u64>,
    /// Whether to show line numbers.
    #[wire(name = "-n")]
    pub line_numbers: Option<bool>,
    /// Whether to ignore case.
    #[wire(name = "-i")]
    pub ignore_case: Option<bool>,
    /// Whether to show only what matched instead of whole lines.
    #[wire(name = "-o")]
    pub only_matching: Option<bool>,
    /// How many results to give back. Zero means all of them; absent means a default.
    pub head_limit: Option<u64>,
    /// How many results to leave out at the start.
    pub offset: Option<u64>,
    /// Whether a match may span lines.
    pub multiline: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// What a search for text gives back.
    GrepMode {
        /// The lines.
        Content = "content",
        /// The names of the files.
        FilesWithMatches = "files_with_matches",
        /// How often each file matched.
        Count = "count",
    }
}
