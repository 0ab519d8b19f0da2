//! Sessions and messages in words, and in JSON.

use countersign::protocol::content::{Content, ContentBlock};
use countersign::transcript::{SessionInfo, StoredBody, StoredMessage};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::output::plain;

/// How long ago something was, roughly.
pub(super) fn ago(then: Timestamp, now: Timestamp) -> String {
    const UNITS: [(i64, &str); 4] =
        [(86_400 * 365, "years"), (86_400, "days"), (3_600, "hours"), (60, "minutes")];
    let seconds = now.as_second().saturating_sub(then.as_second()).max(0);
    let unit = UNITS.into_iter().find(|(length, _)| seconds >= *length);
    match unit {
        Some((length, name)) if seconds / length == 1 => {
            format!("1 {} ago", name.trim_end_matches('s'))
        }
        Some((length, name)) => format!("{} {name} ago", seconds / length),
        None => "just now".to_owned(),
    }
}

/// A text from outside on one line, no longer than this.
pub(super) fn one_line(text: &str, length: usize) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let line = plain(&words.join(" "));
    if line.chars().count() <= length {
        return line;
    }
    let cut: String = line.chars().take(length.saturating_sub(1)).collect();
    format!("{cut}…")
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_the_largest_unit() {
        let now: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
        for (then, words) in [
            ("2026-11-16T11:59:30Z", "just now"),
            ("2026-11-16T11:59:00Z", "1 minute ago"),
            ("2026-11-16T09:00:00Z", "3 hours ago"),
            ("2026-11-15T12:00:00Z", "1 day ago"),
            ("2024-01-01T00:00:00Z", "2 years ago"),
            ("2027-01-01T00:00:00Z", "just now"),
        ] {
            assert_eq!(ago(then.parse().unwrap(), now), words, "{then}");
        }
    }

    #[test]
    fn a_line_is_one_line_without_anything_that_a_terminal_would_act_on() {
        assert_eq!(one_line("a\n b\x1b[2J", 20), "a b\\u{1b}[2J");
        assert_eq!(one_line("abcdef", 4), "abc…");
    }
}
