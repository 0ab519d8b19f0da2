//! What an earlier process of ours has left running.

use tokio_util::sync::CancellationToken;

use super::id::{ProcessId, ProcessInfo};
use super::mark::Mark;
use super::scope::Scope;
use super::sweep::{Swept, sweep};
use super::times::{KILLED, ShutdownTimes};

/// What an earlier process left running, found by what was written down about it.
///
/// A server writes down the [`Mark`] of each session and the [`ProcessId`] of its CLI. When it starts
/// again after a crash, it asks what is still there and ends it. The keeper has usually been faster:
/// it is of use where there was none.
///
/// ```
/// use countersign::process::{Leftovers, Mark, ShutdownTimes};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let written_down = "COUNTERSIGN_SESSION=2f0c8d4e-3f53-4a44-9d0c-6d1a0b8f7f11";
/// let mark: Mark = written_down.parse()?;
/// let swept = Leftovers::of_mark(mark).end(ShutdownTimes::default()).await;
/// assert!(swept.still_running.is_empty());
/// # Ok::<(), countersign::process::MarkError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Where there is no `/proc` of Linux, nothing is found.
#[derive(Debug)]
pub struct Leftovers {
    scope: Scope,
}

impl Leftovers {
    /// What carries this mark, what descends from it, and the groups and sessions that it leads.
    #[must_use]
    pub fn of_mark(mark: Mark) -> Self {
        Self { scope: Scope::new(Some(mark), None) }
    }

    /// This process, what descends from it, and the groups and sessions that it leads. When it has
    /// ended, nothing is found: a mark still finds what it left.
    #[must_use]
    pub fn of_process(process: ProcessId) -> Self {
        Self { scope: Scope::new(None, Some(process)) }
    }

    /// What of it runs now.
    pub fn find(&mut self) -> Vec<ProcessInfo> {
        self.scope.look().iter().filter_map(ProcessInfo::of).collect()
    }

    /// Ends it: SIGTERM, and SIGKILL for what is there after [`ShutdownTimes::sweep`].
    pub async fn end(mut self, times: ShutdownTimes) -> Swept {
        sweep(&mut self.scope, times.sweep, KILLED, &CancellationToken::new()).await
    }
}
