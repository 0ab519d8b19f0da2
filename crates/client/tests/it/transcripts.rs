//! Sessions on disk, in files as the CLI writes them and as nobody should.
#![expect(clippy::indexing_slicing, reason = "a test that cannot go on has failed")]

mod changing;
mod large;
mod listing;
mod reading;
#[cfg(feature = "real-cli")]
pub(crate) mod real;

use std::fs;
use std::path::PathBuf;

use countersign::protocol::ids::SessionId;
use countersign::transcript::{MessageOptions, Sessions, StoredMessage};
use serde_json::{Value, json};

/// A configuration folder with one project.
struct Home {
    folder: tempfile::TempDir,
}

const SESSION: &str = "11111111-2222-4333-8444-555555555555";

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("projects/-work")).unwrap();
        Self { folder }
    }

    fn sessions(&self) -> Sessions {
        Sessions::at(self.folder.path())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join("projects/-work").join(name)
    }

    fn write(&self, session: &str, lines: &[Value]) {
        fs::write(self.file(&format!("{session}.jsonl")), text(lines)).unwrap();
    }

    fn read(&self, session: &SessionId) -> Vec<Value> {
        let text = fs::read_to_string(self.file(&format!("{session}.jsonl"))).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn id() -> SessionId {
    SessionId::from(SESSION)
}

fn entry(kind: &str, uuid: &str, parent: Option<&str>, content: &Value) -> Value {
    json!({
        "parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/work",
        "sessionId": SESSION, "version": "2.1.325", "gitBranch": "main", "type": kind,
        "message": {"role": kind, "content": content}, "uuid": uuid,
        "timestamp": "2026-01-01T00:00:00.000Z",
    })
}

fn user(uuid: &str, parent: Option<&str>, text: &str) -> Value {
    entry("user", uuid, parent, &json!(text))
}

/// One block of a response.
fn block(uuid: &str, parent: &str, response: &str, block: &Value) -> Value {
    let mut entry = entry("assistant", uuid, Some(parent), &json!([block]));
    entry["message"]["id"] = json!(response);
    entry
}

fn says(uuid: &str, parent: &str, response: &str, text: &str) -> Value {
    block(uuid, parent, response, &json!({"type": "text", "text": text}))
}

fn calls(uuid: &str, parent: &str, response: &str, call: &str) -> Value {
    block(
        uuid,
        parent,
        response,
        &json!({"type": "tool_use", "id": call, "name": "Read", "input": {}}),
    )
}

fn gives(uuid: &str, parent: &str, call: &str) -> Value {
    let result = json!([{"type": "tool_result", "tool_use_id": call, "content": "done"}]);
    entry("user", uuid, Some(parent), &result)
}

fn with(mut entry: Value, name: &str, value: impl Into<Value>) -> Value {
    entry[name] = value.into();
    entry
}

fn messages(home: &Home, options: &MessageOptions) -> Vec<StoredMessage> {
    home.sessions().messages(&id(), options).unwrap().map(Result::unwrap).collect()
}
