//! A hook for all tools, as a gate: in every mode, and for subagents.

use serde_json::{Value, json};

use super::{Fact, Outcome, Trial, V62, V197};
use crate::experiment::turn::{callbacks, decides, name, rest, turn};
use crate::lab::Launch;
use crate::talk::Reply;

pub(super) const MODE_FACTS: &[Fact] = &[
    Fact::always("deny in bypassPermissions", "called, not asked, refused"),
    Fact::always("deny in acceptEdits", "called, not asked, refused"),
    Fact::always("deny in default", "called, not asked, refused"),
    Fact::always("deny in dontAsk", "called, not asked, refused"),
    Fact::always("deny in plan", "called, not asked, refused"),
    Fact::by_version(
        "ask in bypassPermissions",
        &[(V62, "called, not asked, ran"), (V197, "called, asked, ran")],
    ),
    Fact::by_version(
        "ask in acceptEdits",
        &[(V62, "called, not asked, ran"), (V197, "called, asked, ran")],
    ),
    Fact::always("ask in default", "called, asked, ran"),
    Fact::always("ask in plan", "called, asked, ran").since(V197),
    Fact::always("ask in dontAsk", "called, asked, ran").since(V197),
];

pub(super) async fn modes(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new().mode("bypassPermissions")).await?;
    cli.initialize(callbacks(&["PreToolUse"])).await?;
    for mode in ["bypassPermissions", "acceptEdits", "default", "dontAsk", "plan"] {
        cli.request(json!({"subtype": "set_permission_mode", "mode": mode})).await?;
        for decision in ["deny", "ask"] {
            let reply = |ask: &Value| match name(ask).as_str() {
                "can_use_tool" => Reply::allow(ask),
                _ => Reply::Success(decides(decision)),
            };
            let turn = turn(&mut cli, &format!("write {decision}-{mode}.txt"), reply).await?;
            let called = turn.names().contains(&"PreToolUse".to_owned());
            let called = if called { "called" } else { "not called" };
            trial.found(&format!("{decision} in {mode}"), format!("{called}, {}", turn.tool()));
        }
    }
    cli.close().await?;
    Ok(())
}

/// The model has a subagent write a file, and waits for it or does not.
pub(super) const AGENTS: &str = r#"
otherwise = "It has ended."
needs = ["agent"]

[[answer]]
when = { agent = true, tool = "Write" }
text = "I was there."

[[answer]]
when = { agent = true }
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
when = { text = "wait for it" }
tool = { name = "${agent}", input = { description = "Write a file", prompt = "Write the file.", subagent_type = "general-purpose", run_in_background = false } }

[[answer]]
when = { text = "do not wait" }
tool = { name = "${agent}", input = { description = "Write a file", prompt = "Write the file.", subagent_type = "general-purpose", run_in_background = true } }

[[answer]]
when = { result = "/./" }
text = "It is under way."
"#;

pub(super) const AGENT_FACTS: &[Fact] = &[
    Fact::always("a subagent that is waited for", "called, not asked"),
    Fact::always("a subagent in the background", "called, not asked"),
    Fact::always("the file was written", "false"),
];

pub(super) async fn agents(trial: &mut Trial) -> Outcome {
    let mut cli = trial.launch(Launch::new().mode("bypassPermissions")).await?;
    cli.initialize(callbacks(&["PreToolUse"])).await?;
    for (finding, text) in [
        ("a subagent that is waited for", "wait for it"),
        ("a subagent in the background", "do not wait"),
    ] {
        let begin = cli.log().len();
        cli.say(text).await?;
        let is_write = |ask: &Value| ask["request"]["input"]["tool_name"] == "Write";
        let reply = |ask: &Value| match name(ask).as_str() {
            "can_use_tool" => Reply::allow(ask),
            _ if is_write(ask) => Reply::Success(decides("deny")),
            _ => Reply::Success(json!({})),
        };
        let ended = |frame: &Value| frame["subtype"] == "task_notification";
        let background = text == "do not wait";
        let over =
            |frame: &Value| if background { ended(frame) } else { frame["type"] == "result" };
        let turn = rest(&mut cli, begin, over, reply).await?;
        let called = turn.asked.iter().any(is_write);
        let called = if called { "called" } else { "not called" };
        let asked = if turn.asks().is_empty() { "not asked" } else { "asked" };
        trial.found(finding, format!("{called}, {asked}"));
    }
    cli.close().await?;
    let written = trial.lab().work().join("new.txt").exists();
    trial.found("the file was written", written);
    Ok(())
}
