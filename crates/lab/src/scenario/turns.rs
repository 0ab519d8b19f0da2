//! Turns: what is said, and how a turn is stopped.

use serde_json::json;

use super::{Outcome, Scenario, at_least, ensure, frames};
use crate::lab::{Lab, Launch};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new(
        "plain-turn",
        "A message is answered, and every turn begins with `system/init`.",
        r#"
        [[answer]]
        text = "Hello to you."

        [[answer]]
        thinking = "Again?"
        text = "Hello again."
        "#,
        |lab| Box::pin(plain(lab)),
    ),
    Scenario::new(
        "partial-messages",
        "With partial messages the text comes in deltas, and then as a whole.",
        r#"
        [[answer]]
        thinking = "Let me see."
        text = "One two three."
        tool = { name = "Read", input = { file_path = "${cwd}/hello.txt" } }

        [[answer]]
        text = "It says hello."
        "#,
        |lab| Box::pin(partial(lab)),
    ),
    Scenario::new(
        "interrupt-stream",
        "An interrupt ends a turn in the middle of the text, and the next one runs.",
        r#"
        [[answer]]
        text = "I will go on for ever and ever and never stop."
        hang = 6

        [[answer]]
        text = "Back again."
        "#,
        |lab| Box::pin(interrupt_stream(lab)),
    ),
    Scenario::new(
        "interrupt-idle",
        "An interrupt when nothing runs is answered and changes nothing.",
        r#"
        [[answer]]
        text = "Hello."
        "#,
        |lab| Box::pin(interrupt_idle(lab)),
    ),
    Scenario::new(
        "switch-mode-and-model",
        "Mode and model are switched between turns; what the CLI does not know is an error.",
        r#"
        [[answer]]
        text = "First."

        [[answer]]
        text = "Second."
        "#,
        |lab| Box::pin(switches(lab)),
    ),
];

async fn plain(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    let answer = cli.initialize(json!({"hooks": null})).await?;
    ensure(answer["subtype"] == "success", "initialize succeeds", &answer)?;
    for text in ["Hello to you.", "Hello again."] {
        cli.say("Hello!").await?;
        let init = cli.wait("init", |frame| frame["subtype"] == "init").await?;
        ensure(init["permissionMode"] == "default", "init names the mode", &init)?;
        let result = cli.result().await?;
        ensure(result["result"] == text, "the result has the text", &result)?;
        ensure(result["is_error"] == false, "the turn is no error", &result)?;
    }
    let ended = cli.close().await?;
    ensure(ended.status.success(), "the CLI exits with 0", &json!(ended.status.to_string()))?;
    Ok(vec![ended])
}

async fn partial(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new().arg("--include-partial-messages")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Read it.").await?;
    let result = cli.result().await?;
    ensure(result["result"] == "It says hello.", "the tool was run", &result)?;
    let ended = cli.close().await?;
    let joined: String = frames(&ended)
        .filter(|frame| frame["event"]["delta"]["type"] == "text_delta")
        .filter_map(|frame| frame["event"]["delta"]["text"].as_str())
        .collect();
    ensure(
        joined == "One two three.It says hello.",
        "the deltas make up the text",
        &joined.into(),
    )?;
    Ok(vec![ended])
}

async fn interrupt_stream(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new().arg("--include-partial-messages")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Go on.").await?;
    cli.wait("a delta", |frame| frame["event"]["type"] == "content_block_delta").await?;
    let answer = cli.request(json!({"subtype": "interrupt"})).await?;
    ensure(answer["subtype"] == "success", "the interrupt is answered", &answer)?;
    let result = cli.result().await?;
    ensure(
        result["subtype"] == "error_during_execution",
        "the turn ends as one that was stopped",
        &result,
    )?;
    cli.say("Are you there?").await?;
    let result = cli.result().await?;
    ensure(result["result"] == "Back again.", "the next turn runs", &result)?;
    Ok(vec![cli.close().await?])
}

async fn interrupt_idle(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    let answer = cli.request(json!({"subtype": "interrupt"})).await?;
    ensure(answer["subtype"] == "success", "the interrupt is answered", &answer)?;
    cli.say("Hello!").await?;
    let result = cli.result().await?;
    ensure(result["result"] == "Hello.", "the next turn runs", &result)?;
    Ok(vec![cli.close().await?])
}

async fn switches(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    let set_mode = |mode: &str| json!({"subtype": "set_permission_mode", "mode": mode});
    let answer = cli.request(set_mode("plan")).await?;
    ensure(answer["response"]["mode"] == "plan", "the mode is acknowledged", &answer)?;
    cli.say("One.").await?;
    let init = cli.wait("init", |frame| frame["subtype"] == "init").await?;
    ensure(init["permissionMode"] == "plan", "init has the new mode", &init)?;
    cli.result().await?;
    cli.request(set_mode("acceptEdits")).await?;
    let model = "a-model-of-tomorrow";
    let answer = cli.request(json!({"subtype": "set_model", "model": model})).await?;
    ensure(answer["subtype"] == "success", "the model is taken", &answer)?;
    cli.say("Two.").await?;
    let init = cli.wait("init", |frame| frame["subtype"] == "init").await?;
    ensure(init["model"] == model, "init has the new model", &init)?;
    cli.result().await?;
    if at_least(lab, 325) {
        let answer = cli.request(set_mode("nonsense")).await?;
        ensure(answer["subtype"] == "error", "a mode that there is not is an error", &answer)?;
    }
    let answer = cli.request(json!({"subtype": "no_such_request"})).await?;
    ensure(answer["subtype"] == "error", "an unknown request is an error", &answer)?;
    Ok(vec![cli.close().await?])
}
