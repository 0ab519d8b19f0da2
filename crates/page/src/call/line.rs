//! The one line of a call.

use countersign_protocol::tool::ToolInput;

use super::{Call, of_server};
use crate::render::words::{count, short, within};

/// The longest object of a line, in characters.
const LONGEST: usize = 160;

/// The one line of a call: what is done, to what, and how much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What is done: `Run`, `Edit`.
    pub verb: String,
    /// To what: a command, a path.
    pub object: String,
    /// Whether the object is written as code.
    pub is_code: bool,
    /// How much: `+3 −1`, `2 of 5 done`.
    pub extent: String,
}

impl Line {
    fn new(verb: &str, object: &str, is_code: bool) -> Self {
        let object = short(object, LONGEST);
        Self { verb: verb.to_owned(), object, is_code, extent: String::new() }
    }

    fn with(mut self, extent: String) -> Self {
        self.extent = extent;
        self
    }
}

pub(super) fn line(call: &Call, folder: &str) -> Line {
    let code = |verb: &str, object: &str| Line::new(verb, object, true);
    let words = |verb: &str, object: &str| Line::new(verb, object, false);
    let path = |verb: &str, path: &str| code(verb, within(path, folder));
    match call.typed() {
        ToolInput::Bash(input) => {
            match input.description.as_deref().filter(|text| !text.is_empty()) {
                Some(description) => words("Run", description),
                None => code("Run", &input.command),
            }
        }
        ToolInput::Read(input) => path("Read", &input.file_path),
        ToolInput::Write(input) => path("Write", &input.file_path).with(changed(call)),
        ToolInput::Edit(input) => path("Edit", &input.file_path).with(changed(call)),
        ToolInput::NotebookEdit(input) => path("Edit", &input.notebook_path),
        ToolInput::Grep(input) => code("Search for", &input.pattern),
        ToolInput::Glob(input) => code("Find", &input.pattern),
        ToolInput::WebFetch(input) => words("Fetch", &input.url),
        ToolInput::WebSearch(input) => words("Search the web for", &input.query),
        ToolInput::Agent(input) => {
            let goes_on = call.outcome.as_ref().is_some_and(super::Outcome::is_in_background);
            let extent = if goes_on { "in the background" } else { "" };
            words("Agent", &input.description).with(extent.to_owned())
        }
        ToolInput::TodoWrite(input) => {
            let done =
                input.todos.iter().filter(|todo| todo.status.as_str() == "completed").count();
            let now = input.todos.iter().find(|todo| todo.status.as_str() == "in_progress");
            let now = now.map_or("", |todo| &*todo.content);
            words("Todos", now).with(format!("{done} of {} done", input.todos.len()))
        }
        ToolInput::TaskCreate(input) => words("New todo", &input.subject),
        ToolInput::TaskUpdate(input) => {
            let now =
                input.status.as_ref().map_or("", |status| super::talk::status(status.as_str()).1);
            let name = input.subject.as_deref().unwrap_or_else(|| input.task_id.as_str());
            words("Todo", name).with(now.to_owned())
        }
        ToolInput::ExitPlanMode(_) => words("Plan", ""),
        ToolInput::EnterPlanMode(_) => words("Enter plan mode", ""),
        ToolInput::AskUserQuestion(input) => {
            let first = input.questions.first().map_or("", |question| &*question.question);
            words("Ask", first).with(count(input.questions.len(), "question", "questions"))
        }
        ToolInput::Skill(input) => words("Skill", &input.skill),
        _ => match of_server(&call.tool) {
            Some((server, tool)) => words(server, tool),
            None => words(&call.tool, ""),
        },
    }
}

/// How many lines changed, once that is known.
fn changed(call: &Call) -> String {
    match call.outcome.as_ref().and_then(super::Outcome::diff) {
        Some(diff) => {
            let (added, removed) = diff.counts();
            format!("+{added} −{removed}")
        }
        None => String::new(),
    }
}
