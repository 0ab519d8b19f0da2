//! The line where the next message is typed.

use super::field::Field;
use crate::run::terminal::keys::Key;
use crate::run::view::line::{Line, Tone};

/// The line where the next message is typed, with those before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prompt {
    field: Field,
    history: Vec<String>,
    /// Which of those before is shown.
    at: Option<usize>,
    /// What was typed before one of them was shown.
    draft: Field,
}

/// What a key did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// It goes on.
    Stay,
    /// This is the message.
    Said(String),
    /// There is nothing more to say.
    End,
}

impl Prompt {
    pub(crate) fn key(&mut self, key: &Key) -> Typed {
        match key {
            Key::Enter if self.field.goes_on() => self.field.go_on(),
            Key::Enter => {
                let text = self.field.text();
                if text.trim().is_empty() {
                    return Typed::Stay;
                }
                if self.history.last() != Some(&text) {
                    self.history.push(text.clone());
                }
                (self.field, self.at) = (Field::default(), None);
                return Typed::Said(text);
            }
            Key::Ctrl('d') if self.field.is_empty() => return Typed::End,
            Key::Up if self.field.is_at_edge(true) => self.look(true),
            Key::Down if self.field.is_at_edge(false) => self.look(false),
            key => {
                self.field.key(key);
            }
        }
        Typed::Stay
    }

    /// Takes back what was typed. Says whether there was anything.
    pub(crate) fn clear(&mut self) -> bool {
        self.at = None;
        !std::mem::take(&mut self.field).is_empty()
    }

    /// Goes through the messages before.
    fn look(&mut self, back: bool) {
        let next = match (self.at, back) {
            (None, true) => self.history.len().checked_sub(1),
            (Some(at), true) => Some(at.saturating_sub(1)),
            (Some(at), false) => Some(at + 1).filter(|at| *at < self.history.len()),
            (None, false) => return,
        };
        if self.at.is_none() {
            self.draft = self.field.clone();
        }
        self.at = next.filter(|at| *at < self.history.len());
        self.field = match self.at.and_then(|at| self.history.get(at)) {
            Some(text) => Field::new(text),
            None => self.draft.clone(),
        };
    }

    pub(crate) fn lines(&self) -> Vec<Line> {
        self.field.lines("❯ ", Tone::Plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_several_lines() {
        let mut prompt = Prompt::default();
        prompt.key(&Key::Paste("a\nb\\".to_owned()));
        assert_eq!(prompt.key(&Key::Enter), Typed::Stay);
        prompt.key(&Key::Char('c'));
        assert_eq!(prompt.key(&Key::Enter), Typed::Said("a\nb\nc".to_owned()));
        assert_eq!(prompt.key(&Key::Enter), Typed::Stay);
        assert_eq!(prompt.key(&Key::Ctrl('d')), Typed::End);
    }

    #[test]
    fn messages_before_come_back() {
        let mut prompt = Prompt::default();
        for text in ["one", "two"] {
            prompt.key(&Key::Paste(text.to_owned()));
            prompt.key(&Key::Enter);
        }
        prompt.key(&Key::Char('d'));
        let mut after = |key: Key| {
            prompt.key(&key);
            prompt.field.text()
        };
        assert_eq!(after(Key::Up), "two");
        assert_eq!(after(Key::Up), "one");
        assert_eq!(after(Key::Up), "one");
        assert_eq!(after(Key::Down), "two");
        assert_eq!(after(Key::Down), "d");
        assert_eq!(after(Key::Down), "d");
    }
}
