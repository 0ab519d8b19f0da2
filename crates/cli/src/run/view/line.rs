//! A line for the terminal: pieces of text in tones, wrapped to a width.

use anstyle::{AnsiColor, Effects, Style};
use unicode_width::UnicodeWidthChar as _;

use crate::output::plain;

/// How a piece of text is meant, which decides its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it is.
    #[default]
    Plain,
    /// Beside the matter.
    Dim,
    /// A title.
    Bold,
    /// What was chosen, or can be.
    Accent,
    /// It went well.
    Good,
    /// It did not.
    Bad,
    /// Look at this.
    Warn,
    /// Code in a text.
    Code,
    /// A line that comes, or goes; and the words in it that make the difference.
    Added,
    Removed,
    AddedWords,
    RemovedWords,
}

impl Tone {
    fn style(self) -> Style {
        let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        match self {
            Self::Plain => Style::new(),
            Self::Dim => Style::new().effects(Effects::DIMMED),
            Self::Bold => Style::new().effects(Effects::BOLD),
            Self::Accent => colour(AnsiColor::Cyan).effects(Effects::BOLD),
            Self::Good | Self::Added => colour(AnsiColor::Green),
            Self::Bad | Self::Removed => colour(AnsiColor::Red),
            Self::Warn => colour(AnsiColor::Yellow),
            Self::Code => colour(AnsiColor::Cyan),
            Self::AddedWords => colour(AnsiColor::Green).effects(Effects::BOLD | Effects::INVERT),
            Self::RemovedWords => colour(AnsiColor::Red).effects(Effects::BOLD | Effects::INVERT),
        }
    }
}

/// What becomes of a line in a panel that is too high for the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Rank {
    /// It is shown if there is room.
    #[default]
    Usual,
    /// It says what the panel is about, or which keys there are.
    Kept,
    /// It is what would be chosen now.
    Here,
}

/// A line: pieces of text in tones.
///
/// Every text goes through [`plain`] on its way in, so a line cannot hold anything that controls a
/// terminal, wherever its text came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    chars: Vec<(Tone, char)>,
    /// Where the rows begin that the line is continued on.
    hang: usize,
    /// Where the cursor stands in it.
    cursor: Option<usize>,
    rank: Rank,
}

impl Line {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn of(tone: Tone, text: &str) -> Self {
        Self::new().and(tone, text)
    }

    /// The same with more text. A line break in it is shown as a sign.
    #[must_use]
    pub(crate) fn and(mut self, tone: Tone, text: &str) -> Self {
        for c in plain(text).chars() {
            match c {
                '\n' => self.chars.push((Tone::Dim, '⏎')),
                '\t' => self.chars.extend([(tone, ' '); 4]),
                c => self.chars.push((tone, c)),
            }
        }
        self
    }

    /// The same with another line behind it.
    #[must_use]
    pub(crate) fn followed_by(mut self, other: Self) -> Self {
        self.chars.extend(other.chars);
        self
    }

    /// The same, continued below its text at this column.
    #[must_use]
    pub(crate) fn hanging(mut self, columns: usize) -> Self {
        self.hang = columns;
        self
    }

    /// The same, with the cursor at its end as it is now.
    #[must_use]
    pub(crate) fn cursor(mut self) -> Self {
        self.cursor = Some(self.chars.len());
        self
    }

    /// The same, to be seen however low the window is.
    #[must_use]
    pub(crate) fn kept(mut self) -> Self {
        self.rank = Rank::Kept;
        self
    }

    /// The same, as what would be chosen now.
    #[must_use]
    pub(crate) fn here(mut self) -> Self {
        self.rank = Rank::Here;
        self
    }

    pub(crate) const fn rank(&self) -> Rank {
        self.rank
    }

    /// The same, moved to the right.
    #[must_use]
    pub(crate) fn indented(mut self, columns: usize) -> Self {
        self.chars.splice(0..0, std::iter::repeat_n((Tone::Plain, ' '), columns));
        self.hang += columns;
        self.cursor = self.cursor.map(|at| at + columns);
        self
    }

    pub(crate) fn width(&self) -> usize {
        self.chars.iter().map(|(_, c)| width(*c)).sum()
    }

    /// The column of the cursor, if it is in this line.
    pub(crate) fn cursor_column(&self) -> Option<usize> {
        self.cursor.map(|at| self.chars.iter().take(at).map(|(_, c)| width(*c)).sum())
    }

    /// The line as rows of this width, broken between words where there are any.
    pub(crate) fn wrapped(&self, columns: usize) -> Vec<Self> {
        let columns = columns.max(8);
        let hang = if self.hang * 2 > columns { 0 } else { self.hang };
        let mut rows = Vec::new();
        let mut row = Self { rank: self.rank, ..Self::default() };
        let mut used = 0;
        // Where in the row the last word begins, and how wide the row is before it.
        let mut word = (0, 0);
        for (at, (tone, c)) in self.chars.iter().enumerate() {
            if self.cursor == Some(at) {
                row.cursor = Some(row.chars.len());
            }
            if used + width(*c) > columns {
                let here = (row.chars.len(), used);
                let begins_here = *c == ' ' || word.0 <= hang;
                let (begins, before) = if begins_here { here } else { word };
                let rest = row.chars.split_off(begins.min(row.chars.len()));
                let mut next = Self::of(Tone::Plain, &" ".repeat(hang));
                next.rank = self.rank;
                if let Some(cursor) = row.cursor.filter(|cursor| *cursor >= begins) {
                    row.cursor = None;
                    next.cursor = Some(cursor - begins + hang);
                }
                next.chars.extend(rest);
                rows.push(std::mem::replace(&mut row, next));
                used = used - before + hang;
                word = (hang, hang);
                // Nobody sees it at the end of a row, nor wants it at the beginning.
                if *c == ' ' && begins_here {
                    continue;
                }
            }
            row.chars.push((*tone, *c));
            used += width(*c);
            if *c == ' ' {
                word = (row.chars.len(), used);
            }
        }
        if self.cursor == Some(self.chars.len()) {
            row.cursor = Some(row.chars.len());
        }
        rows.push(row);
        rows
    }

    /// The line as one row of this width at most.
    #[must_use]
    pub(crate) fn cut(mut self, columns: usize) -> Self {
        if self.width() <= columns {
            return self;
        }
        let mut used = 1;
        let fits = self.chars.iter().position(|(_, c)| {
            used += width(*c);
            used > columns
        });
        self.chars.truncate(fits.unwrap_or_default());
        self.chars.push((Tone::Dim, '…'));
        self
    }

    /// What is written to the terminal.
    pub(crate) fn rendered(&self, colours: bool) -> String {
        let mut text = String::new();
        let mut tone = Tone::Plain;
        for (next, c) in &self.chars {
            if colours && *next != tone {
                text.push_str(&tone.style().render_reset().to_string());
                text.push_str(&next.style().render().to_string());
                tone = *next;
            }
            text.push(*c);
        }
        if colours && tone != Tone::Plain {
            text.push_str(&tone.style().render_reset().to_string());
        }
        text
    }

    /// The text alone.
    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        self.chars.iter().map(|(_, c)| c).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.chars.is_empty()
    }
}

/// Text of several lines in one tone.
pub(crate) fn lines(tone: Tone, text: &str) -> Vec<Line> {
    text.lines().map(|line| Line::of(tone, line)).collect()
}

fn width(c: char) -> usize {
    c.width().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(line: &Line, columns: usize) -> Vec<String> {
        line.wrapped(columns).iter().map(Line::text).collect()
    }

    #[test]
    fn words_stay_together_and_go_on_below_the_text() {
        let line = Line::of(Tone::Plain, "1. one two three").hanging(3);
        assert_eq!(rows(&line, 10), ["1. one two", "   three"]);
        assert_eq!(rows(&line, 9), ["1. one ", "   two ", "   three"]);
        // A word that is longer than a row is broken.
        assert_eq!(rows(&Line::of(Tone::Plain, "abcdefghijkl"), 8), ["abcdefgh", "ijkl"]);
        assert_eq!(rows(&Line::of(Tone::Plain, "汉字汉字汉字"), 8), ["汉字汉字", "汉字"]);
        assert_eq!(rows(&Line::new(), 8), [""]);
    }

    #[test]
    fn the_cursor_goes_where_its_character_goes() {
        let line = Line::of(Tone::Plain, "one two th").cursor().and(Tone::Plain, "ree");
        let rows = line.wrapped(8);
        let cursors: Vec<_> = rows.iter().map(Line::cursor_column).collect();
        assert_eq!(cursors, [None, Some(2)]);
        let at_the_end = Line::of(Tone::Plain, "汉").cursor().wrapped(8);
        assert_eq!(at_the_end[0].cursor_column(), Some(2));
    }

    #[test]
    fn nothing_in_a_line_controls_the_terminal() {
        let line = Line::of(Tone::Plain, "a\x1b]0;x\x07\rb\nc\td\u{202e}");
        let shown = line.rendered(false);
        assert!(!shown.chars().any(char::is_control), "{shown:?}");
        assert_eq!(shown, "a\\u{1b}]0;x\\u{7}\\u{d}b⏎c    d\\u{202e}");
    }

    #[test]
    fn a_line_that_is_cut_says_so() {
        assert_eq!(Line::of(Tone::Bad, "abcdef").cut(4).text(), "abc…");
        assert_eq!(Line::of(Tone::Bad, "abcd").cut(4).text(), "abcd");
    }
}
