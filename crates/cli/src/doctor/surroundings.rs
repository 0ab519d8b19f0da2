//! What is around the program: an account, settings, and what the laboratory needs.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use countersign::cli::FindOptions;
use countersign::protocol::Version;
use countersign_lab::Versions;
use tokio::process::Command;

use super::check::Check;

/// The oldest Node.js that the CLI runs on, where it is not a program of its own.
const NODE: u32 = 18;

/// Everything around the program.
pub(super) async fn all(options: &FindOptions) -> Vec<Check> {
    let mut checks = vec![account(options.home.as_deref())];
    checks.extend(settings(options));
    checks.push(node().await);
    checks.push(installed());
    checks
}

/// Whether the CLI can talk to a model. Nothing is read: that something is there is enough.
fn account(home: Option<&Path>) -> Check {
    let name = "account";
    let config = config_home(home);
    let set = |variable: &str| std::env::var_os(variable).is_some_and(|value| !value.is_empty());
    const VARIABLES: [&str; 5] = [
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
    ];
    if let Some(variable) = VARIABLES.into_iter().find(|variable| set(variable)) {
        return Check::fine(name, format!("{variable} is set (it was not tried)"));
    }
    let login = config.map(|config| config.join(".credentials.json"));
    match login {
        Some(file) if file.exists() => {
            Check::fine(name, format!("there is a login in {} (it was not tried)", file.display()))
        }
        _ => Check::mind(
            name,
            "neither a login nor a key was found",
            "Start `claude` once and log in, or set ANTHROPIC_API_KEY. The demo, the simulator and \
             the laboratory need neither.",
        ),
    }
}

fn config_home(home: Option<&Path>) -> Option<PathBuf> {
    let named = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|folder| !folder.is_empty());
    named.map(PathBuf::from).or_else(|| Some(home?.join(".claude")))
}

/// The settings files that the CLI would read here: one that is broken is passed over by it in
/// silence, with all the rules in it.
fn settings(options: &FindOptions) -> Vec<Check> {
    let name = "settings";
    let user = config_home(options.home.as_deref()).map(|config| config.join("settings.json"));
    let in_project = |file: &str| options.cwd.as_ref().map(|cwd| cwd.join(".claude").join(file));
    let managed = Some(PathBuf::from("/etc/claude-code/managed-settings.json"));
    let files =
        [user, in_project("settings.json"), in_project("settings.local.json"), managed.clone()];
    let mut checks = Vec::new();
    for file in files.into_iter().flatten() {
        let shown = file.display();
        let text = match std::fs::read(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => {
                let says = format!("{shown} cannot be read: {error}");
                checks.push(Check::wrong(name, says, "Let the CLI read it, or move it away."));
                continue;
            }
        };
        checks.push(match serde_json::from_slice::<serde_json::Value>(&text) {
            Ok(_) if Some(&file) == managed.as_ref() => Check::mind(
                name,
                format!("{shown} is there: its rules hold for every session and beat all others"),
                "Ask whoever looks after this machine, if something is refused without asking.",
            ),
            Ok(_) => Check::fine(name, format!("{shown} can be read")),
            Err(error) => Check::wrong(
                name,
                format!("{shown} is not JSON ({error}), so none of its rules hold"),
                "Mend it, or move it away.",
            ),
        });
    }
    checks
}

/// Node.js and npm, for the laboratory: it installs versions of the CLI, and runs the older ones.
async fn node() -> Check {
    let name = "node";
    let mend = "Install Node.js with npm. Only `countersign lab` needs it, to install and run \
                versions of the CLI.";
    let (node, npm) = (asked("node").await, asked("npm").await);
    match (node, npm) {
        (Some(node), Some(npm)) => {
            let major = node.trim_start_matches('v').split('.').next().map(str::parse::<u32>);
            if let Some(Ok(major)) = major
                && major < NODE
            {
                let says = format!("Node.js {node} is older than {NODE}");
                return Check::mind(name, says, mend);
            }
            Check::fine(name, format!("Node.js {node}, npm {npm}"))
        }
        (None, _) => Check::mind(name, "Node.js is not on the PATH", mend),
        (_, None) => Check::mind(name, "npm is not on the PATH", mend),
    }
}

/// What a program says when it is asked for its version.
#[expect(clippy::disallowed_methods, reason = "a program is asked for its version and waited for")]
async fn asked(program: &str) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let limit = std::time::Duration::from_secs(20);
    let output = tokio::time::timeout(limit, command.output()).await.ok()?.ok()?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !said.is_empty()).then_some(said)
}

/// The versions of the CLI that the laboratory has.
fn installed() -> Check {
    let name = "versions";
    let mend = format!(
        "Install those that everything is tested with ({}): countersign lab install",
        Version::TESTED.map(|version| version.to_string()).join(", ")
    );
    match Versions::in_default_folder() {
        Ok(versions) => {
            let there = versions.list();
            if there.is_empty() {
                return Check::mind(name, "the laboratory has no version of the CLI yet", mend);
            }
            let list: Vec<_> = there.iter().map(|cli| cli.version().to_string()).collect();
            Check::fine(name, format!("the laboratory has {}", list.join(", ")))
        }
        Err(error) => Check::mind(name, error.to_string(), mend),
    }
}
