//! When an answer fits.

use std::fmt;

use regex::Regex;

/// A text to look for: as it stands, or a regular expression.
///
/// In a script file a regular expression stands between slashes: `"/wr[io]te/"`. In Rust, a
/// [`Regex`] converts into one, and a string is looked for as it stands.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Pattern {
    /// The text contains this.
    Contains(String),
    /// The text matches this somewhere.
    Matches(Regex),
}

impl Pattern {
    /// Whether the pattern is in the text.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        match self {
            Self::Contains(part) => text.contains(part.as_str()),
            Self::Matches(regex) => regex.is_match(text),
        }
    }

    /// The regular expression, where it is one.
    #[must_use]
    pub fn regex(&self) -> Option<&Regex> {
        match self {
            Self::Contains(_) => None,
            Self::Matches(regex) => Some(regex),
        }
    }
}

/// Two patterns are the same when they are written the same.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Contains(this), Self::Contains(other)) => this == other,
            (Self::Matches(this), Self::Matches(other)) => this.as_str() == other.as_str(),
            (Self::Contains(_), Self::Matches(_)) | (Self::Matches(_), Self::Contains(_)) => false,
        }
    }
}

impl Eq for Pattern {}

impl From<&str> for Pattern {
    fn from(text: &str) -> Self {
        Self::Contains(text.to_owned())
    }
}

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        Self::Contains(text)
    }
}

impl From<Regex> for Pattern {
    fn from(regex: Regex) -> Self {
        Self::Matches(regex)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Contains(text) => write!(f, "{text:?}"),
            Self::Matches(regex) => write!(f, "/{regex}/"),
        }
    }
}

/// The requests that an answer is for: those for which everything that is given holds.
///
/// An answer is for side jobs only if it says so. Without [`agent`](Self::agent) it is for the main
/// conversation and for subagents alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct When {
    /// What the user said since the model last spoke has this in it.
    pub text: Option<Pattern>,
    /// What the user said first in the conversation has this in it.
    pub first: Option<Pattern>,
    /// A new tool result has this in it.
    pub result: Option<Pattern>,
    /// That result is an error, or is none.
    pub error: Option<bool>,
    /// That result is of this tool.
    pub tool: Option<String>,
    /// It is this request of the main conversation, counted from 1.
    pub turn: Option<u64>,
    /// The model that is asked has this in its name.
    pub model: Option<Pattern>,
    /// It is a side job.
    pub side: bool,
    /// It is of a subagent, or is not.
    pub agent: Option<bool>,
}

impl When {
    /// Any request that is not a side job.
    #[must_use]
    pub fn any() -> Self {
        Self::default()
    }

    /// Any side job, such as making up a title.
    #[must_use]
    pub fn side_job() -> Self {
        Self { side: true, ..Self::default() }
    }

    /// The user said this since the model last spoke.
    #[must_use]
    pub fn text(text: impl Into<Pattern>) -> Self {
        Self::any().and_text(text)
    }

    /// A new tool result has this in it.
    #[must_use]
    pub fn result(text: impl Into<Pattern>) -> Self {
        Self::any().and_result(text)
    }

    /// There is a new result of this tool.
    #[must_use]
    pub fn tool(name: impl Into<String>) -> Self {
        Self::any().and_tool(name)
    }

    /// It is this request of the main conversation, counted from 1.
    #[must_use]
    pub fn turn(turn: u64) -> Self {
        Self { turn: Some(turn), ..Self::default() }
    }

    /// Also: the user said this since the model last spoke.
    #[must_use]
    pub fn and_text(mut self, text: impl Into<Pattern>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// Also: the conversation began with this.
    #[must_use]
    pub fn and_first(mut self, text: impl Into<Pattern>) -> Self {
        self.first = Some(text.into());
        self
    }

    /// Also: a new tool result has this in it.
    #[must_use]
    pub fn and_result(mut self, text: impl Into<Pattern>) -> Self {
        self.result = Some(text.into());
        self
    }

    /// Also: that result is an error, or is none.
    #[must_use]
    pub fn and_error(mut self, error: bool) -> Self {
        self.error = Some(error);
        self
    }

    /// Also: that result is of this tool.
    #[must_use]
    pub fn and_tool(mut self, name: impl Into<String>) -> Self {
        self.tool = Some(name.into());
        self
    }

    /// Also: the model that is asked has this in its name.
    #[must_use]
    pub fn and_model(mut self, model: impl Into<Pattern>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Also: it is of a subagent, or is not.
    #[must_use]
    pub fn and_agent(mut self, agent: bool) -> Self {
        self.agent = Some(agent);
        self
    }

    /// Whether anything is asked of the new tool results.
    pub(super) fn asks_for_a_result(&self) -> bool {
        self.result.is_some() || self.error.is_some() || self.tool.is_some()
    }

    /// The regular expressions, in the order in which `${match.1}` would look at them.
    pub(super) fn regexes(&self) -> impl Iterator<Item = &Regex> {
        [&self.text, &self.result, &self.first, &self.model]
            .into_iter()
            .filter_map(|pattern| pattern.as_ref()?.regex())
    }
}
