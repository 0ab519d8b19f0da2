//! A large message.

use serde_json::json;

use super::super::puppet::{deny, turn};
use super::super::{Fact, Outcome, Trial};
use crate::lab::Launch;

pub(super) const FACTS: &[Fact] = &[
    Fact::always("a message of 1 MB", "success"),
    Fact::always("it reaches the model", "true").of_the_model(),
    Fact::always("the next turn", "success"),
];

const SIZE: usize = 1_000_000;

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    let large = turn(&mut cli, &"large ".repeat(SIZE / 6), deny).await?;
    trial.found("a message of 1 MB", large.result["subtype"].clone());
    let requests = trial.lab().model().model_requests();
    trial.found("it reaches the model", requests.iter().any(|request| request.bytes > SIZE));
    let next = turn(&mut cli, "Hello.", deny).await?;
    trial.found("the next turn", next.result["subtype"].clone());
    cli.close().await?;
    Ok(())
}
