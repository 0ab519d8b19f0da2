//! D: permission prompts over the protocol, allowed.

use super::super::{Case, Experiment, Fact};
use super::{SURVEY, Survey};
use crate::lab::Launch;

pub(in super::super) const EXPERIMENT: Experiment = Experiment::new(
    "D",
    "prompts-allowed",
    "With `--permission-prompt-tool stdio`, in the default mode and in the one that accepts edits: \
     which calls are put to the client, and do they run when it allows them?",
    &[
        Case::new("default", SURVEY, DEFAULT, |trial| {
            Box::pin(async { Survey::new(Launch::new()).make(trial).await })
        }),
        Case::new("accept-edits", SURVEY, ACCEPT_EDITS, |trial| {
            Box::pin(async { Survey::new(Launch::new().mode("acceptEdits")).make(trial).await })
        }),
    ],
);

const DEFAULT: &[Fact] = &[
    Fact::always("mode in init", "default"),
    Fact::always("Read in the folder", "run"),
    Fact::always("Bash echo", "run"),
    Fact::always("Bash ls", "run"),
    Fact::always("Read outside", "ask"),
    Fact::always("Edit in the folder", "ask"),
    Fact::always("edited", "true"),
    Fact::always("Write in the folder", "ask"),
    Fact::always("written", "true"),
    Fact::always("Write outside", "ask"),
    Fact::always("Bash touch", "ask"),
    Fact::always("Bash curl", "ask"),
    Fact::always("WebFetch", "ask"),
    Fact::always("Write .claude/settings.json", "ask"),
    Fact::always("Write .git/config", "ask"),
    Fact::always("Write ~/.bashrc", "ask"),
    Fact::always("Write .mcp.json", "ask"),
    Fact::always("Bash printf with an ask rule", "ask"),
    Fact::always("Bash mkdir with an ask rule", "ask"),
    Fact::always("AskUserQuestion", "ask"),
    Fact::always("Bash rm -rf of the home", "ask"),
];

const ACCEPT_EDITS: &[Fact] = &[
    Fact::always("mode in init", "acceptEdits"),
    Fact::always("Read in the folder", "run"),
    Fact::always("Bash echo", "run"),
    Fact::always("Bash ls", "run"),
    Fact::always("Read outside", "ask"),
    Fact::always("Edit in the folder", "run"),
    Fact::always("edited", "true"),
    Fact::always("Write in the folder", "run"),
    Fact::always("written", "true"),
    Fact::always("Write outside", "ask"),
    Fact::always("Bash touch", "run"),
    Fact::always("Bash curl", "ask"),
    Fact::always("WebFetch", "ask"),
    Fact::always("Write .claude/settings.json", "ask"),
    Fact::always("Write .git/config", "ask"),
    Fact::always("Write ~/.bashrc", "ask"),
    Fact::always("Write .mcp.json", "ask"),
    Fact::always("Bash printf with an ask rule", "ask"),
    Fact::always("Bash mkdir with an ask rule", "ask"),
    Fact::always("AskUserQuestion", "ask"),
    Fact::always("Bash rm -rf of the home", "ask"),
];
