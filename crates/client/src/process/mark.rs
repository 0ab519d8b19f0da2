//! The mark in the environment of everything that belongs together.

use std::ffi::OsStr;
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

/// A variable that the CLI is started with and that its tools inherit, by which they are found when
/// nothing else connects them to the CLI any more.
///
/// Each session has a mark of its own, and each process that starts sessions has one for all of
/// them. A program that was itself started by a marked process adds its marks to those it found, so
/// that the outer one still finds everything.
///
/// Written as text it is the entry of the environment, and can be kept for after a crash:
///
/// ```
/// use countersign::process::Mark;
///
/// let mark = Mark::of_this_process();
/// assert!(mark.to_string().starts_with("COUNTERSIGN_OWNER="));
/// assert_eq!(mark.to_string().parse::<Mark>()?, mark);
/// # Ok::<(), countersign::process::MarkError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Mark {
    kind: Kind,
    id: Uuid,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Session,
    Owner,
}

impl Kind {
    const fn variable(self) -> &'static str {
        match self {
            Self::Session => "COUNTERSIGN_SESSION",
            Self::Owner => "COUNTERSIGN_OWNER",
        }
    }
}

/// Between the marks of an outer and an inner session.
const SEPARATOR: char = ':';

/// Sessions in sessions are not told apart any deeper than this.
const DEEPEST: usize = 100;

impl Mark {
    /// The mark of everything that this process starts, in all its sessions.
    #[must_use]
    pub fn of_this_process() -> Self {
        static OWNER: OnceLock<Uuid> = OnceLock::new();
        Self { kind: Kind::Owner, id: *OWNER.get_or_init(Uuid::new_v4) }
    }

    /// A mark that no other session has.
    pub(super) fn of_a_new_session() -> Self {
        Self { kind: Kind::Session, id: Uuid::new_v4() }
    }

    /// The name of the variable.
    pub(super) const fn variable(self) -> &'static str {
        self.kind.variable()
    }

    /// The value of the variable for a child, when this process has `inherited` one itself. What are
    /// no marks is not passed on: it would hide those that stand after it.
    pub(super) fn value_within(self, inherited: Option<&OsStr>) -> String {
        let is_mark = |each: &&str| Uuid::parse_str(each).is_ok_and(|id| id.to_string() == **each);
        let outer = inherited.and_then(OsStr::to_str).unwrap_or_default().split(SEPARATOR);
        let own = self.id.to_string();
        let all: Vec<_> = outer.filter(is_mark).take(DEEPEST).chain([own.as_str()]).collect();
        all.join(&SEPARATOR.to_string())
    }

    /// A regular expression for `grep` that finds the mark in an environment. What stands between
    /// the name and the id can only be other marks.
    pub(super) fn pattern(self) -> String {
        format!("{}=[0-9a-f:-]*{}", self.variable(), self.id)
    }

    /// Whether an environment, as the system shows it, carries the mark.
    pub(super) fn is_in(self, environment: &[u8]) -> bool {
        let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
        let id = self.id.hyphenated().encode_lower(&mut text).as_bytes();
        environment
            .split(|&byte| byte == 0)
            .filter_map(|entry| entry.strip_prefix(self.variable().as_bytes())?.strip_prefix(b"="))
            .any(|value| value.split(|&byte| byte == SEPARATOR as u8).any(|each| each == id))
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.variable(), self.id)
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mark({self})")
    }
}

/// A text that is not a [`Mark`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not a mark: {text:?} (expected what Mark prints, COUNTERSIGN_SESSION=<uuid>)")]
#[non_exhaustive]
pub struct MarkError {
    /// The text.
    pub text: String,
}

impl FromStr for Mark {
    type Err = MarkError;

    fn from_str(text: &str) -> Result<Self, MarkError> {
        let parse = || {
            let (variable, id) = text.split_once('=')?;
            let kind =
                [Kind::Session, Kind::Owner].into_iter().find(|k| k.variable() == variable)?;
            let mark = Self { kind, id: Uuid::parse_str(id).ok()? };
            (mark.to_string() == text).then_some(mark)
        };
        parse().ok_or_else(|| MarkError { text: text.to_owned() })
    }
}

impl TryFrom<String> for Mark {
    type Error = MarkError;

    fn try_from(text: String) -> Result<Self, MarkError> {
        text.parse()
    }
}

impl From<Mark> for String {
    fn from(mark: Mark) -> Self {
        mark.to_string()
    }
}
