//! The terminal: keys come in, lines go out, and its state is put back at the end.

pub(crate) mod editor;
mod fit;
pub(crate) mod guard;
pub(crate) mod keys;
pub(crate) mod passing;
mod reader;
pub(crate) mod screen;

use std::io;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};

use self::guard::Guard;
use self::keys::Input;
use self::reader::Reader;
use self::screen::Screen;
use super::view::line::Line;

/// The terminal, while it is ours.
#[derive(Debug)]
pub(crate) struct Terminal {
    screen: Screen<io::Stdout>,
    /// None while somebody else has the keyboard.
    keys: Option<Reader>,
    // Last, so that it is put back when all is written.
    guard: Guard,
}

impl Terminal {
    pub(crate) fn new(colours: bool) -> io::Result<Self> {
        let guard = Guard::new()?;
        let screen = Screen::new(crate::output::terminal(), colours, size());
        Ok(Self { screen, keys: Some(Reader::start()?), guard })
    }

    pub(crate) const fn columns(&self) -> usize {
        self.screen.columns()
    }

    pub(crate) const fn rows(&self) -> usize {
        self.screen.rows()
    }

    /// Writes lines that stay.
    pub(crate) fn print(&mut self, lines: Vec<Line>) -> io::Result<()> {
        if lines.is_empty() { Ok(()) } else { self.screen.print(lines) }
    }

    /// Puts another panel below them.
    pub(crate) fn show(&mut self, panel: Vec<Line>) -> io::Result<()> {
        self.screen.show(panel)
    }

    /// The window has another size.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) -> io::Result<()> {
        self.screen.resize(columns, rows)
    }

    /// What comes next from the keyboard. Cancel safe.
    ///
    /// # Errors
    /// When nothing will come any more.
    pub(crate) async fn next(&mut self) -> io::Result<Input> {
        match &mut self.keys {
            Some(keys) => keys.next().await,
            None => std::future::pending().await,
        }
    }

    /// Lets go of the keyboard.
    async fn release_keys(&mut self) {
        if let Some(keys) = self.keys.take() {
            keys.stop().await;
        }
    }

    /// Lets the person edit a text. None if that came to nothing.
    pub(crate) async fn edit(
        &mut self,
        text: String,
        suffix: &'static str,
    ) -> io::Result<Option<String>> {
        // The editor has the keyboard for itself.
        self.release_keys().await;
        self.screen.show(Vec::new())?;
        self.guard.give();
        let edited = tokio::task::spawn_blocking(move || editor::edit(&text, suffix)).await;
        self.take_back()?;
        edited.map_err(io::Error::other)?
    }

    /// Stops this process as Ctrl-Z does, until somebody has it go on.
    pub(crate) async fn suspend(&mut self) -> io::Result<()> {
        self.release_keys().await;
        self.screen.show(Vec::new())?;
        self.guard.give();
        // The whole group, as the terminal would: whoever started us may wait for that.
        let stopped = rustix::process::kill_current_process_group(rustix::process::Signal::TSTP);
        self.take_back()?;
        Ok(stopped?)
    }

    fn take_back(&mut self) -> io::Result<()> {
        self.guard.take()?;
        // What was typed meanwhile was not for us. A terminal that is gone says so when it is read.
        while !is_gone() && matches!(crossterm::event::poll(Duration::ZERO), Ok(true)) {
            if crossterm::event::read().is_err() {
                break;
            }
        }
        self.screen.begin_anew(size());
        self.keys = Some(Reader::start()?);
        Ok(())
    }
}

/// Whether there is no terminal any more.
pub(crate) fn is_gone() -> bool {
    let stdin = rustix::stdio::stdin();
    let mut stdin = [PollFd::new(&stdin, PollFlags::IN)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    rustix::event::poll(&mut stdin, Some(&at_once)).is_ok()
        && stdin.iter().any(|stdin| stdin.revents().intersects(PollFlags::HUP | PollFlags::NVAL))
}

/// How many columns and rows the window has, or usually has.
fn size() -> (u16, u16) {
    crossterm::terminal::size().unwrap_or((80, 24))
}

/// How wide a row may be on a terminal that is not ours.
fn columns() -> usize {
    usize::from(size().0.max(2) - 1)
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // What is left below is taken away; nothing can be done when that fails.
        drop(self.screen.show(Vec::new()));
    }
}
