//! The answers that a person can choose from.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::super::puppet::{Turn, allow, deny, turn};
use super::super::{Fact, Outcome, Trial, V62, V197, V325};
use super::{allow_in, set_mode, shown};
use crate::driver::{Cli, with};
use crate::lab::Launch;

const PLAN: &str = "# Plan\n\n1. Write it.\n";
const EDITED: &str = "# Plan\n\n1. Write it twice.\n";

pub(super) const FACTS: &[Fact] = &[
    Fact::always("input without a plan file", "{}"),
    Fact::by_version("requires_user_interaction", &[(V62, "absent"), (V325, "true")]),
    Fact::always("keep planning: the model reads", "Not today."),
    Fact::always("keep planning: mode", "plan"),
    Fact::always("the plan file is asked for", "false"),
    Fact::always("folder of the plan file", "~/.claude/plans"),
    Fact::always("name of the plan file", "words"),
    Fact::always("plan in the input", "of the file"),
    Fact::by_version("planFilePath in the input", &[(V62, "absent"), (V197, "of the file")]),
    Fact::always("allowedPrompts in the input", r#"[{"prompt":"make folders","tool":"Bash"}]"#),
    Fact::always("the assistant's message has the plan of the file", "true"),
    Fact::always("auto-accept: tells", "acceptEdits"),
    Fact::always("auto-accept: then Write", "runs"),
    Fact::always("manual: tells", "default"),
    Fact::always("manual: then Write", "asks"),
    Fact::always("bare allow: mode", "default"),
    Fact::by_version(
        "bare allow is told as edited",
        &[(V62, "false"), (V197, "true"), (V325, "false")],
    ),
    Fact::always("allowedPrompts: then the command", "asks"),
    Fact::by_version("edited plan is told as edited", &[(V62, "false"), (V197, "true")]),
    Fact::by_version(
        "edited plan: the model reads",
        &[(V62, "the old one"), (V197, "the new one")],
    ),
    Fact::by_version("edited plan: the file has", &[(V62, "the old one"), (V197, "the new one")]),
    Fact::by_version("outside of plan mode", &[(V62, "asks"), (V197, "tool error")]),
    Fact::always("clear context: the turn", "error_during_execution"),
    Fact::always("clear context: /clear", "another session").since(V197),
    Fact::always("clear context: the next prompt", "success").since(V197),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new().mode("plan")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    requests(trial, &mut cli).await?;
    answers(trial, &mut cli).await?;
    edited(trial, &mut cli).await?;
    let outside = turn(&mut cli, "Show it.", deny).await?;
    let outside = match (outside.asked(), outside.failed()) {
        (true, _) => "asks",
        (false, true) => "tool error",
        (false, false) => "runs",
    };
    trial.found("outside of plan mode", outside);
    cleared(trial, &mut cli).await?;
    cli.close().await?;
    Ok(())
}

/// What the request carries, while the person keeps refusing.
async fn requests(trial: &mut Trial, cli: &mut Cli) -> Outcome {
    let empty = turn(cli, "Show it.", deny).await?;
    let request = exit(&empty);
    trial.found("input without a plan file", request["input"].clone());
    let needs = match &request["requires_user_interaction"] {
        Value::Null => json!("absent"),
        value => value.clone(),
    };
    trial.found("requires_user_interaction", needs);
    trial.found("keep planning: the model reads", empty.read());

    let planned = turn(cli, "Make a plan.", deny).await?;
    trial.found("keep planning: mode", planned.mode());
    trial.found("the plan file is asked for", planned.asked());
    let file = plan_file(trial)?;
    trial.found("folder of the plan file", if file.is_some() { "~/.claude/plans" } else { "" });
    let name = file.as_ref().and_then(|file| file.file_stem()).unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    let words = name.split('-').all(|word| word.chars().all(|char| char.is_ascii_lowercase()));
    trial.found("name of the plan file", if words { "words".to_owned() } else { name });

    let turn = turn(cli, "Show it in your words.", deny).await?;
    let input = exit(&turn)["input"].clone();
    let plan = if input["plan"] == PLAN { json!("of the file") } else { input["plan"].clone() };
    trial.found("plan in the input", plan);
    let path = match input["planFilePath"].as_str() {
        None => "absent",
        Some(path) if file.is_some_and(|file| file.as_os_str() == path) => "of the file",
        Some(_) => "another",
    };
    trial.found("planFilePath in the input", path);
    trial.found("allowedPrompts in the input", input["allowedPrompts"].clone());
    let mut messages = turn.frames().filter(|frame| frame["type"] == "assistant");
    let filled = messages.any(|frame| frame["message"]["content"][0]["input"]["plan"] == PLAN);
    trial.found("the assistant's message has the plan of the file", filled);
    Ok(())
}

/// The request about the plan.
fn exit(turn: &Turn) -> Value {
    let is = |ask: &&Value| ask["request"]["tool_name"] == "ExitPlanMode";
    turn.asks.iter().find(is).map(|ask| ask["request"].clone()).unwrap_or_default()
}

/// The plan file, if there is one.
fn plan_file(trial: &Trial) -> std::io::Result<Option<PathBuf>> {
    let mut files = std::fs::read_dir(trial.lab().home().join(".claude/plans"))?;
    Ok(files.next().transpose()?.map(|entry| entry.path()))
}

async fn answers(trial: &mut Trial, cli: &mut Cli) -> Outcome {
    let work = trial.lab().work();
    for (name, mode) in [("auto-accept", "acceptEdits"), ("manual", "default")] {
        let turn = shown(cli, "Show it.", allow_in(mode)).await?;
        let told = turn.told_modes().last().copied().map(ToOwned::to_owned);
        trial.found(&format!("{name}: tells"), told);
        let write = format!("write {}/{name}.txt", work.display());
        let then = self::turn(cli, &write, deny).await?;
        trial.found(&format!("{name}: then Write"), asks(&then));
    }
    let plain = shown(cli, "Show it in your words.", allow).await?;
    trial.found("bare allow is told as edited", is_told_as_edited(&plain));
    let then = turn(cli, "run install -d one", deny).await?;
    trial.found("bare allow: mode", then.mode());
    trial.found("allowedPrompts: then the command", asks(&then));
    Ok(())
}

fn asks(turn: &Turn) -> &'static str {
    if turn.asked() { "asks" } else { "runs" }
}

fn is_told_as_edited(turn: &Turn) -> bool {
    turn.read().contains("(edited by user)")
}

async fn edited(trial: &mut Trial, cli: &mut Cli) -> Outcome {
    let turn = shown(cli, "Show it.", |request| {
        let input = with(request["input"].clone(), "plan", EDITED);
        json!({"behavior": "allow", "updatedInput": input})
    });
    let turn = turn.await?;
    let which = |text: &str| match (text.contains(EDITED), text.contains(PLAN)) {
        (true, _) => "the new one",
        (false, true) => "the old one",
        (false, false) => "neither",
    };
    trial.found("edited plan is told as edited", is_told_as_edited(&turn));
    trial.found("edited plan: the model reads", which(&turn.read()));
    let file = plan_file(trial)?.map(std::fs::read_to_string).transpose()?;
    trial.found("edited plan: the file has", which(&file.unwrap_or_default()));
    Ok(())
}

/// The person wants the plan carried out without what was said before.
async fn cleared(trial: &mut Trial, cli: &mut Cli) -> Outcome {
    let stopped = shown(
        cli,
        "Show it.",
        |_| json!({"behavior": "deny", "message": "Starting afresh.", "interrupt": true}),
    );
    let stopped = stopped.await?;
    trial.found("clear context: the turn", stopped.result["subtype"].clone());
    if trial.version() < V197 {
        return Ok(());
    }
    set_mode(cli, "default").await?;
    turn(cli, "/clear", deny).await?;
    let next = turn(cli, "Hello.", deny).await?;
    let another = stopped.result["session_id"] != next.result["session_id"];
    let says = if another { "another session" } else { "the same session" };
    trial.found("clear context: /clear", says);
    trial.found("clear context: the next prompt", next.result["subtype"].clone());
    Ok(())
}
