//! What the API gets wrong.

use serde_json::{Value, json};

use super::{Fact, Outcome, Trial, V62, V197};
use crate::experiment::turn::{turn, yes_or_no};
use crate::lab::Launch;
use crate::talk::Reply;

/// The model answers with the status that it is told to answer with. What was said before an error
/// is still said, so the latest message comes first.
pub(super) const SCRIPT: &str = r#"
[[answer]]
when = { text = "fail with 529" }
error = { status = 529, message = "not so" }

[[answer]]
when = { text = "fail with 500" }
error = { status = 500, message = "not so" }

[[answer]]
when = { text = "fail with 429" }
error = { status = 429, message = "not so" }

[[answer]]
when = { text = "fail with 413" }
error = { status = 413, message = "not so" }

[[answer]]
when = { text = "fail with 404" }
error = { status = 404, message = "not so" }

[[answer]]
when = { text = "fail with 403" }
error = { status = 403, message = "not so" }

[[answer]]
when = { text = "fail with 401" }
error = { status = 401, message = "not so" }

[[answer]]
when = { text = "fail with 400" }
error = { status = 400, message = "not so" }
"#;

const STATUSES: [u16; 8] = [400, 401, 403, 404, 413, 429, 500, 529];

/// What is documented of a status that is final.
macro_rules! fails {
    ($status:literal) => {
        Fact::by_version(
            $status,
            &[
                (V62, "success, is_error true, told before"),
                (V197, concat!("success, is_error true, told before, status ", $status)),
            ],
        )
    };
}

pub(super) const FACTS: &[Fact] = &[
    fails!("400"),
    fails!("401"),
    fails!("403"),
    fails!("404"),
    fails!("413"),
    fails!("429"),
    fails!("500"),
    fails!("529"),
    Fact::always("exit code after an error", "1"),
];

/// Errors that are final: nothing is tried again.
pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new().env("CLAUDE_CODE_MAX_RETRIES", "0")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    for status in STATUSES {
        let turn = turn(&mut cli, &format!("fail with {status}"), Reply::allow).await?;
        let Value::Object(result) = &turn.result else { continue };
        let text = |key: &str| result.get(key).map(ToString::to_string).unwrap_or_default();
        let told = |frame: &Value| frame["type"] == "assistant" && frame["error"].is_string();
        let told = if turn.frames.iter().any(told) { ", told before" } else { "" };
        let code = result.get("api_error_status").filter(|code| !code.is_null());
        let code = code.map(|code| format!(", status {code}")).unwrap_or_default();
        let subtype = text("subtype").replace('"', "");
        trial.found(
            &status.to_string(),
            format!("{subtype}, is_error {}{told}{code}", text("is_error")),
        );
    }
    let code = cli.close().await?.status.code();
    trial.found("exit code after an error", code);
    Ok(())
}

/// Errors that pass.
pub(super) const RETRY_SCRIPT: &str = r#"
[[answer]]
when = { text = "be overloaded" }
times = 1
error = { status = 529 }

[[answer]]
when = { text = "be limited" }
times = 1
error = { status = 429, retry_after = 1 }

[[answer]]
when = { text = "be cut" }
times = 1
text = "This will be cut off in the middle."
cut = 5

[[answer]]
when = { text = "stumble" }
times = 1
text = "This will be cut off in the middle."
stream_error = { after = 5, kind = "overloaded_error" }

[[answer]]
when = { text = "be long" }
text = "This does not come to its end."
hang = 5

[[answer]]
when = { text = "/be|stumble/" }
text = "At last."
"#;

pub(super) const RETRY_FACTS: &[Fact] = &[
    Fact::always("529, then an answer", "At last."),
    Fact::by_version("529: api_retry", &[(V62, "none"), (V197, "1 of 10, 529")]),
    Fact::always("429 with a time, then an answer", "At last."),
    Fact::by_version("429 with a time: it is kept", &[(V62, "not told"), (V197, "yes")]),
    Fact::always("a stream that is cut", "At last."),
    Fact::always("an error in the stream", "At last."),
    Fact::by_version("exit code after an interrupt", &[(V62, "0"), (V197, "1")]),
];

pub(super) async fn retries(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new().arg("--include-partial-messages")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    let of_retry = |frame: &&Value| frame["subtype"] == "api_retry";

    let overloaded = turn(&mut cli, "be overloaded", Reply::allow).await?;
    trial.found("529, then an answer", overloaded.result["result"].clone());
    let retry = overloaded.frames.iter().find(of_retry).map(|retry| {
        let [attempt, all, status] =
            ["attempt", "max_retries", "error_status"].map(|key| &retry[key]);
        format!("{attempt} of {all}, {status}")
    });
    trial.found("529: api_retry", retry.unwrap_or_else(|| "none".to_owned()));

    let limited = turn(&mut cli, "be limited", Reply::allow).await?;
    trial.found("429 with a time, then an answer", limited.result["result"].clone());
    let delay = limited.frames.iter().find(of_retry).map(|retry| retry["retry_delay_ms"].as_f64());
    let kept = delay.map(|delay| yes_or_no(delay.is_some_and(|delay| delay >= 1000.0)));
    trial.found("429 with a time: it is kept", kept.unwrap_or("not told"));

    for (finding, text) in
        [("a stream that is cut", "be cut"), ("an error in the stream", "stumble")]
    {
        let turn = turn(&mut cli, text, Reply::allow).await?;
        trial.found(finding, turn.result["result"].clone());
    }
    cli.say("be long").await?;
    cli.wait("a delta", |frame| frame["event"]["type"] == "content_block_delta").await?;
    cli.request(json!({"subtype": "interrupt"})).await?;
    cli.result().await?;
    let code = cli.close().await?.status.code();
    trial.found("exit code after an interrupt", code);
    Ok(())
}

pub(super) const FALLBACK_SCRIPT: &str = r#"
[[answer]]
when = { model = "haiku", text = "Say" }
text = "I am another."

[[answer]]
when = { text = "Say" }
error = { status = 529 }
"#;

pub(super) const FALLBACK_FACTS: &[Fact] = &[
    Fact::by_version("--fallback-model", &[(V62, "an error"), (V197, "I am another.")]),
    Fact::by_version("model_fallback", &[(V62, "no"), (V197, "yes")]),
];

pub(super) async fn fallback(trial: &mut Trial) -> Outcome {
    let launch = Launch::new().arg("--fallback-model").arg("claude-haiku-4-5");
    let mut cli = trial.launch(launch.env("CLAUDE_CODE_MAX_RETRIES", "2")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    let turn = turn(&mut cli, "Say something.", Reply::allow).await?;
    let error = turn.result["is_error"] == true;
    let said = if error { json!("an error") } else { turn.result["result"].clone() };
    trial.found("--fallback-model", said);
    trial.found("model_fallback", yes_or_no(turn.has("model_fallback")));
    cli.close().await?;
    Ok(())
}
