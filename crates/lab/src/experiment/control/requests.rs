//! Control requests, one after the other.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::super::puppet::{deny, turn};
use super::super::{Fact, Outcome, Trial, V62, V197, V325};
use crate::driver::{Cli, DriverError};
use crate::lab::Launch;
use crate::script::RequestKind;
use crate::talk::{ONE, message};

const SINCE_197: &[(crate::Version, &str)] = &[(V62, "error"), (V197, "success")];
const SINCE_325: &[(crate::Version, &str)] = &[(V62, "error"), (V325, "success")];

/// What is asked for in a session that has had a turn, and changes little.
const REQUESTS: &[fn() -> Value] = &[
    || json!({"subtype": "mcp_status"}),
    || json!({"subtype": "mcp_set_servers", "servers": {}}),
    || json!({"subtype": "apply_flag_settings", "settings": {"nonsense": 1}}),
    || json!({"subtype": "get_context_usage"}),
    || json!({"subtype": "get_settings"}),
    || json!({"subtype": "get_usage"}),
    || json!({"subtype": "get_session_cost"}),
    || json!({"subtype": "get_binary_version"}),
    || json!({"subtype": "cancel_async_message", "message_uuid": ONE}),
    || json!({"subtype": "background_tasks"}),
    || json!({"subtype": "reload_plugins"}),
    || json!({"subtype": "reload_skills"}),
    || json!({"subtype": "read_file", "path": "hello.txt"}),
    || json!({"subtype": "rename_session", "title": "A new name"}),
    || json!({"subtype": "side_question", "question": "What is this?"}),
    || json!({"subtype": "list_models"}),
    || json!({"subtype": "list_permission_rules"}),
    || json!({"subtype": "get_hooks_listing"}),
];

pub(super) const FACTS: &[Fact] = &[
    Fact::always("mcp_status", "success"),
    Fact::always("mcp_set_servers", "success"),
    Fact::always("apply_flag_settings", "success"),
    Fact::by_version("get_context_usage", SINCE_197),
    Fact::by_version("get_settings", SINCE_197),
    Fact::by_version("get_usage", SINCE_197),
    Fact::by_version("get_session_cost", SINCE_197),
    Fact::by_version("get_binary_version", SINCE_197),
    Fact::by_version("cancel_async_message", SINCE_197),
    Fact::by_version("background_tasks", SINCE_197),
    Fact::by_version("reload_plugins", SINCE_197),
    Fact::by_version("reload_skills", SINCE_197),
    Fact::by_version("read_file", SINCE_197),
    Fact::by_version("rename_session", SINCE_197),
    Fact::by_version("side_question", SINCE_197),
    Fact::by_version("list_models", SINCE_325),
    Fact::by_version("list_permission_rules", SINCE_325),
    Fact::by_version("get_hooks_listing", SINCE_325),
    Fact::always("an unknown subtype", "error: Unsupported control request subtype: teleport"),
    Fact::by_version("an unknown subtype: code", &[(V62, "null"), (V325, "unsupported_request")]),
    Fact::always("no subtype", "error: Unsupported control request subtype: undefined"),
    Fact::always("no request_id", "answered without one"),
    Fact::always("rewind_files tried", "success, the file is there"),
    Fact::always("rewind_files", "success, the file is gone"),
    Fact::always("set_model to anything", "success"),
    Fact::always("model in init after set_model", "a-model-of-tomorrow"),
    Fact::by_version("set_model is told by the user", &[(V62, "false"), (V197, "true")]),
    Fact::always("model that is asked after set_model", "a-model-of-tomorrow").of_the_model(),
    Fact::always("set_max_thinking_tokens to 0", "success"),
    Fact::by_version("thinking after that", &[(V62, "off"), (V325, "as before")]).of_the_model(),
    Fact::by_version("end_session", &[(V62, "error, goes on"), (V197, "success, exit 0")]),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let launch =
        Launch::new().mode("acceptEdits").env("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "1");
    let mut cli = trial.launch(launch).await?;
    cli.initialize(json!({"hooks": null})).await?;
    let file = trial.lab().work().join("new.txt");
    cli.send(&message(format!("write {}", file.display()), ONE)).await?;
    cli.result().await?;
    for request in REQUESTS {
        let request = request();
        let name = request["subtype"].as_str().unwrap_or_default().to_owned();
        let answer = cli.request(request).await?;
        trial.found(&name, answer["subtype"].clone());
    }
    unknown(trial, &mut cli).await?;

    let rewind = json!({"subtype": "rewind_files", "user_message_id": ONE});
    let tried = crate::driver::with(rewind.clone(), "dry_run", true);
    for (name, request) in [("rewind_files tried", tried), ("rewind_files", rewind)] {
        let answer = cli.request(request).await?;
        let subtype = answer["subtype"].as_str().unwrap_or_default();
        let there = if file.exists() { "there" } else { "gone" };
        trial.found(name, format!("{subtype}, the file is {there}"));
    }
    model_and_thinking(trial, &mut cli).await?;

    let answer = cli.request(json!({"subtype": "end_session"})).await?;
    let subtype = answer["subtype"].as_str().unwrap_or_default().to_owned();
    let end = if subtype == "success" {
        let code = cli.ended().await?.status.code();
        format!("exit {}", code.unwrap_or(-1))
    } else {
        turn(&mut cli, "Hello.", deny).await?;
        cli.close().await?;
        "goes on".to_owned()
    };
    trial.found("end_session", format!("{subtype}, {end}"));
    Ok(())
}

async fn unknown(trial: &mut Trial, cli: &mut Cli) -> Outcome {
    let answer = cli.request(json!({"subtype": "teleport"})).await?;
    trial.found("an unknown subtype", super::super::look::in_short(&answer));
    trial.found("an unknown subtype: code", answer["error_code"].clone());
    let answer = cli.request(json!({})).await?;
    trial.found("no subtype", super::super::look::in_short(&answer));
    let request = json!({"subtype": "mcp_status"});
    // What comes first has an id, so an answer without one is the answer to this.
    cli.send(&json!({"type": "control_request", "request": request})).await?;
    cli.wait("an answer without an id", |frame| {
        frame["type"] == "control_response" && frame["response"]["request_id"].is_null()
    })
    .await?;
    trial.found("no request_id", "answered without one");
    Ok(())
}

async fn model_and_thinking(trial: &mut Trial, cli: &mut Cli) -> Outcome {
    turn(cli, "Hello.", deny).await?;
    let before = last_request(trial);
    let begin = cli.log().len();
    let model = json!({"subtype": "set_model", "model": "a-model-of-tomorrow"});
    let answer = cli.request(model).await?;
    trial.found("set_model to anything", answer["subtype"].clone());
    turn(cli, "Hello again.", deny).await?;
    let log = cli.log().split_off(begin);
    let init = log.iter().find(|said| said.frame["subtype"] == "init");
    trial.found("model in init after set_model", init.map(|said| said.frame["model"].clone()));
    let told = log
        .iter()
        .any(|said| said.frame["isReplay"] == true && said.text.contains("a-model-of-tomorrow"));
    trial.found("set_model is told by the user", told);
    trial.found("model that is asked after set_model", last_request(trial)["model"].clone());

    cli.request(json!({"subtype": "set_model", "model": before["model"]})).await?;
    let none = json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 0});
    let answer = cli.request(none).await?;
    trial.found("set_max_thinking_tokens to 0", answer["subtype"].clone());
    turn(cli, "Hello once more.", deny).await?;
    let after = last_request(trial);
    let off = after["thinking"].is_null() || after["thinking"]["type"] == "disabled";
    let thinking = match (after["thinking"] == before["thinking"], off) {
        (true, _) => "as before",
        (false, true) => "off",
        (false, false) => "changed",
    };
    trial.found("thinking after that", thinking);
    Ok(())
}

/// The last request of the main conversation to the model.
fn last_request(trial: &Trial) -> Value {
    let requests = trial.lab().model().model_requests();
    let mut main = requests.iter().filter(|request| request.kind == Some(RequestKind::Main));
    main.next_back().map(|request| request.body.clone()).unwrap_or_default()
}

pub(super) const WITHOUT_SETTINGS: &[Fact] = &[Fact::by_version(
    "after apply_flag_settings without settings",
    &[(V62, "answers"), (V197, "silence"), (V325, "answers")],
)];

/// How long the version that is known to fall silent is listened to.
const SILENCE: Duration = Duration::from_secs(4);

pub(super) async fn without_settings(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.post(json!({"subtype": "apply_flag_settings"})).await?;
    let id = cli.post(json!({"subtype": "mcp_status"})).await?;
    if (V197..V325).contains(&trial.version()) {
        cli.set_patience(SILENCE);
    }
    match cli.answer_to(&id).await {
        Ok(_) => {
            trial.found("after apply_flag_settings without settings", "answers");
            cli.close().await?;
        }
        Err(DriverError::Missing { .. }) => {
            trial.found("after apply_flag_settings without settings", "silence");
            cli.signal(Signal::KILL);
            cli.ended().await?;
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
