//! What is done about one session.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use jiff::SignedDuration;
use tokio::sync::Notify;

use super::{Hub, Slot};
use crate::actor;
use crate::id::SessionId;
use crate::session::{AwaitsProcess, Failed, Happening, Head, Process};

/// How long is waited before a process is started again after one has failed: at first, and at most.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(30));

/// How many events before the last one may be the end of a process.
const LAST: usize = 50;

impl Hub {
    /// Does what has to be done about a session, until there is nothing left.
    pub(super) async fn attend(self: Arc<Self>, session: SessionId, poke: Arc<Notify>) {
        loop {
            while self.step(session, &poke).await {}
            if self.is_done(session) {
                return;
            }
        }
    }

    /// Does the next thing. Says whether there may be another.
    async fn step(self: &Arc<Self>, session: SessionId, poke: &Arc<Notify>) -> bool {
        let head = match self.store.head(session).await {
            Ok(Some(head)) => head,
            Ok(None) => return false,
            Err(error) => {
                tracing::warn!(%session, %error, "a session cannot be looked at; it is tried again");
                return self.wait(super::AGAIN.1).await;
            }
        };
        let settled = head.settle();
        if !settled.is_empty() {
            return self.note(session, settled).await;
        }
        if !head.wants_process() || self.is_closing() {
            return false;
        }
        let within = SignedDuration::try_from(self.settings.restarts_within).unwrap_or_default();
        let count = self.settings.restarts;
        if head.has_failed_too_often(self.settings.clock.now(), count, within) {
            let times = head.failures.len();
            let last = self.last_end(&head).await.unwrap_or_default();
            let why = format!(
                "the process of the session has failed {times} times. Send a message or resume it \
                 to try again. The last time: {last}"
            );
            return self.note(session, vec![Failed { why }.into()]).await;
        }
        if !self.wait(back_off(&head)).await {
            return false;
        }
        let Some(slot) = self.slot(&head, poke).await else { return true };
        actor::run(self, session, Arc::clone(poke), slot).await;
        true
    }

    /// Why the last process of a session ended.
    async fn last_end(&self, head: &Head) -> Option<String> {
        let events = self.store.events_before(head.id, head.seq + 1, LAST).await.ok()?;
        events.iter().rev().find_map(|event| match &event.happening {
            Happening::ProcessEnded(ended) => Some(ended.why.clone()),
            _ => None,
        })
    }

    /// Waits for the right to have a process. None when it is not wanted any more, or something has
    /// to be looked at again.
    async fn slot(self: &Arc<Self>, head: &Head, poke: &Notify) -> Option<Slot> {
        let session = head.id;
        if let Some(slot) = self.slots.try_take(session) {
            return Some(slot);
        }
        if head.process != Process::Awaited
            && !self.note(session, vec![AwaitsProcess {}.into()]).await
        {
            return None;
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let mut taking = std::pin::pin!(self.slots.take(session));
        let slot = loop {
            tokio::select! {
                slot = &mut taking => break slot,
                () = self.closing.cancelled() => break None,
                // It keeps its place among those who wait.
                () = poke.notified() => if !self.still_waits(session).await {
                    break None;
                },
            }
        };
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        slot
    }

    /// Does what can be done without a process about a session that waits for one, and says whether it
    /// still does.
    async fn still_waits(&self, session: SessionId) -> bool {
        loop {
            let head = match self.store.head(session).await {
                Ok(Some(head)) => head,
                Ok(None) => return false,
                // Nothing is known that would speak against it.
                Err(_) => return true,
            };
            let settled = head.settle();
            if settled.is_empty() {
                return head.wants_process();
            }
            if !self.note(session, settled).await {
                return true;
            }
        }
    }

    /// Writes what happens. Says whether it was written.
    async fn note(&self, session: SessionId, happenings: Vec<Happening>) -> bool {
        match self.write(session, happenings).await {
            Ok(_) => true,
            Err(error) => {
                tracing::warn!(%session, %error, "what happened to a session was not written");
                false
            }
        }
    }

    /// Waits, unless the hub closes first.
    async fn wait(&self, time: Duration) -> bool {
        if time.is_zero() {
            return !self.is_closing();
        }
        tokio::select! {
            () = tokio::time::sleep(time) => true,
            () = self.closing.cancelled() => false,
        }
    }
}

/// How long is waited before the next process is started.
fn back_off(head: &Head) -> Duration {
    let Some(earlier) = head.failures.len().checked_sub(1) else { return Duration::ZERO };
    let factor = 1_u32.checked_shl(u32::try_from(earlier).unwrap_or(u32::MAX)).unwrap_or(u32::MAX);
    BACK_OFF.0.saturating_mul(factor).min(BACK_OFF.1)
}
