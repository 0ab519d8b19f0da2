//! A list to choose from.

use crate::run::terminal::keys::Key;
use crate::run::view::line::{Line, Tone};

/// One of the things to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) label: String,
    /// What stands behind it in small print.
    pub(crate) note: String,
    /// The letter that chooses it, besides its number.
    pub(crate) letter: Option<char>,
}

impl Choice {
    pub(crate) fn new(label: impl Into<String>, letter: Option<char>) -> Self {
        Self { label: label.into(), note: String::new(), letter }
    }

    #[must_use]
    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }
}

/// A list to choose from, by arrows, numbers and letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choices {
    choices: Vec<Choice>,
    at: usize,
}

impl Choices {
    pub(crate) fn new(choices: Vec<Choice>) -> Self {
        Self { choices, at: 0 }
    }

    #[must_use]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn go_to(&mut self, at: usize) {
        self.at = at.min(self.choices.len().saturating_sub(1));
    }

    /// What a key chooses, if it chooses.
    pub(crate) fn key(&mut self, key: &Key) -> Option<usize> {
        let count = self.choices.len();
        match key {
            Key::Up | Key::Char('k') | Key::Ctrl('p') => {
                self.at = self.at.checked_sub(1).unwrap_or(count.saturating_sub(1));
            }
            Key::Down | Key::Char('j') | Key::Ctrl('n') => {
                self.at = if self.at + 1 < count { self.at + 1 } else { 0 };
            }
            Key::Enter => return Some(self.at),
            Key::Char(c) => {
                let number = c.to_digit(10).and_then(|digit| digit.checked_sub(1));
                let numbered = number.map(|number| number as usize).filter(|n| *n < count);
                let lettered = || self.choices.iter().position(|choice| choice.letter == Some(*c));
                self.at = numbered.or_else(lettered)?;
                return Some(self.at);
            }
            _ => {}
        }
        None
    }

    /// The list. `marks` stand before the labels, such as a box that can be ticked.
    pub(crate) fn lines(&self, mark: impl Fn(usize) -> &'static str) -> Vec<Line> {
        let shown = self.choices.iter().enumerate().map(|(number, choice)| {
            let is_here = number == self.at;
            let (sign, tone) = if is_here { ("❯ ", Tone::Accent) } else { ("  ", Tone::Plain) };
            let begin = format!("{}. {}", number + 1, mark(number));
            let hang = 2 + begin.chars().count();
            let mut line = Line::of(tone, sign).and(Tone::Dim, &begin).and(tone, &choice.label);
            if let Some(letter) = choice.letter {
                line = line.and(Tone::Dim, &format!(" ({letter})"));
            }
            if !choice.note.is_empty() {
                line = line.and(Tone::Dim, &format!("  {}", choice.note));
            }
            let line = line.hanging(hang);
            if is_here { line.here() } else { line }
        });
        shown.collect()
    }
}
