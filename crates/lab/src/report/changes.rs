//! What changed between two versions.

use serde::Serialize;

use crate::experiment::{Finding, Observed, Results};

/// A finding that is not the same on two programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// The letter of the experiment.
    pub experiment: String,
    /// The name of the finding.
    pub finding: String,
    /// What was found on the first, if anything was.
    pub old: Option<String>,
    /// What was found on the second, if anything was.
    pub new: Option<String>,
}

/// The findings that are not the same on two programs, in the order of the experiments.
///
/// What is only measured, such as times, is different on every run and is left out; so are
/// experiments that only one of the two was put to.
#[must_use]
pub fn changes(old: &Results, new: &Results) -> Vec<Change> {
    let mut changes = Vec::new();
    for now in &new.experiments {
        let same = |then: &&Observed| then.experiment == now.experiment;
        if let Some(then) = old.experiments.iter().find(same) {
            changes.extend(within(then, now));
        }
    }
    changes
}

fn within(old: &Observed, new: &Observed) -> Vec<Change> {
    let mut names: Vec<&str> = Vec::new();
    for finding in new.findings.iter().chain(&old.findings) {
        if finding.documented.is_some() && !names.contains(&finding.name.as_str()) {
            names.push(&finding.name);
        }
    }
    let text = |observed: &Observed, name: &str| {
        observed.findings.iter().find(|finding| finding.name == name).map(Finding::text)
    };
    let change = |name: &str| {
        let (before, after) = (text(old, name), text(new, name));
        (before != after).then(|| Change {
            experiment: new.experiment.clone(),
            finding: name.to_owned(),
            old: before,
            new: after,
        })
    };
    names.into_iter().filter_map(change).collect()
}
