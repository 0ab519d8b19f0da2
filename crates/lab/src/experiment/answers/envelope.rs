//! How the answer is sent.

use serde_json::{Value, json};

use super::super::puppet::{Turn, deny, read_so_far, rest_of_turn, turn};
use super::super::{Fact, Outcome, Trial, TrialError};
use super::{outcome, place};
use crate::driver::Cli;
use crate::lab::Launch;

pub(super) const FACTS: &[Fact] = &[
    Fact::always("no payload", "refused"),
    Fact::always("request_id outside of response", "hangs"),
    Fact::always("subtype: allow, request_id outside", "hangs"),
    Fact::always("an error", "refused"),
    Fact::always("the model reads after an error", "Tool permission request failed: Error: No."),
    Fact::always("allow, then deny", "runs"),
    Fact::always("an unknown request_id", "ignored"),
    Fact::always("an error later", "success"),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;

    let absent = |ask: &Value| json!({"subtype": "success", "request_id": ask["request_id"]});
    let turn = answered(trial, &mut cli, 1, |ask| vec![response(&absent(ask))]).await?;
    trial.found("no payload", outcome(trial, 1, &turn));

    let outside = passed_over(trial, &mut cli, 2, |ask| {
        json!({
            "type": "control_response",
            "request_id": ask["request_id"],
            "response": {"subtype": "success", "response": allowed(ask)},
        })
    });
    let outside = outside.await?;
    trial.found("request_id outside of response", outside);
    let adapter = passed_over(trial, &mut cli, 3, |ask| {
        json!({
            "type": "control_response",
            "request_id": ask["request_id"],
            "response": {"subtype": "allow", "updatedInput": ask["request"]["input"]},
        })
    });
    let adapter = adapter.await?;
    trial.found("subtype: allow, request_id outside", adapter);

    let error =
        |ask: &Value| json!({"subtype": "error", "request_id": ask["request_id"], "error": "No."});
    let turn = answered(trial, &mut cli, 4, |ask| vec![response(&error(ask))]).await?;
    trial.found("an error", outcome(trial, 4, &turn));
    trial.found("the model reads after an error", turn.read());

    let both = |ask: &Value| {
        let deny = json!({"behavior": "deny", "message": "Not today."});
        vec![success(ask, &allowed(ask)), success(ask, &deny)]
    };
    let turn = answered(trial, &mut cli, 5, both).await?;
    trial.found("allow, then deny", outcome(trial, 5, &turn));

    let unknown = passed_over(trial, &mut cli, 6, |ask| {
        let payload = allowed(ask);
        response(&json!({"subtype": "success", "request_id": "nobody", "response": payload}))
    });
    let unknown = unknown.await?;
    let unknown = if unknown == "hangs" { "ignored" } else { unknown };
    trial.found("an unknown request_id", unknown);

    let last = self::turn(&mut cli, "How are you?", deny).await?;
    trial.found("an error later", last.result["subtype"].clone());
    cli.close().await?;
    Ok(())
}

fn allowed(ask: &Value) -> Value {
    json!({"behavior": "allow", "updatedInput": ask["request"]["input"]})
}

fn response(response: &Value) -> Value {
    json!({"type": "control_response", "response": response})
}

fn success(ask: &Value, payload: &Value) -> Value {
    let id = &ask["request_id"];
    response(&json!({"subtype": "success", "request_id": id, "response": payload}))
}

/// Has a file written, and answers the request with these lines, in one write.
async fn answered(
    trial: &Trial,
    cli: &mut Cli,
    number: usize,
    lines: impl Fn(&Value) -> Vec<Value>,
) -> Result<Turn, TrialError> {
    let begin = cli.log().len();
    cli.say(&format!("write {}", place(trial, number))).await?;
    let ask = cli.asked("can_use_tool").await?;
    cli.send_together(&lines(&ask)).await?;
    Ok(rest_of_turn(cli, begin).await?)
}

/// Has a file written, and sends a line that may or may not be an answer. When the CLI has read it,
/// the call is denied: if that counts, the line was none.
async fn passed_over(
    trial: &Trial,
    cli: &mut Cli,
    number: usize,
    line: impl Fn(&Value) -> Value,
) -> Result<&'static str, TrialError> {
    let begin = cli.log().len();
    cli.say(&format!("write {}", place(trial, number))).await?;
    let ask = cli.asked("can_use_tool").await?;
    cli.send(&line(&ask)).await?;
    read_so_far(cli).await?;
    cli.deny(&ask, "That counts.").await?;
    let turn = rest_of_turn(cli, begin).await?;
    Ok(if turn.read() == "That counts." { "hangs" } else { outcome(trial, number, &turn) })
}
