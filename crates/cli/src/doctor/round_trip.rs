//! A real conversation: whether permissions reach us, and whether what we say counts.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use countersign::cli::{Cli, Version};
use countersign::permission::PermissionAsk;
use countersign::{Environment, SessionBuilder};
use countersign_lab::script::Script;
use countersign_lab::{Installed, Isolation, Lab, Program};

use super::check::Check;
use crate::failure::Failure;

/// What the model does: it writes one file that is allowed and one that is not.
const SCRIPT: &str = r#"
[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/allowed.txt", content = "yes" } }

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/denied.txt", content = "no" } }

[[answer]]
text = "Done."
"#;

/// How long all of it may take. The slowest version needs about five seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often each of the two was asked for.
#[derive(Debug, Default)]
struct Asked {
    allowed: AtomicUsize,
    denied: AtomicUsize,
}

/// Holds the conversation, and says what came of it.
pub(super) async fn hold(cli: &Cli, version: Version) -> Vec<Check> {
    match tokio::time::timeout(PATIENCE, converse(cli, version)).await {
        Ok(Ok(checks)) => checks,
        Ok(Err(failure)) => vec![failed(cli.path(), &failure.to_string())],
        Err(_) => vec![failed(
            cli.path(),
            &format!("the conversation did not end within {} s", PATIENCE.as_secs()),
        )],
    }
}

fn failed(program: &Path, why: &str) -> Check {
    let says = format!("a conversation with it failed: {why}");
    let program = program.display();
    let mend = format!(
        "Try `{program} --version` yourself, and another version with --cli PATH. To see what it \
         says: countersign lab play tool-allow --cli {program}"
    );
    Check::wrong("permissions", says, mend)
}

async fn converse(cli: &Cli, version: Version) -> Result<Vec<Check>, Failure> {
    let script = Script::parse(SCRIPT, "doctor")?;
    let program = Program::Real(Installed::elsewhere(version, cli.path()));
    let lab = Lab::builder(program, script).start().await?;
    let isolation = isolation(lab.isolation());
    let talked = talk(&lab).await;
    lab.close().await?;
    Ok(vec![talked?, isolation])
}

async fn talk(lab: &Lab) -> Result<Check, Failure> {
    let asked = Arc::new(Asked::default());
    let counted = Arc::clone(&asked);
    let decide = move |ask: PermissionAsk| {
        let counted = Arc::clone(&counted);
        async move {
            let is_allowed = ask.input().as_str().contains("allowed.txt");
            let counter = if is_allowed { &counted.allowed } else { &counted.denied };
            counter.fetch_add(1, Ordering::Relaxed);
            if is_allowed { ask.allow() } else { ask.deny("the doctor says no") }
        }
    };
    let (program, environment) = lab.for_a_client()?;
    let outcome = SessionBuilder::new()
        .executable(program)
        .environment(Environment::replace(environment))
        .cwd(lab.work())
        .setting_sources([])
        .on_permission(decide)
        .ask("Write the two files.")
        .await?;
    let there = |name: &str| lab.work().join(name).exists();
    let asked = [&asked.allowed, &asked.denied].map(|counter| counter.load(Ordering::Relaxed));
    if asked == [1, 1] && there("allowed.txt") && !there("denied.txt") {
        let denied = outcome.denials().len();
        return Ok(Check::fine(
            "permissions",
            format!("reach us: one tool was allowed and ran, {denied} was denied and did not"),
        ));
    }
    let [allowed, denied] = asked;
    let says = format!(
        "do not work: asked {allowed} times for the tool that was allowed ({}) and {denied} times \
         for the one that was not ({})",
        if there("allowed.txt") { "it ran" } else { "it did not run" },
        if there("denied.txt") { "it ran" } else { "it did not run" },
    );
    Ok(Check::wrong(
        "permissions",
        says,
        "Do not rely on approvals with this program. Use a version that is tested: \
         countersign lab install",
    ))
}

/// How the laboratory keeps what it runs.
fn isolation(isolation: Isolation) -> Check {
    match isolation {
        Isolation::Namespaces => {
            Check::fine("laboratory", "runs the CLI in a network and a process table of its own")
        }
        _ => Check::mind(
            "laboratory",
            "shares the network of this machine with the CLI, which is still told to talk to \
             nobody but the scripted model",
            "As root, or where namespaces are permitted, it has one of its own.",
        ),
    }
}
