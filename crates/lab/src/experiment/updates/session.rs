//! Updates for the session: the six kinds, what rules cover, and what is left after a resume.

use serde_json::{Value, json};

use super::super::puppet::{deny, turn};
use super::super::{Fact, Outcome, Trial, TrialError, V62, V197};
use super::{
    add_rule, directories, outcome, remove_rule, rules, set_mode, then, told, update, write,
    write_outside,
};
use crate::driver::Cli;
use crate::lab::Launch;

pub(super) const FACTS: &[Fact] = &[
    Fact::always("setMode acceptEdits tells", "acceptEdits"),
    Fact::always("after setMode acceptEdits", "runs"),
    Fact::always("setMode default tells", "default"),
    Fact::always("after setMode default", "asks"),
    Fact::always("setMode plan tells", "plan"),
    Fact::always("mode in init after setMode plan", "plan"),
    Fact::by_version(
        "setMode bypassPermissions tells",
        &[(V62, "bypassPermissions"), (V197, "nothing")],
    ),
    Fact::by_version("after setMode bypassPermissions", &[(V62, "runs"), (V197, "asks")]),
    Fact::always("suggestions sent back tell", "acceptEdits"),
    Fact::always("after addRules allow", "runs"),
    Fact::always("after addRules allow, outside of the folder", "runs"),
    Fact::always("after removeRules allow", "asks"),
    Fact::always("after addRules deny", "refused"),
    Fact::always("after removeRules deny", "asks"),
    Fact::always("replaceRules: the old rule", "asks"),
    Fact::always("replaceRules: the new rule", "runs"),
    Fact::always("after addDirectories, a file there is read", "runs"),
    Fact::always("after addDirectories, a file there is written", "asks"),
    Fact::always("after removeDirectories, a file there is read", "asks"),
    Fact::always("a path with one slash", "asks"),
    Fact::always("a path with two slashes", "runs"),
    Fact::by_version("the rule touch *", &[(V62, "asks"), (V197, "runs")]),
    Fact::by_version("the rule touch:*", &[(V62, "asks"), (V197, "runs")]),
    Fact::always("after addRules for cliArg", "runs"),
    Fact::always("files after addRules for cliArg", "none"),
    Fact::always("mode after a resume", "default"),
    Fact::always("a rule after a resume", "asks"),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    modes(trial, &mut cli).await?;
    rules_that_hold(trial, &mut cli).await?;
    added_directories(trial, &mut cli).await?;
    what_rules_cover(trial, &mut cli).await?;
    let write_rule = json!({"toolName": "Write"});
    let last = update(&mut cli, json!([add_rule(&write_rule), set_mode("acceptEdits")])).await?;
    cli.close().await?;
    let session = last.result["session_id"].as_str().unwrap_or_default();
    let mut cli = trial.launch(Launch::new().resume(session)).await?;
    cli.initialize(json!({"hooks": null})).await?;
    let turn = turn(&mut cli, &write(trial, "resumed.txt"), deny).await?;
    trial.found("mode after a resume", turn.mode());
    trial.found("a rule after a resume", outcome(&turn));
    cli.close().await?;
    Ok(())
}

async fn modes(trial: &mut Trial, cli: &mut Cli) -> Outcome {
    for mode in ["acceptEdits", "default", "bypassPermissions"] {
        let turn = update(cli, json!([set_mode(mode)])).await?;
        trial.found(&format!("setMode {mode} tells"), told(&turn));
        let then = then(cli, &write(trial, &format!("{mode}.txt"))).await?;
        trial.found(&format!("after setMode {mode}"), then);
    }
    back_to_default(cli).await?;
    let plan = update(cli, json!([set_mode("plan")])).await?;
    trial.found("setMode plan tells", told(&plan));
    let plan = turn(cli, &write(trial, "plan.txt"), deny).await?;
    trial.found("mode in init after setMode plan", plan.mode());
    back_to_default(cli).await?;
    let echo = |ask: &Value| {
        let updates = &ask["permission_suggestions"];
        json!({"behavior": "allow", "updatedInput": ask["input"], "updatedPermissions": updates})
    };
    let echoed = turn(cli, &write(trial, "echo.txt"), echo).await?;
    trial.found("suggestions sent back tell", told(&echoed));
    back_to_default(cli).await
}

async fn back_to_default(cli: &mut Cli) -> Outcome {
    cli.request(json!({"subtype": "set_permission_mode", "mode": "default"})).await?;
    Ok(())
}

async fn rules_that_hold(trial: &mut Trial, cli: &mut Cli) -> Outcome {
    let all = json!({"toolName": "Write"});
    update(cli, json!([add_rule(&all)])).await?;
    let inside = then(cli, &write(trial, "rule.txt")).await?;
    trial.found("after addRules allow", inside);
    let outside = then(cli, &write_outside(trial, "rule.txt")).await?;
    trial.found("after addRules allow, outside of the folder", outside);
    update(cli, json!([remove_rule(&all)])).await?;
    let removed = then(cli, &write(trial, "removed.txt")).await?;
    trial.found("after removeRules allow", removed);

    for (kind, name) in
        [("addRules", "after addRules deny"), ("removeRules", "after removeRules deny")]
    {
        update(cli, json!([rules(kind, "deny", std::slice::from_ref(&all))])).await?;
        let then = then(cli, &write(trial, "denied.txt")).await?;
        trial.found(name, then);
    }

    let pipes = json!({"toolName": "Bash", "ruleContent": "mkfifo:*"});
    let replaced = rules("replaceRules", "allow", std::slice::from_ref(&pipes));
    update(cli, json!([add_rule(&all), replaced])).await?;
    let old = then(cli, &write(trial, "replaced.txt")).await?;
    trial.found("replaceRules: the old rule", old);
    let new = then(cli, "run mkfifo pipe").await?;
    trial.found("replaceRules: the new rule", new);
    update(cli, json!([rules("replaceRules", "allow", &[])])).await?;
    Ok(())
}

async fn added_directories(trial: &mut Trial, cli: &mut Cli) -> Outcome {
    let folder = trial.lab().home().join("notes");
    std::fs::create_dir(&folder)?;
    let folder = folder.to_string_lossy();
    for name in ["one.txt", "two.txt"] {
        std::fs::write(format!("{folder}/{name}"), name)?;
    }
    update(cli, json!([directories("addDirectories", &folder)])).await?;
    let read = then(cli, &format!("read {folder}/one.txt")).await?;
    trial.found("after addDirectories, a file there is read", read);
    let written = then(cli, &format!("write {folder}/three.txt")).await?;
    trial.found("after addDirectories, a file there is written", written);
    update(cli, json!([directories("removeDirectories", &folder)])).await?;
    let read = then(cli, &format!("read {folder}/two.txt")).await?;
    trial.found("after removeDirectories, a file there is read", read);
    Ok(())
}

async fn what_rules_cover(trial: &mut Trial, cli: &mut Cli) -> Outcome {
    let work = trial.lab().work();
    let work = work.display();
    let edits = |path: String| json!({"toolName": "Edit", "ruleContent": path});
    let writes = write(trial, "path.txt");
    holds(trial, cli, "a path with one slash", &edits(format!("{work}/**")), &writes).await?;
    holds(trial, cli, "a path with two slashes", &edits(format!("/{work}/**")), &writes).await?;
    for (content, name) in [("touch *", "the rule touch *"), ("touch:*", "the rule touch:*")] {
        let rule = json!({"toolName": "Bash", "ruleContent": content});
        holds(trial, cli, name, &rule, "run touch touched.txt").await?;
    }
    let mut rule = add_rule(&json!({"toolName": "Write"}));
    for (kind, destination) in [("addRules", "cliArg"), ("removeRules", "cliArg")] {
        rule["type"] = json!(kind);
        rule["destination"] = json!(destination);
        update(cli, json!([rule])).await?;
        if kind == "addRules" {
            let then = then(cli, &write(trial, "argument.txt")).await?;
            trial.found("after addRules for cliArg", then);
        }
    }
    let files = super::files::written(trial);
    trial.found("files after addRules for cliArg", if files.is_empty() { "none" } else { "some" });
    Ok(())
}

/// Adds a rule, tells what becomes of a call, and takes the rule back.
async fn holds(
    trial: &mut Trial,
    cli: &mut Cli,
    name: &str,
    rule: &Value,
    text: &str,
) -> Result<(), TrialError> {
    update(cli, json!([add_rule(rule)])).await?;
    let then = then(cli, text).await?;
    trial.found(name, then);
    update(cli, json!([remove_rule(rule)])).await?;
    Ok(())
}

pub(super) const LAUNCHED: &[Fact] = &[
    Fact::always("setMode bypassPermissions tells", "bypassPermissions"),
    Fact::always("after setMode bypassPermissions", "runs"),
];

pub(super) async fn launched(trial: &mut Trial) -> Outcome {
    let launch = Launch::new().arg("--allow-dangerously-skip-permissions");
    let mut cli = trial.launch(launch).await?;
    cli.initialize(json!({"hooks": null})).await?;
    let turn = update(&mut cli, json!([set_mode("bypassPermissions")])).await?;
    trial.found("setMode bypassPermissions tells", told(&turn));
    let then = then(&mut cli, &write(trial, "bypass.txt")).await?;
    trial.found("after setMode bypassPermissions", then);
    cli.close().await?;
    Ok(())
}
