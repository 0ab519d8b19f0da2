//! What the request carries.

use serde_json::{Value, json};

use super::super::puppet::{Turn, deny, turn};
use super::super::{Fact, Outcome, Trial, V62, V197};
use crate::lab::Launch;

pub(super) const FACTS: &[Fact] = &[
    Fact::by_version("Write: display_name", &[(V62, "absent"), (V197, "Write")]),
    Fact::by_version("Write: description", &[(V62, "absent"), (V197, "new.txt")]),
    Fact::always(
        "Write: suggestions",
        r#"[{"destination":"session","mode":"acceptEdits","type":"setMode"}]"#,
    ),
    Fact::always("Write: blocked_path", "false"),
    Fact::always("Edit: replace_all", "false"),
    Fact::always("Bash outside: blocked_path", "true"),
    Fact::by_version("Read outside: reason", &[(V62, "untyped"), (V197, "workingDir")]),
    Fact::by_version("ask rule: reason", &[(V62, "untyped"), (V197, "rule")]),
    Fact::always("ask rule: suggestions", "absent").since(V197),
    Fact::always("hook: reason", "hook").since(V197),
    Fact::always("hook: suggestions", "absent").since(V197),
    Fact::by_version("settings file: reason", &[(V62, "untyped"), (V197, "safetyCheck")]),
    Fact::by_version("several commands: reason", &[(V62, "untyped"), (V197, "subcommandResults")]),
    Fact::by_version("plan mode: reason", &[(V62, "untyped"), (V197, "mode")]),
    Fact::always("plan mode: suggestions", "absent").since(V197),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let (work, home) = (trial.lab().work(), trial.lab().home());
    let (work, home) = (work.to_string_lossy(), home.to_string_lossy());
    std::fs::write(trial.lab().home().join("outside.txt"), "outside\n")?;
    let settings = json!({"permissions": {"ask": ["Bash(printf:*)"]}});
    let launch = Launch::new().arg("--settings").arg(settings.to_string());
    let mut cli = trial.launch(launch).await?;
    let hooks = json!({"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["asks"]}]});
    cli.initialize(json!({"hooks": hooks})).await?;
    for (name, text) in [
        ("Write", format!("write {work}/new.txt")),
        ("read", format!("read {work}/hello.txt")),
        ("Edit", format!("edit {work}/hello.txt")),
        ("Read outside", format!("read {home}/outside.txt")),
        ("Bash outside", format!("run touch {home}/outside.txt")),
        ("ask rule", "run printf asked".to_owned()),
        ("hook", "run echo hooked".to_owned()),
        ("settings file", format!("write {work}/.claude/settings.json")),
        ("several commands", "run install -d one && install -d two".to_owned()),
    ] {
        let turn = turn(&mut cli, &text, answer).await?;
        tell(trial, name, &turn);
    }
    cli.request(json!({"subtype": "set_permission_mode", "mode": "plan"})).await?;
    let turn = turn(&mut cli, &format!("write {work}/other.txt"), answer).await?;
    tell(trial, "plan mode", &turn);
    cli.close().await?;
    Ok(())
}

/// The hook wants the person to be asked about one command, and the person refuses everything.
fn answer(request: &Value) -> Value {
    if request["subtype"] == "hook_callback" {
        if request["input"]["tool_input"]["command"] != "echo hooked" {
            return json!({});
        }
        let decision = json!({"hookEventName": "PreToolUse", "permissionDecision": "ask"});
        return json!({"hookSpecificOutput": decision});
    }
    deny(request)
}

fn tell(trial: &mut Trial, name: &str, turn: &Turn) {
    let ask = turn.asks.iter().find(|ask| ask["request"]["subtype"] == "can_use_tool");
    let Some(request) = ask.map(|ask| &ask["request"]) else { return };
    let keys: Vec<_> = request.as_object().into_iter().flatten().map(|(key, _)| key).collect();
    trial.found(&format!("{name}: keys"), json!(keys));
    let field = |key: &str| match &request[key] {
        Value::Null => json!("absent"),
        value => value.clone(),
    };
    trial.found(&format!("{name}: display_name"), field("display_name"));
    trial.found(&format!("{name}: description"), field("description"));
    trial.found(&format!("{name}: suggestions"), field("permission_suggestions"));
    trial.found(&format!("{name}: blocked_path"), request["blocked_path"].is_string());
    let reason = request["decision_reason_type"].as_str().unwrap_or("untyped");
    trial.found(&format!("{name}: reason"), reason);
    if name == "Edit" {
        trial.found("Edit: replace_all", request["input"]["replace_all"].clone());
    }
}
