//! H: the modes that ask for nothing.

use super::super::{Case, Experiment, Fact, V62, V197};
use super::{SURVEY, Survey};
use crate::lab::Launch;

pub(in super::super) const EXPERIMENT: Experiment = Experiment::new(
    "H",
    "prompts-bypassed",
    "With `--permission-prompt-tool stdio` in the mode that permits everything, and in the one that \
     refuses what is not permitted beforehand: is anything put to the client all the same?",
    &[
        Case::new("bypass", SURVEY, BYPASS, |trial| {
            Box::pin(async {
                Survey::new(Launch::new().mode("bypassPermissions")).make(trial).await
            })
        }),
        Case::new("dont-ask", SURVEY, DONT_ASK, |trial| {
            Box::pin(async { Survey::new(Launch::new().mode("dontAsk")).make(trial).await })
        }),
    ],
);

const BYPASS: &[Fact] = &[
    Fact::always("mode in init", "bypassPermissions"),
    Fact::always("Read in the folder", "run"),
    Fact::always("Bash echo", "run"),
    Fact::always("Bash ls", "run"),
    Fact::always("Read outside", "run"),
    Fact::always("Edit in the folder", "run"),
    Fact::always("edited", "true"),
    Fact::always("Write in the folder", "run"),
    Fact::always("written", "true"),
    Fact::always("Write outside", "run"),
    Fact::always("Bash touch", "run"),
    Fact::always("Bash curl", "run"),
    Fact::always("WebFetch", "run"),
    Fact::always("Write .claude/settings.json", "run"),
    Fact::always("Write .git/config", "run"),
    Fact::always("Write ~/.bashrc", "run"),
    Fact::always("Write .mcp.json", "run"),
    Fact::by_version("Bash printf with an ask rule", &[(V62, "run"), (V197, "ask")]),
    Fact::by_version("Bash mkdir with an ask rule", &[(V62, "run"), (V197, "ask")]),
    Fact::always("AskUserQuestion", "ask"),
    Fact::by_version("Bash rm -rf of the home", &[(V62, "run"), (V197, "ask")]),
];

const DONT_ASK: &[Fact] = &[
    Fact::always("mode in init", "dontAsk"),
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
    Fact::always("AskUserQuestion", "no"),
];
