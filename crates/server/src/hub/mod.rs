//! All sessions: who attends to which, and how many processes there are.
//!
//! A session has a task while there is something to be done about it, and is nothing but rows
//! otherwise. What has to be done follows from its head; whoever changes that calls [`Hub::poke`].

mod alive;
mod attend;
mod metrics;
mod recover;
mod settings;
mod slots;
mod wire;

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign::SessionHandle;
use futures_util::FutureExt as _;
use jiff::Timestamp;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::alive::Processes;
pub use self::alive::{Alive, Model};
pub use self::settings::Settings;
pub(crate) use self::slots::Need;
pub(crate) use self::slots::Slot;
use self::slots::Slots;
pub(crate) use self::wire::Wire;
use self::wire::Wires;
pub use self::wire::{WireLine, WireLines};
use crate::bus::Bus;
use crate::id::SessionId;
use crate::session::{Happening, Head};
use crate::store::{Store, StoreError, StoreFuture, Write, WriteError, Written};

/// How long is waited before a store that cannot be used is tried again: at first, and at most.
const AGAIN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// How long the last of what there is to write may take when everything ends.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// All sessions.
pub struct Hub {
    store: Arc<dyn Store>,
    bus: Arc<Bus>,
    settings: Settings,
    slots: Arc<Slots>,
    /// How many sessions wait for a process.
    waiting: AtomicUsize,
    attended: Mutex<HashMap<SessionId, Attended>>,
    processes: Processes,
    wires: Wires,
    tasks: TaskTracker,
    /// No process is started any more.
    closing: CancellationToken,
    /// Processes end now.
    ending: CancellationToken,
}

/// A session that has a task.
struct Attended {
    poke: Arc<Notify>,
    /// Whether something changed since the task last looked.
    poked: bool,
}

impl Hub {
    /// A hub over what is in a store. [`recover`](Self::recover) is to be called before anything else.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, bus: Arc<Bus>, settings: Settings) -> Arc<Self> {
        let slots = Slots::new(settings.live_processes);
        Arc::new(Self {
            store,
            bus,
            settings,
            slots,
            waiting: AtomicUsize::new(0),
            attended: Mutex::default(),
            processes: Processes::default(),
            wires: Wires::default(),
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
            ending: CancellationToken::new(),
        })
    }

    /// Where everything is kept.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Who is told of what happens.
    #[must_use]
    pub fn bus(&self) -> &Arc<Bus> {
        &self.bus
    }

    /// How sessions are run.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What is known of the process of a session, if it has one.
    #[must_use]
    pub fn alive(&self, session: SessionId) -> Option<Alive> {
        self.processes.alive(session)
    }

    /// The models that sessions can use, as the CLI that was started last has told; none before that.
    #[must_use]
    pub fn models(&self) -> Vec<Model> {
        self.processes.models()
    }

    /// The last lines that passed between the server and the CLI of a session.
    #[must_use]
    pub fn wire(&self, session: SessionId) -> WireLines {
        self.wires.lines(session)
    }

    /// What keeps the lines of a process that is to begin.
    pub(crate) fn wire_of(&self, session: SessionId) -> Arc<Wire> {
        self.wires.of(session)
    }

    /// A session is gone, and with it what is kept beside the log.
    pub(crate) fn forget(&self, session: SessionId) {
        self.wires.forget(session);
    }

    /// A process is there.
    pub(crate) fn process_began(&self, session: SessionId, handle: SessionHandle) {
        self.processes.began(session, handle);
    }

    /// A process has said something.
    pub(crate) fn process_spoke(&self, session: SessionId) {
        self.processes.spoke(session, Timestamp::now());
    }

    /// A process is gone.
    pub(crate) fn process_ended(&self, session: SessionId) {
        self.processes.ended(session);
    }

    /// How many processes there are.
    #[must_use]
    pub fn live_processes(&self) -> usize {
        self.slots.taken()
    }

    /// How many sessions wait for a process.
    #[must_use]
    pub fn waiting_for_process(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Sees to it that what has to be done about a session is done.
    pub fn poke(self: &Arc<Self>, session: SessionId) {
        let mut attended = self.attended();
        if let Some(task) = attended.get_mut(&session) {
            task.poked = true;
            task.poke.notify_one();
            return;
        }
        let poke = Arc::new(Notify::new());
        attended.insert(session, Attended { poke: Arc::clone(&poke), poked: false });
        drop(attended);
        let hub = Arc::clone(self);
        self.tasks.spawn(async move {
            let attending = AssertUnwindSafe(Arc::clone(&hub).attend(session, poke));
            if attending.catch_unwind().await.is_err() {
                hub.has_panicked(session).await;
            }
        });
    }

    /// Goes on with a session whose task has panicked, which is a defect: its process is gone with the
    /// task, and that counts as a failure, so that it is not tried for ever.
    async fn has_panicked(self: &Arc<Self>, session: SessionId) {
        tracing::error!(%session, "the task of a session has panicked");
        self.process_ended(session);
        let mut is_lost = false;
        if let Ok(Some(head)) = self.store.head(session).await
            && head.process.is_there()
        {
            let happens = head.lose_process("the server had a defect and could not go on", true);
            is_lost = self.write(session, happens).await.is_ok();
        }
        let poked = self.attended().remove(&session).is_some_and(|task| task.poked);
        if is_lost || poked {
            self.poke(session);
        }
    }

    /// Whether there is nothing more to do for the task of a session, which is then forgotten.
    fn is_done(&self, session: SessionId) -> bool {
        let mut attended = self.attended();
        let poked = attended.get_mut(&session).is_some_and(|task| std::mem::take(&mut task.poked));
        if !poked {
            attended.remove(&session);
        }
        !poked
    }

    fn attended(&self) -> MutexGuard<'_, HashMap<SessionId, Attended>> {
        self.attended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what somebody wants, and sees to it that it is done, also when they do not wait for it:
    /// what was given to the store may be written after whoever wanted it has gone away.
    pub(crate) async fn carry(self: &Arc<Self>, write: Write) -> Result<Written, WriteError> {
        let hub = Arc::clone(self);
        let carried = self.tasks.spawn(async move {
            let sessions: Vec<_> = write.appends.iter().map(|append| append.session).collect();
            let written = hub.store.write(write).await?;
            for session in sessions {
                hub.poke(session);
            }
            Ok(written)
        });
        // It is not cancelled, and a panic in it would be one of the store.
        carried.await.unwrap_or(Err(WriteError::Store(StoreError::Closed)))
    }

    /// Writes what happens in a session, however long the store takes. None when it is refused, or
    /// when the hub ends first.
    pub(crate) async fn write(
        &self,
        session: SessionId,
        happenings: Vec<Happening>,
    ) -> Result<Arc<Head>, WriteError> {
        let mut wait = AGAIN.0;
        loop {
            let write = Write::to(session, happenings.clone());
            let written = tokio::select! {
                written = self.store.write(write) => written,
                () = self.has_ended() => return Err(WriteError::Store(StoreError::Closed)),
            };
            match written {
                Ok(Written::Now { heads, .. }) => {
                    return heads.into_iter().next().ok_or(WriteError::Store(StoreError::Closed));
                }
                // There is no command that it could have been.
                Ok(Written::Before { .. }) => return Err(WriteError::Store(StoreError::Closed)),
                Err(WriteError::Store(StoreError::Unavailable(error))) => {
                    tracing::warn!(%session, %error, "the store cannot be written to; it is tried again");
                }
                Err(error) => return Err(error),
            }
            tokio::select! {
                () = tokio::time::sleep(wait) => wait = (wait * 2).min(AGAIN.1),
                () = self.ending.cancelled() => return Err(WriteError::Store(StoreError::Closed)),
            }
        }
    }

    /// Waits until it is too late for anything: a store that is frozen does not keep the server from
    /// ending.
    async fn has_ended(&self) {
        self.ending.cancelled().await;
        tokio::time::sleep(LAST_WORDS).await;
    }

    /// Reads what is needed to go on with a session, however long the store takes. Fails when it
    /// cannot be read at all, or when the hub ends first.
    pub(crate) async fn read<'a, T>(
        &'a self,
        session: SessionId,
        read: impl Fn(&'a dyn Store) -> StoreFuture<'a, T> + Send + Sync,
    ) -> Result<T, StoreError> {
        let mut wait = AGAIN.0;
        loop {
            match read(&*self.store).await {
                Err(StoreError::Unavailable(error)) => {
                    tracing::warn!(%session, %error, "the store cannot be read; it is tried again");
                }
                outcome => return outcome,
            }
            tokio::select! {
                () = tokio::time::sleep(wait) => wait = (wait * 2).min(AGAIN.1),
                () = self.ending.cancelled() => return Err(StoreError::Closed),
            }
        }
    }

    /// No process is started from now on.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.closing.is_cancelled()
    }

    pub(crate) const fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    pub(crate) const fn ending(&self) -> &CancellationToken {
        &self.ending
    }

    /// Ends all processes in order: what waits for a person is parked, what is running has
    /// [`Settings::shutdown_within`] to come to its end, and goes on when there is a server again.
    pub async fn close(&self) {
        self.closing.cancel();
        self.tasks.close();
        let bound = self.settings.shutdown_within;
        if tokio::time::timeout(bound, self.tasks.wait()).await.is_err() {
            self.ending.cancel();
            // Ending a process has limits of its own.
            self.tasks.wait().await;
        }
    }
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hub").field("settings", &self.settings).finish_non_exhaustive()
    }
}
