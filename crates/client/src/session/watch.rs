//! Following what is known of a session.

use std::fmt;

use tokio::sync::watch;

use super::snapshot::Snapshot;

/// Follows what is known of a session: see [`SessionHandle::watch`](super::SessionHandle::watch).
///
/// What it gives are copies, so whoever keeps one holds nobody up. Of changes that come faster than
/// they are looked at, the last counts.
#[derive(Clone)]
pub struct Watch {
    changes: watch::Receiver<Snapshot>,
}

impl Watch {
    pub(super) fn new(changes: watch::Receiver<Snapshot>) -> Self {
        Self { changes }
    }

    /// What is known now. It counts as seen: [`changed`](Self::changed) waits for something newer.
    pub fn snapshot(&mut self) -> Snapshot {
        self.changes.borrow_and_update().clone()
    }

    /// Waits for a change, and gives what is known then; none when the session has ended and that was
    /// seen, because nothing changes any more.
    ///
    /// Cancel safe: a change is either given or still there.
    pub async fn changed(&mut self) -> Option<Snapshot> {
        // In this order: an end that comes between the two is a change.
        let has_ended = self.changes.borrow().ended.is_some();
        if has_ended && !self.changes.has_changed().unwrap_or(false) {
            return None;
        }
        self.changes.changed().await.ok()?;
        Some(self.snapshot())
    }

    /// Waits until this is so, and gives what is known then; none when the session has ended and it
    /// is not so.
    ///
    /// Cancel safe.
    pub async fn wait_for(&mut self, mut is_so: impl FnMut(&Snapshot) -> bool) -> Option<Snapshot> {
        let mut snapshot = self.snapshot();
        while !is_so(&snapshot) {
            snapshot = self.changed().await?;
        }
        Some(snapshot)
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}
