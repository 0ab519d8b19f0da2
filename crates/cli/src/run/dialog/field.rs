//! A text that is being typed.

use crate::run::terminal::keys::Key;
use crate::run::view::line::{Line, Tone};

/// A text that is being typed, and where the cursor is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Field {
    text: Vec<char>,
    at: usize,
}

impl Field {
    pub(crate) fn new(text: &str) -> Self {
        let text: Vec<_> = text.chars().collect();
        Self { at: text.len(), text }
    }

    pub(crate) fn text(&self) -> String {
        self.text.iter().collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether the line breaks off with a backslash, so that Enter means another line.
    pub(crate) fn goes_on(&self) -> bool {
        self.at == self.text.len() && self.text.last() == Some(&'\\')
    }

    /// Another line in place of the backslash.
    pub(crate) fn go_on(&mut self) {
        self.text.pop();
        self.at = self.text.len();
        self.insert("\n");
    }

    /// Whether the cursor is in the first line, or in the last.
    pub(crate) fn is_at_edge(&self, up: bool) -> bool {
        let mut rest: Box<dyn Iterator<Item = &char>> = match up {
            true => Box::new(self.text.iter().take(self.at)),
            false => Box::new(self.text.iter().skip(self.at)),
        };
        !rest.any(|c| *c == '\n')
    }

    /// Types a key. Says whether it means something here.
    pub(crate) fn key(&mut self, key: &Key) -> bool {
        match key {
            Key::Char(c) => self.insert(c.encode_utf8(&mut [0; 4])),
            Key::Paste(text) => self.insert(text),
            Key::AltEnter => self.insert("\n"),
            Key::Left | Key::Ctrl('b') => self.at = self.at.saturating_sub(1),
            Key::Right | Key::Ctrl('f') => self.at = (self.at + 1).min(self.text.len()),
            Key::Home | Key::Ctrl('a') => self.at = self.line_begins(),
            Key::End | Key::Ctrl('e') => self.at = self.line_ends(),
            Key::Alt('b') => self.at = self.word_begins(),
            Key::Alt('f') => self.at = self.word_ends(),
            Key::Up => self.go_line(true),
            Key::Down => self.go_line(false),
            Key::Backspace | Key::Ctrl('h') => self.remove(self.at.saturating_sub(1), self.at),
            Key::Delete | Key::Ctrl('d') => self.remove(self.at, self.at + 1),
            Key::Ctrl('u') => self.remove(self.line_begins(), self.at),
            Key::Ctrl('k') => self.remove(self.at, self.line_ends()),
            Key::Ctrl('w') => self.remove(self.word_begins(), self.at),
            _ => return false,
        }
        true
    }

    fn insert(&mut self, text: &str) {
        let before = self.text.len();
        self.text.splice(self.at..self.at, text.chars());
        self.at += self.text.len() - before;
    }

    fn remove(&mut self, from: usize, to: usize) {
        let to = to.min(self.text.len());
        self.text.drain(from.min(to)..to);
        self.at = from.min(to);
    }

    fn line_begins(&self) -> usize {
        let before = self.text.iter().take(self.at);
        before.rev().position(|c| *c == '\n').map_or(0, |back| self.at - back)
    }

    fn line_ends(&self) -> usize {
        let after = self.text.iter().skip(self.at);
        after.take_while(|c| **c != '\n').count() + self.at
    }

    fn word_begins(&self) -> usize {
        let mut back = self.text.iter().take(self.at).rev().peekable();
        let mut count = 0;
        while back.next_if(|c| c.is_whitespace()).is_some() {
            count += 1;
        }
        count += back.take_while(|c| !c.is_whitespace()).count();
        self.at - count
    }

    fn word_ends(&self) -> usize {
        let mut forth = self.text.iter().skip(self.at).peekable();
        let mut count = 0;
        while forth.next_if(|c| c.is_whitespace()).is_some() {
            count += 1;
        }
        count += forth.take_while(|c| !c.is_whitespace()).count();
        self.at + count
    }

    /// Goes to the same column of another line.
    fn go_line(&mut self, up: bool) {
        let column = self.at - self.line_begins();
        if self.is_at_edge(up) {
            self.at = if up { 0 } else { self.text.len() };
            return;
        }
        self.at = if up { self.line_begins() - 1 } else { self.line_ends() + 1 };
        let (begins, ends) = (self.line_begins(), self.line_ends());
        self.at = (begins + column).min(ends);
    }

    /// The text with the cursor in it, behind a sign.
    pub(crate) fn lines(&self, sign: &str, tone: Tone) -> Vec<Line> {
        let width = sign.chars().count();
        let mut lines = Vec::new();
        let mut begins = 0;
        for (number, part) in self.text.split(|c| *c == '\n').enumerate() {
            let sign = if number == 0 { sign.to_owned() } else { " ".repeat(width) };
            let mut line = Line::of(Tone::Accent, &sign).hanging(width);
            let text = |chars: &mut dyn Iterator<Item = &char>| chars.collect::<String>();
            match self.at.checked_sub(begins).filter(|at| *at <= part.len()) {
                Some(at) => {
                    line = line.and(tone, &text(&mut part.iter().take(at))).cursor();
                    line = line.and(tone, &text(&mut part.iter().skip(at)));
                }
                None => line = line.and(tone, &text(&mut part.iter())),
            }
            lines.push(line);
            begins += part.len() + 1;
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stands there after these keys, with a bar where the cursor is.
    fn typed(keys: &[Key]) -> String {
        let mut field = Field::default();
        for key in keys {
            assert!(field.key(key), "{key:?}");
        }
        let mut text = field.text.clone();
        text.insert(field.at, '|');
        text.into_iter().collect()
    }

    #[test]
    fn a_line_is_edited_as_in_a_shell() {
        let text = Key::Paste("one two three".to_owned());
        let after = |keys: &[Key]| typed(&[std::slice::from_ref(&text), keys].concat());
        assert_eq!(after(&[Key::Ctrl('w')]), "one two |");
        assert_eq!(after(&[Key::Home, Key::Right, Key::Char('x')]), "ox|ne two three");
        assert_eq!(after(&[Key::Left, Key::Backspace, Key::Delete]), "one two thr|");
        assert_eq!(after(&[Key::Alt('b'), Key::Ctrl('k')]), "one two |");
        assert_eq!(after(&[Key::Alt('b'), Key::Ctrl('u')]), "|three");
        assert_eq!(after(&[Key::Ctrl('a'), Key::Alt('f'), Key::Char('é')]), "oneé| two three");
        assert_eq!(after(&[Key::Ctrl('e'), Key::Delete]), "one two three|");
    }

    #[test]
    fn there_can_be_several_lines() {
        let text = Key::Paste("ab\ncdef".to_owned());
        assert_eq!(typed(&[text.clone(), Key::Up, Key::Char('x')]), "abx|\ncdef");
        assert_eq!(typed(&[text.clone(), Key::Home, Key::Char('x')]), "ab\nx|cdef");
        assert_eq!(typed(&[text.clone(), Key::Up, Key::Home, Key::Down]), "ab\n|cdef");
        assert_eq!(typed(&[text, Key::AltEnter, Key::Char('x')]), "ab\ncdef\nx|");
    }

    #[test]
    fn the_cursor_is_shown_in_its_line() {
        let mut field = Field::new("ab\ncd");
        field.key(&Key::Up);
        let lines = field.lines("> ", Tone::Plain);
        let cursors: Vec<_> = lines.iter().map(Line::cursor_column).collect();
        assert_eq!(cursors, [Some(4), None]);
        assert_eq!(lines[1].text(), "  cd");
    }
}
