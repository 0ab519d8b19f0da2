//! What is said while something takes long.

use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::plain;

/// Something that takes long.
///
/// On a terminal it is a line that moves, on standard error, and is gone when it is done. Elsewhere
/// each step is a line of its own, so that a log tells how far it came; what has no steps is told
/// when it takes longer than a moment.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Where there is no terminal: whether steps are told as lines.
    lines: bool,
    /// Keeps what is being done from being told: it is over, or something else was told.
    untold: Option<SyncSender<()>>,
}

/// What is done within this time need not be told.
const MOMENT: Duration = Duration::from_secs(1);

impl Progress {
    pub(crate) fn new(what: &str, shown: bool, terminal: bool) -> Self {
        // It may name a file, and files have all kinds of names.
        let what = plain(what);
        let lines = shown && !terminal;
        let untold = lines.then(|| told_later(what.clone()));
        let bar = ProgressBar::no_length().with_message(what);
        bar.set_style(style("{spinner} {msg} {elapsed}"));
        if shown && terminal {
            // Something that is done within a moment shows nothing.
            bar.enable_steady_tick(Duration::from_millis(250));
        } else {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        Self { bar, lines, untold }
    }

    /// The same, for so many steps.
    #[must_use]
    pub(crate) fn of(self, steps: usize) -> Self {
        self.bar.set_length(u64::try_from(steps).unwrap_or(u64::MAX));
        self.bar.set_style(style("{bar:30} {pos}/{len} {msg} {elapsed} (about {eta} more)"));
        self
    }

    /// Says what is being done now.
    pub(crate) fn doing(&self, what: impl Into<String>) {
        let what = plain(&what.into());
        if let Some(untold) = &self.untold {
            // When it has been told, nobody waits for this.
            let _ = untold.try_send(());
        }
        if self.lines {
            match self.bar.length() {
                Some(steps) => {
                    let done = self.bar.position();
                    crate::output::aside(&format!("{what} ({done} of {steps} done)"));
                }
                None => crate::output::aside(&what),
            }
        }
        self.bar.set_message(what);
    }

    /// One step is done.
    pub(crate) fn done(&self) {
        self.bar.inc(1);
    }

    /// Does something that writes to the terminal, with the moving line out of the way.
    pub(crate) fn hidden<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Tells what is being done, unless that is over in a moment. When the sender is used or dropped
/// before, nothing is told.
fn told_later(what: String) -> SyncSender<()> {
    let (untold, over) = sync_channel(1);
    let wait = move || {
        if over.recv_timeout(MOMENT) == Err(RecvTimeoutError::Timeout) {
            crate::output::aside(&what);
        }
    };
    // Without the thread nothing is told; what is being done goes on.
    drop(std::thread::Builder::new().name("progress".to_owned()).spawn(wait));
    untold
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
