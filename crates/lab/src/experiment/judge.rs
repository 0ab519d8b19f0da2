//! What was found, set against what is documented.

use std::time::Duration;

use super::observed::{Difference, Finding, Observed, Verdict};
use super::summary::Summary;
use super::trial::Told;
use super::{Case, Experiment};
use crate::lab::Program;

/// An experiment that is being run.
pub(super) struct Run {
    pub(super) experiment: Experiment,
    /// Those of its cases that the version can do.
    pub(super) cases: Vec<Case>,
    /// What came of each, as far as it was played.
    pub(super) played: Vec<Option<Played>>,
}

impl Run {
    pub(super) fn new(experiment: Experiment, program: &Program) -> Self {
        let applies = |case: &&Case| case.applies_to(program.version());
        let cases: Vec<_> = experiment.cases().iter().filter(applies).copied().collect();
        let played = cases.iter().map(|_| None).collect();
        Self { experiment, cases, played }
    }
}

/// What came of one case.
#[derive(Debug, Default)]
pub(super) struct Played {
    pub(super) told: Told,
    pub(super) error: Option<String>,
    pub(super) took: Duration,
}

impl Played {
    pub(super) fn broken(error: String) -> Self {
        Self { error: Some(error), ..Self::default() }
    }
}

/// Judges an experiment whose cases have all been played.
pub(super) fn judge(run: &Run, program: &Program) -> Observed {
    let Run { experiment, cases, played } = run;
    let mut findings = Vec::new();
    let (mut differences, mut errors, mut tapes) = (Vec::new(), Vec::new(), Vec::new());
    let (mut summary, mut took) = (Summary::default(), Duration::ZERO);
    for (case, played) in cases.iter().zip(played) {
        let Some(Played { told, error, took: time }) = played else { continue };
        let (judged, missing) = judged(*case, &told.findings, program);
        differences.extend(judged.iter().filter_map(difference));
        differences.extend(missing);
        findings.extend(judged);
        errors.extend(error.as_ref().map(|error| case.full_name(error)));
        tapes.extend(told.tapes.iter().map(|tape| format!("{}/{tape}", experiment.folder())));
        summary.join(told.summary.clone());
        took += *time;
    }
    let verdict = match (cases.is_empty(), errors.is_empty(), differences.is_empty()) {
        (true, ..) => Verdict::DoesNotApply,
        (_, false, _) => Verdict::Broken { error: errors.join("\n") },
        (_, _, false) => Verdict::Differs { differences },
        _ => Verdict::AsDocumented,
    };
    Observed {
        experiment: experiment.id().to_owned(),
        name: experiment.name().to_owned(),
        question: experiment.question().to_owned(),
        verdict,
        findings,
        summary,
        tapes,
        took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
    }
}

/// The findings of a case beside what is documented, and what is documented but was not found.
fn judged(case: Case, found: &[Finding], program: &Program) -> (Vec<Finding>, Vec<Difference>) {
    let mut findings = found.to_vec();
    let mut missing = Vec::new();
    let simulated = matches!(program, Program::Simulated { .. });
    for fact in case.facts().iter().filter(|fact| !(simulated && fact.is_of_the_model())) {
        let Some(documented) = fact.documented(program.version()) else { continue };
        let name = case.full_name(fact.finding());
        let mut found = findings.iter_mut().filter(|finding| finding.name == name).peekable();
        if found.peek().is_none() {
            let documented = documented.to_owned();
            missing.push(Difference { finding: name, documented, found: None });
            continue;
        }
        found.for_each(|finding| finding.documented = Some(documented.to_owned()));
    }
    (findings, missing)
}

fn difference(finding: &Finding) -> Option<Difference> {
    let documented = finding.documented.clone()?;
    let (name, found) = (finding.name.clone(), finding.text());
    let differs = found != documented;
    differs.then_some(Difference { finding: name, documented, found: Some(found) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::experiment::{Fact, V62, V325};
    use crate::versions::Installed;

    const CASE: Case = Case::only(
        "",
        &[
            Fact::by_version("mode", &[(V62, "old"), (V325, "plan")]),
            Fact::always("count", "2"),
            Fact::always("the model", "asked").of_the_model(),
        ],
        |_| Box::pin(async { Ok(()) }),
    );
    const EXPERIMENT: Experiment = Experiment::new("Z", "made-up", "Is it so?", &[CASE]);

    fn real() -> Program {
        Program::Real(Installed::elsewhere(V325, "claude"))
    }

    fn verdict(program: &Program, found: &[(&str, serde_json::Value)]) -> Verdict {
        let finding = |(name, value): &(&str, serde_json::Value)| Finding {
            name: (*name).to_owned(),
            value: value.clone(),
            documented: None,
        };
        let findings = found.iter().map(finding).collect();
        let played = Played { told: Told { findings, ..Told::default() }, ..Played::default() };
        let mut run = Run::new(EXPERIMENT, program);
        run.played = vec![Some(played)];
        judge(&run, program).verdict
    }

    #[test]
    fn what_is_documented_must_be_found_and_other_things_may() {
        let all = [("mode", json!("plan")), ("count", json!(2)), ("other", json!(7))];
        let asked = ("the model", json!("asked"));
        assert_eq!(verdict(&real(), &[&all[..], &[asked]].concat()), Verdict::AsDocumented,);
        let missing = |finding: &str, documented: &str, found: Option<&str>| Difference {
            finding: finding.to_owned(),
            documented: documented.to_owned(),
            found: found.map(ToOwned::to_owned),
        };
        let differences = vec![missing("the model", "asked", None)];
        assert_eq!(verdict(&real(), &all), Verdict::Differs { differences });
        // The simulated CLI asks no model.
        let simulated = Program::simulated("sim", V325);
        assert_eq!(verdict(&simulated, &all), Verdict::AsDocumented);
        let differences = vec![missing("mode", "plan", Some("old")), missing("count", "2", None)];
        let old = [("mode", json!("old"))];
        assert_eq!(verdict(&simulated, &old), Verdict::Differs { differences });
    }

    #[test]
    fn a_case_that_broke_breaks_the_experiment_whatever_was_found() {
        let mut run = Run::new(EXPERIMENT, &real());
        run.played = vec![Some(Played::broken("it hung".to_owned()))];
        let broken = Verdict::Broken { error: "it hung".to_owned() };
        assert_eq!(judge(&run, &real()).verdict, broken);
    }

    #[test]
    fn an_experiment_without_a_case_for_the_version_does_not_apply() {
        let run = Run::new(Experiment::new("Z", "made-up", "Is it so?", &[]), &real());
        assert_eq!(judge(&run, &real()).verdict, Verdict::DoesNotApply);
    }
}
