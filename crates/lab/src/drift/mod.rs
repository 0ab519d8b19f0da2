//! What changed between two versions of the real CLI, before anybody writes code for it.
//!
//! Four things are compared, each by a module of its own: the flags that `--help` tells of
//! ([`Help`]), the names of the protocol that stand in the executables ([`names`]), the types that
//! the TypeScript SDK of the same releases publishes ([`Types`]), and what the experiments find
//! ([`ExperimentChanges`]). A [`Drift`] holds all four, and is written as Markdown or as JSON.
//! `docs/drift.md` in the repository says how to read it, and what it cannot see.

mod experiments;
mod help;
mod markdown;
pub mod names;
mod types;

use serde::Serialize;

pub use self::experiments::{ExperimentChanges, VerdictChange};
pub use self::help::{Entry, EntryChanges, Help, HelpChanges, HelpError};
pub use self::names::Names;
pub use self::types::{Changed, Declared, Types, TypesError, Union};

/// What changed between two versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Drift {
    /// The old version.
    pub old: String,
    /// The new version.
    pub new: String,
    /// The flags and commands in the help text.
    pub help: Part<HelpChanges>,
    /// The names in the executable.
    pub names: Part<Names>,
    /// The published types.
    pub types: Part<Types>,
    /// The experiments.
    pub experiments: Part<ExperimentChanges>,
}

/// A part of what there is to look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Part<T> {
    /// It was compared.
    Compared(T),
    /// There is nothing to compare.
    Absent {
        /// Why.
        why: String,
    },
    /// It could not be looked at.
    Unseen {
        /// Why.
        why: String,
    },
    /// Nobody wanted it.
    LeftOut,
}

impl<T> Part<T> {
    const fn compared(&self) -> Option<&T> {
        match self {
            Self::Compared(found) => Some(found),
            _ => None,
        }
    }

    fn unseen(&self) -> Option<&str> {
        match self {
            Self::Unseen { why } => Some(why),
            _ => None,
        }
    }
}

impl Drift {
    /// What could not be looked at, and why.
    #[must_use]
    pub fn unseen(&self) -> Vec<String> {
        let parts = [
            ("the help text", self.help.unseen()),
            ("the names in the executable", self.names.unseen()),
            ("the published types", self.types.unseen()),
            ("the experiments", self.experiments.unseen()),
        ];
        let parts = parts.into_iter().filter_map(|(part, why)| Some(format!("{part}: {}", why?)));
        let broken = self.experiments.compared().into_iter().flat_map(|found| found.broken.clone());
        parts.chain(broken).collect()
    }

    /// All of it for people to read, the most important first.
    #[must_use]
    pub fn markdown(&self) -> String {
        markdown::write(self)
    }
}
