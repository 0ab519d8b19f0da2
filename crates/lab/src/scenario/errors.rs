//! What goes wrong: the API, limits, and lines that are none.

use serde_json::json;

use super::{Outcome, Scenario, at_least, ensure, frames};
use crate::lab::{Lab, Launch};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new(
        "api-error-retry",
        "An overloaded API is tried again, and the turn goes on.",
        r#"
        [[answer]]
        error = { status = 529 }

        [[answer]]
        error = { status = 429, retry_after = 1 }

        [[answer]]
        text = "At last."
        "#,
        |lab| Box::pin(retry(lab)),
    ),
    Scenario::new(
        "api-error-final",
        "An error that does not pass ends the turn, as a result that is an error.",
        r#"
        [[answer]]
        when = { text = "And now?" }
        text = "Better."

        # Some versions try once more, without a word.
        [[answer]]
        when = { text = "Hello!" }
        error = { status = 400, message = "your request is not good" }
        "#,
        |lab| Box::pin(last(lab)),
    ),
    Scenario::new(
        "api-stream-cut",
        "A stream that is cut is tried again.",
        r#"
        [[answer]]
        text = "This will be cut off in the middle."
        cut = 5

        [[answer]]
        text = "Whole."
        "#,
        |lab| Box::pin(cut(lab)),
    ),
    Scenario::new(
        "max-turns",
        "A limit ends the turn, and the next message runs.",
        r#"
        [[answer]]
        tool = { name = "Read", input = { file_path = "${cwd}/hello.txt" } }

        [[answer]]
        text = "Next."
        "#,
        |lab| Box::pin(max_turns(lab)),
    ),
    Scenario::new("line-not-json", "A line that is not JSON ends the process.", "", |lab| {
        Box::pin(not_json(lab))
    }),
    Scenario::new(
        "line-unknown",
        "A frame of an unknown type, an empty line and an answer to nothing are passed over.",
        r#"
        [[answer]]
        text = "Hello."
        "#,
        |lab| Box::pin(unknown(lab)),
    ),
    Scenario::new(
        "end-while-asking",
        "When the input ends while a permission is asked for, the tool is refused.",
        r#"
        [[answer]]
        tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

        [[answer]]
        text = "Too late."
        "#,
        |lab| Box::pin(end_while_asking(lab)),
    ),
    Scenario::new(
        "max-budget",
        "A budget that is spent ends the turn, and the next one as well.",
        r#"
        [[answer]]
        text = "Hello."

        [[answer]]
        text = "Hello again."
        "#,
        |lab| Box::pin(max_budget(lab)),
    ),
];

async fn retry(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Hello!").await?;
    let result = cli.result().await?;
    ensure(result["result"] == "At last.", "the turn goes on", &result)?;
    let ended = cli.close().await?;
    if at_least(lab, 197) {
        let retries = frames(&ended).filter(|frame| frame["subtype"] == "api_retry").count();
        ensure(retries == 2, "both retries are told", &json!(retries))?;
    }
    Ok(vec![ended])
}

async fn last(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Hello!").await?;
    let result = cli.result().await?;
    ensure(result["is_error"] == true, "the result is an error", &result)?;
    ensure(result["subtype"] == "success", "its subtype says otherwise", &result)?;
    cli.say("And now?").await?;
    let result = cli.result().await?;
    ensure(result["result"] == "Better.", "the next turn runs", &result)?;
    Ok(vec![cli.close().await?])
}

async fn cut(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Hello!").await?;
    let result = cli.result().await?;
    ensure(result["result"] == "Whole.", "the turn goes on", &result)?;
    Ok(vec![cli.close().await?])
}

async fn max_turns(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new().arg("--max-turns").arg("1")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Read it.").await?;
    let result = cli.result().await?;
    ensure(result["subtype"] == "error_max_turns", "the limit ends the turn", &result)?;
    cli.say("And now?").await?;
    let result = cli.result().await?;
    ensure(result["result"] == "Next.", "the next turn runs", &result)?;
    Ok(vec![cli.close().await?])
}

async fn not_json(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.send_line(b"this is not JSON").await?;
    let ended = cli.ended().await?;
    ensure(ended.status.code() == Some(1), "it exits with 1", &json!(ended.status.to_string()))?;
    Ok(vec![ended])
}

async fn unknown(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.send(&json!({"type": "weather", "sun": true})).await?;
    cli.send_line(b"").await?;
    cli.send(&json!({
        "type": "control_response",
        "response": {"subtype": "success", "request_id": "nobody", "response": {}},
    }))
    .await?;
    cli.say("Hello!").await?;
    let result = cli.result().await?;
    ensure(result["result"] == "Hello.", "the turn runs", &result)?;
    Ok(vec![cli.close().await?])
}

async fn end_while_asking(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Write it.").await?;
    cli.asked("can_use_tool").await?;
    let ended = cli.close().await?;
    ensure(!lab.work().join("new.txt").exists(), "nothing is written", &json!(null))?;
    ensure(frames(&ended).any(super::is_result), "there is a result", &json!(null))?;
    Ok(vec![ended])
}

async fn max_budget(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new().arg("--max-budget-usd").arg("0.0001")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    for _ in 0..2 {
        cli.say("Hello!").await?;
        let result = cli.result().await?;
        ensure(result["subtype"] == "error_max_budget_usd", "the budget ends it", &result)?;
    }
    Ok(vec![cli.close().await?])
}
