//! What stands on a tape, in a few words.

use std::fmt::Write as _;

use countersign_protocol::ask::CliRequest;
use countersign_protocol::content::{Content, ContentBlock};
use countersign_protocol::control::Response;
use countersign_protocol::message::{BlockDelta, ResultMessage, StreamEvent};
use countersign_protocol::{Decoded, FromCli, Line, ToCli};

use crate::is_hidden;
use crate::{Channel, End, Note};

/// A line that is longer than this is not decoded for its summary.
const MAX_DECODED: usize = 1024 * 1024;

/// How many characters a summary has at most.
const MAX_SUMMARY: usize = 120;

/// What a line is, and what it says. Neither has control characters in it.
#[derive(Debug)]
pub(crate) struct Summary {
    /// The kind of the frame; nothing when it is none.
    pub(crate) kind: Option<String>,
    pub(crate) text: String,
}

impl Summary {
    /// Only the kind.
    pub(crate) fn kind(channel: Channel, bytes: &[u8]) -> Option<String> {
        frame(channel, bytes).map(|line| bounded(&line.kind().to_string()))
    }

    pub(crate) fn of(channel: Channel, bytes: &[u8]) -> Self {
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
        FromCli::Assistant(frame) => Some(blocks(frame.message.blocks(), whole_call)),
        FromCli::User(frame) => Some(content(&frame.message.content, whole_call)),
        FromCli::Result(frame) => Some(result(&frame)),
        FromCli::StreamEvent(frame) => Some(event(&frame.event)),
        FromCli::ControlRequest(frame) => match frame.request {
            CliRequest::CanUseTool(ask) => Some(whole_call(&ask.tool_name, ask.input.as_str())),
            _ => None,
        },
        FromCli::ControlResponse(frame) => response(&frame.response),
        _ => None,
    }
}

fn said_to_cli(line: &Line<'_>) -> Option<String> {
    let Decoded::Known(frame) = line.decode::<ToCli>() else { return None };
    match frame {
        ToCli::User(frame) => Some(content(&frame.message.content, whole_call)),
        ToCli::Assistant(frame) => Some(blocks(frame.message.blocks(), whole_call)),
        ToCli::ControlResponse(frame) => response(&frame.response),
        _ => None,
    }
}

/// A tool call with its whole input.
fn whole_call(tool: &str, input: &str) -> String {
    format!("{tool} {input}")
}

/// What a message says; `call` says how a tool call is put, by its name and input.
pub(crate) fn content(content: &Content, call: fn(&str, &str) -> String) -> String {
    match content {
        Content::Text(text) => quoted(text),
        Content::Blocks(list) => blocks(list, call),
        _ => String::new(),
    }
}

/// What the blocks of a message say.
pub(crate) fn blocks(blocks: &[ContentBlock], call: fn(&str, &str) -> String) -> String {
    let mut text = String::new();
    for block in blocks {
        if !text.is_empty() {
            text.push_str(", ");
        }
        match block {
            ContentBlock::Text(block) => text.push_str(&quoted(&block.text)),
            ContentBlock::ToolUse(block) => {
                text.push_str(&call(&block.name, block.input.as_str()));
            }
            ContentBlock::ToolResult(block) => {
                let failed = if block.is_error == Some(true) { " (error)" } else { "" };
                let said =
                    block.content.as_ref().map(|said| content(said, call)).unwrap_or_default();
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

/// A piece of a response that is being written.
pub(crate) fn event(event: &StreamEvent) -> String {
    let mut text = String::from(event.name());
    if let StreamEvent::ContentBlockDelta(delta) = event {
        match &delta.delta {
            BlockDelta::Text(delta) => {
                let _ = write!(text, " {}", quoted(&delta.text));
            }
            BlockDelta::InputJson(delta) => {
                let _ = write!(text, " {}", quoted(&delta.partial_json));
            }
            BlockDelta::Thinking(delta) => {
                let _ = write!(text, " thinking {}", quoted(&delta.thinking));
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

/// A text in quotes, no more of it than a summary can show.
pub(crate) fn quoted(text: &str) -> String {
    let shown: String = text.chars().take(MAX_SUMMARY).collect();
    format!("{shown:?}")
}

/// As much of a line as a summary could show.
pub(crate) fn head(bytes: &[u8]) -> &[u8] {
    bytes.get(..4 * MAX_SUMMARY).unwrap_or(bytes)
}

/// A text that is not too long, on one line, and without anything a terminal would act on.
pub(crate) fn bounded(text: &str) -> String {
    let mut out = String::new();
    for (count, character) in text.trim_end().chars().enumerate() {
        if count == MAX_SUMMARY {
            out.push('…');
            break;
        }
        match character {
            '\r' | '\n' | '\t' => out.push(' '),
            c if c.is_control() || is_hidden(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// What a recorder noted.
pub(crate) fn note_words(note: &Note) -> String {
    match note {
        Note::Closed { channel } => format!("{channel} closed"),
        Note::Signal { number } => format!("signal {}", signal_name(*number)),
        Note::Gap { bytes, reason } => format!("{bytes} bytes are missing here: {reason}"),
        Note::Comment { text } => text.clone(),
        Note::Unknown => "a note of a later version".to_owned(),
    }
}

/// How the process ended.
pub(crate) fn end_words(end: End) -> String {
    match end {
        End::Code(code) => format!("exit code {code}"),
        End::Signal(number) => format!("ended by signal {}", signal_name(number)),
    }
}

fn signal_name(number: i32) -> String {
    let name = signal_hook::low_level::signal_name(number);
    name.map_or_else(|| number.to_string(), |name| format!("{number} ({name})"))
}
