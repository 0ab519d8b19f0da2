//! A second `initialize`, while a permission request is open, and servers that take the place of
//! others.

use serde_json::{Value, json};

use super::super::puppet::{deny, turn};
use super::super::{Fact, Outcome, Trial, V62, V197, V325};
use crate::lab::Launch;
use crate::talk::{Reply, serve};

pub(super) const FACTS: &[Fact] = &[
    Fact::by_version("a second one", &[(V62, "Already initialized"), (V197, "success")]),
    Fact::always("the open request is listed", "true"),
    Fact::by_version("hooks_applied", &[(V197, "null"), (V325, "true")]).since(V197),
    Fact::by_version("the hook that is called", &[(V197, "first"), (V325, "second")]).since(V197),
    Fact::always("servers that mcp_set_servers removes", r#"["one"]"#),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    let hooks = |id: &str| json!({"PreToolUse": [{"matcher": "Write", "hookCallbackIds": [id]}]});
    cli.initialize(json!({"hooks": hooks("first")})).await?;
    let write = format!("write {}/new.txt", trial.lab().work().display());
    cli.say(&write).await?;
    let hook = cli.asked("hook_callback").await?;
    cli.answer(&hook, json!({})).await?;
    let ask = cli.asked("can_use_tool").await?;
    let answer = cli.initialize(json!({"hooks": hooks("second")})).await?;
    trial.found("a second one", answer["error"].as_str().or(answer["subtype"].as_str()));
    let open = answer["pending_permission_requests"].as_array().into_iter().flatten();
    let listed = open.filter(|open| open["request_id"] == ask["request_id"]).count();
    trial.found("the open request is listed", listed == 1);
    trial.found("hooks_applied", answer["response"]["hooks_applied"].clone());
    cli.deny(&ask, "Not today.").await?;
    cli.result().await?;
    let next = turn(&mut cli, &write, |request| match request["subtype"].as_str() {
        Some("hook_callback") => json!({}),
        _ => deny(request),
    });
    let next = next.await?;
    let called = next.asks.iter().find(|ask| ask["request"]["subtype"] == "hook_callback");
    let called = called.map_or(Value::Null, |ask| ask["request"]["callback_id"].clone());
    trial.found("the hook that is called", called);

    let mut answer = Value::Null;
    for name in ["one", "two"] {
        let servers = json!({name: {"type": "sdk", "name": name}});
        let id = cli.post(json!({"subtype": "mcp_set_servers", "servers": servers})).await?;
        let answers = |frame: &Value| frame["response"]["request_id"] == *id;
        // A server that is there would have to answer; this one cannot be reached.
        let reply = |_: &Value| Reply::Error("nobody is there");
        answer = serve(&mut cli, "the answer about servers", answers, reply).await?;
    }
    let removed = answer["response"]["response"]["removed"].clone();
    trial.found("servers that mcp_set_servers removes", removed);
    cli.close().await?;
    Ok(())
}
