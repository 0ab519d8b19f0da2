//! Messages that come while a turn runs.

use serde_json::json;

use super::{Outcome, Scenario, ScenarioError, at_least, ensure};
use crate::Version;
use crate::driver::Cli;
use crate::lab::{Lab, Launch};
use crate::talk::{ONE, THREE, TWO, message};

/// The first answer never ends, so that the turn is there for as long as it is wanted.
const HANG: &str = r#"
[[answer]]
text = "I will go on for ever and ever and never stop."
hang = 6

[[answer]]
text = "Next."

[[answer]]
text = "And next."
"#;

const ASK: &str = r#"
[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "That was it."

[[answer]]
text = "And next."
"#;

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new(
        "queue-after-interrupt",
        "A message that waits survives an interrupt, and its turn begins.",
        HANG,
        |lab| Box::pin(after_interrupt(lab)),
    ),
    Scenario::new(
        "queue-merged",
        "Messages that wait together are answered together, by newer versions.",
        HANG,
        |lab| Box::pin(merged(lab)),
    ),
    Scenario::new("queue-cancelled", "A message that waits can be taken back.", HANG, |lab| {
        Box::pin(cancelled(lab))
    })
    .since(Version::new(2, 1, 197)),
    Scenario::new(
        "queue-dropped",
        "An interrupt can take back everything that waits.",
        HANG,
        |lab| Box::pin(dropped(lab)),
    )
    .since(Version::new(2, 1, 325)),
    Scenario::new(
        "queue-folded-in",
        "A message that comes while a tool waits is read in the same turn.",
        ASK,
        |lab| Box::pin(folded_in(lab)),
    ),
];

/// A turn that does not end by itself.
async fn hanging(lab: &Lab) -> Result<Cli, ScenarioError> {
    let mut cli = lab.launch(Launch::new().arg("--include-partial-messages")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.send(&message("One.", ONE)).await?;
    cli.wait("a delta", |frame| frame["event"]["type"] == "content_block_delta").await?;
    Ok(cli)
}

/// Has the CLI answer something, by which time it has read what was sent before.
async fn read_so_far(cli: &mut Cli) -> Result<(), ScenarioError> {
    cli.request(json!({"subtype": "mcp_status"})).await?;
    Ok(())
}

async fn after_interrupt(lab: &Lab) -> Outcome {
    let mut cli = hanging(lab).await?;
    cli.send(&message("Two.", TWO)).await?;
    read_so_far(&mut cli).await?;
    cli.request(json!({"subtype": "interrupt"})).await?;
    let result = cli.result().await?;
    ensure(result["subtype"] == "error_during_execution", "the turn was stopped", &result)?;
    let result = cli.result().await?;
    ensure(result["result"] == "Next.", "the message has its turn", &result)?;
    Ok(vec![cli.close().await?])
}

async fn merged(lab: &Lab) -> Outcome {
    let mut cli = hanging(lab).await?;
    cli.send(&message("Two.", TWO)).await?;
    cli.send(&message("Three.", THREE)).await?;
    read_so_far(&mut cli).await?;
    cli.request(json!({"subtype": "interrupt"})).await?;
    cli.result().await?;
    let result = cli.result().await?;
    ensure(result["result"] == "Next.", "the messages have a turn", &result)?;
    if !at_least(lab, 197) {
        let result = cli.result().await?;
        ensure(result["result"] == "And next.", "each message has its own", &result)?;
    }
    Ok(vec![cli.close().await?])
}

async fn cancelled(lab: &Lab) -> Outcome {
    let mut cli = hanging(lab).await?;
    cli.send(&message("Two.", TWO)).await?;
    let cancel = json!({"subtype": "cancel_async_message", "message_uuid": TWO});
    let answer = cli.request(cancel.clone()).await?;
    ensure(answer["response"]["cancelled"] == true, "it is taken back", &answer)?;
    let answer = cli.request(cancel).await?;
    ensure(answer["response"]["cancelled"] == false, "there is no such message then", &answer)?;
    cli.request(json!({"subtype": "interrupt"})).await?;
    cli.result().await?;
    cli.send(&message("Three.", THREE)).await?;
    let result = cli.result().await?;
    ensure(result["result"] == "Next.", "the next message has its turn", &result)?;
    Ok(vec![cli.close().await?])
}

async fn dropped(lab: &Lab) -> Outcome {
    let mut cli = hanging(lab).await?;
    cli.send(&message("Two.", TWO)).await?;
    read_so_far(&mut cli).await?;
    cli.request(json!({"subtype": "interrupt", "cancel_queued": true})).await?;
    cli.result().await?;
    cli.send(&message("Three.", THREE)).await?;
    let result = cli.result().await?;
    ensure(result["result"] == "Next.", "the next message has its turn", &result)?;
    Ok(vec![cli.close().await?])
}

async fn folded_in(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.send(&message("One.", ONE)).await?;
    let ask = cli.asked("can_use_tool").await?;
    cli.send(&message("Two.", TWO)).await?;
    read_so_far(&mut cli).await?;
    cli.allow(&ask).await?;
    let result = cli.result().await?;
    ensure(result["result"] == "That was it.", "the turn goes on", &result)?;
    cli.send(&message("Three.", THREE)).await?;
    let result = cli.result().await?;
    ensure(result["result"] == "And next.", "the message had no turn of its own", &result)?;
    Ok(vec![cli.close().await?])
}
