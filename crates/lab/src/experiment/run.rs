//! Plays experiments, several at once.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::task::JoinSet;

use super::observed::{Difference, Finding, Observed, Verdict};
use super::results::{Results, ResultsError};
use super::summary::Summary;
use super::trial::{Told, Trial};
use super::{Case, Experiment};
use crate::lab::Program;

/// How experiments are run.
#[derive(Clone, Debug)]
#[must_use]
pub struct Options {
    out: PathBuf,
    jobs: NonZero<usize>,
    patience: Duration,
}

impl Options {
    /// Results go into this folder, which need not exist; as many cases are played at once as
    /// there are processors.
    pub fn new(out: impl Into<PathBuf>) -> Self {
        let jobs = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        Self { out: out.into(), jobs, patience: Duration::from_secs(60) }
    }

    /// Plays so many cases at once.
    pub const fn jobs(mut self, jobs: NonZero<usize>) -> Self {
        self.jobs = jobs;
        self
    }

    /// Gives a step up after this long: a minute, if nothing is said. A whole case has ten times
    /// that.
    pub const fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}

/// What happens while experiments run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Progress<'run> {
    /// An experiment begins.
    Begins(&'run Experiment),
    /// An experiment has ended.
    Ends(&'run Observed),
}

/// Plays experiments on a program, and writes what came of them to
/// `OUT/<version>/results.json`, with the tapes in a folder for each experiment beside it.
///
/// Whatever becomes of one experiment, the others go on. When the future is dropped, everything
/// that it started ends; what had come to its end by then is in the file. Results and tapes of an
/// earlier run of the same experiments are replaced.
///
/// # Errors
///
/// When the folder cannot be used.
pub async fn run(
    experiments: &[Experiment],
    program: &Program,
    options: &Options,
    mut progress: impl FnMut(Progress<'_>),
) -> Result<Results, ResultsError> {
    let folder = Results::folder(&options.out, program);
    // Said now if it cannot be used, and not when all the work is done.
    Results::read(&folder)?;
    let mut results = Results::new(program, Timestamp::now());
    let mut runs = Vec::new();
    let mut waiting = VecDeque::new();
    for (index, experiment) in experiments.iter().enumerate() {
        let run = Run::new(*experiment, program);
        waiting.extend(run.cases.iter().enumerate().map(|(number, case)| (index, number, *case)));
        runs.push(run);
    }
    for run in runs.iter().filter(|run| run.cases.is_empty()) {
        emptied(&folder.join(run.experiment.folder()))?;
        results.experiments.push(told(run, program, &mut progress));
    }
    let mut playing = JoinSet::new();
    loop {
        while playing.len() < options.jobs.get()
            && let Some((index, number, case)) = waiting.pop_front()
        {
            let Some(run) = runs.get(index) else { continue };
            let tapes = folder.join(run.experiment.folder());
            if number == 0 {
                emptied(&tapes)?;
                progress(Progress::Begins(&run.experiment));
            }
            let (program, patience) = (program.clone(), options.patience);
            playing.spawn(async move {
                // In a task of its own, so that a defect in the steps ends this case alone.
                let mut alone = JoinSet::new();
                alone.spawn(play(case, program, tapes, patience));
                let played = match alone.join_next().await {
                    Some(Ok(played)) => played,
                    Some(Err(error)) => Played::broken(error.to_string()),
                    None => Played::broken("the case was not played".to_owned()),
                };
                (index, number, played)
            });
        }
        let Some(done) = playing.join_next().await else { break };
        let Ok((index, number, played)) = done else { continue };
        let Some(run) = runs.get_mut(index) else { continue };
        if let Some(place) = run.played.get_mut(number) {
            *place = Some(played);
        }
        if run.played.iter().all(Option::is_some) {
            results.experiments.push(told(run, program, &mut progress));
            results.write(&folder)?;
        }
    }
    let place = |observed: &Observed| {
        experiments.iter().position(|experiment| experiment.id() == observed.experiment)
    };
    results.experiments.sort_by_key(place);
    results.write(&folder)?;
    Ok(results)
}

/// Makes a folder for tapes, without those of an earlier run: a tape is never overwritten.
fn emptied(folder: &Path) -> Result<(), ResultsError> {
    let empty = || {
        fs::create_dir_all(folder)?;
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "tape") {
                fs::remove_file(path)?;
            }
        }
        io::Result::Ok(())
    };
    empty().map_err(|source| ResultsError::File { path: folder.to_owned(), source })
}

/// An experiment that is being run.
struct Run {
    experiment: Experiment,
    cases: Vec<Case>,
    played: Vec<Option<Played>>,
}

impl Run {
    fn new(experiment: Experiment, program: &Program) -> Self {
        let applies = |case: &&Case| case.applies_to(program.version());
        let cases: Vec<_> = experiment.cases().iter().filter(applies).copied().collect();
        let played = cases.iter().map(|_| None).collect();
        Self { experiment, cases, played }
    }
}

/// What came of one case.
#[derive(Debug, Default)]
struct Played {
    told: Told,
    error: Option<String>,
    took: Duration,
}

impl Played {
    fn broken(error: String) -> Self {
        Self { error: Some(error), ..Self::default() }
    }
}

/// How many times a step's patience a whole case has.
const STEPS: u32 = 10;

async fn play(case: Case, program: Program, tapes: PathBuf, patience: Duration) -> Played {
    let start = Instant::now();
    let mut trial = match Trial::open(case, program, tapes, patience).await {
        Ok(trial) => trial,
        Err(error) => return Played::broken(error.to_string()),
    };
    let steps = tokio::time::timeout(patience.saturating_mul(STEPS), (case.steps)(&mut trial));
    let error = match steps.await {
        Ok(result) => result.err().map(|error| error.to_string()),
        Err(_) => Some(format!("it did not come to its end in time\n{}", trial.transcripts())),
    };
    match trial.close().await {
        Ok(told) => Played { told, error, took: start.elapsed() },
        Err(failed) => Played::broken(error.unwrap_or_else(|| failed.to_string())),
    }
}

/// Judges an experiment whose cases have all been played, and tells about it.
fn told(run: &Run, program: &Program, progress: &mut impl FnMut(Progress<'_>)) -> Observed {
    let observed = observed(run, program);
    progress(Progress::Ends(&observed));
    observed
}

fn observed(run: &Run, program: &Program) -> Observed {
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
        observed(&run, program).verdict
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
        let simulated = Program::Simulated { executable: "sim".into(), version: V325 };
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
        assert_eq!(observed(&run, &real()).verdict, broken);
    }

    #[test]
    fn an_experiment_without_a_case_for_the_version_does_not_apply() {
        let run = Run::new(Experiment::new("Z", "made-up", "Is it so?", &[]), &real());
        assert_eq!(observed(&run, &real()).verdict, Verdict::DoesNotApply);
    }
}
