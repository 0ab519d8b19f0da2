//! What a request to the model says.

use std::fmt;

use serde_json::Value;

/// A look at the body of a request to the Messages API.
///
/// It never fails: what is not there, or is of another shape, is empty. The CLI puts words of its
/// own among those of the user, as texts in `<system-reminder>` tags and, in newer versions, as
/// messages with the role `system`; they do not count as words of the user.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    body: &'a Value,
}

/// Whose request it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestKind {
    /// The conversation of the session.
    Main,
    /// The conversation of a subagent.
    Agent,
    /// A job that the CLI does on the side: a title, a classification, a suggestion, a web search,
    /// the summary of a conversation.
    Side,
}

impl fmt::Display for RequestKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Main => "main",
            Self::Agent => "agent",
            Self::Side => "side",
        })
    }
}

/// The result of a tool, as the model is told.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolResult {
    /// The id of the call.
    pub id: String,
    /// The tool, when the call is in the same request.
    pub tool: Option<String>,
    /// The texts of the result.
    pub text: String,
    /// Whether the result is an error.
    pub is_error: bool,
}

/// In the system prompt of a subagent of newer versions of the CLI (seen from 2.1.197 on).
const AGENT_FLAG: &str = "cc_is_subagent=t";
/// In the system prompt of a subagent of any version (seen from 2.1.62 to 2.1.325).
const AGENT_NOTE: &str = "Agent threads always have their cwd reset";
/// Begins the request for what the user might say next.
const SUGGESTION: &str = "[SUGGESTION MODE:";
/// In the request for a summary, in the system prompt (2.1.62) and in the text (from 2.1.120 on).
const SUMMARY_SYSTEM: &str = "tasked with summarizing conversations";
const SUMMARY_TEXT: &str = "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.";

/// What the CLI writes before the path of the plan file.
const PLAN_MARKS: [&str; 6] = [
    "create your plan at ",
    "plan file already exists at ",
    "plan file exists at ",
    "plan file is located at ",
    "except plan file (",
    "plan has been saved to: ",
];
/// What the CLI writes before the working directory, for the main conversation and for subagents.
const DIRECTORY_MARKS: [&str; 2] = ["Primary working directory: ", "Working directory: "];

impl<'a> Request<'a> {
    /// Looks at the body of a request.
    #[must_use]
    pub fn new(body: &'a Value) -> Self {
        Self { body }
    }

    /// Whose request it is.
    #[must_use]
    pub fn kind(self) -> RequestKind {
        let system = self.system_text();
        let new = self.new_text().unwrap_or_default();
        let summary = system.contains(SUMMARY_SYSTEM) || new.contains(SUMMARY_TEXT);
        if !self.offers_tools() || new.starts_with(SUGGESTION) || summary {
            RequestKind::Side
        } else if system.contains(AGENT_FLAG) || system.contains(AGENT_NOTE) {
            RequestKind::Agent
        } else {
            RequestKind::Main
        }
    }

    /// Whether the model may call a tool of the client. A tool with a type of its own, such as the
    /// web search, is one of the API.
    fn offers_tools(self) -> bool {
        let custom = |tool: &Value| tool.get("type").is_none_or(|kind| kind == "custom");
        list(self.body.get("tools")).iter().any(custom)
    }

    /// The model that is asked.
    #[must_use]
    pub fn model(self) -> &'a str {
        text_at(self.body, "model")
    }

    /// Whether the answer is to be streamed.
    #[must_use]
    pub fn wants_stream(self) -> bool {
        self.body.get("stream").and_then(Value::as_bool).unwrap_or(false)
    }

    /// The messages, as they are.
    #[must_use]
    pub fn messages(self) -> &'a [Value] {
        list(self.body.get("messages"))
    }

    /// The names of the tools on offer.
    #[must_use]
    pub fn tool_names(self) -> Vec<&'a str> {
        list(self.body.get("tools")).iter().map(|tool| text_at(tool, "name")).collect()
    }

    /// The system prompt: its texts, and those of messages with the role `system`.
    #[must_use]
    pub fn system_text(self) -> String {
        let prompt = self.body.get("system").map(texts).unwrap_or_default();
        let messages = self.messages().iter().filter(|message| role(message) == "system");
        let said =
            messages.flat_map(|message| message.get("content").map(texts).unwrap_or_default());
        prompt.into_iter().chain(said).collect::<Vec<_>>().join("\n")
    }

    /// What the user said first.
    #[must_use]
    pub fn first_text(self) -> Option<String> {
        self.messages().iter().find_map(user_text)
    }

    /// What the user said last, be it before or after what the model said.
    #[must_use]
    pub fn last_text(self) -> Option<String> {
        self.messages().iter().rev().find_map(user_text)
    }

    /// What the user said since the model last spoke.
    #[must_use]
    pub fn new_text(self) -> Option<String> {
        let texts: Vec<_> = self.new_messages().iter().filter_map(user_text).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// The results of tools, the oldest first.
    #[must_use]
    pub fn tool_results(self) -> Vec<ToolResult> {
        self.results_in(self.messages())
    }

    /// The results of tools since the model last spoke.
    #[must_use]
    pub fn new_tool_results(self) -> Vec<ToolResult> {
        self.results_in(self.new_messages())
    }

    /// The working directory that the CLI tells the model.
    #[must_use]
    pub fn working_directory(self) -> Option<&'a str> {
        self.notes().find_map(|note| {
            note.lines().rev().find_map(|line| {
                let line = line.trim().trim_start_matches("- ");
                DIRECTORY_MARKS.iter().find_map(|mark| line.strip_prefix(mark))
            })
        })
    }

    /// The plan file that the CLI tells the model in plan mode.
    #[must_use]
    pub fn plan_file(self) -> Option<&'a str> {
        self.notes().find_map(|note| {
            let marks = PLAN_MARKS.iter().filter_map(|mark| {
                let (before, after) = note.rsplit_once(mark)?;
                Some((before.len(), markdown_path(after)?))
            });
            marks.max_by_key(|(at, _)| *at).map(|(_, path)| path)
        })
    }

    /// Whether a call with this id is in the conversation.
    pub(super) fn has_call(self, id: &str) -> bool {
        self.calls().any(|call| text_at(call, "id") == id)
    }

    fn calls(self) -> impl Iterator<Item = &'a Value> {
        let messages = self.messages().iter().rev();
        messages.flat_map(blocks).filter(|block| kind_of(block) == "tool_use")
    }

    fn new_messages(self) -> &'a [Value] {
        let messages = self.messages();
        let spoken = messages.iter().rposition(|message| role(message) == "assistant");
        messages.get(spoken.map_or(0, |at| at + 1)..).unwrap_or_default()
    }

    fn results_in(self, messages: &'a [Value]) -> Vec<ToolResult> {
        let results = messages.iter().flat_map(blocks);
        results
            .filter(|block| kind_of(block) == "tool_result")
            .map(|block| {
                let id = text_at(block, "tool_use_id");
                let call = self.calls().find(|call| text_at(call, "id") == id);
                ToolResult {
                    id: id.to_owned(),
                    tool: call.map(|call| text_at(call, "name").to_owned()),
                    text: block.get("content").map(texts).unwrap_or_default().join("\n"),
                    is_error: block.get("is_error") == Some(&Value::Bool(true)),
                }
            })
            .collect()
    }

    /// What the CLI tells the model on its own account, the newest first: reminders, messages of
    /// the system, results of tools (which carry reminders, too), the system prompt.
    fn notes(self) -> impl Iterator<Item = &'a str> {
        let messages = self.messages().iter().rev().flat_map(|message| {
            let system = role(message) == "system";
            let mut notes = Vec::new();
            for text in message.get("content").map(texts).unwrap_or_default() {
                if system || is_reminder(text) {
                    notes.push(text);
                }
            }
            for block in blocks(message).filter(|block| kind_of(block) == "tool_result") {
                notes.extend(block.get("content").map(texts).unwrap_or_default());
            }
            notes.into_iter().rev()
        });
        messages.chain(self.body.get("system").map(texts).unwrap_or_default())
    }
}

/// The path at the start of a text, up to and with its `.md`.
fn markdown_path(text: &str) -> Option<&str> {
    let line = text.lines().next()?;
    let ends = line.match_indices(".md").map(|(at, end)| at + end.len());
    let mut whole = ends.filter(|end| {
        let next = line.get(*end..).and_then(|rest| rest.chars().next());
        next.is_none_or(|next| !next.is_alphanumeric() && next != '/')
    });
    line.get(..whole.next()?)
}

/// What the user says in a message, without what the CLI put there.
fn user_text(message: &Value) -> Option<String> {
    if role(message) != "user" {
        return None;
    }
    let texts = message.get("content").map(texts)?;
    let said: Vec<_> = texts.into_iter().filter(|text| !is_reminder(text)).collect();
    (!said.is_empty()).then(|| said.join("\n"))
}

fn is_reminder(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("<system-reminder>") && text.ends_with("</system-reminder>")
}

/// The texts of a content: a string, or an array of blocks.
fn texts(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        Value::Array(blocks) => {
            let texts = blocks.iter().filter(|block| kind_of(block) == "text");
            texts.map(|block| text_at(block, "text")).collect()
        }
        _ => Vec::new(),
    }
}

fn blocks(message: &Value) -> impl Iterator<Item = &Value> {
    list(message.get("content")).iter()
}

fn role(message: &Value) -> &str {
    text_at(message, "role")
}

fn kind_of(block: &Value) -> &str {
    text_at(block, "type")
}

fn text_at<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
