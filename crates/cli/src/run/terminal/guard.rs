//! The state of the terminal: set for keys, and put back whatever happens.

use std::io::{self, Write as _};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::Show;
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::execute;
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

/// Whether the terminal is in our state.
static OURS: AtomicBool = AtomicBool::new(false);

/// The terminal gives every key to us, until this is dropped.
#[derive(Debug)]
pub(crate) struct Guard(());

impl Guard {
    pub(crate) fn new() -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                // Before it is said what happened, so that it can be read.
                restore();
                before(panic);
            }));
        });
        let guard = Self(());
        guard.take()?;
        Ok(guard)
    }

    /// Takes the terminal again after it was given away.
    pub(crate) fn take(&self) -> io::Result<()> {
        OURS.store(true, Ordering::SeqCst);
        enable_raw_mode()?;
        execute!(crate::output::terminal(), EnableBracketedPaste)
    }

    /// Gives the terminal away, as it was.
    pub(crate) fn give(&self) {
        restore();
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        restore();
    }
}

/// Puts the terminal back. Nothing can be done about it when that fails.
fn restore() {
    if OURS.swap(false, Ordering::SeqCst) {
        let mut terminal = crate::output::terminal();
        drop(execute!(terminal, DisableBracketedPaste, Show));
        drop(disable_raw_mode());
        drop(terminal.flush());
    }
}
