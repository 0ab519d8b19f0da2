//! The card of a call.

use std::path::Path;

use askama::Template;
use countersign_policy::{Call, Place, notes};
use countersign_protocol::ask::CanUseTool;
use countersign_protocol::tool::ToolInput;
use countersign_server::session::Approval;
use serde_json::Value;

use super::Card;
use super::rules::{Suggestion, suggestions};
use crate::call::of_server;
use crate::render::code::{self, Language};
use crate::render::diff::Diff;
use crate::render::words::{short, within};
use crate::render::{Html, json, visible};

/// The longest command that stands in a line, in characters.
const LONGEST: usize = 80;

pub(super) fn title(approval: &Approval, folder: &str) -> String {
    let Ok(request) = approval.permission() else { return approval.tool.clone() };
    let path = |path: &str| within(path, folder).to_owned();
    match typed(&request) {
        ToolInput::Bash(_) => "Run a command".to_owned(),
        ToolInput::Edit(input) => format!("Edit {}", path(&input.file_path)),
        ToolInput::Write(input) => format!("Write {}", path(&input.file_path)),
        ToolInput::NotebookEdit(input) => format!("Edit {}", path(&input.notebook_path)),
        ToolInput::Read(input) => format!("Read {}", path(&input.file_path)),
        ToolInput::WebFetch(input) => format!("Fetch {}", input.url),
        ToolInput::WebSearch(_) => "Search the web".to_owned(),
        ToolInput::Agent(input) => format!("Start an agent: {}", input.description),
        _ => match of_server(&request.tool_name) {
            Some((server, tool)) => format!("{tool}, of the MCP server {server}"),
            None => format!("Use {}", request.tool_name),
        },
    }
}

/// What is called, where the rest of the card is not seen.
pub(super) fn about(approval: &Approval, folder: &str) -> String {
    match approval.permission().map(|request| typed(&request)) {
        Ok(ToolInput::Bash(input)) => format!("Run {}", short(&input.command, LONGEST)),
        Ok(ToolInput::WebSearch(input)) => {
            format!("Search the web for {}", short(&input.query, LONGEST))
        }
        _ => title(approval, folder),
    }
}

pub(super) fn html(card: &Card<'_>) -> Html {
    let Ok(request) = card.approval.permission() else {
        return Html::of_template(&super::Unreadable { request: card.approval.request.as_str() });
    };
    let Some((input, is_whole)) = json::read(request.input.as_str()) else {
        return Html::of_template(&super::Unreadable { request: card.approval.request.as_str() });
    };
    // Rules are about the folder of the session, and so is what is outside of it. Where the command runs
    // can be another one.
    let session = Place::new(Path::new(&card.asker.folder), card.home);
    let place = Place { here: Path::new(card.folder), ..session };
    let mut notes = notes(&Call { tool: &request.tool_name, input: &input }, &place);
    if visible::has_hidden(request.input.as_str()) {
        notes.insert(0, visible::note());
    }
    if !is_whole {
        notes.insert(0, visible::note_of_halves());
    }
    let why = why(&request);
    let (shown, rest) = exact(&request, &input, &why);
    let notes = notes.into_iter().map(|note| (note.danger.name(), visible::text_of(&note.text)));
    Html::of_template(&Tool {
        id: card.approval.id.to_string(),
        tool: visible::text_of(&request.tool_name),
        why: why.iter().map(|why| visible::text_of(why)).collect(),
        blocked: request.blocked_path.as_deref().map(visible::text_of),
        shown,
        rest,
        folder: visible::text_of(card.folder),
        notes: notes.collect(),
        suggestions: suggestions(&request, card.before, &session),
        editable: editable(&request, &input),
        refuse_first: request.default_to_no == Some(true),
    })
}

fn typed(request: &CanUseTool) -> ToolInput {
    ToolInput::parse(&request.tool_name, &request.input).unwrap_or(ToolInput::Other)
}

/// Why a person is asked, as the CLI says it. Its words may be meant for a terminal.
fn why(request: &CanUseTool) -> Vec<String> {
    let all = [&request.title, &request.description, &request.decision_reason];
    let mut why: Vec<String> = Vec::new();
    for text in all.into_iter().flatten() {
        let text = visible::without_escapes(text);
        if !text.trim().is_empty() && !why.contains(&text) {
            why.push(text);
        }
    }
    if let Some(rule) = &request.matched_ask_rule {
        let content =
            rule.rule_content.as_deref().map_or(String::new(), |text| format!("({text})"));
        why.push(format!("The rule {}{content} in {} says to ask.", rule.tool_name, rule.source));
    }
    why
}

/// Exactly what will run: what there is a picture of, and all the rest of the input. What is among the
/// reasons is not said twice.
fn exact(request: &CanUseTool, input: &Value, why: &[String]) -> (Html, Option<Html>) {
    let (shown, keys): (Html, &[&str]) = match typed(request) {
        ToolInput::Bash(bash) => {
            let mut html = Html::new();
            html.tag("<pre class=\"input\" tabindex=\"0\" aria-label=\"Command\"><code>");
            html.html(&visible::html(&bash.command, Language::named("bash")));
            html.tag("</code></pre>");
            (html, &["command"])
        }
        ToolInput::Edit(edit) if edit.old_string != edit.new_string => {
            let diff = Diff::whole(&edit.old_string, &edit.new_string, false);
            (diff.html(Language::of_file(&edit.file_path)), &["old_string", "new_string"])
        }
        ToolInput::Write(write) if !write.content.is_empty() => {
            let diff = Diff::whole("", &write.content, true);
            (diff.html(Language::of_file(&write.file_path)), &["content"])
        }
        _ => (Html::new(), &[]),
    };
    let mut rest = input.clone();
    if let Value::Object(fields) = &mut rest {
        for key in keys {
            fields.remove(*key);
        }
        let is_said = |text: &str| why.iter().any(|why| why == text);
        if fields.get("description").and_then(Value::as_str).is_some_and(is_said) {
            fields.remove("description");
        }
        if fields.is_empty() {
            return (shown, (shown_is_empty(keys)).then(|| code::html("{}", None)));
        }
    }
    let text = serde_json::to_string_pretty(&rest).unwrap_or_default();
    (shown, Some(visible::html(&text, Language::named("json"))))
}

const fn shown_is_empty(keys: &[&str]) -> bool {
    keys.is_empty()
}

/// What can be changed before it is allowed: a text of the input, or all of it as JSON.
fn editable(request: &CanUseTool, input: &Value) -> Editable {
    let field = match &*request.tool_name {
        "Bash" => "command",
        "Write" => "content",
        "Edit" => "new_string",
        _ => "",
    };
    match input.get(field).and_then(Value::as_str) {
        Some(text) => Editable { field: field.to_owned(), text: text.to_owned() },
        None => {
            let text = serde_json::to_string_pretty(input).unwrap_or_default();
            Editable { field: String::new(), text }
        }
    }
}

struct Editable {
    /// The field of the input that is changed; all of it if empty.
    field: String,
    text: String,
}

#[derive(Template)]
#[template(path = "card/tool.html")]
struct Tool {
    id: String,
    tool: Html,
    why: Vec<Html>,
    blocked: Option<Html>,
    shown: Html,
    rest: Option<Html>,
    folder: Html,
    /// What to know about it: of which kind, and in words.
    notes: Vec<(&'static str, Html)>,
    suggestions: Vec<Suggestion>,
    editable: Editable,
    refuse_first: bool,
}
