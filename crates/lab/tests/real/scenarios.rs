//! Every scenario on every version.

use countersign_lab::scenario::Scenario;
use countersign_lab::{Program, Version};
use libtest_mimic::Trial;

use crate::{installed, trial};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for version in Version::TESTED {
        for scenario in Scenario::all() {
            if scenario.applies_to(version) {
                let name = format!("{version}::{}", scenario.name());
                trials.push(trial(name, move || play(scenario, version)));
            }
        }
    }
    trials
}

async fn play(scenario: Scenario, version: Version) -> Result<(), libtest_mimic::Failed> {
    let real = Program::Real(installed(version).await);
    scenario.play(real).await?;
    Ok(())
}
