//! Who is asked before a tool runs: the same calls in one mode after the other.

mod allowed;
mod bypass;
mod denied;
mod no_flag;
mod plan;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::look::{from_cli, modes};
use super::{Experiment, Outcome, Trial};
use crate::driver::{Cli, Said, with};
use crate::lab::Launch;
use crate::talk::{Reply, is_result, serve, tool_results};

pub(super) const EXPERIMENTS: &[Experiment] = &[
    allowed::EXPERIMENT,
    denied::EXPERIMENT,
    no_flag::EXPERIMENT,
    plan::EXPERIMENT,
    bypass::EXPERIMENT,
];

/// The calls, in their order: the id that the script gives each, and what it is called among the
/// findings.
const CALLS: &[(&str, &str)] = &[
    ("toolu_read_inside", "Read in the folder"),
    ("toolu_echo", "Bash echo"),
    ("toolu_ls", "Bash ls"),
    ("toolu_read_outside", "Read outside"),
    ("toolu_edit_inside", "Edit in the folder"),
    ("toolu_write_inside", "Write in the folder"),
    ("toolu_write_outside", "Write outside"),
    ("toolu_touch", "Bash touch"),
    ("toolu_curl", "Bash curl"),
    ("toolu_fetch", "WebFetch"),
    ("toolu_settings", "Write .claude/settings.json"),
    ("toolu_git", "Write .git/config"),
    ("toolu_bashrc", "Write ~/.bashrc"),
    ("toolu_mcp", "Write .mcp.json"),
    ("toolu_rule", "Bash printf with an ask rule"),
    ("toolu_made", "Bash mkdir with an ask rule"),
    ("toolu_question", "AskUserQuestion"),
    ("toolu_rm", "Bash rm -rf of the home"),
];

/// The model makes all of these calls in one turn, whatever comes of each.
const SURVEY: &str = r#"
[[answer]]
tool = { id = "toolu_read_inside", name = "Read", input = { file_path = "${cwd}/hello.txt" } }

[[answer]]
tool = { id = "toolu_echo", name = "Bash", input = { command = "echo here" }, result = "here" }

[[answer]]
tool = { id = "toolu_ls", name = "Bash", input = { command = "ls" }, result = "hello.txt" }

[[answer]]
tool = { id = "toolu_read_outside", name = "Read", input = { file_path = "${home}/outside.txt" } }

[[answer]]
tool = { id = "toolu_edit_inside", name = "Edit", input = { file_path = "${cwd}/hello.txt", old_string = "hello", new_string = "good morning" } }

[[answer]]
tool = { id = "toolu_write_inside", name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
tool = { id = "toolu_write_outside", name = "Write", input = { file_path = "${home}/new.txt", content = "new\n" } }

[[answer]]
tool = { id = "toolu_touch", name = "Bash", input = { command = "touch touched.txt" }, result = "" }

[[answer]]
tool = { id = "toolu_curl", name = "Bash", input = { command = "curl -s http://127.0.0.1:9/" }, result = "Exit code 7", fails = true }

[[answer]]
tool = { id = "toolu_fetch", name = "WebFetch", input = { url = "https://127.0.0.1:9/", prompt = "What is there?" }, result = "connection refused", fails = true }

[[answer]]
tool = { id = "toolu_settings", name = "Write", input = { file_path = "${cwd}/.claude/settings.json", content = "{}\n" } }

[[answer]]
tool = { id = "toolu_git", name = "Write", input = { file_path = "${cwd}/.git/config", content = "\n" } }

[[answer]]
tool = { id = "toolu_bashrc", name = "Write", input = { file_path = "${home}/.bashrc", content = "\n" } }

[[answer]]
tool = { id = "toolu_mcp", name = "Write", input = { file_path = "${cwd}/.mcp.json", content = "{}\n" } }

[[answer]]
tool = { id = "toolu_rule", name = "Bash", input = { command = "printf asked" }, result = "asked" }

[[answer]]
tool = { id = "toolu_made", name = "Bash", input = { command = "mkdir made" }, result = "" }

[[answer]]
[answer.tool]
id = "toolu_question"
name = "AskUserQuestion"
[[answer.tool.input.questions]]
question = "Which color?"
header = "Color"
multiSelect = false
options = [
    { label = "Red", description = "Like a rose." },
    { label = "Green", description = "Like grass." },
]

[[answer]]
tool = { id = "toolu_rm", name = "Bash", input = { command = "rm -rf ${home}" }, result = "" }

[[answer]]
text = "That was all."
"#;

/// Two rules that ask, one for a command whose paths are looked at; and nobody is called to tell
/// whether an address may be fetched.
fn settings() -> Value {
    let rules = json!({"ask": ["Bash(printf:*)", "Bash(mkdir:*)"]});
    json!({"permissions": rules, "skipWebFetchPreflight": true})
}

/// How the calls are made and answered.
struct Survey {
    launch: Launch,
    settings: Value,
    /// Entered over the protocol before the first message.
    mode: Option<&'static str>,
    /// Which calls are allowed when they are asked for; the others are denied.
    allows: fn(&str) -> bool,
}

/// The calls that may do no harm even to a laboratory, and reach nobody.
fn harmless(id: &str) -> bool {
    ["read", "echo", "ls", "edit", "write", "touch", "rule", "made"]
        .iter()
        .any(|part| id.starts_with(&format!("toolu_{part}")))
}

impl Survey {
    /// A survey in which everything harmless is allowed.
    fn new(launch: Launch) -> Self {
        Self { launch, settings: settings(), mode: None, allows: harmless }
    }

    /// With one more setting.
    fn setting(mut self, name: &str, value: bool) -> Self {
        self.settings = with(self.settings, name, value);
        self
    }

    /// Makes the calls, and tells of each whether it was asked for, ran or was refused.
    async fn make(self, trial: &mut Trial) -> Outcome {
        std::fs::write(trial.lab().home().join("outside.txt"), "outside\n")?;
        let launch = self.launch.arg("--settings").arg(self.settings.to_string());
        let mut cli = trial.launch(launch).await?;
        cli.initialize(json!({"hooks": null})).await?;
        if let Some(mode) = self.mode {
            cli.request(json!({"subtype": "set_permission_mode", "mode": mode})).await?;
        }
        cli.say("Go on.").await?;
        let result = answered(&mut cli, self.allows).await?;
        trial.found("edited", written(trial, "hello.txt", "good morning\n"));
        trial.found("written", written(trial, "new.txt", "new\n"));
        let log = cli.close().await?.log;
        trial.found("mode in init", modes(&log).first().cloned());
        tell(trial, &log, &result);
        Ok(())
    }
}

fn written(trial: &Trial, file: &str, text: &str) -> bool {
    std::fs::read_to_string(trial.lab().work().join(file)).is_ok_and(|found| found == text)
}

/// The words of a denial.
const NOT_TODAY: &str = "Not today.";

async fn answered(cli: &mut Cli, allows: fn(&str) -> bool) -> Result<Value, crate::DriverError> {
    serve(cli, "a result", is_result, |ask| {
        let request = &ask["request"];
        let allowed = request["tool_use_id"].as_str().is_some_and(allows);
        Reply::Success(match allowed {
            true => json!({"behavior": "allow", "updatedInput": request["input"]}),
            false => json!({"behavior": "deny", "message": NOT_TODAY}),
        })
    })
    .await
}

/// Tells what came of every call, and what the result says about it.
fn tell(trial: &mut Trial, log: &[Said], result: &Value) {
    let asks = from_cli(log).filter(|frame| frame["request"]["subtype"] == "can_use_tool");
    let asked: BTreeSet<_> =
        asks.filter_map(|ask| ask["request"]["tool_use_id"].as_str()).collect();
    let denials = result["permission_denials"].as_array().into_iter().flatten();
    let denied: BTreeSet<_> = denials.filter_map(|denial| denial["tool_use_id"].as_str()).collect();
    for (id, name) in CALLS {
        let outcome = match (asked.contains(id), denied.contains(id), result_of(log, id)) {
            (_, _, None) => "not called",
            (true, ..) => "ask",
            (_, true, _) => "no",
            (_, _, Some(text)) if text.contains("No such tool available") => "no such tool",
            _ => "run",
        };
        trial.found(name, outcome);
    }
    // The call that every mode but those that permit edits refuses, or asks for.
    let read = result_of(log, "toolu_write_inside").unwrap_or_default();
    trial.found("the model reads about Write", read.replace(&place(trial), "…"));
    trial.found("refusals in the result", denied.len());
    let told = from_cli(log).filter(|frame| frame["subtype"] == "permission_denied");
    let told: BTreeSet<_> = told.filter_map(|frame| frame["tool_use_id"].as_str()).collect();
    let told = match told.len() {
        0 => "none".to_owned(),
        _ if told == denied => "all that are in the result".to_owned(),
        some => format!("{some} of {}", denied.len()),
    };
    trial.found("refusals told by system/permission_denied", told);
    trial.found("end of the turn", result["subtype"].clone());
}

/// Where the file is that is written in the working folder.
fn place(trial: &Trial) -> String {
    trial.lab().work().join("new.txt").to_string_lossy().into_owned()
}

/// What the model reads about a call.
fn result_of(log: &[Said], id: &str) -> Option<String> {
    let frames = from_cli(log).filter(|frame| frame["type"] == "user");
    frames
        .filter(|frame| frame.to_string().contains(id))
        .find_map(|frame| tool_results(frame).pop())
}
