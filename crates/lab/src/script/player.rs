//! Plays a script: request by request, one answer each.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answer::{Answer, ApiError, Block};
use super::fit::{Group, News};
use super::request::{Request, RequestKind};
use super::template::{self, Piece, Unclosed, Variable};
use super::texts::map_texts;
use super::{Entry, Script};

/// What is said when a script has nothing to say any more, and no `otherwise`.
const NO_ANSWER_LEFT: &str = "This script has no answer left.";
/// What is said to side jobs for which the script has no answer.
const SIDE_ANSWER: &str = "ok";

/// Plays a script.
///
/// A player knows no clock and does no I/O: the same requests get the same answers. Each request
/// counts, also one that the CLI sends again after an error: it gets the next answer of the
/// script, so that "an error, then success" is two answers.
#[derive(Clone, Debug)]
pub struct Player {
    script: Script,
    /// Which script it began with.
    fingerprint: u64,
    /// Values from the caller.
    given: BTreeMap<String, String>,
    /// How often each entry was served.
    served: Vec<u32>,
    /// Requests of the main conversation so far.
    turn: u64,
    /// Calls of tools so far.
    calls: u64,
    /// The latest call of each label.
    labels: BTreeMap<String, String>,
}

/// How far a script has been played, so that another player can go on from there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Which script it was.
    script: u64,
    served: Vec<u32>,
    turn: u64,
    calls: u64,
    labels: BTreeMap<String, String>,
}

/// An answer, and where it came from.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Played {
    /// The answer, its variables replaced and every call of a tool with an id.
    pub answer: Answer,
    /// What served it.
    pub by: Source,
    /// Whose request it was.
    pub kind: RequestKind,
    /// How many requests of the main conversation there were, this one included if it is one.
    pub turn: u64,
}

/// What served a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// An entry of the script.
    Entry {
        /// Its number, counted from 1.
        number: usize,
        /// Its line, when the script is from a file.
        line: Option<usize>,
    },
    /// What is said when nothing else fits.
    Otherwise,
    /// What is said to side jobs that the script does not mention.
    SideJob,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry { number, line: Some(line) } => write!(f, "answer {number} (line {line})"),
            Self::Entry { number, line: None } => write!(f, "answer {number}"),
            Self::Otherwise => f.write_str("otherwise"),
            Self::SideJob => f.write_str("side job"),
        }
    }
}

/// An entry that was not served as often as it could have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unused {
    /// Its number, counted from 1.
    pub number: usize,
    /// Its line, when the script is from a file.
    pub line: Option<usize>,
    /// How often it was served.
    pub served: u32,
    /// How often it had to be.
    pub expected: u32,
}

impl fmt::Display for Unused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = Source::Entry { number: self.number, line: self.line };
        write!(f, "{source} was served {} of {} times", self.served, self.expected)
    }
}

/// A variable that has no value for this request.
struct Missing {
    variable: String,
    why: String,
}

/// What the entry that was chosen knows of the request.
struct Scene<'a> {
    request: Request<'a>,
    groups: Vec<Group>,
}

/// Tells scripts apart (FNV-1a of the text). It is written to files, so it must be the same in
/// every build.
fn fingerprint(script: &Script) -> u64 {
    script.to_toml().bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl Player {
    /// A player at the start of a script.
    #[must_use]
    pub fn new(script: Script) -> Self {
        let served = vec![0; script.entries.len()];
        Self {
            fingerprint: fingerprint(&script),
            script,
            given: BTreeMap::new(),
            served,
            turn: 0,
            calls: 0,
            labels: BTreeMap::new(),
        }
    }

    /// Gives a variable a value, which goes before that in the script.
    ///
    /// `cwd`, `home` and `plan_file` can be given, too.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.given.insert(name.into(), value.into());
    }

    /// Adds an answer at the end of the script.
    pub fn push(&mut self, entry: impl Into<Entry>) {
        self.script.entries.push(entry.into());
        self.served.push(0);
    }

    /// How far the script has been played.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress {
            script: self.fingerprint,
            served: self.served.clone(),
            turn: self.turn,
            calls: self.calls,
            labels: self.labels.clone(),
        }
    }

    /// Goes on from where another player of the same script was. A player of another script stays
    /// at its start: the two have nothing to do with each other.
    ///
    /// ```
    /// use countersign_lab::script::{Answer, Player, Script};
    /// use serde_json::json;
    ///
    /// let script = Script::new().then(Answer::text("One.")).then(Answer::text("Two."));
    /// let request = json!({"tools": [{"name": "Bash"}], "messages": []});
    /// let mut first = Player::new(script.clone());
    /// first.answer(&request);
    /// let mut second = Player::new(script);
    /// second.go_on_from(first.progress());
    /// assert_eq!(second.answer(&request).blocks, Answer::text("Two.").blocks);
    ///
    /// let mut other = Player::new(Script::new().then(Answer::text("Uno.")));
    /// other.go_on_from(first.progress());
    /// assert_eq!(other.answer(&request).blocks, Answer::text("Uno.").blocks);
    /// ```
    pub fn go_on_from(&mut self, progress: Progress) {
        let Progress { script, mut served, turn, calls, labels } = progress;
        if script != self.fingerprint {
            return;
        }
        // Entries may have been pushed since.
        served.resize(self.script.entries.len(), 0);
        (self.served, self.turn, self.calls, self.labels) = (served, turn, calls, labels);
    }

    /// The script.
    #[must_use]
    pub fn script(&self) -> &Script {
        &self.script
    }

    /// The answer to a request: see [`play`](Self::play).
    pub fn answer(&mut self, request: &Value) -> Answer {
        self.play(request).answer
    }

    /// The answer to a request, which is the body of a request to the Messages API.
    ///
    /// An answer that uses a variable without a value becomes an error of status 400 that says
    /// which variable on which line it was. It is not used up by that: some versions of the CLI
    /// try again after a 400, and would hide the mistake if the script went on.
    pub fn play(&mut self, request: &Value) -> Played {
        let request = Request::new(request);
        let kind = request.kind();
        if kind == RequestKind::Main {
            self.turn = self.turn.saturating_add(1);
        }
        let (by, mut answer, groups) = self.choose(request, kind);
        let scene = Scene { request, groups };
        let expanded = map_texts(&mut answer, &mut |text| self.expand(text, &scene).map(Some));
        match expanded {
            Ok(()) => self.count(by),
            Err(missing) => {
                answer = Answer::error(ApiError::new(400).message(self.complain(by, &missing)));
            }
        }
        self.name_calls(&mut answer, request);
        Played { answer, by, kind, turn: self.turn }
    }

    /// The entries that the script still waits to serve.
    ///
    /// An entry of the sequence has to be served as often as it says; one with `when`, at least
    /// once.
    #[must_use]
    pub fn unused(&self) -> Vec<Unused> {
        let entries = self.script.entries.iter().zip(&self.served).enumerate();
        let counts = entries.map(|(at, (entry, served))| {
            let expected = if entry.when.is_some() { 1 } else { entry.times.unwrap_or(1) };
            Unused { number: at + 1, line: entry.line(), served: *served, expected }
        });
        counts.filter(|entry| entry.served < entry.expected).collect()
    }

    /// Counts that an entry was served.
    fn count(&mut self, by: Source) {
        let Source::Entry { number, .. } = by else { return };
        if let Some(served) = self.served.get_mut(number.saturating_sub(1)) {
            *served = served.saturating_add(1);
        }
    }

    /// Picks the answer.
    fn choose(&self, request: Request<'_>, kind: RequestKind) -> (Source, Answer, Vec<Group>) {
        let news = News::of(request, kind, self.turn);
        let mut chosen = None;
        for (at, (entry, served)) in self.script.entries.iter().zip(&self.served).enumerate() {
            let Some(when) = &entry.when else { continue };
            if entry.times.is_some_and(|times| *served >= times) {
                continue;
            }
            if let Some(groups) = news.fits(when) {
                chosen = Some((at, entry, groups));
                break;
            }
        }
        if chosen.is_none() && kind == RequestKind::Main {
            let entries = self.script.entries.iter().zip(&self.served).enumerate();
            let mut waiting = entries.filter(|(_, (entry, served))| {
                entry.when.is_none() && **served < entry.times.unwrap_or(1)
            });
            chosen = waiting.next().map(|(at, (entry, _))| (at, entry, Vec::new()));
        }
        let Some((at, entry, groups)) = chosen else {
            if kind == RequestKind::Side {
                return (Source::SideJob, Answer::text(SIDE_ANSWER), Vec::new());
            }
            let text = self.script.otherwise.as_deref().unwrap_or(NO_ANSWER_LEFT);
            return (Source::Otherwise, Answer::text(text), Vec::new());
        };
        (Source::Entry { number: at + 1, line: entry.line() }, entry.answer.clone(), groups)
    }

    /// Gives every call an id that is not in the conversation yet, and remembers the labels.
    fn name_calls(&mut self, answer: &mut Answer, request: Request<'_>) {
        for block in &mut answer.blocks {
            let Block::ToolUse(call) = block else { continue };
            let id = call.id.get_or_insert_with(|| {
                loop {
                    self.calls = self.calls.saturating_add(1);
                    let id = format!("toolu_lab{:016}", self.calls);
                    if !request.has_call(&id) {
                        return id;
                    }
                }
            });
            if let Some(label) = &call.label {
                self.labels.insert(label.clone(), id.clone());
            }
        }
    }

    /// Replaces the variables of a text.
    fn expand(&self, text: &str, scene: &Scene<'_>) -> Result<String, Missing> {
        let mut expanded = String::with_capacity(text.len());
        for piece in template::pieces(text) {
            match piece {
                Ok(Piece::Text(text)) => expanded.push_str(text),
                Ok(Piece::Variable(name)) => expanded.push_str(&self.value(name, scene)?),
                Err(Unclosed) => {
                    let why = "its `}` is missing".to_owned();
                    return Err(Missing { variable: text.to_owned(), why });
                }
            }
        }
        Ok(expanded)
    }

    fn value(&self, name: &str, scene: &Scene<'_>) -> Result<String, Missing> {
        let request = scene.request;
        let set = || self.given.get(name).or_else(|| self.script.variables.get(name)).cloned();
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let (value, why) = match Variable::from_name(name) {
            Variable::Cwd => (
                set().or_else(|| owned(request.working_directory())),
                "nobody gave it, and the request names no working directory".to_owned(),
            ),
            Variable::Home => (set(), "nobody gave it".to_owned()),
            Variable::PlanFile => (
                set().or_else(|| owned(request.plan_file())),
                "nobody gave it, and the request names no plan file".to_owned(),
            ),
            Variable::Text => {
                (request.last_text(), "the conversation has no words of the user".to_owned())
            }
            Variable::Turn => (Some(self.turn.to_string()), String::new()),
            Variable::Result => {
                let last = request.tool_results().pop().map(|result| result.text);
                (last, "the conversation has no result of a tool".to_owned())
            }
            Variable::ResultOf(label) => {
                let id = self.labels.get(label);
                let mut results = request.tool_results().into_iter().rev();
                let result = results.find(|result| Some(&result.id) == id);
                let why = format!("the conversation has no result of the call labelled {label:?}");
                (result.map(|result| result.text), why)
            }
            Variable::Match(group) => {
                let number = group.parse::<usize>();
                let mut groups = scene.groups.iter().enumerate();
                let found = groups.find(|(at, known)| match number {
                    Ok(number) => *at == number,
                    Err(_) => known.name.as_deref() == Some(group),
                });
                let value = found.map(|(_, group)| group.text.clone());
                (value, "no regular expression of this answer has that group".to_owned())
            }
            Variable::Named(_) => (set(), "nobody gave it".to_owned()),
        };
        value.ok_or_else(|| Missing { variable: name.to_owned(), why })
    }

    /// Says which variable of which line has no value, and why.
    fn complain(&self, by: Source, missing: &Missing) -> String {
        let entry = match by {
            Source::Entry { number, .. } => self.script.entries.get(number.saturating_sub(1)),
            Source::Otherwise | Source::SideJob => None,
        };
        let place = match entry.and_then(|entry| entry.line_of(&missing.variable)) {
            Some(line) => format!("{}:{line}", self.script.name()),
            None => format!("{}, {by}", self.script.name()),
        };
        format!("{place}: ${{{}}} has no value: {}", missing.variable, missing.why)
    }
}

impl Entry {
    /// The line of a variable, or else that of the entry.
    fn line_of(&self, variable: &str) -> Option<usize> {
        let place = &self.place.0;
        let known = place.variables.iter().find(|(name, _)| name == variable);
        known.map(|(_, line)| *line).or(place.line)
    }
}
