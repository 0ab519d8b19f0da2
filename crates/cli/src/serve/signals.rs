//! Signals that a server is told what to do with.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// The end. A process that is ended by the signal at once exits with this.
    Stop(u8),
    /// To read the certificate again.
    Reload,
}

/// Signals that a server is told what to do with.
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

    /// The next one. Cancel safe.
    pub(crate) async fn next(&mut self) -> Asks {
        tokio::select! {
            _ = self.interrupt.recv() => Asks::Stop(128 + 2),
            _ = self.terminate.recv() => Asks::Stop(128 + 15),
            _ = self.hang_up.recv() => Asks::Reload,
        }
    }
}
