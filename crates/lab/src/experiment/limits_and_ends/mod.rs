//! R: limits, errors of the API, and ends of the process.

mod ends;
mod errors;
mod limits;

use super::stream::WAIT_FOR_A_FILE;
use super::{Case, Experiment, Fact, Outcome, Trial, V62, V197, V325};

pub(super) const EXPERIMENT: Experiment = Experiment::new(
    "R",
    "limits-and-ends",
    "A limit is reached, the API fails, the input ends or a signal comes. What is the result, what \
     is the exit code, and what is left running?",
    &[
        Case::new("limits", limits::SCRIPT, limits::FACTS, |trial| Box::pin(limits::steps(trial))),
        Case::new("errors", errors::SCRIPT, errors::FACTS, |trial| Box::pin(errors::steps(trial))),
        Case::new("retries", errors::RETRY_SCRIPT, errors::RETRY_FACTS, |trial| {
            Box::pin(errors::retries(trial))
        }),
        Case::new("fallback", errors::FALLBACK_SCRIPT, errors::FALLBACK_FACTS, |trial| {
            Box::pin(errors::fallback(trial))
        }),
        Case::new("input-closed", ends::INPUT_SCRIPT, ends::INPUT_FACTS, |trial| {
            Box::pin(ends::input_closed(trial))
        }),
        Case::new("input-closed-later", WAIT_FOR_A_FILE, ends::LATER_FACTS, |trial| {
            Box::pin(ends::with_a_command(trial))
        }),
        Case::new("signals", ends::SIGNAL_SCRIPT, ends::SIGNAL_FACTS, |trial| {
            Box::pin(ends::signals(trial))
        }),
    ],
);
