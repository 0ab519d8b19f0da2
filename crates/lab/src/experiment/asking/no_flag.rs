//! F: nobody to ask.

use super::super::{Case, Experiment, Fact, V62, V197, V325};
use super::{SURVEY, Survey};
use crate::lab::Launch;

pub(in super::super) const EXPERIMENT: Experiment = Experiment::new(
    "F",
    "no-prompts",
    "Without `--permission-prompt-tool`: does a call that needs permission run, and how is it told \
     that it did not?",
    &[Case::only(SURVEY, FACTS, |trial| {
        Box::pin(async { Survey::new(Launch::new().without_prompts()).make(trial).await })
    })],
);

const FACTS: &[Fact] = &[
    Fact::always("mode in init", "default"),
    Fact::always("Read in the folder", "run"),
    Fact::always("Bash echo", "run"),
    Fact::always("Bash ls", "run"),
    Fact::always("Read outside", "no"),
    Fact::always("Edit in the folder", "no"),
    Fact::always("edited", "false"),
    Fact::always("Write in the folder", "no"),
    Fact::always("written", "false"),
    Fact::always("Write outside", "no"),
    Fact::always("Bash touch", "no"),
    Fact::always("Bash curl", "no"),
    Fact::always("WebFetch", "no"),
    Fact::by_version("AskUserQuestion", &[(V62, "no"), (V197, "no such tool")]),
    Fact::always(
        "the model reads about Write",
        "Claude requested permissions to write to …, but you haven't granted it yet.",
    ),
    Fact::by_version(
        "refusals told by system/permission_denied",
        &[(V62, "none"), (V325, "all that are in the result")],
    ),
    Fact::always("end of the turn", "success"),
];
