//! Variables whose values stand in the line.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::shell::{Command, Line, Run, Scope, Step, Word};

/// How many values of a variable are kept in mind, and how many a word may have.
const VALUES: usize = 16;

/// How deep values are looked up that begin with variables.
const DEPTH: usize = 4;

/// Programs that set the variables which are named in their arguments.
const SETTING: &[&str] =
    &["getopts", "let", "mapfile", "printf", "read", "readarray", "unset", "wait"];

/// Variables that the shell sets itself.
const OWN: &[&str] = &["HOME", "OLDPWD", "PWD"];

/// What variables of a line can be.
#[derive(Debug, Default)]
pub(super) struct Variables {
    /// All values that the line gives them, wherever it does. None for those that could be anything.
    values: HashMap<String, Option<Vec<Word>>>,
    /// Those that have one of these values by now, and no other from before.
    set: HashSet<String>,
    /// What was set before the scopes that are open, and what their parts are.
    frames: Vec<(Vec<String>, Parts)>,
    /// What was set in the innermost scope.
    new: Vec<String>,
}

impl Variables {
    pub(super) fn of(line: &Line) -> Self {
        let mut variables = Self::default();
        for step in &line.steps {
            if let Step::Set { name, values } = step
                && !OWN.contains(&name.as_str())
            {
                variables.add(name, values);
            }
        }
        if variables.values.is_empty() {
            return variables;
        }
        for run in line.commands.iter().flat_map(Command::runs) {
            variables.run(&run);
        }
        variables
    }

    fn add(&mut self, name: &str, values: &[Word]) {
        let known = self.values.entry(name.to_owned()).or_insert_with(|| Some(Vec::new()));
        if let Some(all) = known {
            all.extend(values.iter().cloned());
            if all.len() > VALUES {
                *known = None;
            }
        }
    }

    /// A program can set variables to what it reads.
    fn run(&mut self, run: &Run<'_>) {
        let is_open = || run.arguments.iter().any(|word| word.is_open);
        if matches!(run.program, "source" | ".") || run.program == "eval" && is_open() {
            self.values.clear();
        } else if SETTING.contains(&run.program) {
            for word in run.arguments {
                if let Some(values) = self.values.get_mut(&word.text) {
                    *values = None;
                }
            }
        }
    }

    /// A variable has one of its values from here on.
    pub(super) fn set(&mut self, name: &str) {
        if self.set.insert(name.to_owned()) {
            self.new.push(name.to_owned());
        }
    }

    pub(super) fn open(&mut self, scope: &Scope) {
        let parts = match scope {
            Scope::And => Parts::First,
            Scope::Shell | Scope::Container | Scope::Remote => {
                Parts::Shell(std::mem::take(&mut self.set))
            }
            _ => Parts::Other,
        };
        self.frames.push((std::mem::take(&mut self.new), parts));
    }

    /// The next part of a scope begins. What the first part of `a && b` sets is set in any case, and
    /// what a later one sets, in those behind it.
    pub(super) fn next(&mut self) {
        match self.frames.last_mut() {
            Some((before, parts @ Parts::First)) => {
                *parts = Parts::Behind;
                before.append(&mut self.new);
            }
            Some((_, Parts::Behind)) | None => {}
            Some((_, Parts::Other | Parts::Shell(_))) => self.forget(),
        }
    }

    fn forget(&mut self) {
        for name in self.new.drain(..) {
            self.set.remove(&name);
        }
    }

    /// What was set in a scope is not sure to be set behind it.
    pub(super) fn close(&mut self) {
        self.forget();
        let Some((before, parts)) = self.frames.pop() else { return };
        self.new = before;
        if let Parts::Shell(set) = parts {
            self.set = set;
        }
    }

    /// What a word can be, if it begins with a variable whose values are known.
    pub(super) fn words<'a>(&self, word: &'a Word) -> Vec<Cow<'a, Word>> {
        let mut words = vec![Cow::Borrowed(word)];
        for _ in 0..DEPTH {
            let mut next = Vec::new();
            let mut has_new = false;
            for word in words {
                match self.values_of(&word) {
                    Some(values) => {
                        has_new = true;
                        next.extend(values.into_iter().map(Cow::Owned));
                    }
                    None => next.push(word),
                }
            }
            if next.len() > VALUES {
                return vec![Cow::Borrowed(word)];
            }
            words = next;
            if !has_new {
                break;
            }
        }
        words
    }

    fn values_of(&self, word: &Word) -> Option<Vec<Word>> {
        if word.hole != Some(0) || self.values.is_empty() {
            return None;
        }
        let (name, is_name, rest) = variable(&word.text)?;
        let values = self.values.get(name)?.as_ref().filter(|_| self.set.contains(name))?;
        let mut words = Vec::new();
        for value in values {
            let mut add = |part: &str, hole: Option<usize>| {
                let part = if is_name { part.rsplit('/').next().unwrap_or(part) } else { part };
                let is_rest = part.is_empty() && rest.starts_with(['$', '`']);
                words.push(Word {
                    text: format!("{part}{rest}"),
                    is_open: true,
                    hole: hole.filter(|hole| *hole == 0).or(is_rest.then_some(0)),
                    is_quoted: value.is_quoted,
                    ..Word::default()
                });
            };
            add(&value.text, value.hole);
            // Without quotes one value can be several words.
            if value.hole.is_none() && value.text.contains([' ', '\t', '\n']) {
                value.text.split([' ', '\t', '\n']).for_each(|part| add(part, None));
            }
            if words.len() > VALUES {
                return None;
            }
        }
        Some(words)
    }
}

/// What the parts of a scope are.
#[derive(Debug)]
enum Parts {
    /// The first one of `a && b`, which runs in any case.
    First,
    /// One behind it, which runs if those before it did.
    Behind,
    /// Parts that run or do not, whatever the others do.
    Other,
    /// A shell of its own, and what was set outside of it.
    Shell(HashSet<String>),
}

/// The variable that a word begins with, whether only the name of the file in its value is used, and
/// what comes after it. None where something else is done with the value.
fn variable(text: &str) -> Option<(&str, bool, &str)> {
    let text = text.strip_prefix('$')?;
    let name_of = |text: &str| {
        text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len())
    };
    let Some(braces) = text.strip_prefix('{') else {
        let (name, rest) = text.split_at_checked(name_of(text))?;
        return (!name.is_empty()).then_some((name, false, rest));
    };
    let (inner, rest) = braces.split_once('}')?;
    let (name, change) = inner.split_at_checked(name_of(inner))?;
    let is_name = change == "##*/";
    // What is taken from its end leaves it in the same folder, or in one above that is in the same place.
    let is_end = change.starts_with("%.") || change.starts_with("%/");
    let is_known = change.is_empty() || is_name || is_end && !change.contains(['$', '`', '{']);
    (is_known && !name.is_empty()).then_some((name, is_name, rest))
}
