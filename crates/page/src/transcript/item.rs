//! What stands in a transcript.

use askama::Template;
use countersign_server::session::MessageContent;
use jiff::Timestamp;

use super::notes::Tone;
use super::{Patch, id};
use crate::call::{Call, Line, Stage};
use crate::render::words::count;
use crate::render::{Html, markdown};

/// Something in a transcript.
#[derive(Debug)]
pub(super) struct Item {
    /// The id of its element.
    pub(super) id: String,
    /// When it came.
    pub(super) at: Timestamp,
    /// What it is.
    pub(super) what: What,
    /// The item that it stands in, and how deep.
    pub(super) within: Option<usize>,
    pub(super) depth: usize,
}

/// What something in a transcript is.
#[derive(Debug)]
pub(super) enum What {
    /// Somebody said something.
    Said(MessageContent),
    /// The model did.
    Prose(String),
    /// The model thought.
    Thought(String),
    /// Something else happened.
    Note(Tone, String),
    /// A tool was called, perhaps an agent, in whose thread other things are.
    Call(Box<Call>, Vec<usize>),
    /// Tools were called that only look: the calls, and how often each tool.
    Fold(Vec<usize>, Vec<(String, usize)>),
}

impl Item {
    /// Something that stands nowhere yet.
    pub(super) const fn new(id: String, at: Timestamp, what: What) -> Self {
        Self { id, at, what, within: None, depth: 0 }
    }

    /// It, with what is in it.
    pub(super) fn html(&self, folder: &str, within: &Html) -> Html {
        let (id, at) = (self.id.as_str(), self.at);
        match &self.what {
            What::Said(content) => Html::of_template(&Said {
                id,
                text: markdown::html(&content.text),
                images: content.images.iter().map(|i| (&*i.media_type, &*i.data)).collect(),
                at,
            }),
            What::Prose(text) => Html::of_template(&Prose { id, text: markdown::html(text), at }),
            What::Thought(text) => Html::of_template(&Thought { id, text: markdown::html(text) }),
            What::Note(tone, text) => Html::of_template(&Note { id, tone: *tone, text, at }),
            What::Call(call, _) => Html::of_template(&Called {
                id,
                thread: self.inside(),
                within,
                line: call.line(folder),
                stage: call.stage,
                decided: call.decided.as_deref(),
                body: call.body(folder),
                is_open: call.opens(),
                at,
            }),
            What::Fold(_, counts) => {
                Html::of_template(&Folded { id, line: &words(counts), within })
            }
        }
    }

    /// A tool was called once more, in a fold.
    pub(super) fn count(&mut self, tool: &str) {
        let What::Fold(_, counts) = &mut self.what else { return };
        match counts.iter_mut().find(|(known, _)| known == tool) {
            Some((_, times)) => *times += 1,
            None => counts.push((tool.to_owned(), 1)),
        }
    }

    /// The element that things in it come into.
    pub(super) fn inside(&self) -> String {
        match &self.what {
            What::Call(call, _) => id("t", &call.id),
            _ => format!("{}-body", self.id),
        }
    }

    /// What of it changes on a page when something about it has changed.
    pub(super) fn changed(&self, folder: &str) -> Vec<Patch> {
        let line = format!("{}-line", self.id);
        match &self.what {
            What::Call(call, _) => {
                let (stage, decided) = (call.stage, call.decided.as_deref());
                let summary = Summary { line: call.line(folder), stage, decided };
                let body = format!("{}-body", self.id);
                vec![
                    Patch::Fill { id: line, html: Html::of_template(&summary) },
                    Patch::Fill { id: body, html: call.body(folder) },
                ]
            }
            What::Fold(_, counts) => vec![Patch::Fill { id: line, html: Html::of(&words(counts)) }],
            _ => Vec::new(),
        }
    }
}

/// What was done in a fold, in words.
fn words(counts: &[(String, usize)]) -> String {
    let words = counts.iter().map(|(tool, times)| match &**tool {
        "Read" | "NotebookRead" => format!("read {}", count(*times, "file", "files")),
        "Grep" => format!("searched {}", count(*times, "time", "times")),
        "Glob" | "LS" => format!("looked for files {}", count(*times, "time", "times")),
        _ => format!("looked for tools {}", count(*times, "time", "times")),
    });
    let words = words.collect::<Vec<_>>().join(", ");
    let mut characters = words.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => "Looks around".to_owned(),
    }
}

#[derive(Template)]
#[template(path = "transcript/said.html")]
struct Said<'a> {
    id: &'a str,
    text: Html,
    images: Vec<(&'a str, &'a str)>,
    at: Timestamp,
}

#[derive(Template)]
#[template(path = "transcript/prose.html")]
struct Prose<'a> {
    id: &'a str,
    text: Html,
    at: Timestamp,
}

#[derive(Template)]
#[template(path = "transcript/thought.html")]
struct Thought<'a> {
    id: &'a str,
    text: Html,
}

#[derive(Template)]
#[template(path = "transcript/note.html")]
struct Note<'a> {
    id: &'a str,
    tone: Tone,
    text: &'a str,
    at: Timestamp,
}

#[derive(Template)]
#[template(path = "transcript/fold.html")]
struct Folded<'a> {
    id: &'a str,
    line: &'a str,
    within: &'a Html,
}

#[derive(Template)]
#[template(path = "transcript/call.html")]
struct Called<'a> {
    id: &'a str,
    thread: String,
    within: &'a Html,
    line: Line,
    stage: Stage,
    decided: Option<&'a str>,
    body: Html,
    is_open: bool,
    at: Timestamp,
}

#[derive(Template)]
#[template(path = "transcript/line.html")]
struct Summary<'a> {
    line: Line,
    stage: Stage,
    decided: Option<&'a str>,
}
