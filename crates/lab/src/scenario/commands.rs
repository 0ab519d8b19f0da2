//! Commands of the CLI itself, given as messages.

use serde_json::json;

use super::{Outcome, Scenario, ensure};
use crate::Version;
use crate::lab::{Lab, Launch};
use crate::talk::TALK;

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new(
        "slash-clear",
        "A command clears the conversation in the same process.",
        TALK,
        |lab| Box::pin(clear(lab)),
    )
    .since(Version::new(2, 1, 197)),
    Scenario::new(
        "slash-compact",
        "A command puts a summary in the place of the conversation, which goes on after it.",
        r#"
        [[answer]]
        text = "First."

        [[answer]]
        text = "Second."

        [[answer]]
        when = { side = true }
        text = "Two messages were answered."

        [[answer]]
        text = "Third."
        "#,
        |lab| Box::pin(compact(lab)),
    ),
    Scenario::new("slash-unknown", "A command that there is not.", TALK, |lab| {
        Box::pin(unknown(lab))
    }),
];

async fn clear(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("One.").await?;
    let first = cli.result().await?;
    cli.say("/clear").await?;
    cli.result().await?;
    cli.say("Two.").await?;
    let second = cli.result().await?;
    ensure(first["session_id"] != second["session_id"], "the session is another", &second)?;
    Ok(vec![cli.close().await?])
}

async fn compact(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    for text in ["One.", "Two."] {
        cli.say(text).await?;
        cli.result().await?;
    }
    cli.say("/compact").await?;
    let boundary = cli.wait("the boundary", |frame| frame["subtype"] == "compact_boundary").await?;
    ensure(boundary["compact_metadata"]["trigger"] == "manual", "it was asked for", &boundary)?;
    cli.result().await?;
    cli.say("Three.").await?;
    let result = cli.result().await?;
    ensure(result["result"] == "Third.", "the conversation goes on", &result)?;
    Ok(vec![cli.close().await?])
}

async fn unknown(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("/no-such-command").await?;
    cli.result().await?;
    cli.say("Hello!").await?;
    cli.result().await?;
    Ok(vec![cli.close().await?])
}
