//! E: permission prompts over the protocol, denied.

use super::super::{Case, Experiment, Fact};
use super::{SURVEY, Survey};
use crate::lab::Launch;

pub(in super::super) const EXPERIMENT: Experiment = Experiment::new(
    "E",
    "prompts-denied",
    "With `--permission-prompt-tool stdio` in the default mode: what becomes of calls that the \
     client denies, and does the result list them?",
    &[Case::only(SURVEY, FACTS, |trial| {
        Box::pin(async {
            Survey { allows: |_| false, ..Survey::new(Launch::new()) }.make(trial).await
        })
    })],
);

const FACTS: &[Fact] = &[
    Fact::always("mode in init", "default"),
    Fact::always("Read in the folder", "run"),
    Fact::always("Bash echo", "run"),
    Fact::always("Bash ls", "run"),
    Fact::always("Read outside", "ask"),
    Fact::always("Edit in the folder", "ask"),
    Fact::always("edited", "false"),
    Fact::always("Write in the folder", "ask"),
    Fact::always("written", "false"),
    Fact::always("Bash touch", "ask"),
    Fact::always("Bash curl", "ask"),
    Fact::always("WebFetch", "ask"),
    Fact::always("AskUserQuestion", "ask"),
    Fact::always("the model reads about Write", "Not today."),
    Fact::always("refusals in the result", "15"),
    Fact::always("end of the turn", "success"),
];
