//! How long things may take.

use std::time::Duration;

use crate::process::ShutdownTimes;

/// How long things may take in a session.
#[derive(Clone, Debug)]
pub(crate) struct Times {
    /// For the CLI to answer `initialize`.
    pub(crate) initialize: Duration,
    /// For the CLI to answer any other request.
    pub(crate) request: Duration,
    /// For a turn to end after it was interrupted, when the session is closed.
    pub(crate) interrupt: Duration,
    /// For the rest of standard error to be read when the process has ended.
    pub(crate) drain: Duration,
    /// For the process to end.
    pub(crate) shutdown: ShutdownTimes,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            initialize: Duration::from_secs(60),
            request: Duration::from_secs(60),
            interrupt: Duration::from_secs(2),
            drain: Duration::from_secs(1),
            shutdown: ShutdownTimes::default(),
        }
    }
}
