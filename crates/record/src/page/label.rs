//! What a frame is called in a diagram.

use std::fmt::Write as _;

use countersign_protocol::content::{Content, ContentBlock};
use countersign_protocol::message::ResultMessage;
use countersign_protocol::{Decoded, FromCli, Line, ToCli};
use serde::Serialize;
use serde_json::Value;

use crate::Channel;
use crate::summary::{blocks, bounded, content, event, head, quoted};

/// A line that is longer than this is not decoded for its label.
const MAX_DECODED: usize = 1024 * 1024;

/// An id that is longer than this is no id that the CLI or a client makes. Frames are not linked by
/// it, since all ids are kept until the end.
const MAX_ID: usize = 256;

/// How many tool calls of a frame are linked with others.
const MAX_CALLS: usize = 16;

/// What belongs together: it has one colour, and one switch that hides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Family {
    /// Requests, answers and cancellations, both ways.
    Control,
    /// What the user, the model and the tools said, and results.
    Message,
    /// Pieces of a response that is being written.
    Stream,
    /// What the CLI says of itself.
    System,
    /// A line that is no frame.
    Other,
    /// Standard error.
    Stderr,
    /// What the recorder noted.
    Note,
}

/// What a frame is to the frames around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// It asks; the id is that of the answer.
    Request(String),
    /// It answers.
    Response(String),
    /// It takes a request back.
    Cancel(String),
    /// Something that only happens within a turn.
    Said,
    /// The end of a turn.
    Result,
    /// None of these.
    Alone,
}

/// A line in a few words, and what it is.
#[derive(Debug)]
pub(super) struct Label {
    pub(super) family: Family,
    /// The type and subtype of the frame.
    pub(super) kind: Option<String>,
    /// What it is called in the diagram.
    pub(super) title: String,
    pub(super) said: String,
    /// It tells of something that went wrong.
    pub(super) bad: bool,
    pub(super) part: Part,
    /// The tool calls that it is about.
    pub(super) calls: Vec<String>,
}

impl Label {
    /// A label without a frame.
    pub(super) fn plain(family: Family, title: &str, said: &str) -> Self {
        Self {
            family,
            kind: None,
            title: title.to_owned(),
            said: bounded(said),
            bad: false,
            part: Part::Alone,
            calls: Vec::new(),
        }
    }

    /// The label of a line of a channel.
    pub(super) fn of(channel: Channel, bytes: &[u8]) -> Self {
        let raw = || String::from_utf8_lossy(head(bytes)).into_owned();
        if channel == Channel::Err {
            return Self::plain(Family::Stderr, "stderr", &raw());
        }
        let Ok(line) = Line::parse(bytes) else {
            return Self { bad: true, ..Self::plain(Family::Other, "no frame", &raw()) };
        };
        let mut label = Self::plain(family(&line), line.frame_type(), "");
        label.title = bounded(&label.title);
        label.kind = Some(bounded(&line.kind().to_string()));
        label.part = part(&line);
        let told = bytes.len() <= MAX_DECODED
            && match label.part {
                Part::Request(_) | Part::Response(_) | Part::Cancel(_) => label.control(&line),
                _ if channel == Channel::In => label.said_to_cli(&line),
                _ => label.said_by_cli(&line),
            };
        if !told {
            label.said = raw();
        }
        label.said = bounded(&label.said);
        label
    }

    /// Fills in what a frame of the CLI says; false when that cannot be told.
    fn said_by_cli(&mut self, line: &Line<'_>) -> bool {
        match line.decode::<FromCli>() {
            Decoded::Known(FromCli::Assistant(frame)) => self.message(frame.message.blocks()),
            Decoded::Known(FromCli::User(frame)) => self.content(&frame.message.content),
            Decoded::Known(FromCli::Result(frame)) => {
                self.said = result(&frame);
                self.bad = !frame.succeeded();
            }
            Decoded::Known(FromCli::StreamEvent(frame)) => self.said = event(&frame.event),
            _ => return self.fields_of(line),
        }
        true
    }

    /// Fills in what a frame of the client says; false when that cannot be told.
    fn said_to_cli(&mut self, line: &Line<'_>) -> bool {
        match line.decode::<ToCli>() {
            Decoded::Known(ToCli::User(frame)) => self.content(&frame.message.content),
            Decoded::Known(ToCli::Assistant(frame)) => self.message(frame.message.blocks()),
            _ => return self.fields_of(line),
        }
        true
    }

    fn content(&mut self, said: &Content) {
        match said {
            Content::Blocks(list) => self.message(list),
            other => self.said = content(other, call),
        }
    }

    fn message(&mut self, list: &[ContentBlock]) {
        self.said = blocks(list, call);
        for block in list {
            match block {
                ContentBlock::ToolUse(block) => self.call(block.id.as_ref()),
                ContentBlock::ToolResult(block) => {
                    self.call(block.tool_use_id.as_ref());
                    self.bad |= block.is_error == Some(true);
                }
                _ => {}
            }
        }
    }

    /// Notes that it is about a tool call.
    fn call(&mut self, id: &str) {
        if id.len() <= MAX_ID && self.calls.len() < MAX_CALLS {
            self.calls.push(id.to_owned());
        }
    }

    /// A frame of which nothing is known but that it is an object.
    fn fields_of(&mut self, line: &Line<'_>) -> bool {
        let Ok(frame) = serde_json::from_slice::<Value>(line.bytes()) else { return false };
        self.said = match line.subtype() {
            Some("init") => format!("init {}", init(&frame)),
            Some(subtype) => format!("{subtype} {}", fields(&frame)),
            None => fields(&frame),
        };
        true
    }

    /// A request, an answer or a cancellation.
    fn control(&mut self, line: &Line<'_>) -> bool {
        let Ok(frame) = serde_json::from_slice::<Value>(line.bytes()) else { return false };
        match &self.part {
            Part::Request(_) => {
                if let Some(subtype) = line.subtype() {
                    self.title = bounded(subtype);
                }
                let request = frame.get("request").unwrap_or(&Value::Null);
                if let Some(id) = string(request, "tool_use_id") {
                    self.call(id);
                }
                self.said = asked(request);
            }
            Part::Response(_) => {
                let response = frame.get("response").unwrap_or(&Value::Null);
                if let Some(error) = string(response, "error") {
                    self.bad = true;
                    self.said = format!("error {}", quoted(error));
                } else {
                    self.said = answered(response.get("response").unwrap_or(&Value::Null));
                }
            }
            _ => "cancel".clone_into(&mut self.title),
        }
        true
    }
}

fn family(line: &Line<'_>) -> Family {
    match (line.frame_type(), line.subtype()) {
        ("control_request" | "control_response" | "control_cancel_request", _) => Family::Control,
        ("user" | "assistant" | "result", _) => Family::Message,
        // One comes with each delta of the model's thoughts.
        ("stream_event", _) | ("system", Some("thinking_tokens")) => Family::Stream,
        _ => Family::System,
    }
}

fn part(line: &Line<'_>) -> Part {
    let id = line.request_id().filter(|id| id.len() <= MAX_ID);
    match (line.frame_type(), id) {
        ("control_request", Some(id)) => Part::Request(id.to_owned()),
        ("control_response", Some(id)) => Part::Response(id.to_owned()),
        ("control_cancel_request", Some(id)) => Part::Cancel(id.to_owned()),
        ("user" | "assistant" | "stream_event", _) => Part::Said,
        ("result", _) => Part::Result,
        _ => Part::Alone,
    }
}

/// The beginning of a turn, by what people ask for first.
fn init(frame: &Value) -> String {
    let words = ["model", "permissionMode"].into_iter().filter_map(|key| string(frame, key));
    let mut text: String = words.flat_map(|word| [word, ", "]).collect();
    let tools = frame.get("tools").and_then(Value::as_array).map_or(0, Vec::len);
    let _ = write!(text, "{tools} tools");
    text
}

/// What a request is about.
fn asked(request: &Value) -> String {
    if let Some(tool) = string(request, "tool_name") {
        let input = request.get("input").map(Value::to_string).unwrap_or_default();
        return call(tool, &input);
    }
    if let Some(input) = request.get("input").filter(|input| input.is_object()) {
        let event = string(input, "hook_event_name").unwrap_or_default();
        let tool = string(input, "tool_name").unwrap_or_default();
        return format!("{event} {tool}");
    }
    if let Some(message) = request.get("message").filter(|message| message.is_object()) {
        let server = string(request, "server_name").unwrap_or_default();
        let method = string(message, "method").unwrap_or_default();
        let tool = message.pointer("/params/name").and_then(Value::as_str).unwrap_or_default();
        return format!("{server} {method} {tool}");
    }
    fields(request)
}

/// What an answer that is no error says.
fn answered(answer: &Value) -> String {
    match (string(answer, "behavior"), string(answer, "message")) {
        (Some(behavior), Some(message)) => format!("{behavior} {}", quoted(message)),
        (Some(behavior), None) => behavior.to_owned(),
        (None, _) => {
            // What a hook decided stands within; what stands around it is rarely set.
            let inner = answer.get("hookSpecificOutput").filter(|inner| inner.is_object());
            let said = fields(inner.unwrap_or(answer));
            if said.is_empty() { "ok".to_owned() } else { said }
        }
    }
}

fn result(frame: &ResultMessage) -> String {
    let mut text = frame.subtype.as_str().to_owned();
    if frame.is_error && text == "success" {
        text.push_str(", but an error");
    }
    if let Some(cost) = frame.total_cost_usd {
        let _ = write!(text, " ${:.4}", cost.as_f64());
    }
    if let Some(said) = &frame.result {
        let _ = write!(text, " {}", quoted(said));
    }
    for error in frame.errors.iter().flatten() {
        let _ = write!(text, " {}", quoted(error));
    }
    text
}

/// A tool call by what it is about: the file, the command, the pattern.
fn call(tool: &str, input: &str) -> String {
    const FILES: [&str; 3] = ["file_path", "notebook_path", "path"];
    const WORDS: [&str; 8] =
        ["command", "pattern", "url", "query", "description", "skill", "prompt", "plan"];
    let Ok(input) = serde_json::from_str::<Value>(input) else { return format!("{tool} {input}") };
    let file = FILES.into_iter().find_map(|key| string(&input, key));
    let about = file.and_then(|path| path.rsplit(['/', '\\']).find(|name| !name.is_empty()));
    let about = about.or_else(|| WORDS.into_iter().find_map(|key| string(&input, key)));
    match about {
        Some(about) => format!("{tool} {about}"),
        None => format!("{tool} {}", fields(&input)),
    }
}

/// The plain fields of an object, without those that say nothing to a person; of the others, how
/// many there are in them.
fn fields(value: &Value) -> String {
    const DULL: [&str; 8] = [
        "type",
        "subtype",
        "uuid",
        "session_id",
        "request_id",
        "parent_tool_use_id",
        "timestamp",
        "issued_at",
    ];
    let Value::Object(object) = value else {
        return if value.is_null() { String::new() } else { value.to_string() };
    };
    let mut said = String::new();
    let mut counted = String::new();
    for (key, value) in object.iter().filter(|(key, _)| !DULL.contains(&key.as_str())) {
        let _ = match value {
            Value::Null => Ok(()),
            Value::Bool(_) | Value::Number(_) => write!(said, "{key}={value} "),
            Value::String(value) => write!(said, "{key}={} ", quoted(value)),
            Value::Array(list) => write!(counted, "{key}[{}] ", list.len()),
            Value::Object(object) => write!(counted, "{key}{{{}}} ", object.len()),
        };
    }
    said + &counted
}

/// The version of the CLI, where a frame tells it: the first of each turn does.
pub(super) fn version(bytes: &[u8]) -> Option<String> {
    let frame: Value = serde_json::from_slice(bytes).ok()?;
    string(&frame, "claude_code_version").map(bounded)
}

fn string<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}
