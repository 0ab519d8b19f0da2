//! Answers to permission requests that change what is asked for later.

use serde_json::{Value, json};

use super::{Outcome, Reply, Scenario, ScenarioError, at_least, ensure, is_result, serve};
use crate::lab::{Lab, Launch};
use crate::talk::WRITE_TWICE;

const INSTALL_TWICE: &str = r#"
[[answer]]
tool = { name = "Bash", input = { command = "install -d one", description = "Make a folder" }, result = "" }

[[answer]]
tool = { name = "Bash", input = { command = "install -d two", description = "Make a folder" }, result = "" }

[[answer]]
text = "Both are there."
"#;

const READ_TWICE: &str = r#"
[[answer]]
tool = { name = "Read", input = { file_path = "${home}/notes/one.txt" } }

[[answer]]
tool = { name = "Read", input = { file_path = "${home}/notes/two.txt" } }

[[answer]]
text = "I have read both."
"#;

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new(
        "update-prefix-rule",
        "A rule for the beginning of a command covers the next command.",
        INSTALL_TWICE,
        |lab| Box::pin(prefix_rule(lab)),
    ),
    Scenario::new(
        "update-suggestions",
        "The suggestions of a request can be sent back as they came, and are kept in a file.",
        INSTALL_TWICE,
        |lab| Box::pin(suggestions(lab)),
    ),
    Scenario::new(
        "update-deny-rule",
        "An answer can forbid the next call while it allows this one.",
        WRITE_TWICE,
        |lab| Box::pin(deny_rule(lab)),
    ),
    Scenario::new(
        "update-directory",
        "An answer can add a directory, and the next file there is read unasked.",
        READ_TWICE,
        |lab| Box::pin(directory(lab)),
    ),
    Scenario::new(
        "update-malformed",
        "One update that is none spoils the others.",
        WRITE_TWICE,
        |lab| Box::pin(malformed(lab)),
    ),
    Scenario::new(
        "update-mode-and-rule",
        "Several updates in one answer all hold.",
        WRITE_TWICE,
        |lab| Box::pin(several(lab)),
    ),
];

/// Allows everything, with these updates, and returns how often it was asked, besides the result.
async fn allowed(
    lab: &Lab,
    updates: impl Fn(&Value) -> Value + Sync,
) -> Result<(usize, Value, crate::driver::Ended), ScenarioError> {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Do it.").await?;
    let mut asked = 0;
    let reply = |ask: &Value| {
        asked += 1;
        let request = &ask["request"];
        Reply::Success(json!({
            "behavior": "allow",
            "updatedInput": request["input"],
            "updatedPermissions": updates(request),
        }))
    };
    let result = serve(&mut cli, "a result", is_result, reply).await?;
    Ok((asked, result, cli.close().await?))
}

fn rule(behavior: &str, rule: &Value) -> Value {
    json!({"type": "addRules", "rules": [rule], "behavior": behavior, "destination": "session"})
}

async fn prefix_rule(lab: &Lab) -> Outcome {
    let covers = json!({"toolName": "Bash", "ruleContent": "install -d:*"});
    let (asked, _, ended) = allowed(lab, |_| json!([rule("allow", &covers)])).await?;
    ensure(asked == 1, "only the first command is asked for", &json!(asked))?;
    Ok(vec![ended])
}

async fn suggestions(lab: &Lab) -> Outcome {
    let echo = |request: &Value| request["permission_suggestions"].clone();
    let (_, result, ended) = allowed(lab, echo).await?;
    let kept = lab.work().join(".claude/settings.local.json").exists();
    ensure(kept, "the rule is kept in the settings of the folder", &result)?;
    Ok(vec![ended])
}

async fn deny_rule(lab: &Lab) -> Outcome {
    let forbids = json!({"toolName": "Write"});
    let (asked, result, ended) = allowed(lab, |_| json!([rule("deny", &forbids)])).await?;
    ensure(asked == 1, "only the first call is asked for", &json!(asked))?;
    ensure(lab.work().join("one.txt").exists(), "the first call runs", &result)?;
    ensure(!lab.work().join("two.txt").exists(), "the second one does not", &result)?;
    Ok(vec![ended])
}

async fn directory(lab: &Lab) -> Outcome {
    let folder = lab.home().join("notes");
    let written = std::fs::create_dir(&folder)
        .and_then(|()| std::fs::write(folder.join("one.txt"), "1\n"))
        .and_then(|()| std::fs::write(folder.join("two.txt"), "2\n"));
    ensure(written.is_ok(), "the files can be written", &json!(folder))?;
    let add =
        json!([{"type": "addDirectories", "directories": [folder], "destination": "session"}]);
    let (asked, result, ended) = allowed(lab, |_| add.clone()).await?;
    ensure(asked == 1, "only the first file is asked for", &json!(asked))?;
    ensure(result["result"] == "I have read both.", "both are read", &result)?;
    Ok(vec![ended])
}

async fn malformed(lab: &Lab) -> Outcome {
    let good = rule("allow", &json!({"toolName": "Write"}));
    let bad = json!({"tool": "Write", "permission": "allow"});
    let (asked, result, ended) = allowed(lab, |_| json!([good, bad])).await?;
    ensure(asked == 2, "the second call is asked for as well", &json!(asked))?;
    let runs = at_least(lab, 197);
    ensure(lab.work().join("one.txt").exists() == runs, "the tool runs as it did", &result)?;
    Ok(vec![ended])
}

async fn several(lab: &Lab) -> Outcome {
    let updates = json!([
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
        rule("deny", &json!({"toolName": "Write"})),
    ]);
    let (asked, result, ended) = allowed(lab, |_| updates.clone()).await?;
    ensure(asked == 1, "only the first call is asked for", &json!(asked))?;
    ensure(!lab.work().join("two.txt").exists(), "a rule goes before the mode", &result)?;
    Ok(vec![ended])
}
