//! B: a session that is started in plan mode.

use serde_json::json;

use super::look::{is_init, kinds_until, modes, told_to_plan};
use super::{Case, Experiment, Fact, Outcome, Trial, V62, V197};
use crate::driver::Speaker;
use crate::lab::Launch;
use crate::talk::TALK;

pub(super) const EXPERIMENT: Experiment = Experiment::new(
    "B",
    "plan-from-the-start",
    "A session is started in plan mode. What does it say before the first message, what does it \
     report then, and what does a second `initialize` do?",
    &[Case::only(
        TALK,
        &[
            Fact::always("before the first message", "control_response"),
            Fact::always("mode in init", "plan"),
            Fact::always("mode in the next init", "plan"),
            Fact::always("requests that tell the model to plan", "[1,2]").of_the_model(),
            Fact::by_version(
                "a second initialize",
                &[(V62, "Already initialized"), (V197, "success")],
            ),
        ],
        |trial| Box::pin(steps(trial)),
    )],
);

async fn steps(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new().mode("plan")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Say something.").await?;
    cli.result().await?;
    let second = cli.initialize(json!({"hooks": null})).await?;
    cli.say("Say something else.").await?;
    cli.result().await?;
    let log = cli.close().await?.log;

    let is_message =
        |said: &crate::Said| said.by == Speaker::Client && said.frame["type"] == "user";
    trial.found("before the first message", kinds_until(&log, is_message));
    if let Some(init) = log.iter().find(|said| is_init(&said.frame)) {
        trial.measured("init after", init.after);
    }
    let modes = modes(&log);
    trial.found("mode in init", modes.first().cloned());
    trial.found("mode in the next init", modes.get(1).cloned());
    let told = told_to_plan(trial.lab());
    trial.found("requests that tell the model to plan", told);
    trial.found("a second initialize", second["error"].as_str().or(second["subtype"].as_str()));
    Ok(())
}
