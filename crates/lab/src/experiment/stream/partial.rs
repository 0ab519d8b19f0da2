//! Messages in parts, messages that come back, and states.

use serde_json::{Value, json};

use super::{Fact, Outcome, Trial, V62, V197, V325};
use crate::driver::{Cli, Said};
use crate::experiment::turn::{callbacks, rest, turn, yes_or_no};
use crate::lab::Launch;
use crate::talk::{ONE, Reply, is_result, message};

pub(super) const SCRIPT: &str = r#"
[[answer]]
when = { text = "Read it" }
thinking = "Let me see."
text = "One two three."
tool = { name = "Read", input = { file_path = "${cwd}/hello.txt" } }

[[answer]]
when = { text = "Write it" }
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

# Slowly, so that the parts before the cut are read.
[[answer]]
when = { text = "be cut" }
times = 1
text = "This will be cut off in the middle."
pace = "100ms"
cut = 5

[[answer]]
when = { text = "be cut" }
text = "Whole."

[[answer]]
when = { result = "/(?s).*/" }
text = "That was it."
"#;

pub(super) const FACTS: &[Fact] = &[
    Fact::always(
        "events of an answer",
        "message_start, content_block_start, content_block_delta, content_block_stop, \
         message_delta, message_stop",
    ),
    Fact::always("deltas", "thinking_delta, signature_delta, text_delta, input_json_delta"),
    Fact::always("the assistant message of a block", "just before its content_block_stop"),
    Fact::always("its stop_reason", "null"),
    Fact::by_version("status requesting", &[(V62, "no"), (V197, "yes")]),
    Fact::by_version("thinking_tokens", &[(V62, "no"), (V197, "yes")]),
    Fact::always("a message comes back", "with isReplay and its uuid"),
    Fact::always("an answer of the client comes back", "yes"),
    Fact::by_version("states", &[(V62, "none"), (V197, "running, requires_action, idle")]),
    Fact::by_version(
        "after a stream that was cut",
        &[(V62, "no more events"), (V325, "blocks closed, a new message_start")],
    ),
    Fact::by_version("a result begins with its type", &[(V62, "yes"), (V325, "no")]),
];

pub(super) async fn steps(trial: &mut Trial) -> Outcome {
    let launch = Launch::new().arg("--include-partial-messages").arg("--replay-user-messages");
    let launch = launch.env("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1");
    let mut cli = trial.launch(launch).await?;
    cli.initialize(json!({"hooks": null})).await?;
    let begin = cli.log().len();
    cli.send(&message("Read it.", ONE)).await?;
    let read = rest(&mut cli, begin, is_result, Reply::allow).await?;
    parts(trial, &read.frames);
    let back = read.frames.iter().find(|frame| frame["type"] == "user" && frame["uuid"] == ONE);
    let back = back.map(|frame| match &frame["isReplay"] {
        Value::Bool(true) => "with isReplay and its uuid",
        _ => "with its uuid",
    });
    trial.found("a message comes back", back.unwrap_or("no"));
    let begin = cli.log().len();
    let write = turn(&mut cli, "Write it.", Reply::allow).await?;
    let asked = write.asks().first().map(|ask| ask["request_id"].clone()).unwrap_or_default();
    let answer = |frame: &Value| {
        frame["type"] == "control_response" && frame["response"]["request_id"] == asked
    };
    trial.found("an answer of the client comes back", yes_or_no(write.frames.iter().any(answer)));
    let cut = turn(&mut cli, "be cut", Reply::allow).await?;
    trial.found("after a stream that was cut", after_the_cut(&cut.frames));
    // What comes after a result is there when the process has ended.
    let log = cli.close().await?.log;
    trial.found("states", states(log.get(begin..).unwrap_or_default()));
    let result = log.iter().find(|said| is_result(&said.frame));
    let first = result.is_some_and(|said| said.text.starts_with(r#"{"type":"result""#));
    trial.found("a result begins with its type", yes_or_no(first));
    Ok(())
}

/// Tells about the first answer, which has a block of each kind.
fn parts(trial: &mut Trial, frames: &[Value]) {
    let events = frames.iter().filter(|frame| frame["type"] == "stream_event");
    let events: Vec<_> = events.map(|frame| &frame["event"]).collect();
    let ends = events.iter().position(|event| event["type"] == "message_stop");
    let first = events.get(..=ends.unwrap_or_default()).unwrap_or_default();
    trial.found("events of an answer", once(first.iter().map(|event| &event["type"])));
    let deltas = first.iter().map(|event| &event["delta"]["type"]);
    trial.found("deltas", once(deltas.filter(|kind| !kind.is_null())));
    let spoken = frames.iter().zip(frames.iter().skip(1));
    let mut spoken = spoken.filter(|(frame, _)| frame["type"] == "assistant");
    let before = spoken.all(|(_, next)| next["event"]["type"] == "content_block_stop");
    let place = if before { "just before its content_block_stop" } else { "elsewhere" };
    trial.found("the assistant message of a block", place);
    let assistant = frames.iter().find(|frame| frame["type"] == "assistant");
    let reason = assistant.map(|frame| frame["message"]["stop_reason"].clone());
    trial.found("its stop_reason", reason.unwrap_or_else(|| json!("there is none")));
    let requesting =
        |frame: &Value| frame["subtype"] == "status" && frame["status"] == "requesting";
    trial.found("status requesting", yes_or_no(frames.iter().any(requesting)));
    let tokens = |frame: &Value| frame["subtype"] == "thinking_tokens";
    trial.found("thinking_tokens", yes_or_no(frames.iter().any(tokens)));
}

/// Each text once, in the order in which they come first.
fn once<'a>(texts: impl Iterator<Item = &'a Value>) -> String {
    let mut found: Vec<&str> = Vec::new();
    for text in texts.filter_map(Value::as_str) {
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found.join(", ")
}

/// The states from the next turn on.
fn states(log: &[Said]) -> String {
    let frames = log.iter().map(|said| &said.frame);
    let changes = frames.filter(|frame| frame["subtype"] == "session_state_changed");
    let states = changes.map(|frame| &frame["state"]).skip_while(|state| *state != "running");
    let states = once(states);
    if states.is_empty() { "none".to_owned() } else { states }
}

fn after_the_cut(frames: &[Value]) -> &'static str {
    let kinds = frames.iter().filter_map(|frame| frame["event"]["type"].as_str());
    let kinds: Vec<_> = kinds.collect();
    let again = kinds.iter().skip(1).position(|kind| *kind == "message_start");
    let Some(again) = again else { return "no more events" };
    let before = kinds.get(..=again).unwrap_or_default();
    if before.contains(&"content_block_stop") {
        "blocks closed, a new message_start"
    } else {
        "a new message_start"
    }
}

pub(super) const HOOK_FACTS: &[Fact] = &[
    Fact::always("a hook of the settings", "hook_started, hook_response").of_a_command(),
    Fact::always("a hook of the client", ""),
];

pub(super) async fn hook_events(trial: &mut Trial) -> Outcome {
    let hook = json!([{"matcher": "", "hooks": [{"type": "command", "command": "true"}]}]);
    let settings = json!({"hooks": {"PreToolUse": hook}}).to_string();
    let launch = Launch::new().arg("--include-hook-events").arg("--settings").arg(settings);
    let mut cli: Cli = trial.launch(launch).await?;
    cli.initialize(callbacks(&["PostToolUse"])).await?;
    let turn = turn(&mut cli, "Read it.", |_| Reply::Success(json!({}))).await?;
    cli.close().await?;
    for (finding, event) in
        [("a hook of the settings", "PreToolUse"), ("a hook of the client", "PostToolUse")]
    {
        let of_event = turn.frames.iter().filter(|frame| frame["hook_event"] == event);
        trial.found(finding, once(of_event.map(|frame| &frame["subtype"])));
    }
    Ok(())
}
