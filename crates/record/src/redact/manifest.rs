//! What was taken out of a tape.

use serde::{Deserialize, Serialize};

/// What was taken out of a tape: how much of what, never what it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Manifest {
    /// The program that redacted, with its version.
    pub tool: String,
    /// How many places were changed.
    pub total: u64,
    /// How many bytes at the end of the tape were left out, because they are a record that was
    /// cut off.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub torn: u64,
    /// The secrets, in the order in which they appear.
    pub placeholders: Vec<ManifestEntry>,
}

/// A secret that was taken out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ManifestEntry {
    /// The rule that found it first.
    pub rule: String,
    /// What stands there now.
    pub placeholder: String,
    /// At how many places.
    pub count: u64,
    /// The number of the first record with it; 0 for the header.
    pub first: u64,
}

impl Manifest {
    pub(super) fn new(torn: u64, placeholders: Vec<ManifestEntry>) -> Self {
        let tool = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).to_owned();
        let total = placeholders.iter().map(|entry| entry.count).sum();
        Self { tool, total, torn, placeholders }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}
