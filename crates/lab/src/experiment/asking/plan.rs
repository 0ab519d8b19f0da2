//! G: permission prompts in plan mode.

use super::super::{Case, Experiment, Fact, V62, V197, V325};
use super::{SURVEY, Survey};
use crate::lab::Launch;

pub(in super::super) const EXPERIMENT: Experiment = Experiment::new(
    "G",
    "prompts-in-plan-mode",
    "With `--permission-prompt-tool stdio` in plan mode, started in it or put into it: which calls \
     are put to the client, which run, and what do `useAutoModeDuringPlan` and a session that may \
     bypass permissions change?",
    &[
        Case::new("started", SURVEY, STARTED, |trial| {
            Box::pin(async { Survey::new(Launch::new().mode("plan")).make(trial).await })
        }),
        Case::new("entered", SURVEY, ENTERED, |trial| {
            Box::pin(async {
                Survey { mode: Some("plan"), ..Survey::new(Launch::new()) }.make(trial).await
            })
        }),
        Case::new("without-auto", SURVEY, WITHOUT_AUTO, |trial| {
            Box::pin(async {
                let survey = Survey::new(Launch::new()).setting("useAutoModeDuringPlan", false);
                Survey { mode: Some("plan"), ..survey }.make(trial).await
            })
        }),
        Case::new("may-bypass", SURVEY, MAY_BYPASS, |trial| {
            Box::pin(async {
                let launch = Launch::new().mode("plan");
                let launch = launch.arg("--allow-dangerously-skip-permissions");
                Survey::new(launch).make(trial).await
            })
        }),
    ],
);

const STARTED: &[Fact] = &[
    Fact::always("mode in init", "plan"),
    Fact::always("Read in the folder", "run"),
    Fact::always("Bash echo", "run"),
    Fact::always("Bash ls", "run"),
    Fact::by_version("Read outside", &[(V62, "ask"), (V325, "run")]),
    Fact::always("Edit in the folder", "ask"),
    Fact::always("edited", "true"),
    Fact::always("Write in the folder", "ask"),
    Fact::always("written", "true"),
    Fact::always("Write outside", "ask"),
    Fact::by_version("Bash touch", &[(V62, "ask"), (V325, "no")]),
    Fact::by_version("Bash curl", &[(V62, "ask"), (V325, "no")]),
    Fact::by_version("WebFetch", &[(V62, "ask"), (V325, "no")]),
];

const ENTERED: &[Fact] = &[
    Fact::always("mode in init", "plan"),
    Fact::always("Read in the folder", "run"),
    Fact::always("Edit in the folder", "ask"),
    Fact::always("edited", "true"),
    Fact::always("Write in the folder", "ask"),
    Fact::always("written", "true"),
    Fact::by_version("Bash touch", &[(V62, "ask"), (V197, "run"), (V325, "no")]),
    Fact::by_version("Bash curl", &[(V62, "ask"), (V197, "no")]),
    Fact::always("WebFetch", "no").since(V325),
];

const WITHOUT_AUTO: &[Fact] = &[
    Fact::always("mode in init", "plan"),
    Fact::always("Read in the folder", "run"),
    Fact::always("Edit in the folder", "ask"),
    Fact::always("Write in the folder", "ask"),
    Fact::always("Bash touch", "ask"),
    Fact::always("Bash curl", "ask"),
    Fact::always("WebFetch", "ask"),
];

/// The session was never in the mode that bypasses permissions: it may only be put into it.
const MAY_BYPASS: &[Fact] = &[
    Fact::always("mode in init", "plan"),
    Fact::by_version("Edit in the folder", &[(V62, "run"), (V325, "ask")]),
    Fact::always("edited", "true"),
    Fact::by_version("Write in the folder", &[(V62, "run"), (V325, "ask")]),
    Fact::always("written", "true"),
    Fact::by_version("Write outside", &[(V62, "run"), (V325, "ask")]),
    Fact::always("AskUserQuestion", "ask"),
];
