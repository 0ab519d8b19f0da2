//! What the model says: answers, in sequence or chosen by what it was told.
//!
//! The same script drives the scripted model API, behind the real CLI, and the simulated CLI. It
//! is a file for people to read and write, or is made in Rust:
//!
//! ```
//! use countersign_lab::script::{Answer, Player, Script, When};
//! use serde_json::json;
//!
//! let script = Script::new()
//!     .then(Answer::tool("Write", json!({"file_path": "${cwd}/a.txt", "content": "hi\n"})))
//!     .then(Answer::text("I have written it."))
//!     .when(When::text("thanks"), Answer::text("You are welcome."));
//!
//! let same = Script::parse(
//!     r#"
//! [[answer]]
//! tool = { name = "Write", input = { file_path = "${cwd}/a.txt", content = "hi\n" } }
//!
//! [[answer]]
//! text = "I have written it."
//!
//! [[answer]]
//! when = { text = "thanks" }
//! text = "You are welcome."
//! "#,
//!     "hello.toml",
//! )?;
//! assert_eq!(script, same);
//!
//! let mut player = Player::new(script);
//! player.set("cwd", "/home/user/project");
//! let request = json!({
//!     "model": "m",
//!     "tools": [{"name": "Write"}],
//!     "messages": [{"role": "user", "content": "thanks!"}],
//! });
//! assert_eq!(player.answer(&request).blocks, Answer::text("You are welcome.").blocks);
//! assert_eq!(player.unused().len(), 2);
//! # Ok::<(), countersign_lab::script::ScriptError>(())
//! ```
//!
//! `docs/scripts.md` in the repository describes the format of the file in full.

mod answer;
mod check;
mod fault;
mod fit;
mod parse;
mod player;
mod print;
mod request;
mod template;
mod texts;
mod when;

use std::collections::BTreeMap;

pub use self::answer::{Answer, ApiError, Block, Ending, ToolUse, Usage};
pub use self::fault::{Act, Fault, Misbehaviour, UnknownAct, UnknownFault};
pub use self::parse::{LoadError, Problem, ProblemPlace, ScriptError};
pub use self::player::{Played, Player, Progress, Source, Unused};
pub use self::request::{Request, RequestKind, ToolResult};
pub use self::when::{Pattern, When};

/// The signature of thinking. It says nothing, but it has to be there.
pub(crate) const SIGNATURE: &str = "c2NyaXB0ZWQ=";

/// A script: what the model answers.
///
/// For each request the first entry with a fitting [`When`] is served; if none fits and the
/// request is of the main conversation, the next of the entries without one, in their order; and
/// then what is said [`otherwise`](Self::otherwise).
#[derive(Clone, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct Script {
    /// The answers, in the order of the file.
    pub entries: Vec<Entry>,
    /// Said when nothing else fits. When absent, a text that says so.
    pub otherwise: Option<String>,
    /// Variables and their values.
    pub variables: BTreeMap<String, String>,
    /// Variables that the caller gives; see [`Player::set`].
    pub needs: Vec<String>,
    /// What the simulated CLI does wrong with control requests.
    pub misbehaviour: Vec<Misbehaviour>,
    /// The name of the file, for messages.
    file: Aside<Option<String>>,
}

/// An answer of a script, with the requests that it is for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// The requests that it is for. When absent, it waits for its turn in the sequence.
    pub when: Option<When>,
    /// How often it is served. When absent: once in the sequence, any number of times with `when`.
    pub times: Option<u32>,
    /// The answer, its variables not yet replaced.
    pub answer: Answer,
    /// Where it stands in its file.
    place: Aside<Place>,
}

/// Where an entry and its variables stand in a file, for messages.
#[derive(Clone, Debug, Default)]
struct Place {
    /// The line of the entry.
    line: Option<usize>,
    /// The variables, each with its line.
    variables: Vec<(String, usize)>,
}

/// Something that is told, but that does not make a script another one.
#[derive(Clone, Debug, Default)]
struct Aside<T>(T);

impl<T> PartialEq for Aside<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Script {
    /// A script without answers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an answer to the sequence.
    #[must_use]
    pub fn then(mut self, entry: impl Into<Entry>) -> Self {
        self.entries.push(entry.into());
        self
    }

    /// Adds an answer for certain requests.
    #[must_use]
    pub fn when(mut self, when: When, entry: impl Into<Entry>) -> Self {
        self.entries.push(Entry { when: Some(when), ..entry.into() });
        self
    }

    /// Says this when nothing else fits.
    #[must_use]
    pub fn otherwise(mut self, text: impl Into<String>) -> Self {
        self.otherwise = Some(text.into());
        self
    }

    /// Gives a variable a value.
    #[must_use]
    pub fn set(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Names a variable that the caller gives; see [`Player::set`].
    #[must_use]
    pub fn needs(mut self, name: impl Into<String>) -> Self {
        self.needs.push(name.into());
        self
    }

    /// Does something wrong with control requests, in the simulated CLI.
    #[must_use]
    pub fn misbehave(mut self, misbehaviour: Misbehaviour) -> Self {
        self.misbehaviour.push(misbehaviour);
        self
    }

    /// Whether a value for this variable would be of use: the script gives it one, needs one, or
    /// it is one that can be found in a request as well.
    #[must_use]
    pub fn takes(&self, name: &str) -> bool {
        matches!(name, "cwd" | "home" | "plan_file")
            || self.variables.contains_key(name)
            || self.needs.iter().any(|needed| needed == name)
    }

    /// What messages call the script: the name of its file.
    #[must_use]
    pub fn name(&self) -> &str {
        self.file.0.as_deref().unwrap_or("script")
    }
}

impl Entry {
    /// Serves the answer this many times.
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        self.times = Some(times);
        self
    }

    /// The line in the file, when the script is from one.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.place.0.line
    }
}

impl From<Answer> for Entry {
    fn from(answer: Answer) -> Self {
        Self { when: None, times: None, answer, place: Aside::default() }
    }
}
