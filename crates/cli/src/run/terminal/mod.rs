//! The terminal: keys come in, lines go out, and its state is put back at the end.

pub(crate) mod editor;
pub(crate) mod guard;
pub(crate) mod keys;
pub(crate) mod screen;

use std::future::poll_fn;
use std::io;
use std::task::Poll;
use std::time::Duration;

use crossterm::event::EventStream;
use futures_util::StreamExt as _;
use rustix::event::{PollFd, PollFlags, Timespec};

use self::guard::Guard;
use self::keys::Input;
use self::screen::Screen;
use super::view::line::Line;

/// The terminal, while it is ours.
#[derive(Debug)]
pub(crate) struct Terminal {
    screen: Screen<io::Stdout>,
    /// None while somebody else has the keyboard.
    keys: Option<EventStream>,
    // Last, so that it is put back when all is written.
    guard: Guard,
}

impl Terminal {
    pub(crate) fn new(colours: bool) -> io::Result<Self> {
        let guard = Guard::new()?;
        let screen = Screen::new(crate::output::terminal(), colours, size());
        Ok(Self { screen, keys: Some(EventStream::new()), guard })
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
        let Some(keys) = &mut self.keys else { return std::future::pending().await };
        loop {
            let next =
                poll_fn(
                    |context| {
                        if is_gone() { Poll::Ready(None) } else { keys.poll_next_unpin(context) }
                    },
                );
            match next.await {
                Some(event) => {
                    if let Some(input) = Input::of(event?) {
                        return Ok(input);
                    }
                }
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
    }

    /// Lets go of the keyboard.
    async fn release_keys(&mut self) {
        // The thread that reads keys is told to end in a way that only a thread that is reading
        // notices. Otherwise the next one would be told, and miss a key because of it.
        if let Some(keys) = &mut self.keys {
            poll_fn(|context| {
                while !is_gone()
                    && let Poll::Ready(Some(Ok(_))) = keys.poll_next_unpin(context)
                {
                }
                Poll::Ready(())
            })
            .await;
        }
        self.keys = None;
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
        self.keys = Some(EventStream::new());
        Ok(())
    }
}

/// Whether there is no terminal any more. That has to be asked before keys are read: who reads them
/// takes its end for a key that is not complete, and never comes back.
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

impl Drop for Terminal {
    fn drop(&mut self) {
        // What is left below is taken away; nothing can be done when that fails.
        drop(self.screen.show(Vec::new()));
    }
}
