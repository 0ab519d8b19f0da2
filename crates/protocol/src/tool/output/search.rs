//! Searches in the file system.

use countersign_protocol_derive::WireObject;

use crate::tool::input::GrepMode;
use crate::wire::{Extra, Num};

/// Files that were found by name.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GlobOutput {
    /// How long it took, in milliseconds.
    pub duration_ms: Num,
    /// How many files are listed.
    pub num_files: u64,
    /// The files.
    pub filenames: Vec<String>,
    /// Whether there are more.
    pub truncated: bool,
    /// How many files match.
    pub total_matches: Option<u64>,
    /// Whether that many match exactly. Otherwise at least as many.
    pub count_is_complete: Option<bool>,
    /// Whether the search ran out of time.
    pub timed_out: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Text that was found in files. Which fields are there depends on the mode.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[wire(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GrepOutput {
    /// What was asked for.
    pub mode: Option<GrepMode>,
    /// How many files match.
    pub num_files: u64,
    /// The files, where the mode lists them.
    pub filenames: Vec<String>,
    /// The lines, or the count of each file.
    pub content: Option<String>,
    /// How many lines are shown.
    pub num_lines: Option<u64>,
    /// How many matches there are.
    pub num_matches: Option<u64>,
    /// How many files there are without a limit.
    pub total_files: Option<u64>,
    /// How many lines there are without a limit.
    pub total_lines: Option<u64>,
    /// The limit, if it cut something off.
    pub applied_limit: Option<u64>,
    /// How many results were left out at the start.
    pub applied_offset: Option<u64>,
    /// Whether the search ran out of time.
    pub timed_out: Option<bool>,
    /// Fields this type does not name.
    pub extra: Extra,
}
