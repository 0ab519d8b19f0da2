//! Calls of tools, each shown for what it is.
//!
//! A call is one quiet line that opens to its particulars: the command and its output, the diff, the
//! list. A tool that is not known here is shown as its input and its result.

mod body;
mod line;
mod result;
mod talk;

use countersign_protocol::RawJson;
use countersign_protocol::tool::ToolInput;
use serde_json::Value;

pub(crate) use self::body::tidy;
pub use self::line::Line;
pub use self::result::Outcome;
pub(crate) use self::talk::list;
use crate::decision::Decided;
use crate::render::{Html, json};

/// How far a call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It was made.
    Running,
    /// A person is asked.
    Asked,
    /// It ran.
    Ran,
    /// It ran, and failed.
    Failed,
    /// It was refused.
    Refused,
    /// It may have run.
    Unknown,
}

impl Stage {
    /// A sign for it.
    #[must_use]
    pub const fn glyph(self) -> &'static str {
        match self {
            Self::Running => "◌",
            Self::Asked => "?",
            Self::Ran => "✓",
            Self::Failed => "✗",
            Self::Refused => "⊘",
            Self::Unknown => "~",
        }
    }

    /// A word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Asked => "waits for you",
            Self::Ran => "done",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Unknown => "not known whether it ran",
        }
    }

    /// The name of its class.
    #[must_use]
    pub const fn class(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Asked => "asked",
            Self::Ran => "ran",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
        }
    }
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its id, as the CLI gave it.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// What it is called with.
    pub input: RawJson,
    /// How far it has come.
    pub stage: Stage,
    /// Who let it run or refused it.
    pub decided: Option<Decided>,
    /// What came of it.
    pub outcome: Option<Outcome>,
}

impl Call {
    /// A call that was just made.
    #[must_use]
    pub const fn new(id: String, tool: String, input: RawJson) -> Self {
        Self { id, tool, input, stage: Stage::Running, decided: None, outcome: None }
    }

    /// Whether it only looks, so that many of them are one line.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        matches!(&*self.tool, "Read" | "Grep" | "Glob" | "LS" | "ToolSearch" | "NotebookRead")
    }

    /// Whether it starts a sub-agent, which has a thread of its own.
    #[must_use]
    pub fn is_agent(&self) -> bool {
        matches!(&*self.tool, "Agent" | "Task")
    }

    /// Whether it is open when it is shown first: changes of files are what people look at.
    #[must_use]
    pub fn opens(&self) -> bool {
        matches!(&*self.tool, "Edit" | "Write" | "NotebookEdit" | "TodoWrite")
    }

    /// The line that it is.
    #[must_use]
    pub fn line(&self, folder: &str) -> Line {
        line::line(self, folder)
    }

    /// What it opens to.
    #[must_use]
    pub fn body(&self, folder: &str) -> Html {
        let mut html = body::body(self, folder);
        if let Some(decided) = &self.decided {
            html.tag("<p class=\"decided\">").text(&decided.whole).tag("</p>");
        }
        html
    }

    fn typed(&self) -> ToolInput {
        ToolInput::parse(&self.tool, &self.input).unwrap_or(ToolInput::Other)
    }

    fn value(&self) -> Value {
        json::value(&self.input).unwrap_or_default()
    }
}

/// The server and the tool, of a tool of an MCP server.
#[must_use]
pub fn of_server(tool: &str) -> Option<(&str, &str)> {
    tool.strip_prefix("mcp__")?.split_once("__")
}
