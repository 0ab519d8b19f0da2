//! A line that goes away, on a terminal that is not ours yet.

use std::io::{self, Write as _};

use crossterm::cursor::MoveToColumn;
use crossterm::queue;
use crossterm::terminal::{Clear, ClearType};

use crate::run::view::line::Line;

/// A line that goes away when this is dropped.
///
/// Nothing can be done when it cannot be written, and nothing depends on it.
#[derive(Debug)]
pub(crate) struct Passing {
    out: io::Stdout,
    colours: bool,
    is_shown: bool,
}

impl Passing {
    pub(crate) fn new(colours: bool) -> Self {
        Self { out: crate::output::terminal(), colours, is_shown: false }
    }

    /// Puts this in the place of what is there.
    pub(crate) fn show(&mut self, line: Line) {
        self.is_shown = true;
        drop(self.write(&line.cut(super::columns()).rendered(self.colours)));
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        queue!(self.out, MoveToColumn(0), Clear(ClearType::CurrentLine))?;
        write!(self.out, "{text}")?;
        self.out.flush()
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        if self.is_shown {
            drop(self.write(""));
        }
    }
}
