//! Calls that ask people things, or keep lists of what is to be done.

use askama::Template;
use countersign_protocol::tool::{AskUserQuestionInput, TaskUpdateInput, TodoWriteInput};
use serde_json::Value;

use super::Outcome;
use crate::render::Html;

/// Questions, with what there was to choose from and what was chosen.
pub(super) fn questions(input: &AskUserQuestionInput, outcome: Option<&Outcome>) -> Html {
    let said = |key: &str, question: &str| {
        let answers = outcome.and_then(|outcome| outcome.details.get(key))?;
        match answers.get(question)? {
            Value::String(text) => Some(text.clone()),
            Value::Array(all) => {
                Some(all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "))
            }
            other => other.get("notes")?.as_str().map(str::to_owned),
        }
    };
    let questions = input.questions.iter().map(|question| {
        let answer = said("answers", &question.question).unwrap_or_default();
        let chosen: Vec<&str> = answer.split(", ").collect();
        let is_chosen = |label: &str| answer == label || chosen.contains(&label);
        let labels = question.options.iter().map(|option| option.label.as_str());
        let options: Vec<(&str, bool)> = labels.map(|label| (label, is_chosen(label))).collect();
        // What was chosen is seen. What somebody wrote themselves is said.
        let is_label = |words: &str| options.iter().any(|(label, _)| *label == words);
        let written = if is_label(&answer) { Vec::new() } else { chosen };
        let written = written.into_iter().filter(|words| !is_label(words)).collect::<Vec<_>>();
        Asked {
            text: &question.question,
            note: said("annotations", &question.question),
            is_answered: !answer.is_empty(),
            written: written.join(", "),
            options,
        }
    });
    let response = outcome.and_then(|outcome| outcome.detail("response"));
    // Where the CLI does not say what was answered, what the model was told says it.
    let told = outcome.filter(|outcome| outcome.details.get("answers").is_none());
    Html::of_template(&Questions {
        questions: questions.collect(),
        is_over: outcome.is_some(),
        response: response.or(told.map(|outcome| outcome.text.as_str())),
    })
}

/// A list of what is to be done.
pub(super) fn todos(input: &TodoWriteInput) -> Html {
    list(input.todos.iter().map(|todo| (todo.status.as_str(), &*todo.content)))
}

/// What is to be done: how far each is, and what it is.
pub(crate) fn list<'a>(todos: impl IntoIterator<Item = (&'a str, &'a str)>) -> Html {
    let todos = todos.into_iter().map(|(now, text)| (status(now), text));
    Html::of_template(&Todos { todos: todos.collect() })
}

/// What is changed about something that is to be done.
pub(super) fn task(input: &TaskUpdateInput) -> Html {
    let subject = input.subject.as_deref().or(input.description.as_deref());
    let name = subject.map_or_else(|| format!("Todo {}", input.task_id.as_str()), str::to_owned);
    let now = input.status.as_ref().map_or("pending", |status| status.as_str());
    list([(now, &*name)])
}

/// How far something is that is to be done: a sign, a word, and a class.
pub(super) fn status(status: &str) -> (&'static str, &'static str, &'static str) {
    match status {
        "completed" => ("☑", "done", "done"),
        "in_progress" => ("◐", "in progress", "now"),
        "deleted" => ("☒", "taken from the list", "done"),
        _ => ("☐", "to do", "open"),
    }
}

struct Asked<'a> {
    text: &'a str,
    /// What there was to choose from, and whether it was chosen.
    options: Vec<(&'a str, bool)>,
    /// What was answered besides.
    written: String,
    is_answered: bool,
    note: Option<String>,
}

#[derive(Template)]
#[template(path = "call/questions.html")]
struct Questions<'a> {
    questions: Vec<Asked<'a>>,
    is_over: bool,
    response: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "call/todos.html")]
struct Todos<'a> {
    todos: Vec<((&'static str, &'static str, &'static str), &'a str)>,
}
