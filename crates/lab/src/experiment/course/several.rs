//! Several calls in one message of the model.

use serde_json::{Value, json};

use super::super::puppet::read_so_far;
use super::super::{Fact, Outcome, Trial, TrialError, V197};
use crate::driver::Cli;
use crate::lab::Launch;

/// The subagents have another name on older versions.
pub(super) const SCRIPT: &str = r#"
otherwise = "done"

[[answer]]
when = { agent = true, first = "the first", tool = "Write" }
text = "I was not let."

[[answer]]
when = { agent = true, first = "the second", tool = "Write" }
text = "I was not let."

[[answer]]
when = { agent = true, first = "the first" }
tool = { name = "Write", input = { file_path = "${cwd}/first.txt", content = "1\n" } }

[[answer]]
when = { agent = true, first = "the second" }
tool = { name = "Write", input = { file_path = "${cwd}/second.txt", content = "2\n" } }

[[answer]]
when = { text = "Write both." }
tools = [
    { name = "Write", input = { file_path = "${cwd}/one.txt", content = "1\n" } },
    { name = "Write", input = { file_path = "${cwd}/two.txt", content = "2\n" } },
]

[[answer]]
when = { text = "Read both." }
tools = [
    { name = "Read", input = { file_path = "${home}/one.txt" } },
    { name = "Read", input = { file_path = "${home}/two.txt" } },
]

[[answer]]
when = { text = "Send both as Agent." }
tools = [
    { name = "Agent", input = { description = "Write", prompt = "Write the first file.", subagent_type = "general-purpose", run_in_background = false } },
    { name = "Agent", input = { description = "Write", prompt = "Write the second file.", subagent_type = "general-purpose", run_in_background = false } },
]

[[answer]]
when = { text = "Send both as Task." }
tools = [
    { name = "Task", input = { description = "Write", prompt = "Write the first file.", subagent_type = "general-purpose", run_in_background = false } },
    { name = "Task", input = { description = "Write", prompt = "Write the second file.", subagent_type = "general-purpose", run_in_background = false } },
]
"#;

pub(super) const FACTS: &[Fact] = &[
    Fact::always("writing tools ask", "one after the other"),
    Fact::always("reading tools ask", "at once"),
    Fact::always("subagents ask", "at once"),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    for name in ["one.txt", "two.txt"] {
        std::fs::write(trial.lab().home().join(name), name)?;
    }
    let mut cli = trial.launch(Launch::new()).await?;
    cli.initialize(json!({"hooks": null})).await?;
    let agents = if trial.version() >= V197 { "Send both as Agent." } else { "Send both as Task." };
    for (name, text, at_once) in [
        ("writing tools ask", "Write both.", false),
        ("reading tools ask", "Read both.", true),
        ("subagents ask", agents, true),
    ] {
        let both = open_at_once(&mut cli, text, at_once).await?;
        trial.found(name, if both { "at once" } else { "one after the other" });
    }
    cli.close().await?;
    Ok(())
}

/// Whether both requests of a turn are open at the same time. Where that is not expected, the CLI
/// answers something else twice before the first is answered.
async fn open_at_once(cli: &mut Cli, text: &str, expected: bool) -> Result<bool, TrialError> {
    let begin = cli.log().len();
    cli.say(text).await?;
    let first = cli.asked("can_use_tool").await?;
    let asks = |cli: &Cli| {
        let log = cli.log().split_off(begin);
        log.iter().filter(|said| said.frame["request"]["subtype"] == "can_use_tool").count()
    };
    let second: Option<Value> = if expected {
        Some(cli.asked("can_use_tool").await?)
    } else {
        read_so_far(cli).await?;
        read_so_far(cli).await?;
        None
    };
    let at_once = asks(cli) > 1;
    cli.deny(&first, "Not today.").await?;
    let second = match second {
        Some(second) => second,
        None => cli.asked("can_use_tool").await?,
    };
    cli.deny(&second, "Not today.").await?;
    cli.result().await?;
    Ok(at_once)
}
