//! Lines that are no message.

use serde_json::{Value, json};

use super::super::{Fact, Outcome, Trial, TrialError, V62, V325};
use crate::driver::Speaker;
use crate::lab::Launch;

pub(super) const PASSED_OVER: &[Fact] = &[
    Fact::always("an empty line", "ignored"),
    Fact::always("an unknown type", "ignored"),
    Fact::always("an array", "ignored"),
    Fact::always("a number", "ignored"),
    Fact::always("assistant", "ignored"),
    Fact::always("system", "ignored"),
    Fact::always("keep_alive", "ignored"),
    Fact::always("the withdrawal of an unknown request", "ignored"),
    Fact::always("bytes that are no UTF-8", "ignored"),
    Fact::always("a line that ends with CRLF", "read"),
    Fact::always("a turn after all of it", "success"),
];

const LINES: &[(&str, &[u8])] = &[
    ("an empty line", b""),
    ("an unknown type", br#"{"type":"teleport"}"#),
    ("an array", b"[1, 2]"),
    ("a number", b"7"),
    ("assistant", br#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Hello."}]}}"#),
    ("system", br#"{"type":"system","subtype":"init"}"#),
    ("keep_alive", br#"{"type":"keep_alive"}"#),
    ("the withdrawal of an unknown request", br#"{"type":"control_cancel_request","request_id":"x"}"#),
    ("bytes that are no UTF-8", b"{\"type\":\"teleport\",\"to\":\"\xff\xfe\"}"),
];

pub(super) async fn passed_over(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    for (name, line) in LINES {
        let begin = cli.log().len();
        cli.send_line(line).await?;
        cli.request(json!({"subtype": "mcp_status"})).await?;
        let log = cli.log().split_off(begin);
        let frames = log.iter().filter(|said| said.by == Speaker::Cli);
        trial.found(name, if frames.count() == 1 { "ignored" } else { "answered" });
    }
    let request = json!({"subtype": "mcp_status"});
    let request = json!({"type": "control_request", "request_id": "crlf", "request": request});
    cli.send_line(format!("{request}\r").as_bytes()).await?;
    cli.answer_to("crlf").await?;
    trial.found("a line that ends with CRLF", "read");
    cli.say("Hello.").await?;
    let result = cli.result().await?;
    trial.found("a turn after all of it", result["subtype"].clone());
    cli.close().await?;
    Ok(())
}

pub(super) const NOT_JSON: &[Fact] = &[
    Fact::always("not JSON", "exit 1"),
    Fact::by_version("not JSON: standard error shows the line", &[(V62, "true"), (V325, "false")]),
    Fact::always("JSON that is cut short", "exit 1"),
    Fact::always("null", "exit 1"),
    Fact::by_version("spaces", &[(V62, "exit 1"), (V325, "ignored")]),
];

pub(super) async fn not_json(trial: &mut Trial) -> Outcome {
    let (effect, errors) = effect_of(trial, "teleport me").await?;
    trial.found("not JSON", effect);
    trial.found("not JSON: standard error shows the line", errors.contains("teleport me"));
    for (name, line) in
        [("JSON that is cut short", r#"{"type":"user","mess"#), ("null", "null"), ("spaces", "   ")]
    {
        let (effect, _) = effect_of(trial, line).await?;
        trial.found(name, effect);
    }
    Ok(())
}

pub(super) const NO_MESSAGE: &[Fact] = &[
    Fact::always("user without a message", "exit 1"),
    Fact::always("user without a role", "exit 1"),
    Fact::always("user with another role", "exit 1"),
    Fact::always("control_request without a request", "exit 1"),
    Fact::by_version("control_response without a response", &[(V62, "exit 1"), (V325, "ignored")]),
];

pub(super) async fn no_message(trial: &mut Trial) -> Outcome {
    let message = |role: Value| {
        json!({"type": "user", "message": {"role": role, "content": "Hello."}}).to_string()
    };
    let no_role = json!({"type": "user", "message": {"content": "Hello."}}).to_string();
    for (name, line) in [
        ("user without a message", r#"{"type":"user"}"#.to_owned()),
        ("user without a role", no_role),
        ("user with another role", message(json!("assistant"))),
        (
            "control_request without a request",
            r#"{"type":"control_request","request_id":"x"}"#.to_owned(),
        ),
        ("control_response without a response", r#"{"type":"control_response"}"#.to_owned()),
    ] {
        let (effect, _) = effect_of(trial, &line).await?;
        trial.found(name, effect);
    }
    Ok(())
}

/// What a line does to a process of its own, whose next line is a request that is always answered;
/// and what stands on its standard error.
async fn effect_of(trial: &mut Trial, line: &str) -> Result<(String, String), TrialError> {
    let mut cli = trial.launch(Launch::new()).await?;
    cli.send_line(line.as_bytes()).await?;
    let answer = cli.initialize(json!({"hooks": null})).await;
    let ended = match answer {
        Ok(_) => {
            cli.close().await?;
            return Ok(("ignored".to_owned(), String::new()));
        }
        // It does not read any more, or has ended.
        Err(_) => cli.ended().await?,
    };
    let errors = ended.log.iter().filter(|said| said.by == Speaker::StandardError);
    let errors = errors.map(|said| said.text.as_str()).collect::<Vec<_>>().join("\n");
    let code =
        ended.status.code().map_or_else(|| ended.status.to_string(), |code| code.to_string());
    Ok((format!("exit {code}"), errors))
}
