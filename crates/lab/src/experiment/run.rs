//! Plays experiments, several at once.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::task::JoinSet;

use super::judge::{Played, Run, judge};
use super::observed::Observed;
use super::results::{Results, ResultsError};
use super::trial::Trial;
use super::{Case, Experiment};
use crate::lab::Program;

/// How experiments are run.
#[derive(Clone, Debug)]
#[must_use]
pub struct Options {
    out: PathBuf,
    jobs: NonZero<usize>,
    patience: Option<Duration>,
}

/// How long a step may take on the real CLI, which may have a slow machine to itself or not.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long it may take on the simulated one, which answers at once.
const SIMULATED: Duration = Duration::from_secs(5);

impl Options {
    /// Results go into this folder, which need not exist; as many cases are played at once as
    /// there are processors.
    pub fn new(out: impl Into<PathBuf>) -> Self {
        let jobs = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        Self { out: out.into(), jobs, patience: None }
    }

    /// Plays so many cases at once.
    pub const fn jobs(mut self, jobs: NonZero<usize>) -> Self {
        self.jobs = jobs;
        self
    }

    /// Gives a step up after this long: a minute, if nothing is said, and five seconds on the
    /// simulated CLI. A whole case has ten times that.
    pub const fn patience(mut self, patience: Duration) -> Self {
        self.patience = Some(patience);
        self
    }

    fn patience_with(&self, program: &Program) -> Duration {
        self.patience.unwrap_or(match program {
            Program::Real(_) => PATIENCE,
            Program::Simulated { .. } => SIMULATED,
        })
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
            let (program, patience) = (program.clone(), options.patience_with(program));
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
    let observed = judge(run, program);
    progress(Progress::Ends(&observed));
    observed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Installed, Version};

    #[test]
    fn the_simulated_cli_is_not_waited_for_as_long_as_the_real_one() {
        let version = Version::TESTED[0];
        let real = Program::Real(Installed::elsewhere(version, "claude"));
        let simulated = Program::simulated("countersign-sim", version);
        let options = Options::new("out");
        assert_eq!(options.patience_with(&real), Duration::from_secs(60));
        assert_eq!(options.patience_with(&simulated), Duration::from_secs(5));
        let patient = options.patience(Duration::from_secs(9));
        for program in [real, simulated] {
            assert_eq!(patient.patience_with(&program), Duration::from_secs(9));
        }
    }
}
