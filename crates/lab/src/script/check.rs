//! What a script must keep to, however it was made.

use std::collections::{BTreeSet, HashSet};
use std::ops::RangeInclusive;

use regex::Regex;

use super::answer::{Answer, Ending};
use super::template::{self, Piece, Unclosed, Variable};
use super::texts::each_text;
use super::{Entry, Pattern, Problem, Script, ScriptError, When};

/// Something in a script that would go wrong when it is played.
pub(super) struct Flaw {
    /// The entry, counted from 0, where it is in one.
    pub(super) entry: Option<usize>,
    /// What of the entry it is about.
    pub(super) at: At,
    /// What is wrong.
    pub(super) message: String,
}

/// What of an entry a flaw is about.
pub(super) enum At {
    Entry,
    Variable(String),
    Label(String),
}

impl Script {
    /// Checks a script that was made in Rust, as [`parse`](Self::parse) checks one from a file.
    ///
    /// # Errors
    ///
    /// When an answer uses a variable that nothing gives a value, or says something that cannot be.
    pub fn check(&self) -> Result<(), ScriptError> {
        let problems: Vec<_> = flaws(self)
            .into_iter()
            .map(|flaw| match flaw.entry {
                Some(entry) => {
                    Problem::without_place(format!("answer {}: {}", entry + 1, flaw.message))
                }
                None => Problem::without_place(flaw.message),
            })
            .collect();
        ScriptError::from_problems(self.name(), problems)
    }
}

/// Everything that is wrong with a script.
pub(super) fn flaws(script: &Script) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    let mut labels = BTreeSet::new();
    for (at, entry) in script.entries.iter().enumerate() {
        let mut flaw = |at_part, message: String| {
            flaws.push(Flaw { entry: Some(at), at: at_part, message });
        };
        if entry.times == Some(0) {
            flaw(At::Entry, "is served 0 times; leave it out".to_owned());
        }
        if let Some(when) = &entry.when {
            for message in of_condition(when) {
                flaw(At::Entry, message);
            }
        }
        if let Ending::Error(error) = &entry.answer.ending
            && !ERRORS.contains(&error.status)
        {
            let status = error.status;
            let message = format!("the status {status} is no error; those are from 400 to 599");
            flaw(At::Entry, message);
        }
        let silent = matches!(entry.answer.ending, Ending::Error(_) | Ending::Reset);
        if silent && !entry.answer.blocks.is_empty() {
            flaw(At::Entry, "ends before anything is said, so it can say nothing".to_owned());
        }
        for call in entry.answer.tool_uses() {
            if call.name.is_empty() {
                flaw(At::Entry, "the tool of a call has no name".to_owned());
            }
            if !call.input.is_object() {
                let message = format!("the input of the tool {} is not an object", call.name);
                flaw(At::Entry, message);
            }
            let Some(label) = &call.label else { continue };
            let message = if !template::is_name(label) {
                format!("{label:?} cannot be a label; {NAME}")
            } else if !labels.insert(label.as_str()) {
                format!("the label {label:?} is already that of another call")
            } else {
                continue;
            };
            flaw(At::Label(label.clone()), message);
        }
    }
    for name in script.variables.keys().chain(&script.needs) {
        if !template::may_be_set(name) {
            flaws.push(Flaw { entry: None, at: At::Entry, message: not_a_variable(name) });
        }
    }
    if let Some(text) = &script.otherwise {
        of_texts(script, None, &labels, &Answer::text(text), &mut flaws);
    }
    for (at, entry) in script.entries.iter().enumerate() {
        of_texts(script, Some((at, entry)), &labels, &entry.answer, &mut flaws);
    }
    flaws
}

/// The statuses that are errors.
const ERRORS: RangeInclusive<u16> = 400..=599;

/// What is wrong with a condition: what always holds was forgotten, what never holds is a mistake.
/// A file is refused for the same, with the place of the key.
fn of_condition(when: &When) -> Vec<String> {
    let patterns = [
        ("text", &when.text),
        ("first", &when.first),
        ("result", &when.result),
        ("model", &when.model),
    ];
    let empty = patterns.into_iter().filter_map(|(key, pattern)| match pattern {
        Some(Pattern::Contains(text)) if text.is_empty() => {
            Some(format!("`{key}` is empty, which is in every text"))
        }
        _ => None,
    });
    let mut problems: Vec<_> = empty.collect();
    if when.side && when.agent.is_some() {
        problems.push(SIDE_AND_AGENT.to_owned());
    }
    if when.turn.is_some() && (when.side || when.agent == Some(true)) {
        problems.push(TURN_OF_OTHERS.to_owned());
    }
    problems
}

pub(super) const SIDE_AND_AGENT: &str =
    "a side job is nobody's conversation, so `side` excludes `agent`";
pub(super) const TURN_OF_OTHERS: &str =
    "`turn` counts the main conversation, so it excludes `side` and `agent`";

const NAME: &str = "a name is a letter, then letters, digits, `_` and `-`";
const ESCAPE: &str = "write `$${` for a `${` that is meant";

/// Says that this cannot be the name of a variable.
pub(super) fn not_a_variable(name: &str) -> String {
    let taken = if template::is_name(name) { "it has a meaning already" } else { NAME };
    format!("{name:?} cannot be the name of a variable; {taken}")
}

/// What is wrong with the variables of an answer.
fn of_texts(
    script: &Script,
    entry: Option<(usize, &Entry)>,
    labels: &BTreeSet<&str>,
    answer: &Answer,
    flaws: &mut Vec<Flaw>,
) {
    let mut seen = HashSet::new();
    each_text(answer, &mut |text| {
        for piece in template::pieces(text) {
            let (at, message) = match piece {
                Ok(Piece::Text(_)) => continue,
                Ok(Piece::Variable(name)) if !seen.insert(name.to_owned()) => continue,
                Ok(Piece::Variable(name)) => {
                    match of_variable(script, entry.map(|(_, entry)| entry), labels, name) {
                        Some(message) => (At::Variable(name.to_owned()), message),
                        None => continue,
                    }
                }
                Err(Unclosed) => {
                    (At::Entry, format!("`${{` without its `}}` in {text:?}; {ESCAPE}"))
                }
            };
            flaws.push(Flaw { entry: entry.map(|(number, _)| number), at, message });
        }
    });
}

/// What is wrong with a variable.
fn of_variable(
    script: &Script,
    entry: Option<&Entry>,
    labels: &BTreeSet<&str>,
    name: &str,
) -> Option<String> {
    match Variable::from_name(name) {
        Variable::Cwd
        | Variable::Home
        | Variable::PlanFile
        | Variable::Text
        | Variable::Turn
        | Variable::Result => None,
        Variable::ResultOf(label) if labels.contains(label) => None,
        Variable::ResultOf(label) => {
            Some(format!("no call has the label {label:?} that `${{{name}}}` asks for"))
        }
        Variable::Match(group) => of_group(entry, name, group),
        Variable::Named(named) if script.takes(named) => None,
        Variable::Named(_) => Some(format!(
            "unknown variable `${{{name}}}`; give it a value under [set], name it in `needs` if the \
             caller gives it, or {ESCAPE}"
        )),
    }
}

fn of_group(entry: Option<&Entry>, name: &str, group: &str) -> Option<String> {
    let regexes: Vec<&Regex> = entry
        .and_then(|entry| entry.when.as_ref())
        .iter()
        .flat_map(|when| when.regexes())
        .collect();
    let [regex] = regexes.as_slice() else {
        let found = regexes.len();
        return Some(format!(
            "`${{{name}}}` needs exactly one regular expression in `when`; there are {found}"
        ));
    };
    let known = match group.parse::<usize>() {
        Ok(number) => number < regex.captures_len(),
        Err(_) => regex.capture_names().flatten().any(|known| known == group),
    };
    (!known).then(|| format!("the regular expression /{regex}/ has no group for `${{{name}}}`"))
}
