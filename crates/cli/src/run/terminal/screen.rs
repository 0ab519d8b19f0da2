//! Output that scrolls, with a panel at its end that is drawn anew.

use std::collections::VecDeque;
use std::io::{self, Write};

use crossterm::cursor::{Hide, MoveToColumn, MoveUp, Show};
use crossterm::queue;
use crossterm::terminal::{BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate};

use super::fit::fit;
use crate::run::view::line::Line;

/// How many lines are kept to be shown again when the window changes.
const KEPT: usize = 200;

/// The end of a terminal that scrolls.
///
/// What is printed stays, as with any command. Below it is the panel: a dialog, a prompt, or what
/// is running. It is taken away and drawn again whenever something changes.
#[derive(Debug)]
pub(crate) struct Screen<W> {
    out: W,
    colours: bool,
    columns: usize,
    rows: usize,
    panel: Vec<Line>,
    /// How many rows the cursor is below the first row of the panel.
    below: usize,
    printed: VecDeque<Line>,
}

impl<W: Write> Screen<W> {
    pub(crate) fn new(out: W, colours: bool, (columns, rows): (u16, u16)) -> Self {
        let mut screen = Self {
            out,
            colours,
            columns: 0,
            rows: 0,
            panel: Vec::new(),
            below: 0,
            printed: VecDeque::new(),
        };
        screen.measure(columns, rows);
        screen
    }

    fn measure(&mut self, columns: u16, rows: u16) {
        // The last column stays free: after a character there, terminals differ on where the
        // cursor is. A terminal without a size is taken for a usual one.
        let usual = |size: u16, usual: usize| if size == 0 { usual } else { usize::from(size) };
        self.columns = usual(columns, 80).saturating_sub(1).max(8);
        self.rows = usual(rows, 24).max(4);
    }

    /// How wide a row may be.
    pub(crate) const fn columns(&self) -> usize {
        self.columns
    }

    /// How many rows a panel may have.
    pub(crate) const fn rows(&self) -> usize {
        self.rows.saturating_sub(1)
    }

    /// Writes lines that stay, above the panel.
    pub(crate) fn print(&mut self, lines: Vec<Line>) -> io::Result<()> {
        let panel = std::mem::take(&mut self.panel);
        self.draw(&lines, panel)?;
        self.printed.extend(lines);
        let surplus = self.printed.len().saturating_sub(KEPT);
        self.printed.drain(..surplus);
        Ok(())
    }

    /// Puts another panel in the place of the one that is there.
    pub(crate) fn show(&mut self, panel: Vec<Line>) -> io::Result<()> {
        if panel == self.panel {
            return Ok(());
        }
        self.draw(&[], panel)
    }

    /// The window has another size. What a terminal does then with what is on it differs, so all of
    /// it is drawn again, but for the panel, which has to be made anew.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) -> io::Result<()> {
        self.measure(columns, rows);
        queue!(self.out, Clear(ClearType::All), crossterm::cursor::MoveTo(0, 0))?;
        self.below = 0;
        let room = self.rows.saturating_sub(self.panel.len() + 1);
        let mut used = 0;
        let last: Vec<_> = self
            .printed
            .iter()
            .rev()
            .take_while(|line| {
                used += line.wrapped(self.columns).len();
                used <= room
            })
            .cloned()
            .collect();
        let last: Vec<_> = last.into_iter().rev().collect();
        self.draw(&last, Vec::new())
    }

    /// Forgets where the panel is, because something else has written to the terminal, whose window
    /// may have another size by now.
    pub(crate) fn begin_anew(&mut self, (columns, rows): (u16, u16)) {
        self.measure(columns, rows);
        self.below = 0;
        self.panel.clear();
    }

    fn draw(&mut self, lines: &[Line], panel: Vec<Line>) -> io::Result<()> {
        // Written at once, so that nobody sees half of it.
        let mut out = Vec::new();
        queue!(out, BeginSynchronizedUpdate, Hide, MoveToColumn(0))?;
        if self.below > 0 {
            queue!(out, MoveUp(self.below.try_into().unwrap_or(u16::MAX)))?;
        }
        queue!(out, Clear(ClearType::FromCursorDown))?;
        for row in lines.iter().flat_map(|line| line.wrapped(self.columns)) {
            write!(out, "{}\r\n", row.rendered(self.colours))?;
        }
        let rows = panel.iter().flat_map(|line| line.wrapped(self.columns)).collect();
        let rows = fit(rows, self.rows());
        let last = rows.len().saturating_sub(1);
        for (number, row) in rows.iter().enumerate() {
            let end = if number == last { "" } else { "\r\n" };
            write!(out, "{}{end}", row.rendered(self.colours))?;
        }
        self.below = last;
        let cursor = rows.iter().enumerate().find_map(|(at, row)| Some((at, row.cursor_column()?)));
        if let Some((at, column)) = cursor {
            if at < last {
                queue!(out, MoveUp((last - at).try_into().unwrap_or(u16::MAX)))?;
            }
            queue!(out, MoveToColumn(column.try_into().unwrap_or(u16::MAX)), Show)?;
            self.below = at;
        }
        queue!(out, EndSynchronizedUpdate)?;
        self.panel = panel;
        self.out.write_all(&out)?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::view::line::Tone;

    fn line(text: &str) -> Line {
        Line::of(Tone::Plain, text)
    }

    fn contents(screen: &mut Screen<Vec<u8>>, columns: u16, rows: u16) -> (String, (u16, u16)) {
        let some = |number| std::num::NonZeroU16::new(number).unwrap();
        let mut parser = vt100::Parser::new(some(rows), some(columns), 100);
        parser.process(&screen.out);
        let shown = parser.screen();
        (shown.contents().trim_end().to_owned(), shown.cursor_position())
    }

    #[test]
    fn what_is_printed_stays_above_the_panel() {
        let mut screen = Screen::new(Vec::new(), true, (20, 10));
        screen.show(vec![line("choose"), line("1 yes")]).unwrap();
        screen.print(vec![line("a long line that takes two rows")]).unwrap();
        screen.show(vec![line("> x").cursor(), line("below")]).unwrap();
        let (shown, cursor) = contents(&mut screen, 20, 10);
        assert_eq!(shown, "a long line that \ntakes two rows\n> x\nbelow");
        assert_eq!(cursor, (2, 3));
        screen.print(vec![line("more")]).unwrap();
        screen.show(Vec::new()).unwrap();
        let (shown, cursor) = contents(&mut screen, 20, 10);
        assert_eq!((&*shown, cursor), ("a long line that \ntakes two rows\nmore", (3, 0)));
    }

    #[test]
    fn a_panel_that_is_too_high_shows_its_end() {
        let mut screen = Screen::new(Vec::new(), false, (20, 5));
        screen.print(vec![line("before")]).unwrap();
        screen.show((1..=9).map(|n| line(&n.to_string())).collect()).unwrap();
        screen.show(vec![line("done")]).unwrap();
        let (shown, _) = contents(&mut screen, 20, 5);
        assert_eq!(shown, "before\ndone");
    }

    #[test]
    fn another_size_shows_the_same_again() {
        let mut screen = Screen::new(Vec::new(), false, (30, 10));
        screen.print(vec![line("one two three four five")]).unwrap();
        screen.show(vec![line("choose one of these")]).unwrap();
        screen.resize(14, 8).unwrap();
        screen.show(vec![line("choose one of these")]).unwrap();
        let (shown, _) = contents(&mut screen, 30, 10);
        assert_eq!(shown, "one two three\nfour five\nchoose one of\nthese");
    }
}
