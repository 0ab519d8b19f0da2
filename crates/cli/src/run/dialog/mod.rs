//! Dialogs: keys go in, lines come out, and at the end a decision.
//!
//! Nothing here knows a terminal or a session, so all of it can be tried with keys alone.

pub(crate) mod choices;
pub(crate) mod field;
pub(crate) mod form;
pub(crate) mod plan;
pub(crate) mod prompt;
pub(crate) mod question;
pub(crate) mod tool;

use countersign::permission::PlanChoice;
use countersign::protocol::RawJson;

use self::form::FormDialog;
use self::plan::PlanDialog;
use self::question::{Given, QuestionDialog};
use self::tool::ToolDialog;
use super::terminal::keys::Key;
use super::view::line::Line;

/// What a key did.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reaction {
    /// The dialog goes on.
    Stay,
    /// These lines are to be printed whole.
    Print(Vec<Line>),
    /// The text is to be edited in the person's editor, in a file with this ending.
    Edit(String, &'static str),
    /// It is decided.
    Decided(Decision),
}

/// What was decided.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Decision {
    /// The tool may run; with another input, and with one of the changes that were suggested.
    Allow { input: Option<RawJson>, suggestion: Option<usize> },
    /// It may not, and why.
    Deny(Option<String>),
    /// It may not, and the turn is over.
    Stop,
    /// The plan is approved, in other words, with or without what it asks to be allowed, if it asks
    /// for anything.
    Approve { choice: PlanChoice, edited: Option<String>, grant: Option<bool> },
    /// The plan is not good yet.
    KeepPlanning(String),
    /// Answers to questions, some of which may be missing.
    Answers(Vec<Given>),
    /// What an MCP server asked for.
    Form(RawJson),
}

/// A dialog.
#[derive(Clone, Debug)]
pub(crate) enum Dialog {
    Tool(Box<ToolDialog>),
    Plan(PlanDialog),
    Questions(QuestionDialog),
    Form(FormDialog),
}

impl Dialog {
    pub(crate) fn key(&mut self, key: &Key) -> Reaction {
        match self {
            Self::Tool(dialog) => dialog.key(key),
            Self::Plan(dialog) => dialog.key(key),
            Self::Questions(dialog) => dialog.key(key),
            Self::Form(dialog) => dialog.key(key),
        }
    }

    /// The text that was to be edited, as it is now.
    pub(crate) fn edited(&mut self, text: &str) -> Reaction {
        match self {
            Self::Tool(dialog) => dialog.edited(text),
            Self::Plan(dialog) => dialog.edited(text),
            Self::Questions(_) | Self::Form(_) => Reaction::Stay,
        }
    }

    /// What is printed when it opens, for what is too long for a panel.
    pub(crate) fn opening(&self, columns: usize, rows: usize) -> Vec<Line> {
        match self {
            Self::Tool(dialog) => dialog.opening(columns, rows),
            Self::Plan(dialog) => dialog.opening(),
            Self::Questions(dialog) => dialog.opening(columns, rows),
            Self::Form(dialog) => dialog.opening(columns, rows),
        }
    }

    /// The panel.
    pub(crate) fn lines(&self, columns: usize, rows: usize) -> Vec<Line> {
        match self {
            Self::Tool(dialog) => dialog.lines(columns, rows),
            Self::Plan(dialog) => dialog.lines(),
            Self::Questions(dialog) => dialog.lines(columns),
            Self::Form(dialog) => dialog.lines(columns, rows),
        }
    }
}
