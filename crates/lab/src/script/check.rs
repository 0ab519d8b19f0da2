//! What a script must keep to, however it was made.

use std::collections::{BTreeSet, HashSet};

use regex::Regex;

use super::answer::{Answer, Block, Ending};
use super::template::{self, Piece, Unclosed, Variable};
use super::{Entry, Problem, Script, ScriptError};

/// Something in a script that would go wrong when it is played.
pub(super) struct Flaw {
    /// The entry, counted from 0, where it is in one.
    pub(super) entry: Option<usize>,
    /// The variable that is wrong, where it is one.
    pub(super) variable: Option<String>,
    /// What is wrong.
    pub(super) message: String,
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
        let mut flaw = |message| flaws.push(Flaw { entry: Some(at), variable: None, message });
        if entry.times == Some(0) {
            flaw("is served 0 times; leave it out".to_owned());
        }
        let silent = matches!(entry.answer.ending, Ending::Error(_) | Ending::Reset);
        if silent && !entry.answer.blocks.is_empty() {
            flaw("ends before anything is said, so it can say nothing".to_owned());
        }
        for call in entry.answer.tool_uses() {
            if !call.input.is_object() {
                flaw(format!("the input of the tool {} is not an object", call.name));
            }
            let Some(label) = &call.label else { continue };
            if !template::is_name(label) {
                flaw(format!("{label:?} cannot be a label: {NAMES}"));
            } else if !labels.insert(label.as_str()) {
                flaw(format!("the label {label:?} is already that of another call"));
            }
        }
    }
    for name in script.variables.keys().chain(&script.needs) {
        if !template::may_be_set(name) {
            let message = format!("{name:?} cannot be the name of a variable: {NAMES}");
            flaws.push(Flaw { entry: None, variable: None, message });
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

pub(super) const NAMES: &str =
    "a name is a letter, then letters, digits, `_` and `-`, and not text, turn, result or match";
const ESCAPE: &str = "write `$${` for a `${` that is meant";

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
            let (variable, message) = match piece {
                Ok(Piece::Text(_)) => continue,
                Ok(Piece::Variable(name)) if !seen.insert(name.to_owned()) => continue,
                Ok(Piece::Variable(name)) => {
                    match of_variable(script, entry.map(|(_, entry)| entry), labels, name) {
                        Some(message) => (Some(name.to_owned()), message),
                        None => continue,
                    }
                }
                Err(Unclosed) => (None, format!("`${{` without its `}}` in {text:?}; {ESCAPE}")),
            };
            flaws.push(Flaw { entry: entry.map(|(at, _)| at), variable, message });
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

/// Shows every text of an answer in which variables are replaced.
pub(super) fn each_text(answer: &Answer, see: &mut impl FnMut(&str)) {
    // To see each text is to replace it by itself; so the two cannot fall apart.
    let mut copy = answer.clone();
    let seen: Result<(), std::convert::Infallible> = map_texts(&mut copy, &mut |text| {
        see(text);
        Ok(None)
    });
    match seen {
        Ok(()) => {}
        Err(never) => match never {},
    }
}

/// Replaces the texts of an answer, all but those for which `new` has none.
pub(super) fn map_texts<E>(
    answer: &mut Answer,
    new: &mut impl FnMut(&str) -> Result<Option<String>, E>,
) -> Result<(), E> {
    let mut replace = |text: &mut String| -> Result<(), E> {
        if let Some(new) = new(text)? {
            *text = new;
        }
        Ok(())
    };
    for block in &mut answer.blocks {
        match block {
            Block::Text(text) | Block::Thinking(text) => replace(text)?,
            Block::ToolUse(call) => {
                replace(&mut call.name)?;
                call.id.as_mut().map_or(Ok(()), &mut replace)?;
                call.result.as_mut().map_or(Ok(()), &mut replace)?;
                map_json(&mut call.input, &mut replace)?;
            }
            Block::Fault(_) => {}
        }
    }
    answer.stop_reason.as_mut().map_or(Ok(()), &mut replace)?;
    answer.model.as_mut().map_or(Ok(()), &mut replace)?;
    match &mut answer.ending {
        Ending::Error(error) | Ending::StreamError { error, .. } => {
            replace(&mut error.kind)?;
            replace(&mut error.message)
        }
        Ending::Complete | Ending::Cut { .. } | Ending::Hang { .. } | Ending::Reset => Ok(()),
    }
}

fn map_json<E>(
    value: &mut serde_json::Value,
    replace: &mut impl FnMut(&mut String) -> Result<(), E>,
) -> Result<(), E> {
    match value {
        serde_json::Value::String(text) => replace(text),
        serde_json::Value::Array(items) => {
            items.iter_mut().try_for_each(|item| map_json(item, replace))
        }
        serde_json::Value::Object(fields) => {
            fields.values_mut().try_for_each(|field| map_json(field, replace))
        }
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {
            Ok(())
        }
    }
}
