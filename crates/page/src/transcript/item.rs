//! What stands in a transcript.

use askama::Template;
use countersign_server::session::MessageContent;
use jiff::Timestamp;

use super::fold::Fold;
use super::notes::Tone;
use super::{Patch, id};
use crate::call::{Call, Line, Stage};
use crate::decision::Decided;
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
    /// Tools were called that only look.
    Fold(Fold),
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
                decided: call.decided.as_ref(),
                body: call.body(folder),
                is_open: call.opens(),
                at,
            }),
            What::Fold(fold) => Html::of_template(&Folded { id, line: fold.line(), within }),
        }
    }

    /// The fold that it is.
    pub(super) const fn fold(&mut self) -> Option<&mut Fold> {
        match &mut self.what {
            What::Fold(fold) => Some(fold),
            _ => None,
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
                let (stage, decided) = (call.stage, call.decided.as_ref());
                let summary = Summary { line: call.line(folder), stage, decided };
                let body = format!("{}-body", self.id);
                vec![
                    Patch::Fill { id: line, html: Html::of_template(&summary) },
                    Patch::Fill { id: body, html: call.body(folder) },
                ]
            }
            What::Fold(fold) => vec![Patch::Fill { id: line, html: fold.line() }],
            _ => Vec::new(),
        }
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
    line: Html,
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
    decided: Option<&'a Decided>,
    body: Html,
    is_open: bool,
    at: Timestamp,
}

#[derive(Template)]
#[template(path = "transcript/line.html")]
struct Summary<'a> {
    line: Line,
    stage: Stage,
    decided: Option<&'a Decided>,
}
