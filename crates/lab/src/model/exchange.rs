//! What the tasks of a server share, and the life of one request in it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::log::{End, Log, LoggedRequest};
use crate::script::Player;

/// What the tasks of a server share.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    /// Raised with every request that comes in or ends.
    changes: watch::Sender<u64>,
    started: Instant,
    stopping: AtomicBool,
    pub(super) body_limit: usize,
    /// In the ids of messages, so that those of two servers differ.
    pub(super) nonce: String,
}

/// What changes with a request. No lock on it is held while something is waited for.
#[derive(Debug)]
pub(super) struct State {
    pub(super) player: Player,
    pub(super) log: Log,
}

impl Shared {
    pub(super) fn new(player: Player, log: Log, body_limit: usize) -> Self {
        Self {
            state: Mutex::new(State { player, log }),
            changes: watch::Sender::new(0),
            started: Instant::now(),
            stopping: AtomicBool::new(false),
            body_limit,
            nonce: uuid::Uuid::new_v4().simple().to_string(),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves the state as it was: every change to it is one step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long the server has been there.
    pub(super) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// From now on, what is broken off is broken off by the server.
    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
    }
}

/// A request that is being answered.
///
/// It is told how it ended; when it is dropped before that, the other side went away, or the
/// server was stopped.
#[derive(Debug)]
pub(super) struct Exchange {
    shared: Arc<Shared>,
    request: Arc<LoggedRequest>,
    events: u64,
    ended: bool,
}

impl Exchange {
    /// Takes a request in; `prepare` completes it while the order of requests is held.
    pub(super) fn begin<T>(
        shared: &Arc<Shared>,
        mut request: LoggedRequest,
        prepare: impl FnOnce(&mut LoggedRequest, &mut State) -> T,
    ) -> (Self, T) {
        let mut state = shared.state();
        let prepared = prepare(&mut request, &mut state);
        let request = state.log.add(request);
        drop(state);
        shared.changed();
        let exchange = Self { shared: Arc::clone(shared), request, events: 0, ended: false };
        (exchange, prepared)
    }

    pub(super) fn number(&self) -> u64 {
        self.request.number
    }

    /// Counts an event that was sent.
    pub(super) fn sent_event(&mut self) {
        self.events = self.events.saturating_add(1);
    }

    /// Notes how it ended. Only the first time counts.
    pub(super) fn end(&mut self, end: End) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let now = self.shared.now();
        self.shared.state().log.end(&self.request, end, self.events, now);
        self.shared.changed();
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let stopping = self.shared.stopping.load(Ordering::SeqCst);
        self.end(if stopping { End::ServerStopped } else { End::ClientGone });
    }
}
