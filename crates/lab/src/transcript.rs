//! The file that the CLI keeps a session in.
#![expect(
    clippy::indexing_slicing,
    reason = "a JSON value is read by key, which gives null where there is nothing"
)]

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::driver::with;
use crate::lab::Lab;

/// Where the transcript of a session is, or will be.
pub(crate) fn transcript(lab: &Lab, session: &str) -> PathBuf {
    let folder = lab.work().to_string_lossy().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    lab.home().join(format!(".claude/projects/{folder}/{session}.jsonl"))
}

/// Waits until a file has this in it: the CLI writes it when it gets to it. Gives up after some
/// time, and tells whether it is there.
pub(crate) async fn is_written(file: &Path, text: &str, patience: Duration) -> bool {
    let written = async {
        while !std::fs::read_to_string(file).unwrap_or_default().contains(text) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(patience, written).await.is_ok()
}

/// Adds to a transcript what a hook that puts off a call would have left there. The call is the
/// `request` of the permission request for it.
///
/// # Errors
///
/// When the file cannot be read or written, or the model says nothing in it.
pub(crate) fn mark(transcript: &Path, call: &Value, mode: &str) -> io::Result<()> {
    let text = std::fs::read_to_string(transcript)?;
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let last = lines.rev().find(|line| line["type"] == "assistant");
    let last = last.ok_or(io::ErrorKind::UnexpectedEof)?;
    let tool = call["tool_name"].as_str().unwrap_or_default();
    let mut entry = json!({
        "parentUuid": last["uuid"],
        "isSidechain": false,
        "type": "attachment",
        "uuid": uuid::Uuid::new_v4().to_string(),
        "attachment": {
            "type": "hook_deferred_tool",
            "toolUseID": call["tool_use_id"],
            "toolName": tool,
            "toolInput": call["input"],
            "hookName": format!("PreToolUse:{tool}"),
            "hookEvent": "PreToolUse",
            "permissionMode": mode,
        },
    });
    for key in ["timestamp", "sessionId", "cwd", "version", "userType", "entrypoint", "gitBranch"] {
        entry = with(entry, key, last[key].clone());
    }
    std::fs::write(transcript, format!("{text}{entry}\n"))
}
