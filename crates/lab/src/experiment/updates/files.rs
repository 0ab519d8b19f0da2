//! Updates that are kept in settings files.

use serde_json::{Value, json};

use super::super::{Fact, Outcome, Trial, V197, V325};
use super::{add_rule, set_mode, then, update};
use crate::driver::{Cli, Speaker, with};
use crate::lab::Launch;

/// Where an update can be kept: the destination, the file, and a command that only its rule is for.
const KEPT: &[(&str, &str, &str)] = &[
    ("localSettings", "work/.claude/settings.local.json", "mkfifo local"),
    ("projectSettings", "work/.claude/settings.json", "truncate -s 0 project"),
    ("userSettings", "home/.claude/settings.json", "chmod 600 hello.txt"),
];

pub(super) const WITHOUT_SOURCES: &[Fact] = &[
    Fact::always("localSettings: the file", "written"),
    Fact::always("localSettings: the rule", "asks").since(V197),
    Fact::always("projectSettings: the file", "written"),
    Fact::always("userSettings: the file", "written"),
    Fact::always("defaultMode after setMode for localSettings", "acceptEdits"),
];

pub(super) const WITH_SOURCES: &[Fact] = &[
    Fact::always("localSettings: the file", "written"),
    Fact::by_version("localSettings: the rule", &[(V197, "asks"), (V325, "runs")]).since(V197),
    Fact::always("projectSettings: the file", "written"),
    Fact::always("projectSettings: the rule", "asks").since(V197),
    Fact::always("userSettings: the file", "written"),
    Fact::always("userSettings: the rule", "runs").since(V197),
    Fact::by_version(
        "standard error tells that the local settings are ignored",
        &[(V197, "true"), (V325, "false")],
    )
    .since(V197),
];

pub(super) async fn without_sources(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    kept(trial, &mut cli).await?;
    let mode = with(set_mode("acceptEdits"), "destination", "localSettings");
    update(&mut cli, json!([mode])).await?;
    // Written when the CLI gets to it, and at the latest when it ends.
    cli.close().await?;
    files(trial);
    let path = trial.lab().work().join(".claude/settings.local.json");
    let settings: Value =
        serde_json::from_slice(&std::fs::read(path)?).map_err(std::io::Error::other)?;
    let mode = settings["permissions"]["defaultMode"].clone();
    trial.found("defaultMode after setMode for localSettings", mode);
    Ok(())
}

pub(super) async fn with_sources(trial: &mut Trial) -> Outcome {
    let launch = Launch::new().setting_sources("user,project,local");
    let mut cli = trial.launch(launch).await?;
    kept(trial, &mut cli).await?;
    let log = cli.close().await?.log;
    files(trial);
    let mut errors = log.iter().filter(|said| said.by == Speaker::StandardError);
    let told = errors.any(|said| {
        said.text.contains("settings.local.json") && said.text.contains("not been trusted")
    });
    trial.found("standard error tells that the local settings are ignored", told);
    Ok(())
}

/// Tells which files were written, when the CLI has ended.
fn files(trial: &mut Trial) {
    let there = written(trial);
    for (destination, file, _) in KEPT {
        let found = if there.contains(file) { "written" } else { "absent" };
        trial.found(&format!("{destination}: the file"), found);
    }
}

/// Adds a rule for each destination, and tells whether it holds.
async fn kept(trial: &mut Trial, cli: &mut Cli) -> Outcome {
    cli.initialize(json!({"hooks": null})).await?;
    for (destination, _, command) in KEPT {
        let first = command.split(' ').next().unwrap_or_default();
        let rule = json!({"toolName": "Bash", "ruleContent": format!("{first}:*")});
        let rule = with(add_rule(&rule), "destination", *destination);
        update(cli, json!([rule])).await?;
        let then = then(cli, &format!("run {command}")).await?;
        trial.found(&format!("{destination}: the rule"), then);
    }
    Ok(())
}

/// The settings files that there are.
pub(super) fn written(trial: &Trial) -> Vec<&'static str> {
    let root = trial.lab().root();
    let files = KEPT.iter().map(|(_, file, _)| *file);
    files.filter(|file| root.join(file).exists()).collect()
}
