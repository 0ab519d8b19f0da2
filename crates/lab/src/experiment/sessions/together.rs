//! Two processes that go on with one session.

use serde_json::json;

use super::{Fact, Outcome, Trial, V62, V197, one_turn, session_of};
use crate::experiment::turn::yes_or_no;
use crate::lab::Launch;

/// From 2.1.197 on it is the process that ends last, whoever has spoken last.
pub(super) const FACTS: &[Fact] = &[
    Fact::always("both run", "yes"),
    Fact::by_version(
        "the first speaks last, the second ends last: there is left",
        &[(V62, "what the first says"), (V197, "what the second says")],
    )
    .of_the_model(),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let (cli, result) = one_turn(trial, Launch::new(), "Say something.").await?;
    cli.close().await?;
    let session = session_of(&result);
    let mut first = trial.launch(Launch::new().resume(&session)).await?;
    first.initialize(json!({"hooks": null})).await?;
    let mut second = trial.launch(Launch::new().resume(&session)).await?;
    second.initialize(json!({"hooks": null})).await?;
    second.say("Say what the second says.").await?;
    let two = second.result().await?;
    first.say("Say what the first says.").await?;
    let one = first.result().await?;
    let ran = one["is_error"] == false && two["is_error"] == false;
    trial.found("both run", yes_or_no(ran));
    first.close().await?;
    second.close().await?;

    let (cli, _) = one_turn(trial, Launch::new().resume(&session), "Say something.").await?;
    cli.close().await?;
    let requests = trial.lab().model().model_requests();
    let told = requests.last().map(|request| request.body["messages"].to_string());
    let told = told.unwrap_or_default();
    let said = ["what the first says", "what the second says"];
    let left: Vec<_> = said.into_iter().filter(|said| told.contains(said)).collect();
    trial.found("the first speaks last, the second ends last: there is left", left.join(", "));
    Ok(())
}
