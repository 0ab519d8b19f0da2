//! Interrupts while the model speaks, while the client is asked, between turns, between tries, and
//! with the next message at their heels.

use serde_json::{Value, json};

use super::super::look::in_short;
use super::super::puppet::{Turn, deny, read_so_far, rest_of_turn, turn};
use super::super::{Fact, Outcome, Trial, V62, V197, V325};
use super::{begun, in_parts, interrupt};
use crate::driver::{Cli, user};
use crate::fidelity::kind;
use crate::lab::Program;
use crate::script::RequestKind;

const ANSWER: &[(crate::Version, &str)] = &[(V62, "null"), (V325, r#"{"still_queued":[]}"#)];
const IS_ERROR: &[(crate::Version, &str)] = &[(V62, "false"), (V197, "true")];

pub(super) const FACTS: &[Fact] = &[
    Fact::by_version("mid-stream: answer", ANSWER),
    Fact::by_version(
        "mid-stream: the text so far",
        &[(V62, "lost"), (V197, "told"), (V325, "told as aborted")],
    ),
    Fact::always("mid-stream: the user says", "[Request interrupted by user]"),
    Fact::always("mid-stream: result", "error_during_execution"),
    Fact::by_version("mid-stream: is_error", IS_ERROR),
    Fact::by_version("mid-stream: reason", &[(V62, "null"), (V197, "aborted_streaming")]),
    Fact::by_version("asked: answer", ANSWER),
    Fact::always("asked: then", "control_cancel_request, control_response, tool_result, result"),
    Fact::always("asked: the request that is withdrawn", "the one that is open"),
    Fact::always("asked: result", "error_during_execution"),
    Fact::by_version("asked: is_error", IS_ERROR),
    Fact::by_version("asked: reason", &[(V62, "null"), (V197, "aborted_tools")]),
    Fact::always("asked: a late answer", "ignored"),
    Fact::by_version("idle: answer", ANSWER),
    Fact::always("idle: then", ""),
    Fact::always("back to back: results", "error_during_execution, success"),
    Fact::always("in a retry wait: result", "error_during_execution"),
    Fact::always("in a retry wait: requests", "1").of_the_model(),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(in_parts()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    mid_stream(trial, &mut cli).await?;
    asked(trial, &mut cli).await?;
    idle(trial, &mut cli).await?;
    back_to_back(trial, &mut cli).await?;
    between_tries(trial, &mut cli).await?;
    cli.close().await?;
    Ok(())
}

async fn mid_stream(trial: &mut Trial, cli: &mut Cli) -> Outcome {
    let begin = cli.log().len();
    begun(cli, &user("Go on for ever.")).await?;
    let answer = cli.request(interrupt()).await?;
    trial.found("mid-stream: answer", in_short(&answer));
    let turn = rest_of_turn(cli, begin).await?;
    let text = turn.frames().find(|frame| frame["type"] == "assistant");
    let text = match text {
        None => "lost",
        Some(frame) if frame["aborted"] == true => "told as aborted",
        Some(_) => "told",
    };
    trial.found("mid-stream: the text so far", text);
    let user = turn.frames().find(|frame| frame["type"] == "user");
    let says = user.map(|frame| frame["message"]["content"][0]["text"].clone());
    trial.found("mid-stream: the user says", says);
    ended(trial, "mid-stream", &turn);
    Ok(())
}

fn ended(trial: &mut Trial, name: &str, turn: &Turn) {
    trial.found(&format!("{name}: result"), turn.result["subtype"].clone());
    trial.found(&format!("{name}: is_error"), turn.result["is_error"].clone());
    trial.found(&format!("{name}: reason"), turn.result["terminal_reason"].clone());
}

async fn asked(trial: &mut Trial, cli: &mut Cli) -> Outcome {
    let file = trial.lab().work().join("late.txt");
    let begin = cli.log().len();
    cli.say(&format!("write {}", file.display())).await?;
    let ask = cli.asked("can_use_tool").await?;
    let id = cli.post(interrupt()).await?;
    let answer = cli.answer_to(&id).await?;
    trial.found("asked: answer", in_short(&answer));
    let turn = rest_of_turn(cli, begin).await?;
    let later = turn.frames().skip_while(|frame| **frame != ask).filter_map(|frame| {
        let of_a_tool = frame["message"]["content"][0]["type"] == "tool_result";
        match frame["type"].as_str()? {
            "user" if of_a_tool => Some("tool_result"),
            "control_cancel_request" => Some("control_cancel_request"),
            "control_response" => Some("control_response"),
            "result" => Some("result"),
            _ => None,
        }
    });
    let later: Vec<_> = later.collect();
    trial.found("asked: then", later.join(", "));
    let withdrawn = turn.frames().find(|frame| frame["type"] == "control_cancel_request");
    let ours = withdrawn.is_some_and(|frame| frame["request_id"] == ask["request_id"]);
    let which = if ours { "the one that is open" } else { "another" };
    trial.found("asked: the request that is withdrawn", which);
    ended(trial, "asked", &turn);
    cli.allow(&ask).await?;
    let next = self::turn(cli, "Hello.", deny).await?;
    let ran = file.exists() || next.result["subtype"] != "success";
    trial.found("asked: a late answer", if ran { "not ignored" } else { "ignored" });
    Ok(())
}

async fn idle(trial: &mut Trial, cli: &mut Cli) -> Outcome {
    let answer = cli.request(interrupt()).await?;
    trial.found("idle: answer", in_short(&answer));
    let begin = cli.log().len();
    read_so_far(cli).await?;
    let later = cli.log().split_off(begin);
    let others = super::super::look::from_cli(&later).map(kind);
    let others: Vec<_> = others.filter(|kind| kind != "control_response").collect();
    trial.found("idle: then", others.join(", "));
    Ok(())
}

async fn back_to_back(trial: &mut Trial, cli: &mut Cli) -> Outcome {
    begun(cli, &user("Go on once more.")).await?;
    let request =
        json!({"type": "control_request", "request_id": "at-once", "request": interrupt()});
    cli.send_together(&[request, user("And now?")]).await?;
    let (first, second) = (cli.result().await?, cli.result().await?);
    let subtypes = [&first, &second].map(|result| result["subtype"].as_str().unwrap_or_default());
    trial.found("back to back: results", subtypes.join(", "));
    Ok(())
}

/// The model is too busy, and says when to come back: long after the interrupt.
async fn between_tries(trial: &mut Trial, cli: &mut Cli) -> Outcome {
    let about = |body: &Value| body.to_string().contains("Be busy.");
    let begin = cli.log().len();
    cli.say("Be busy.").await?;
    if trial.version() >= V197 {
        cli.wait("a try to come", |frame| frame["subtype"] == "api_retry").await?;
    } else if matches!(trial.lab().program(), Program::Simulated { .. }) {
        // It asks no model, and waits from the moment when it would.
        cli.wait("the turn to begin", |frame| frame["subtype"] == "init").await?;
    } else {
        // It does not say that it waits, only the model knows.
        let refused = trial.lab().model().wait_until(|model| {
            let mut requests = model.model_requests().into_iter();
            requests.any(|request| about(&request.body) && request.end().is_some()).then_some(())
        });
        refused.await;
    }
    let id = cli.post(interrupt()).await?;
    cli.answer_to(&id).await?;
    let turn = rest_of_turn(cli, begin).await?;
    trial.found("in a retry wait: result", turn.result["subtype"].clone());
    let requests = trial.lab().model().model_requests();
    let main = requests.iter().filter(|request| request.kind == Some(RequestKind::Main));
    trial.found("in a retry wait: requests", main.filter(|request| about(&request.body)).count());
    Ok(())
}
