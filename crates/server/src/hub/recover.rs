//! What is done when the server starts: nothing that an earlier one left is still running, and every
//! session goes on from what is on disk.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use countersign::process::{Leftovers, Mark, ProcessId, ShutdownTimes};
use countersign_protocol::RawJson;
use jiff::{SignedDuration, Timestamp};

use super::Hub;
use crate::session::{Answer, ApprovalAnswered, By, Happening, Head, ToolDecided};
use crate::store::{ServerRun, StoreError, Write, WriteError};

/// How often is looked whether somebody took too long to answer, at most.
const LOOK: Duration = Duration::from_secs(30);

/// How far back it is looked what calls were made with: so many pages of so many events.
const PAGES: usize = 16;
const PAGE: usize = 256;

/// How many approvals expire at a time.
const AT_ONCE: usize = 100;

impl Hub {
    /// Ends what earlier servers left running, and goes on with every session that has something to
    /// do.
    ///
    /// # Errors
    /// When the store cannot be used.
    pub async fn recover(self: &Arc<Self>) -> Result<(), StoreError> {
        let mark = Mark::of_this_process();
        let process = ProcessId::of_this_process();
        let run = ServerRun { mark, process, began_at: Timestamp::now() };
        for earlier in self.store.begin_run(run).await? {
            let swept = Leftovers::of_mark(earlier.mark).end(ShutdownTimes::default()).await;
            if swept.still_running.is_empty() {
                self.store.end_run(earlier.mark).await?;
            } else {
                tracing::error!(
                    left = swept.still_running.len(),
                    "processes of an earlier server still run and cannot be ended"
                );
            }
        }
        for session in self.store.unsettled().await? {
            let Some(head) = self.store.head(session).await? else { continue };
            if head.process.is_there() {
                let mut happens = head.lose_process("the server ended", false);
                self.add_inputs(&head, &mut happens).await;
                match self.write(session, happens).await {
                    Ok(_) | Err(WriteError::Refused { .. }) => {}
                    Err(WriteError::Store(error)) => return Err(error),
                    Err(WriteError::KeyReused(_)) => {}
                }
            }
            self.poke(session);
        }
        Ok(())
    }

    /// Adds what calls were made with to what is said of them when their process is gone: the log has
    /// it, and the audit outlives the log.
    pub(crate) async fn add_inputs(&self, head: &Head, happens: &mut [Happening]) {
        let mut missing: HashMap<&str, &mut Option<RawJson>> = HashMap::new();
        for happening in happens {
            if let Happening::ToolDecided(ToolDecided { tool_use_id, input, .. }) = happening
                && input.is_none()
            {
                missing.insert(tool_use_id, input);
            }
        }
        let mut before = head.seq + 1;
        for _ in 0..PAGES {
            if missing.is_empty() || before <= 1 {
                return;
            }
            let Ok(events) = self.store.events_before(head.id, before, PAGE).await else { return };
            for event in events.iter().rev() {
                if let Happening::ToolCalled(called) = &event.happening
                    && let Some(input) = missing.remove(&*called.tool_use_id)
                {
                    input.clone_from(&called.input);
                }
            }
            before = events.first().map_or(0, |event| event.seq);
        }
    }

    /// Refuses what nobody answers in time, for as long as the hub is open. It is over at once when
    /// there is no limit.
    pub async fn expire(self: &Arc<Self>) {
        let Some(limit) = self.settings.expiry else { return };
        let every = (limit / 4).clamp(Duration::from_millis(50), LOOK);
        let limit = SignedDuration::try_from(limit).unwrap_or(SignedDuration::MAX);
        loop {
            tokio::select! {
                () = tokio::time::sleep(every) => {}
                () = self.closing.cancelled() => return,
            }
            let Ok(before) = self.settings.clock.now().checked_sub(limit) else { continue };
            let late = match self.store.open_since_before(before, AT_ONCE).await {
                Ok(late) => late,
                Err(error) => {
                    tracing::warn!(%error, "it cannot be looked up what is late");
                    continue;
                }
            };
            for (session, approval) in late {
                let answer = Answer::deny_and_stop("Nobody answered in time.");
                let by = By::Expiry;
                let answered = ApprovalAnswered { approval, answer, by, child: None };
                // Whoever was faster has answered.
                match self.store.write(Write::to(session, vec![answered.into()])).await {
                    Ok(_) => self.poke(session),
                    Err(error) => tracing::debug!(%session, %error, "an approval did not expire"),
                }
            }
        }
    }

    /// Says that nothing is left of this run.
    ///
    /// # Errors
    /// When the store cannot be used.
    pub async fn end_run(&self) -> Result<(), StoreError> {
        self.store.end_run(Mark::of_this_process()).await
    }
}
