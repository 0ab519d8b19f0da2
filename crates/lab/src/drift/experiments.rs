//! What the experiments find on two versions.

use serde::Serialize;

use crate::experiment::{Observed, Results, Verdict};
use crate::report::{Change, changes};

/// What changed in the results of experiments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ExperimentChanges {
    /// How many experiments both versions were put to.
    pub compared: usize,
    /// Verdicts that are not the same.
    pub verdicts: Vec<VerdictChange>,
    /// Findings that are not the same.
    pub findings: Vec<Change>,
    /// Experiments that did not get to their end, or that only one version was put to.
    pub broken: Vec<String>,
}

/// A verdict that is not the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct VerdictChange {
    /// The letter of the experiment.
    pub experiment: String,
    /// Its name.
    pub name: String,
    /// What was said of the old version.
    pub old: &'static str,
    /// What was said of the new version.
    pub new: &'static str,
}

impl ExperimentChanges {
    /// Compares results.
    #[must_use]
    pub fn compare(old: &Results, new: &Results) -> Self {
        let mut found = Self { findings: changes(old, new), ..Self::default() };
        for results in [old, new] {
            let others = if std::ptr::eq(results, old) { new } else { old };
            for observed in &results.experiments {
                let (id, version) = (&observed.experiment, &results.version);
                if let Verdict::Broken { .. } = observed.verdict {
                    found
                        .broken
                        .push(format!("experiment {id} did not get to its end on {version}"));
                }
                if of(others, observed).is_none() {
                    let other = &others.version;
                    found.broken.push(format!("experiment {id} was not run on {other}"));
                }
            }
        }
        for now in &new.experiments {
            let Some(then) = of(old, now) else { continue };
            found.compared += 1;
            let (before, after) = (word(&then.verdict), word(&now.verdict));
            if before != after {
                let (experiment, name) = (now.experiment.clone(), now.name.clone());
                found.verdicts.push(VerdictChange { experiment, name, old: before, new: after });
            }
        }
        found
    }
}

fn of<'a>(results: &'a Results, wanted: &Observed) -> Option<&'a Observed> {
    results.experiments.iter().find(|observed| observed.experiment == wanted.experiment)
}

const fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::AsDocumented => "as documented",
        Verdict::Differs { .. } => "differs",
        Verdict::Broken { .. } => "broken",
        Verdict::DoesNotApply => "does not apply",
    }
}
