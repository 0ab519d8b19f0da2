//! N: what else a client can send: requests of every kind, and lines that are no message at all.

mod initialize;
mod junk;
mod large;
mod requests;

use super::puppet::PUPPET;
use super::{Case, Experiment};

pub(super) const EXPERIMENT: Experiment = Experiment::new(
    "N",
    "requests-and-junk",
    "Every control request that is known, some that nobody knows, a second `initialize`, lines that \
     are no message, and a large one. What is answered, what is passed over, and what ends the \
     process?",
    &[
        Case::new("requests", PUPPET, requests::FACTS, |trial| Box::pin(requests::steps(trial))),
        Case::new("without-settings", PUPPET, requests::WITHOUT_SETTINGS, |trial| {
            Box::pin(requests::without_settings(trial))
        }),
        Case::new("initialize", PUPPET, initialize::FACTS, |trial| {
            Box::pin(initialize::steps(trial))
        }),
        Case::new("passed-over", PUPPET, junk::PASSED_OVER, |trial| {
            Box::pin(junk::passed_over(trial))
        }),
        Case::new("not-json", PUPPET, junk::NOT_JSON, |trial| Box::pin(junk::not_json(trial))),
        Case::new("no-message", PUPPET, junk::NO_MESSAGE, |trial| {
            Box::pin(junk::no_message(trial))
        }),
        Case::new("large", PUPPET, large::FACTS, |trial| Box::pin(large::steps(trial))),
    ],
);
