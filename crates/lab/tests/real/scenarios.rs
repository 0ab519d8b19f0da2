//! Every scenario on the newest version, and in a full run on every version: on the real CLI it shows
//! what it says, and the simulated CLI says the same. What the older versions do is asked by the
//! experiments on every run.

use std::path::PathBuf;

use countersign_lab::fidelity::{Departure, Verdict, measure};
use countersign_lab::scenario::Scenario;
use countersign_lab::{Program, Version};
use libtest_mimic::{Failed, Trial};

use crate::{installed, trial};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let full = std::env::var_os("COUNTERSIGN_TEST_FULL").is_some();
    let versions = if full { &Version::TESTED[..] } else { &Version::TESTED[..1] };
    for &version in versions {
        for scenario in Scenario::all() {
            if scenario.applies_to(version) {
                let name = format!("{version}::{}", scenario.name());
                trials.push(trial(name, move || play(scenario, version)));
            }
        }
    }
    trials
}

async fn play(scenario: Scenario, version: Version) -> Result<(), Failed> {
    let real = Program::Real(installed(version).await);
    let executable = PathBuf::from(env!("CARGO_BIN_EXE_countersign-sim"));
    match measure(scenario, real, Program::simulated(executable, version)).await {
        Verdict::Differs(departures) => {
            let lines: Vec<_> = departures.iter().map(Departure::to_string).collect();
            Err(format!("the simulated CLI differs:\n{}", lines.join("\n")).into())
        }
        Verdict::Broken { program, error } => Err(format!("{program}: {error}").into()),
        _ => Ok(()),
    }
}
