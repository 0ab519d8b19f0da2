//! Messages and turns that nobody waited for.

use serde_json::json;

use super::{Outcome, Scenario, ensure};
use crate::lab::{Lab, Launch};
use crate::version::Version;

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new(
        "same-message-twice",
        "A message with an id that was there already is passed over.",
        r#"
        [[answer]]
        text = "First."

        [[answer]]
        text = "Second."
        "#,
        |lab| Box::pin(same_twice(lab)),
    ),
    Scenario::new(
        "message-replayed",
        "With the flag, what the client says comes back.",
        r#"
        [[answer]]
        text = "Hello."
        "#,
        |lab| Box::pin(replayed(lab)),
    ),
    Scenario::new(
        "slash-clear",
        "A command clears the conversation in the same process.",
        r#"
        [[answer]]
        text = "First."

        [[answer]]
        text = "Second."
        "#,
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
    Scenario::new(
        "background-command",
        "A command in the background ends later and begins a turn by itself.",
        r#"
        [[answer]]
        tool = { name = "Bash", input = { command = "echo begun; sleep 1; echo over", run_in_background = true, description = "Wait a little" }, result = "begun\nover", takes = "1s" }

        [[answer]]
        text = "It runs."

        [[answer]]
        text = "It is over."
        "#,
        |lab| Box::pin(background(lab)),
    )
    .since(Version::new(2, 1, 197)),
];

fn message(text: &str, uuid: &str) -> serde_json::Value {
    json!({
        "type": "user",
        "message": {"role": "user", "content": text},
        "parent_tool_use_id": null,
        "session_id": "",
        "uuid": uuid,
    })
}

async fn same_twice(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    let [one, two] =
        ["7b5f0a51-52f6-4c4c-8f5e-0c6f6a4f3f01", "7b5f0a51-52f6-4c4c-8f5e-0c6f6a4f3f02"];
    cli.send(&message("One.", one)).await?;
    cli.result().await?;
    cli.send(&message("One.", one)).await?;
    cli.send(&message("Two.", two)).await?;
    let result = cli.result().await?;
    ensure(result["result"] == "Second.", "the repeated message has no turn", &result)?;
    Ok(vec![cli.close().await?])
}

async fn replayed(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new().arg("--replay-user-messages")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    let uuid = "7b5f0a51-52f6-4c4c-8f5e-0c6f6a4f3f01";
    cli.send(&message("Hello!", uuid)).await?;
    let again = cli.wait("the message", |frame| frame["isReplay"] == true).await?;
    ensure(again["uuid"] == uuid, "the message comes back with its id", &again)?;
    cli.result().await?;
    Ok(vec![cli.close().await?])
}

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

async fn background(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new().mode("bypassPermissions")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Run it.").await?;
    let result = cli.result().await?;
    ensure(result["result"] == "It runs.", "the turn does not wait", &result)?;
    let result = cli.result().await?;
    ensure(result["result"] == "It is over.", "a turn begins by itself", &result)?;
    Ok(vec![cli.close().await?])
}
