//! Subagents and commands that go on by themselves: what they ask, and how they end.

use serde_json::{Value, json};

use super::{Outcome, Scenario, ScenarioError, ensure, frames};
use crate::Version;
use crate::driver::Cli;
use crate::lab::{Lab, Launch};

/// The model has a subagent write a file. `$how` is what its call says besides the task, and
/// `$then` what the model says later.
macro_rules! delegate {
    ($how:literal, $then:literal) => {
        concat!(
            r#"
[[answer]]
when = { agent = true, tool = "Write", error = true }
text = "I was not let."

[[answer]]
when = { agent = true, tool = "Write" }
text = "I wrote it."

[[answer]]
when = { agent = true }
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
tool = { name = "Agent", input = { description = "Write a file", prompt = "Write the file.", subagent_type = "general-purpose""#,
            $how,
            " } }\n",
            $then
        )
    };
}

/// The model waits for the subagent.
const DELEGATE: &str = delegate!(
    ", run_in_background = false",
    r#"
[[answer]]
text = "It is done."
"#
);

/// It does not wait.
const DELEGATE_LATER: &str = delegate!(
    ", run_in_background = true",
    r#"
[[answer]]
text = "It works on it."

[[answer]]
text = "It has ended."
"#
);

/// It does not say whether it waits.
const DELEGATE_UNSAID: &str = delegate!(
    "",
    r#"
[[answer]]
text = "It works on it."

[[answer]]
text = "It has ended."
"#
);

const SLEEP: &str = r#"
[[answer]]
tool = { name = "Bash", input = { command = "sleep 1000", run_in_background = true, description = "Sleep" }, takes = "1000s" }

[[answer]]
text = "It runs."

[[answer]]
text = "It is stopped."
"#;

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new(
        "agent-asks",
        "A tool of a subagent is asked for, with the agent's id, and runs.",
        DELEGATE,
        |lab| Box::pin(asks(lab, true)),
    )
    .since(Version::new(2, 1, 197)),
    Scenario::new(
        "agent-refused",
        "A tool of a subagent is denied, and the subagent reads the reason.",
        DELEGATE,
        |lab| Box::pin(asks(lab, false)),
    )
    .since(Version::new(2, 1, 197)),
    Scenario::new(
        "agent-in-background",
        "A subagent in the background asks after the result, and its end begins a turn.",
        DELEGATE_LATER,
        |lab| Box::pin(in_background(lab)),
    )
    .since(Version::new(2, 1, 197)),
    Scenario::new(
        "agent-by-default",
        "Where the call does not say so, a newer version runs the subagent in the background.",
        DELEGATE_UNSAID,
        |lab| Box::pin(in_background(lab)),
    )
    .since(Version::new(2, 1, 325)),
    Scenario::new(
        "background-command",
        "A command in the background ends later and begins a turn by itself.",
        r#"
        [[answer]]
        tool = { name = "Bash", input = { command = "echo begun; sleep 1; echo over", run_in_background = true, description = "Wait a little" }, result = "begun\nover", takes = "1s" }

        [[answer]]
        text = "It runs."

        [[answer]]
        text = "It is over."
        "#,
        |lab| Box::pin(command(lab)),
    )
    .since(Version::new(2, 1, 197)),
    Scenario::new(
        "background-stopped",
        "A command in the background is stopped by the client.",
        SLEEP,
        |lab| Box::pin(stopped(lab)),
    )
    .since(Version::new(2, 1, 197)),
];

async fn started(lab: &Lab, launch: Launch) -> Result<Cli, ScenarioError> {
    let mut cli = lab.launch(launch).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Have it done.").await?;
    Ok(cli)
}

async fn asks(lab: &Lab, allowed: bool) -> Outcome {
    let mut cli = started(lab, Launch::new()).await?;
    let ask = cli.asked("can_use_tool").await?;
    ensure(ask["request"]["agent_id"].is_string(), "the agent is named", &ask)?;
    if allowed {
        cli.allow(&ask).await?;
    } else {
        cli.deny(&ask, "Not there.").await?;
    }
    let result = cli.result().await?;
    ensure(result["result"] == "It is done.", "the turn goes on", &result)?;
    ensure(lab.work().join("new.txt").exists() == allowed, "the answer holds", &result)?;
    let ended = cli.close().await?;
    let inner = frames(&ended).filter(|frame| frame["parent_tool_use_id"].is_string()).count();
    ensure(inner > 0, "what the agent does is shown", &json!(inner))?;
    Ok(vec![ended])
}

async fn in_background(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new()).await?;
    // Without it, whether the agent or the model speaks first would be a matter of luck.
    let gate = json!({"SubagentStart": [{"hookCallbackIds": ["gate"]}]});
    cli.initialize(json!({"hooks": gate})).await?;
    cli.say("Have it done.").await?;
    let gate = cli.asked("hook_callback").await?;
    let result = cli.result().await?;
    ensure(result["result"] == "It works on it.", "the turn does not wait", &result)?;
    cli.answer(&gate, json!({})).await?;
    let ask = cli.asked("can_use_tool").await?;
    ensure(ask["request"]["agent_id"].is_string(), "the agent is named", &ask)?;
    cli.allow(&ask).await?;
    let result = cli.result().await?;
    ensure(result["result"] == "It has ended.", "a turn begins by itself", &result)?;
    ensure(lab.work().join("new.txt").exists(), "the file is written", &result)?;
    Ok(vec![cli.close().await?])
}

async fn command(lab: &Lab) -> Outcome {
    let mut cli = lab.launch(Launch::new().mode("bypassPermissions")).await?;
    cli.initialize(json!({"hooks": null})).await?;
    cli.say("Run it.").await?;
    let result = cli.result().await?;
    ensure(result["result"] == "It runs.", "the turn does not wait", &result)?;
    let result = cli.result().await?;
    ensure(result["result"] == "It is over.", "a turn begins by itself", &result)?;
    Ok(vec![cli.close().await?])
}

async fn stopped(lab: &Lab) -> Outcome {
    let mut cli = started(lab, Launch::new().mode("bypassPermissions")).await?;
    let begun = cli.wait("the task", |frame| frame["subtype"] == "task_started").await?;
    cli.result().await?;
    let id = cli.post(json!({"subtype": "stop_task", "task_id": begun["task_id"]})).await?;
    let told = |frame: &Value| frame["subtype"] == "task_notification";
    let end = cli.wait("the end of the task", told).await?;
    ensure(end["status"] == "stopped", "the task is stopped", &end)?;
    cli.answer_to(&id).await?;
    cli.say("Does it run?").await?;
    let result = cli.result().await?;
    ensure(result["result"] == "It is stopped.", "no turn begins by itself", &result)?;
    Ok(vec![cli.close().await?])
}
