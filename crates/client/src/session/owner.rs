//! The task that owns a session: it alone reads what the CLI writes, changes what is known of the
//! session, and ends it.

use std::sync::Arc;

use countersign_record::Recorder;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::intake::Intake;
use super::shared::Shared;
use super::snapshot::SessionEnd;
use super::stderr::LastWords;
use crate::limits::{Act, Doing, LimitReached, Watchdog};
use crate::process::{self, HowEnded, Process};
use crate::store::Materialized;
use crate::times::Times;

/// The owner of a session.
pub(super) struct Owner {
    pub(super) shared: Arc<Shared>,
    /// Taken when it is ended.
    pub(super) process: Option<Process>,
    pub(super) intake: Intake,
    pub(super) words: LastWords,
    pub(super) stderr: JoinHandle<()>,
    pub(super) recorder: Option<Recorder>,
    pub(super) times: Times,
    pub(super) watchdog: Watchdog,
    /// The configuration of the CLI, if it is there for this session only.
    pub(super) config: Option<Arc<Materialized>>,
    /// The limit that ends the session.
    pub(super) limit: Option<LimitReached>,
}

/// Why the owner stopped serving.
#[derive(PartialEq, Eq)]
enum Why {
    /// The process ended, or closed its output.
    Gone,
    /// It was asked to end the session in order.
    Close,
    /// It was asked to end the session at once.
    Kill,
}

impl Owner {
    /// Serves the session until it ends, and ends it.
    pub(super) async fn run(mut self) {
        if let Some(process) = self.process.as_ref().and_then(Process::id) {
            self.shared.is_process(process);
        }
        let mut why = self.serve().await;
        if why == Why::Close {
            why = self.wind_down().await;
        }
        // Before what is asked is refused: who is told that nothing is wanted any more can see why.
        self.shared.ending.store(true, std::sync::atomic::Ordering::Release);
        if why != Why::Kill {
            self.shared.refuse_all("the session is ending, so this is refused");
            self.shared.outbox.close();
        }
        let end = self.end(why == Why::Kill).await;
        self.shared.outbox.close();
        self.intake.drain();
        self.intake.mailbox.close();
        // It ends with the pipe, which a process that was left running may have held open.
        if tokio::time::timeout(self.times.drain, &mut self.stderr).await.is_err() {
            self.stderr.abort();
        }
        if let Some(mirror) = self.intake.mirror.take() {
            // What came after the last result. The store has its own limit of time, and whoever
            // kills the session does not wait for it.
            self.shared.kill.run_until_cancelled(mirror.flush()).await;
        }
        let ended = SessionEnd::new(
            end,
            self.words.text(),
            std::mem::take(&mut self.intake.errors),
            self.limit,
        );
        if let Some(recorder) = self.recorder.take()
            && let Some(end) = crate::recording::end_of(ended.exit)
        {
            // Waits for the disk, which no task may; but who closes a session finds the tape whole.
            let finished = tokio::task::spawn_blocking(move || recorder.finish(end)).await;
            if let Err(error) = finished {
                tracing::warn!(%error, "the tape is not complete");
            }
        }
        // The CLI is gone, so nobody puts anything into its folder again.
        self.config = None;
        tracing::debug!(exit = ?ended.exit, how = ?ended.how, "session ended");
        tracing::trace!(%ended, "what it said last");
        self.shared.end(Arc::new(ended));
        // Who waits for the end has it. Handlers have learned of it, and may still do what they do
        // then, such as taking a question off a screen.
        self.intake.server.stop(self.times.drain).await;
    }

    async fn serve(&mut self) -> Why {
        let shared = Arc::clone(&self.shared);
        let (close, kill) = (shared.close.cancelled(), shared.kill.cancelled());
        let flush = shared.outbox.flush();
        tokio::pin!(close, kill, flush);
        let mut changes = shared.snapshot.subscribe();
        let mut is_read = true;
        while !self.intake.ended {
            let look_again = match self.watch() {
                Ok(again) => again,
                Err(LimitStops) => return Why::Close,
            };
            tokio::select! {
                biased;
                () = &mut kill => return Why::Kill,
                () = &mut close => return Why::Close,
                // It returns when the CLI reads no more. What it still says counts.
                _ = &mut flush, if is_read => is_read = false,
                // Before what there is to read: what it has left behind may write for ever.
                () = exited(&mut self.process) => self.intake.drain(),
                () = self.intake.next() => self.heard(),
                () = until(look_again) => {}
                // A message was sent, to a CLI that may never say anything again.
                _ = changes.changed(), if self.watchdog.is_needed() => {}
            }
        }
        Why::Gone
    }

    fn heard(&mut self) {
        if self.watchdog.is_needed() {
            self.watchdog.heard(Instant::now());
        }
    }

    /// Looks at the limits, does what is to be done about them, and says when to look again.
    fn watch(&mut self) -> Result<Option<Instant>, LimitStops> {
        if !self.watchdog.is_needed() {
            return Ok(None);
        }
        let doing = {
            let snapshot = self.shared.snapshot.borrow();
            Doing {
                is_running: snapshot.is_running,
                is_asking: self.shared.is_asking(),
                cost: snapshot.total_cost_usd,
                turns: snapshot.results,
            }
        };
        let (act, again) = self.watchdog.look(doing, Instant::now());
        let (limit, stops) = match act {
            None => return Ok(again),
            Some(Act::Interrupt(limit)) => (limit, false),
            Some(Act::Stop(limit)) => (limit, true),
        };
        tracing::warn!(%limit, stops, "a limit is reached");
        self.shared.snapshot.send_modify(|snapshot| {
            snapshot.limit_reached = Some(limit);
            snapshot.limits_reached += 1;
        });
        if stops {
            self.limit = Some(limit);
            return Err(LimitStops);
        }
        super::control::post_interrupt(&self.shared);
        Ok(again)
    }

    /// Interrupts a running turn and waits for its end, but not for long.
    async fn wind_down(&mut self) -> Why {
        let shared = Arc::clone(&self.shared);
        if shared.snapshot.borrow().is_running {
            super::control::post_interrupt(&shared);
        }
        let flush = shared.outbox.flush();
        let until = tokio::time::sleep_until(Instant::now() + self.times.interrupt);
        tokio::pin!(flush, until);
        let mut is_read = true;
        while !self.intake.ended && shared.snapshot.borrow().is_running {
            tokio::select! {
                biased;
                () = shared.kill.cancelled() => return Why::Kill,
                () = &mut until => break,
                _ = &mut flush, if is_read => is_read = false,
                () = exited(&mut self.process) => self.intake.drain(),
                () = self.intake.next() => {}
            }
        }
        Why::Close
    }

    /// Ends the process, and reads all the while what it says. None when it is ended already.
    async fn end(&mut self, at_once: bool) -> Option<process::Ended> {
        let mut process = self.process.take()?;
        if at_once {
            // Before its input ends, and without a word: it must not do anything more, such as
            // refusing the call that it asks for.
            process.kill();
        }
        let Self { intake, shared, times, .. } = self;
        let ending = process.end_or_hurry(times.shutdown, &shared.kill);
        tokio::pin!(ending);
        loop {
            tokio::select! {
                biased;
                mut end = &mut ending => {
                    // It may be gone before anybody has looked.
                    if at_once && end.exit.is_none_or(|exit| exit.code().is_none()) {
                        end.how = HowEnded::Killed;
                    }
                    return Some(end);
                }
                () = intake.next() => {}
            }
        }
    }
}

impl Drop for Owner {
    /// A runtime that is shut down drops it before its time. Whoever waits elsewhere must not wait
    /// for ever.
    fn drop(&mut self) {
        if self.shared.snapshot.borrow().ended.is_some() {
            return;
        }
        drop(self.process.take());
        self.intake.mailbox.close();
        self.shared.end(Arc::new(SessionEnd::new(None, self.words.text(), Vec::new(), self.limit)));
    }
}

/// A limit was reached, and the session ends.
struct LimitStops;

/// Waits until then, if there is a then.
async fn until(then: Option<Instant>) {
    match then {
        Some(then) => tokio::time::sleep_until(then).await,
        None => std::future::pending().await,
    }
}

/// Waits until the process has exited.
async fn exited(process: &mut Option<Process>) {
    match process {
        // What it exited with is told when it is ended.
        Some(process) => drop(process.exited().await),
        None => std::future::pending().await,
    }
}
