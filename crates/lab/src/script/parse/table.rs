//! Tables of a script file, read key by key, with the place of everything that is wrong.

use std::cell::RefCell;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Problem, ProblemPlace};

/// What is wrong with a file, as it is found.
pub(super) struct Trouble<'a> {
    source: &'a str,
    problems: RefCell<Vec<(Range<usize>, String)>>,
}

impl<'a> Trouble<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self { source, problems: RefCell::default() }
    }

    /// Notes a problem.
    pub(super) fn add(&self, span: Range<usize>, message: String) {
        self.problems.borrow_mut().push((span, message));
    }

    pub(super) fn count(&self) -> usize {
        self.problems.borrow().len()
    }

    pub(super) fn is_none(&self) -> bool {
        self.count() == 0
    }

    /// The text of a place.
    pub(super) fn text(&self, span: Range<usize>) -> &'a str {
        self.source.get(span).unwrap_or_default()
    }

    /// The line of a place, counted from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        1 + self.text(0..at.min(self.source.len())).matches('\n').count()
    }

    /// The problems, in the order of the file.
    pub(super) fn into_problems(self) -> Vec<Problem> {
        let mut problems = self.problems.take();
        problems.sort_by_key(|(span, _)| span.start);
        let problem = |(span, message)| Problem { place: Some(self.place(span)), message };
        problems.into_iter().map(problem).collect()
    }

    fn place(&self, span: Range<usize>) -> ProblemPlace {
        let start = span.start.min(self.source.len());
        let before = self.source.get(..start).unwrap_or(self.source);
        let begin = before.rfind('\n').map_or(0, |at| at + 1);
        let rest = self.source.get(begin..).unwrap_or_default();
        let text = rest.lines().next().unwrap_or_default();
        let column = 1 + before.get(begin..).unwrap_or_default().chars().count();
        let meant = self.text(start..span.end.max(start)).lines().next().unwrap_or_default();
        let width = meant.chars().count().max(1);
        ProblemPlace { line: self.line(start), column, text: text.to_owned(), width }
    }
}

/// A table whose keys are asked for one by one. What nobody asks for is a problem.
pub(super) struct Table<'t, 'i> {
    trouble: &'t Trouble<'i>,
    /// What the table is, for messages: "an answer".
    what: &'static str,
    table: &'t DeTable<'i>,
    span: Range<usize>,
    /// The keys that were asked for, there or not.
    known: Vec<&'static str>,
}

/// A value and its place.
pub(super) type Value<'t, 'i> = &'t Spanned<DeValue<'i>>;

impl<'t, 'i> Table<'t, 'i> {
    pub(super) fn new(
        trouble: &'t Trouble<'i>,
        what: &'static str,
        table: &'t DeTable<'i>,
        span: Range<usize>,
    ) -> Self {
        Self { trouble, what, table, span, known: Vec::new() }
    }

    pub(super) fn trouble(&self) -> &'t Trouble<'i> {
        self.trouble
    }

    /// Where the table stands.
    pub(super) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Asks for a key.
    pub(super) fn get(&mut self, key: &'static str) -> Option<Value<'t, 'i>> {
        self.known.push(key);
        self.table.get(key)
    }

    /// Where a key stands; the table, if it has none.
    fn key_span(&self, key: &str) -> Range<usize> {
        self.table.get_key_value(key).map_or(self.span(), |(key, _)| key.span())
    }

    /// Notes that a key does not go with the others.
    pub(super) fn clash(&self, key: &str, message: &str) {
        self.trouble.add(self.key_span(key), message.to_owned());
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    pub(super) fn string(&mut self, key: &'static str) -> Option<(String, Range<usize>)> {
        self.string_as(key, "a string")
    }

    /// A string that says something else, which messages call by its name.
    pub(super) fn string_as(
        &mut self,
        key: &'static str,
        what: &str,
    ) -> Option<(String, Range<usize>)> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::String(text) => Some((text.to_string(), value.span())),
            other => self.wrong(value, what, other),
        }
    }

    pub(super) fn required_string(&mut self, key: &'static str) -> Option<(String, Range<usize>)> {
        if !self.has(key) {
            self.known.push(key);
            self.trouble.add(self.span(), format!("{} needs the key `{key}`", self.what));
            return None;
        }
        self.string(key)
    }

    /// A list of strings.
    pub(super) fn strings(&mut self, key: &'static str) -> Option<Vec<(String, Range<usize>)>> {
        let value = self.get(key)?;
        let DeValue::Array(items) = value.get_ref() else {
            return self.wrong(value, "a list of strings", value.get_ref());
        };
        let mut strings = Vec::new();
        for item in items {
            match item.get_ref() {
                DeValue::String(text) => strings.push((text.to_string(), item.span())),
                other => {
                    self.wrong::<()>(item, "a string", other);
                }
            }
        }
        Some(strings)
    }

    /// Every key of the table, each with a string: name, place of the name, string.
    pub(super) fn all_strings(&self) -> Vec<(String, Range<usize>, String)> {
        let mut strings = Vec::new();
        for (key, value) in self.table {
            match value.get_ref() {
                DeValue::String(text) => {
                    strings.push((key.get_ref().to_string(), key.span(), text.to_string()));
                }
                other => {
                    self.wrong::<()>(value, "a string", other);
                }
            }
        }
        strings
    }

    pub(super) fn boolean(&mut self, key: &'static str) -> Option<bool> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::Boolean(boolean) => Some(*boolean),
            other => self.wrong(value, "true or false", other),
        }
    }

    /// A number that is not negative.
    pub(super) fn number(&mut self, key: &'static str) -> Option<u64> {
        let value = self.get(key)?;
        let DeValue::Integer(number) = value.get_ref() else {
            return self.wrong(value, "a whole number", value.get_ref());
        };
        let parsed = u64::from_str_radix(number.as_str(), number.radix());
        let problem = |_| {
            let message = format!("{number} is out of range; expected a whole number from 0 on");
            self.trouble.add(value.span(), message);
        };
        parsed.map_err(problem).ok()
    }

    /// A number from `least` to `most`.
    pub(super) fn number_within(
        &mut self,
        key: &'static str,
        least: u64,
        most: u64,
    ) -> Option<u64> {
        let number = self.number(key)?;
        if (least..=most).contains(&number) {
            return Some(number);
        }
        let range = match most {
            // Nobody counts that far, and nobody reads it.
            most if most >= u32::MAX.into() => format!("from {least} on"),
            most => format!("from {least} to {most}"),
        };
        let message = format!("{number} is out of range; `{key}` is a number {range}");
        let span = self.table.get(key).map_or(self.span(), Spanned::span);
        self.trouble.add(span, message);
        None
    }

    /// How often something is done: from 1 on.
    pub(super) fn count(&mut self, key: &'static str) -> Option<u32> {
        let count = self.number_within(key, 1, u32::MAX.into())?;
        u32::try_from(count).ok()
    }

    pub(super) fn table(&mut self, key: &'static str, what: &'static str) -> Option<Self> {
        let value = self.get(key)?;
        self.as_table(value, what)
    }

    /// A list of tables.
    pub(super) fn tables(&mut self, key: &'static str, what: &'static str) -> Vec<Self> {
        let Some(value) = self.get(key) else { return Vec::new() };
        let DeValue::Array(items) = value.get_ref() else {
            self.wrong::<()>(value, &format!("a list of tables (`[[{key}]]`)"), value.get_ref());
            return Vec::new();
        };
        items.iter().filter_map(|item| self.as_table(item, what)).collect()
    }

    fn as_table(&self, value: Value<'t, 'i>, what: &'static str) -> Option<Self> {
        match value.get_ref() {
            DeValue::Table(table) => Some(Self::new(self.trouble, what, table, value.span())),
            other => self.wrong(value, "a table", other),
        }
    }

    fn wrong<T>(&self, value: Value<'_, '_>, expected: &str, found: &DeValue<'_>) -> Option<T> {
        self.trouble.add(value.span(), format!("expected {expected}, found {}", kind_of(found)));
        None
    }

    /// Notes the keys that nobody asked for.
    pub(super) fn finish(&self) {
        for key in self.table.keys() {
            if self.known.contains(&key.get_ref().as_ref()) {
                continue;
            }
            let name = key.get_ref();
            let hint = match nearest(name, &self.known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("expected one of `{}`", self.known.join("`, `")),
            };
            self.trouble.add(key.span(), format!("unknown key `{name}` in {}; {hint}", self.what));
        }
    }
}

pub(super) fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a point",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// The known key that was probably meant.
fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let distances = known.iter().map(|key| (distance(name, key), *key));
    let (distance, key) = distances.min()?;
    (distance <= 1 + key.len() / 4).then_some(key)
}

/// How many letters to add, drop or change to make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(40).enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, y) in row.iter_mut().skip(1).zip(&b) {
            let change = diagonal + usize::from(x != *y);
            diagonal = *cell;
            *cell = change.min(diagonal + 1).min(left + 1);
            left = *cell;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}
