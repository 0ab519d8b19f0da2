//! What is expected of every experiment on the versions that everything is tested with.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::Experiment;
use super::observed::{Difference, Observed, Verdict};
use crate::Version;

/// The verdicts that are kept in the repository, in `crates/lab/experiments/verdicts.toml`.
#[derive(Clone, Debug, Deserialize)]
pub struct Expected(BTreeMap<String, Entry>);

/// What is expected of one experiment, by version.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
struct Entry {
    as_documented: Vec<String>,
    does_not_apply: Vec<String>,
    differs: BTreeMap<String, Departs>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Departs {
    findings: Vec<String>,
    reason: String,
}

/// What is expected of an experiment on a version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expectation {
    /// Everything that is documented is found.
    AsDocumented,
    /// These findings differ, and no others.
    Differs {
        /// Their names.
        findings: Vec<String>,
        /// Why, in a few words.
        reason: String,
    },
    /// The version cannot do it.
    DoesNotApply,
}

impl Expected {
    /// The verdicts in the repository.
    ///
    /// # Errors
    ///
    /// When the file is not one of verdicts; a test sees to it that it is.
    pub fn committed() -> Result<Self, ExpectedError> {
        Ok(toml::from_str(include_str!("../../experiments/verdicts.toml"))?)
    }

    /// What is expected of an experiment on a version, if anything is.
    #[must_use]
    pub fn of(&self, experiment: &Experiment, version: Version) -> Option<Expectation> {
        let entry = self.0.get(experiment.id())?;
        let version = version.to_string();
        if entry.as_documented.contains(&version) {
            return Some(Expectation::AsDocumented);
        }
        if entry.does_not_apply.contains(&version) {
            return Some(Expectation::DoesNotApply);
        }
        let Departs { findings, reason } = entry.differs.get(&version)?.clone();
        Some(Expectation::Differs { findings, reason })
    }

    /// Why an experiment differs on a version of the CLI, if it is known to: every difference that
    /// was found is among those that are expected.
    #[must_use]
    pub fn reason(&self, observed: &Observed, version: &str) -> Option<&str> {
        let Verdict::Differs { differences } = &observed.verdict else { return None };
        let Departs { findings, reason } =
            self.0.get(&observed.experiment)?.differs.get(version)?;
        let known = |difference: &Difference| findings.contains(&difference.finding);
        differences.iter().all(known).then_some(reason.as_str())
    }

    /// The letters of the experiments that something is expected of.
    pub fn experiments(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl Expectation {
    /// Whether a verdict is the one that is expected: the same findings differ, if any do.
    #[must_use]
    pub fn is_met_by(&self, verdict: &Verdict) -> bool {
        match (self, verdict) {
            (Self::AsDocumented, Verdict::AsDocumented)
            | (Self::DoesNotApply, Verdict::DoesNotApply) => true,
            (Self::Differs { findings, .. }, Verdict::Differs { differences }) => {
                let expected: BTreeSet<_> = findings.iter().collect();
                let found = differences.iter().map(|difference| &difference.finding);
                expected == found.collect()
            }
            _ => false,
        }
    }
}

/// Why the verdicts in the repository cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the file of expected verdicts is broken: {0}")]
pub struct ExpectedError(#[from] toml::de::Error);
