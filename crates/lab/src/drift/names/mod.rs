//! Names of the protocol in the executable, searched as text.
//!
//! First every name is collected that either executable uses as one: see `patterns`. Patterns miss
//! some, as each version is made small in another way. So whether a version has a name is decided by
//! whether it stands in the executable at all, and patterns only say what to look for.

mod chunks;
mod known;
mod patterns;
mod presence;

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use self::chunks::Chunks;
use self::patterns::{Found, Patterns};
use self::presence::Presence;

/// What a name is the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// The `type` of a frame.
    Frame,
    /// The `subtype` of a control request; or of something else, where nothing tells which.
    Control,
    /// The `subtype` of a system frame.
    System,
    /// The `subtype` of a result.
    Result,
    /// A hook event.
    Hook,
    /// A permission mode.
    Mode,
    /// The `error_code` of a refusal.
    Error,
    /// A flag of the command line, also one that `--help` does not tell of.
    Flag,
}

impl Kind {
    /// All kinds, the most important first.
    pub const ALL: [Self; 8] = [
        Self::Frame,
        Self::Control,
        Self::System,
        Self::Result,
        Self::Hook,
        Self::Mode,
        Self::Error,
        Self::Flag,
    ];

    /// What names of this kind are called.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Frame => "frame kinds",
            Self::Control => "control subtypes",
            Self::System => "system subtypes",
            Self::Result => "result subtypes",
            Self::Hook => "hook events",
            Self::Mode => "permission modes",
            Self::Error => "error codes",
            Self::Flag => "flags",
        }
    }

    /// Whether the names of this kind stand in lists that are complete.
    const fn is_listed(self) -> bool {
        matches!(self, Self::Hook | Self::Mode)
    }
}

/// A name that only one of two executables has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Name {
    /// What it is the name of.
    pub kind: Kind,
    /// The name.
    pub name: String,
    /// Whether countersign-protocol knows it. It knows no flags.
    pub known: bool,
}

/// What changed in the names that two executables have, ordered by kind and name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Names {
    /// Those that the old one does not have.
    pub appeared: Vec<Name>,
    /// Those that the new one does not have.
    pub vanished: Vec<Name>,
    /// Those whose text both have, but which only the new one was seen to use as a name.
    pub perhaps_appeared: Vec<Name>,
}

impl Names {
    /// The names that appeared and that countersign-protocol does not know: what somebody has to
    /// write code for.
    pub fn unknown(&self) -> impl Iterator<Item = &Name> {
        self.appeared.iter().filter(|name| !name.known && name.kind != Kind::Flag)
    }
}

/// How many steps [`compare`] takes, for whoever shows how far it is.
///
/// # Errors
///
/// When a file is not there.
pub fn steps(old: &Path, new: &Path) -> Result<usize, SearchError> {
    let mut steps = 0_usize;
    for path in [old, new] {
        let failed = |source| SearchError::File { path: path.to_owned(), source };
        let bytes = std::fs::metadata(path).map_err(failed)?.len();
        steps = steps.saturating_add(Chunks::USUAL.count(bytes).saturating_mul(2));
    }
    Ok(steps)
}

/// Compares the names in two executables. They are read piece by piece, each of them twice; `step`
/// is called after each piece.
///
/// # Errors
///
/// When a file cannot be read, or has no names of the protocol in it, as a script that starts
/// another program has none.
pub fn compare(old: &Path, new: &Path, mut step: impl FnMut()) -> Result<Names, SearchError> {
    let mut collect = |path: &Path| -> Result<Found, SearchError> {
        let patterns = Patterns::new().map_err(io::Error::other).map_err(failed(path))?;
        let mut found = Found::default();
        let file = File::open(path).map_err(failed(path))?;
        let each = Chunks::USUAL.each(file, |chunk| {
            patterns.search(chunk.bytes, &mut found);
            step();
        });
        each.map_err(failed(path))?;
        // The one thing that every version has a list of.
        if found.has_any(Kind::Hook) {
            Ok(found)
        } else {
            Err(SearchError::Nothing { path: path.to_owned() })
        }
    };
    let (before, after) = (collect(old)?, collect(new)?);
    let candidates = candidates(&before, &after);
    let mut look = |path: &Path| -> Result<BTreeSet<(Kind, String)>, SearchError> {
        let presence = Presence::new(&candidates).map_err(io::Error::other);
        let mut presence = presence.map_err(failed(path))?;
        let file = File::open(path).map_err(failed(path))?;
        let each = Chunks::USUAL.each(file, |chunk| {
            presence.search(chunk);
            step();
        });
        each.map_err(failed(path))?;
        Ok(presence.seen())
    };
    let (old, new) = (look(old)?, look(new)?);
    Ok(difference(&candidates, [&before, &after], [&old, &new]))
}

fn failed(path: &Path) -> impl Fn(io::Error) -> SearchError {
    let path = path.to_owned();
    move |source| SearchError::File { path: path.clone(), source }
}

/// Every name to look for: those that were found, and those that the protocol has types for.
fn candidates(before: &Found, after: &Found) -> Vec<(Kind, String)> {
    let mut all = BTreeSet::new();
    for kind in Kind::ALL {
        all.extend(kind.known().map(|name| (kind, name.to_owned())));
    }
    let found_as = |kind: Kind, name: &str| before.has(kind, name) || after.has(kind, name);
    for kind in Kind::ALL {
        for name in before.of(kind).chain(after.of(kind)) {
            // A subtype alone does not tell what it is a subtype of.
            let is_told_elsewhere = match kind {
                Kind::Control => {
                    found_as(Kind::System, name)
                        || Kind::System.knows(name)
                        || Kind::Result.knows(name)
                }
                // Where a schema is cut, the kind of a frame looks like that of its subtype.
                Kind::Frame => {
                    [Kind::System, Kind::Control].iter().any(|&kind| found_as(kind, name))
                }
                // What a control request of a client is called may be said again in a message.
                Kind::System => Kind::Control.knows(name),
                _ => false,
            };
            if kind.knows(name) || !is_told_elsewhere {
                all.insert((kind, name.to_owned()));
            }
        }
    }
    all.into_iter().collect()
}

/// What one has and the other has not; first of each pair is the old one.
fn difference(
    candidates: &[(Kind, String)],
    found: [&Found; 2],
    seen: [&BTreeSet<(Kind, String)>; 2],
) -> Names {
    let mut names = Names::default();
    for candidate in candidates {
        let (kind, name) = candidate;
        let is_listed = kind.is_listed() && found.iter().all(|found| found.has_any(*kind));
        // Names such as `auto` are common words: where there are lists, the lists decide.
        let [before, after] = if is_listed {
            found.map(|found| found.has(*kind, name))
        } else {
            seen.map(|seen| seen.contains(candidate))
        };
        let used_by_new_alone = !found[0].has(*kind, name) && found[1].has(*kind, name);
        let list = match (before, after) {
            (false, true) => &mut names.appeared,
            (true, false) => &mut names.vanished,
            (true, true) if used_by_new_alone && *kind != Kind::Flag => &mut names.perhaps_appeared,
            _ => continue,
        };
        list.push(Name { kind: *kind, name: name.clone(), known: kind.knows(name) });
    }
    names
}

/// Why an executable could not be searched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The file cannot be read.
    #[error("{} cannot be searched", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is nothing of the protocol in it.
    #[error(
        "no names of the protocol are in {}: it may be a script that starts another program",
        path.display()
    )]
    Nothing {
        /// The file.
        path: PathBuf,
    },
}

#[cfg(test)]
mod tests;
