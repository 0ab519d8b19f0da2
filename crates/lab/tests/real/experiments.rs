//! Every experiment on every version: it finds what the committed verdicts say.

use countersign_lab::experiment::{Expected, Experiment, Options, run};
use countersign_lab::{Program, Version};
use libtest_mimic::{Failed, Trial};

use crate::{installed, trial};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for version in Version::TESTED {
        for experiment in Experiment::all() {
            let name = format!("{version}::experiment-{}", experiment.folder());
            trials.push(trial(name, move || compare(experiment, version)));
        }
    }
    trials
}

async fn compare(experiment: Experiment, version: Version) -> Result<(), Failed> {
    let expected = Expected::committed()?;
    let expected = expected.of(&experiment, version).ok_or("there is no committed verdict")?;
    let program = Program::Real(installed(version).await);
    let out = tempfile::tempdir()?;
    let results = run(&[experiment], &program, &Options::new(out.path()), |_| ()).await?;
    let observed = results.experiments.first().ok_or("nothing was observed")?;
    if expected.is_met_by(&observed.verdict) {
        return Ok(());
    }
    Err(format!("expected was {expected:?}, but it {}", observed.verdict).into())
}
