//! Signals that end a run.

use std::io;

use futures_util::FutureExt as _;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// The same as Ctrl-C.
    Interrupt,
    /// The end, with this exit code.
    End(u8),
}

/// Signals that end a run.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Forgets Ctrl-C, which was meant for a program that had the terminal for a while.
    pub(crate) fn forget_interrupts(&mut self) {
        while let Some(Some(())) = self.interrupt.recv().now_or_never() {}
    }

    /// The next one. Cancel safe.
    pub(crate) async fn next(&mut self) -> Asks {
        tokio::select! {
            _ = self.interrupt.recv() => Asks::Interrupt,
            _ = self.terminate.recv() => Asks::End(128 + 15),
            _ = self.hang_up.recv() => Asks::End(128 + 1),
        }
    }
}
