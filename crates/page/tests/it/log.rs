//! Logs of sessions: made up, and of recordings of the real CLI.

use std::fs;
use std::path::PathBuf;

use countersign_protocol::RawJson;
use countersign_server::id::SessionId;
use countersign_server::session::{Event, Frame, Happening};
use jiff::Timestamp;
use serde_json::{Value, json};

/// A log in which these things happened, in their order.
pub(crate) fn log(happenings: impl IntoIterator<Item = Happening>) -> Vec<Event> {
    let session = SessionId::new();
    let event = |(number, happening): (usize, Happening)| {
        let seq = number as u64 + 1;
        Event::new(session, seq, seq, Timestamp::UNIX_EPOCH, happening)
    };
    happenings.into_iter().enumerate().map(event).collect()
}

/// The CLI says this.
pub(crate) fn frame(frame: &Value) -> Happening {
    Happening::Frame(Frame { generation: 1, line: RawJson::from_value(frame).unwrap() })
}

/// The model says this, or calls this, in the thread of an agent if it is one.
pub(crate) fn assistant(agent: Option<&str>, block: &Value) -> Happening {
    frame(&json!({
        "type": "assistant",
        "message": {"role": "assistant", "model": "m", "content": [block]},
        "parent_tool_use_id": agent, "session_id": "s", "uuid": "u",
    }))
}

/// The model calls a tool.
pub(crate) fn call(agent: Option<&str>, id: &str, tool: &str, input: &Value) -> Happening {
    assistant(agent, &json!({"type": "tool_use", "id": id, "name": tool, "input": input}))
}

/// A tool gives something back.
pub(crate) fn result(agent: Option<&str>, id: &str, text: &str, details: &Value) -> Happening {
    given_back(agent, &json!({"type": "tool_result", "tool_use_id": id, "content": text}), details)
}

/// A tool fails.
pub(crate) fn failed(id: &str, text: &str) -> Happening {
    let block =
        json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": true});
    given_back(None, &block, &json!(format!("Error: {text}")))
}

fn given_back(agent: Option<&str>, block: &Value, details: &Value) -> Happening {
    frame(&json!({
        "type": "user",
        "message": {"role": "user", "content": [block]},
        "tool_use_result": details,
        "parent_tool_use_id": agent, "session_id": "s", "uuid": "u",
    }))
}

/// What some HTML says, without its tags.
pub(crate) fn plain(html: &str) -> String {
    let mut plain = String::new();
    let mut in_tag = false;
    for character in html.chars() {
        match character {
            '<' => in_tag = true,
            '>' => {
                in_tag = false;
                plain.push(' ');
            }
            other if !in_tag => plain.push(other),
            _ => {}
        }
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What the CLI said in each recording of a version.
pub(crate) fn recordings(version: &str) -> Vec<(String, Vec<Value>)> {
    let folder =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures")).join(version);
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let said = lines.filter(|line| line["dir"] == "out").map(|line| line["msg"].clone());
        let said = said.filter(|frame| {
            matches!(frame["type"].as_str(), Some("assistant" | "user" | "system" | "result"))
        });
        all.push((path.file_name().unwrap().to_string_lossy().into_owned(), said.collect()));
    }
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    all
}
