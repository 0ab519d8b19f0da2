//! I: what counts as an answer to a permission request.

mod envelope;
mod payload;
mod request;

use super::puppet::{PUPPET, Turn};
use super::{Case, Experiment, Trial};

pub(super) const EXPERIMENT: Experiment = Experiment::new(
    "I",
    "answers-to-permission-requests",
    "A permission request is answered in every form that clients have tried. Which of them let the \
     tool run, with which input, and what does the request itself carry?",
    &[
        Case::new("payload", PUPPET, payload::FACTS, |trial| Box::pin(payload::steps(trial))),
        Case::new("envelope", PUPPET, envelope::FACTS, |trial| Box::pin(envelope::steps(trial))),
        Case::new("request", PUPPET, request::FACTS, |trial| Box::pin(request::steps(trial))),
    ],
);

/// What the model is told to write, and where, in a turn of this number.
fn place(trial: &Trial, number: usize) -> String {
    trial.lab().work().join(format!("{number}.txt")).to_string_lossy().into_owned()
}

/// What became of a call that writes a file.
fn outcome(trial: &Trial, number: usize, turn: &Turn) -> &'static str {
    let text = |path: String| std::fs::read_to_string(path).ok();
    let elsewhere = format!("{}.elsewhere", place(trial, number));
    match text(place(trial, number)).as_deref() {
        Some("as asked\n") => "runs",
        Some("changed\n") => "runs changed",
        Some(_) => "runs with something else",
        None if text(elsewhere).is_some() => "runs changed",
        None if turn.result["subtype"] != "success" => "aborted",
        None if turn.refused() => "refused",
        None if turn.failed() => "tool error",
        None => "nothing",
    }
}
