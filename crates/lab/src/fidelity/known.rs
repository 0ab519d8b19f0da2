//! Known differences between the simulated CLI and the real one, each with its reason.

use super::{Departure, How};
use crate::Version;

/// A difference that is known.
struct Known {
    /// The scenario, or all of them.
    scenario: Option<&'static str>,
    /// From this version on, to that one.
    versions: (Version, Version),
    /// The kind of frame.
    kind: &'static str,
    /// The place in the frame; empty for a frame that is missing or too much.
    path: &'static str,
    /// Why the simulated CLI is not made to do it.
    reason: &'static str,
}

const KNOWN: &[Known] = &[];

/// Why a departure is as it is, if that is known.
pub(super) fn reason(
    scenario: &str,
    version: Version,
    departure: &Departure,
) -> Option<&'static str> {
    let path = match &departure.how {
        How::Says(difference) => difference.path.to_string(),
        How::Missing | How::Extra | How::Ends { .. } => String::new(),
    };
    let fits = |known: &&Known| {
        known.scenario.is_none_or(|name| name == scenario)
            && (known.versions.0..=known.versions.1).contains(&version)
            && known.kind == departure.kind
            && known.path == path
    };
    KNOWN.iter().find(fits).map(|known| known.reason)
}
