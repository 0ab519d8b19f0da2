//! Reads a script from its file.

mod answer;
mod input;
mod marks;
mod table;
mod units;

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::de::DeTable;

use self::marks::Marks;
use self::table::{Table, Trouble};
use super::check::At;
use super::template;
use super::{Act, Aside, Misbehaviour, Script, check};

/// A script that cannot be played: everything that is wrong with it.
///
/// Shown, it says file, line and column of each problem, and quotes the line:
///
/// ```
/// use countersign_lab::script::Script;
///
/// let error = Script::parse("[[answer]]\ntxt = \"Hi\"\n", "hello.toml").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     r#"hello.toml:2:1: unknown key `txt` in an answer; did you mean `text`?
///   |
/// 2 | txt = "Hi"
///   | ^^^
/// "#
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    file: String,
    problems: Vec<Problem>,
}

/// One thing that is wrong with a script.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Where, if the script is from a file.
    pub place: Option<ProblemPlace>,
    /// What is wrong, and what was expected.
    pub message: String,
}

/// A place in a script file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProblemPlace {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// The text of the line.
    pub text: String,
    /// How many characters of the line are meant.
    pub width: usize,
}

/// A script file that could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file could not be read.
    #[error("cannot read the script {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not a script.
    #[error(transparent)]
    Script(#[from] ScriptError),
}

/// More problems than this are counted, not shown.
const SHOWN: usize = 20;
/// More characters of a line than this are cut off.
const QUOTED: usize = 120;

impl Script {
    /// Reads a script. The name of the file is for messages.
    ///
    /// # Errors
    ///
    /// When the text is not a script, or one that could go wrong when it is played: all problems,
    /// each with its place.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, ScriptError> {
        let trouble = Trouble::new(text);
        let (document, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            trouble.add(error.span().unwrap_or(0..0), format!("not TOML: {}", error.message()));
        }
        if trouble.is_none() {
            let span = document.span();
            let mut table = Table::new(&trouble, "a script", document.get_ref(), span);
            let mut reading = Reading::default();
            reading.script.file = Aside(Some(file_name.to_owned()));
            reading.script(&mut table);
            table.finish();
            if trouble.is_none() {
                reading.check(&trouble);
                if trouble.is_none() {
                    return Ok(reading.script);
                }
            }
        }
        Err(ScriptError { file: file_name.to_owned(), problems: trouble.into_problems() })
    }

    /// Reads a script from a file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is not a script: see [`parse`](Self::parse).
    pub fn load(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path)
            .map_err(|source| LoadError::Read { path: path.to_owned(), source })?;
        Ok(Self::parse(&text, &path.display().to_string())?)
    }
}

/// A script as far as it is read.
#[derive(Default)]
struct Reading {
    script: Script,
    /// Where the variables of `otherwise` stand.
    otherwise: Marks,
    /// Where each entry stands, and its variables.
    spans: Vec<EntrySpans>,
}

/// Where an entry and its parts stand.
struct EntrySpans {
    entry: Range<usize>,
    marks: Marks,
}

impl Reading {
    fn script(&mut self, table: &mut Table<'_, '_>) {
        self.script.otherwise = answer::template(table, "otherwise", &mut self.otherwise);
        for (name, span) in table.strings("needs").unwrap_or_default() {
            self.name(table, name, span, |script, name| script.needs.push(name));
        }
        if let Some(set) = table.table("set", "the variables") {
            for (name, key, value) in set.all_strings() {
                self.name(table, name, key, |script, name| {
                    script.variables.insert(name, value);
                });
            }
        }
        for mut answer in table.tables("answer", "an answer") {
            let span = answer.span();
            let before = table.trouble().count();
            let (mut entry, marks) = answer::entry(&mut answer);
            answer.finish();
            // With another problem, such as a key that is misspelt, it may say something after all.
            if table.trouble().count() == before {
                answer::must_say_something(&answer);
            }
            entry.place.0.line = Some(table.trouble().line(span.start));
            let lines = marks
                .variables
                .iter()
                .map(|(name, span)| (name.clone(), table.trouble().line(span.start)));
            entry.place.0.variables = lines.collect();
            self.script.entries.push(entry);
            self.spans.push(EntrySpans { entry: span, marks });
        }
        for mut misbehave in table.tables("misbehave", "a misbehaviour") {
            let on = misbehave.required_string("on");
            let act = misbehave.required_string("do").and_then(|(text, span)| {
                let act: Result<Act, _> = text.parse();
                act.map_err(|error| misbehave.trouble().add(span, error.to_string())).ok()
            });
            let times = misbehave.count("times");
            misbehave.finish();
            if let (Some((on, _)), Some(act)) = (on, act) {
                self.script.misbehaviour.push(Misbehaviour { on, act, times });
            }
        }
    }

    /// Takes the name of a variable.
    fn name(
        &mut self,
        table: &Table<'_, '_>,
        name: String,
        span: Range<usize>,
        take: impl FnOnce(&mut Script, String),
    ) {
        if template::may_be_set(&name) {
            take(&mut self.script, name);
        } else {
            table.trouble().add(span, check::not_a_variable(&name));
        }
    }

    /// Finds what could go wrong when the script is played.
    fn check(&self, trouble: &Trouble<'_>) {
        for flaw in check::flaws(&self.script) {
            let spans = flaw.entry.and_then(|entry| self.spans.get(entry));
            let marks = spans.map_or(&self.otherwise, |spans| &spans.marks);
            let (known, name) = match &flaw.at {
                At::Entry => (None, ""),
                At::Variable(name) => (Some(&marks.variables), name.as_str()),
                At::Label(name) => (Some(&marks.labels), name.as_str()),
            };
            // Of two labels that are the same, the second is one too many.
            let mark = known.and_then(|known| known.iter().rfind(|(mark, _)| mark == name));
            let span = mark.map(|(_, span)| span.clone());
            let span = span.or_else(|| spans.map(|spans| spans.entry.clone()));
            trouble.add(span.unwrap_or(0..0), flaw.message);
        }
    }
}

impl ScriptError {
    /// The problems, in the order of the file.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// An error, if there are problems.
    pub(super) fn from_problems(file: &str, problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() {
            return Ok(());
        }
        Err(Self { file: file.to_owned(), problems })
    }
}

impl Problem {
    pub(super) fn without_place(message: String) -> Self {
        Self { place: None, message }
    }
}

impl std::error::Error for ScriptError {}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in self.problems.iter().take(SHOWN) {
            match &problem.place {
                Some(place) => {
                    let ProblemPlace { line, column, .. } = place;
                    writeln!(f, "{}:{line}:{column}: {}", self.file, problem.message)?;
                    place.quote(f)?;
                }
                None => writeln!(f, "{}: {}", self.file, problem.message)?,
            }
        }
        match self.problems.len().checked_sub(SHOWN) {
            Some(more) if more > 0 => writeln!(f, "{}: and {more} more problems", self.file),
            _ => Ok(()),
        }
    }
}

impl ProblemPlace {
    /// Quotes the line, with a mark under what is meant.
    fn quote(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A long line is cut so that what is meant stays in sight.
        let before = self.column.saturating_sub(1);
        let skipped = if before < QUOTED { 0 } else { before - QUOTED / 2 };
        let shown: String = self.text.chars().skip(skipped).take(QUOTED).collect();
        let width = self.width.min(QUOTED.saturating_sub(before - skipped)).max(1);
        // Tabs stay tabs, so that the mark stands where it should.
        let indent = shown.chars().take(before - skipped).map(|c| if c == '\t' { c } else { ' ' });
        let indent: String = indent.collect();
        let margin = " ".repeat(self.line.to_string().len());
        let (start, end) = (
            if skipped > 0 { "…" } else { "" },
            if self.text.chars().count() > skipped + QUOTED { "…" } else { "" },
        );
        let pad = if skipped > 0 { " " } else { "" };
        writeln!(f, "{margin} |")?;
        writeln!(f, "{} | {start}{shown}{end}", self.line)?;
        writeln!(f, "{margin} | {pad}{indent}{}", "^".repeat(width))
    }
}
