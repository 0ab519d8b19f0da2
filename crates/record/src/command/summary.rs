//! What a line says, in a few words.

use std::fmt::Write as _;

use countersign_protocol::ask::CliRequest;
use countersign_protocol::content::{Content, ContentBlock};
use countersign_protocol::control::Response;
use countersign_protocol::message::{BlockDelta, ResultMessage, StreamEvent};
use countersign_protocol::{Decoded, FromCli, Line, ToCli};

use crate::Channel;

/// A line that is longer than this is not decoded for its summary.
const MAX_DECODED: usize = 1024 * 1024;

/// How many characters a summary has at most.
const MAX_SUMMARY: usize = 120;

/// What a line is, and what it says. Neither has control characters in it.
#[derive(Debug)]
pub(super) struct Summary {
    /// The kind of the frame; nothing when it is none.
    pub(super) kind: Option<String>,
    pub(super) text: String,
}

impl Summary {
    /// Only the kind.
    pub(super) fn kind(channel: Channel, bytes: &[u8]) -> Option<String> {
        frame(channel, bytes).map(|line| bounded(&line.kind().to_string()))
    }

    pub(super) fn of(channel: Channel, bytes: &[u8]) -> Self {
        let Some(line) = frame(channel, bytes) else {
            return Self { kind: None, text: bounded(&String::from_utf8_lossy(head(bytes))) };
        };
        let said = if bytes.len() > MAX_DECODED {
            None
        } else if channel == Channel::In {
            said_to_cli(&line)
        } else {
            said_by_cli(&line)
        };
        let mut text = match line.request_id() {
            Some(id) => format!("{id} "),
            None => String::new(),
        };
        match said {
            Some(said) => text.push_str(&said),
            None => text.push_str(&String::from_utf8_lossy(head(bytes))),
        }
        Self { kind: Some(bounded(&line.kind().to_string())), text: bounded(&text) }
    }
}

/// The line as a frame, where it is one.
fn frame(channel: Channel, bytes: &[u8]) -> Option<Line<'_>> {
    match channel {
        Channel::In | Channel::Out => Line::parse(bytes).ok(),
        Channel::Err => None,
    }
}

fn said_by_cli(line: &Line<'_>) -> Option<String> {
    let Decoded::Known(frame) = line.decode::<FromCli>() else { return None };
    match frame {
        FromCli::Assistant(frame) => Some(blocks(frame.message.blocks())),
        FromCli::User(frame) => Some(content(&frame.message.content)),
        FromCli::Result(frame) => Some(result(&frame)),
        FromCli::StreamEvent(frame) => Some(event(&frame.event)),
        FromCli::ControlRequest(frame) => match frame.request {
            CliRequest::CanUseTool(ask) => {
                Some(format!("{} {}", ask.tool_name, ask.input.as_str()))
            }
            _ => None,
        },
        FromCli::ControlResponse(frame) => response(&frame.response),
        _ => None,
    }
}

fn said_to_cli(line: &Line<'_>) -> Option<String> {
    let Decoded::Known(frame) = line.decode::<ToCli>() else { return None };
    match frame {
        ToCli::User(frame) => Some(content(&frame.message.content)),
        ToCli::Assistant(frame) => Some(blocks(frame.message.blocks())),
        ToCli::ControlResponse(frame) => response(&frame.response),
        _ => None,
    }
}

fn content(content: &Content) -> String {
    match content {
        Content::Text(text) => quoted(text),
        Content::Blocks(list) => blocks(list),
        _ => String::new(),
    }
}

fn blocks(blocks: &[ContentBlock]) -> String {
    let mut text = String::new();
    for block in blocks {
        if !text.is_empty() {
            text.push_str(", ");
        }
        match block {
            ContentBlock::Text(block) => text.push_str(&quoted(&block.text)),
            ContentBlock::ToolUse(block) => {
                let _ = write!(text, "{} {}", block.name, block.input.as_str());
            }
            ContentBlock::ToolResult(block) => {
                let failed = if block.is_error == Some(true) { " (error)" } else { "" };
                let said = block.content.as_ref().map(content).unwrap_or_default();
                let _ = write!(text, "tool_result{failed} {said}");
            }
            ContentBlock::Thinking(block) => {
                let _ = write!(text, "thinking {}", quoted(&block.thinking));
            }
            other => text.push_str(other.name()),
        }
    }
    text
}

fn result(frame: &ResultMessage) -> String {
    let mut text = String::from(if frame.is_error { "error" } else { "no error" });
    if let Some(turns) = frame.num_turns {
        let _ = write!(text, ", {turns} turns");
    }
    if let Some(said) = &frame.result {
        let _ = write!(text, " {}", quoted(said));
    }
    for error in frame.errors.iter().flatten() {
        let _ = write!(text, " {}", quoted(error));
    }
    text
}

fn event(event: &StreamEvent) -> String {
    let mut text = String::from(event.name());
    if let StreamEvent::ContentBlockDelta(delta) = event {
        match &delta.delta {
            BlockDelta::Text(delta) => {
                let _ = write!(text, " {}", quoted(&delta.text));
            }
            BlockDelta::InputJson(delta) => {
                let _ = write!(text, " {}", quoted(&delta.partial_json));
            }
            other => {
                let _ = write!(text, " {}", other.name());
            }
        }
    }
    text
}

fn response(response: &Response) -> Option<String> {
    match response {
        Response::Success(success) => {
            Some(success.response.as_ref().map_or("", |answer| answer.as_str()).to_owned())
        }
        Response::Error(failure) => Some(quoted(&failure.error)),
        _ => None,
    }
}

fn quoted(text: &str) -> String {
    // No more than can be shown; the text may be long.
    let shown: String = text.chars().take(MAX_SUMMARY).collect();
    format!("{shown:?}")
}

/// As much of a line as a summary could show.
fn head(bytes: &[u8]) -> &[u8] {
    bytes.get(..4 * MAX_SUMMARY).unwrap_or(bytes)
}

/// A text that is not too long, on one line, and without anything a terminal would act on.
pub(super) fn bounded(text: &str) -> String {
    let mut out = String::new();
    for (count, character) in text.trim_end().chars().enumerate() {
        if count == MAX_SUMMARY {
            out.push('…');
            break;
        }
        match character {
            '\r' | '\n' | '\t' => out.push(' '),
            c if c.is_control() || is_formatting(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// Whether a character changes the order or the place of others.
const fn is_formatting(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
