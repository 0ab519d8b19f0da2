//! S: what else there is in the stream.

mod agents;
mod background;
mod partial;

pub(super) use self::background::SCRIPT as WAIT_FOR_A_FILE;
use super::{Case, Experiment, Fact, Outcome, Trial, V62, V197, V325};

pub(super) const EXPERIMENT: Experiment = Experiment::new(
    "S",
    "stream",
    "Messages in parts, messages that come back, subagents, and commands in the background: what \
     is in the stream, and in what order?",
    &[
        Case::new("partial", partial::SCRIPT, partial::FACTS, |trial| {
            Box::pin(partial::steps(trial))
        }),
        Case::new("hook-events", partial::SCRIPT, partial::HOOK_FACTS, |trial| {
            Box::pin(partial::hook_events(trial))
        })
        .since(V197),
        Case::new("subagent", agents::SCRIPT, agents::FACTS, |trial| {
            Box::pin(agents::steps(trial))
        }),
        Case::new("subagent-whose-text-is-shown", agents::SCRIPT, agents::TEXT_FACTS, |trial| {
            Box::pin(agents::text(trial))
        })
        .since(V325),
        Case::new("subagent-in-background", agents::SCRIPT, agents::LATER_FACTS, |trial| {
            Box::pin(agents::in_background(trial))
        }),
        Case::new("command-in-background", background::SCRIPT, background::FACTS, |trial| {
            Box::pin(background::steps(trial))
        }),
    ],
);
