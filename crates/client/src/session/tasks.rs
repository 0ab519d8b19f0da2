//! The tasks of a session in which handlers run.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Tasks that end with whoever holds this.
///
/// It keeps nothing of a task that is done, so nobody has to clear up after them.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    running: TaskTracker,
    /// Drops what still runs.
    abort: CancellationToken,
}

impl Tasks {
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let abort = self.abort.clone();
        self.running.spawn(async move {
            abort.run_until_cancelled(work).await;
        });
    }

    /// Waits for those that are left, but not for long. Those that are not done then are dropped.
    pub(super) async fn stop(&self, limit: Duration) {
        self.running.close();
        if tokio::time::timeout(limit, self.running.wait()).await.is_err() {
            self.abort.cancel();
        }
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.abort.cancel();
    }
}
