//! How long each step of ending a session may take.

use std::time::Duration;

/// How long each step of ending a session may take, before the next is taken.
///
/// ```
/// use std::time::Duration;
/// use countersign::process::ShutdownTimes;
///
/// let patient = ShutdownTimes::default().exit(Duration::from_secs(60));
/// assert!(patient.longest() > Duration::from_secs(60));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "pass it to the session"]
pub struct ShutdownTimes {
    pub(super) exit: Duration,
    pub(super) terminate: Duration,
    pub(super) sweep: Duration,
}

impl Default for ShutdownTimes {
    /// Two seconds to exit, three to obey SIGTERM, half a second for what is left behind.
    fn default() -> Self {
        Self {
            exit: Duration::from_secs(2),
            terminate: Duration::from_secs(3),
            sweep: Duration::from_millis(500),
        }
    }
}

impl ShutdownTimes {
    /// How long the CLI may take to exit by itself, after its input was closed.
    pub const fn exit(mut self, time: Duration) -> Self {
        self.exit = time;
        self
    }

    /// How long the CLI may take to exit after SIGTERM, before it is killed.
    pub const fn terminate(mut self, time: Duration) -> Self {
        self.terminate = time;
        self
    }

    /// How long what the CLI has left behind may take to end after SIGTERM, before it is killed.
    pub const fn sweep(mut self, time: Duration) -> Self {
        self.sweep = time;
        self
    }

    /// How long all steps together may take at most, with the time that the kernel is given for
    /// what was killed.
    #[must_use]
    pub fn longest(self) -> Duration {
        let steps = [self.terminate, KILLED, self.sweep, KILLED];
        steps.into_iter().fold(self.exit, Duration::saturating_add)
    }
}

/// How long a killed process may take to be gone. It takes milliseconds, unless the machine is in
/// trouble.
pub(super) const KILLED: Duration = Duration::from_secs(5);
