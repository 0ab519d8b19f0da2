//! Sessions and messages in words, and in JSON.

use countersign::protocol::content::{Content, ContentBlock};
use countersign::transcript::{SessionInfo, StoredBody, StoredMessage};
use serde_json::{Value, json};

/// A session for programs.
pub(super) fn info_json(info: &SessionInfo) -> Value {
    json!({
        "session_id": info.session_id.as_str(),
        "summary": info.summary,
        "title": info.custom_title,
        "first_prompt": info.first_prompt,
        "last_modified": info.last_modified.to_string(),
        "created_at": info.created_at.map(|time| time.to_string()),
        "bytes": info.file_size,
        "cwd": info.cwd,
        "git_branch": info.git_branch,
        "tag": info.tag,
        "archived": info.archived,
        "entrypoint": info.entrypoint,
    })
}

/// Who says something, and what: the parts of a message that a person reads.
pub(super) fn parts(message: &StoredMessage) -> Vec<(&'static str, String)> {
    match &message.body {
        StoredBody::User(said) => content("you", &said.content),
        StoredBody::Assistant(said) => {
            said.blocks().iter().map(|part| block("claude", part)).collect()
        }
        StoredBody::System { subtype, content } => {
            let what = content.as_deref().or(subtype.as_deref()).unwrap_or_default();
            vec![("note", what.to_owned())]
        }
        StoredBody::Malformed { reason } => vec![("?", format!("not readable: {reason}"))],
        _ => vec![("?", message.raw.as_str().to_owned())],
    }
}

fn content(who: &'static str, content: &Content) -> Vec<(&'static str, String)> {
    match content {
        Content::Text(text) => vec![(who, text.clone())],
        Content::Blocks(blocks) => blocks.iter().map(|part| block(who, part)).collect(),
        _ => Vec::new(),
    }
}

fn block(who: &'static str, block: &ContentBlock) -> (&'static str, String) {
    match block {
        ContentBlock::Text(text) => (who, text.text.clone()),
        ContentBlock::Thinking(thinking) => ("thinking", thinking.thinking.clone()),
        ContentBlock::ToolUse(call) => ("tool", format!("{} {}", call.name, call.input.as_str())),
        ContentBlock::ToolResult(result) => {
            let said = result.content.as_ref().map(|said| content("", said)).unwrap_or_default();
            let said: Vec<_> = said.into_iter().map(|(_, text)| text).collect();
            let who = if result.is_error == Some(true) { "error" } else { "result" };
            (who, said.join("\n"))
        }
        other => (who, format!("({})", other.name())),
    }
}
