//! How many processes there may be.
//!
//! When there is none to be had, sessions that could do without theirs are asked to give it up: those
//! that wait for a person first, then those that have nothing to do. The others wait in their order.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::id::SessionId;

/// How easily a session can do without its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// A person is asked, and it can be parked.
    Asks,
    /// It has nothing to do.
    Rests,
    /// It is at work.
    Works,
}

struct Holder {
    need: Need,
    /// When it came to need it so, to ask those that have waited longest.
    since: u64,
    give_up: Arc<Notify>,
    asked: bool,
}

/// How many processes there may be, and who has one.
pub(super) struct Slots {
    free: Arc<Semaphore>,
    holders: Mutex<Holders>,
}

#[derive(Default)]
struct Holders {
    by_session: HashMap<SessionId, Holder>,
    clock: u64,
}

/// The right to have a process. It is given back when it is dropped.
pub(crate) struct Slot {
    _permit: OwnedSemaphorePermit,
    slots: Arc<Slots>,
    session: SessionId,
    /// Somebody else needs it more.
    pub(crate) give_up: Arc<Notify>,
}

impl Slots {
    pub(super) fn new(count: usize) -> Arc<Self> {
        let free = Arc::new(Semaphore::new(count.max(1)));
        Arc::new(Self { free, holders: Mutex::default() })
    }

    /// A slot, if there is one now.
    pub(super) fn try_take(self: &Arc<Self>, session: SessionId) -> Option<Slot> {
        let permit = Arc::clone(&self.free).try_acquire_owned().ok()?;
        Some(self.held_by(session, permit))
    }

    /// Waits for a slot, and has somebody give up theirs.
    pub(super) async fn take(self: &Arc<Self>, session: SessionId) -> Option<Slot> {
        self.ask_for_one();
        let permit = Arc::clone(&self.free).acquire_owned().await.ok()?;
        Some(self.held_by(session, permit))
    }

    /// How many are taken.
    pub(super) fn taken(&self) -> usize {
        self.lock().by_session.len()
    }

    fn held_by(self: &Arc<Self>, session: SessionId, permit: OwnedSemaphorePermit) -> Slot {
        let give_up = Arc::new(Notify::new());
        let mut holders = self.lock();
        holders.clock += 1;
        let (since, give_up_too) = (holders.clock, Arc::clone(&give_up));
        let holder = Holder { need: Need::Works, since, give_up: give_up_too, asked: false };
        holders.by_session.insert(session, holder);
        drop(holders);
        Slot { _permit: permit, slots: Arc::clone(self), session, give_up }
    }

    /// Asks the session that can do without its process most easily.
    fn ask_for_one(&self) {
        let mut holders = self.lock();
        let can = holders.by_session.values_mut().filter(|holder| !holder.asked);
        let can = can.filter(|holder| holder.need < Need::Works);
        if let Some(holder) = can.min_by_key(|holder| (holder.need, holder.since)) {
            holder.asked = true;
            holder.give_up.notify_one();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Holders> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether somebody waits who could be helped.
    fn is_wanted(&self) -> bool {
        self.free.available_permits() == 0
    }
}

impl Slot {
    /// Says how much the session needs its process.
    pub(crate) fn need(&self, need: Need, others_wait: bool) {
        let mut holders = self.slots.lock();
        holders.clock += 1;
        let clock = holders.clock;
        let Some(holder) = holders.by_session.get_mut(&self.session) else { return };
        if holder.need != need {
            (holder.need, holder.since, holder.asked) = (need, clock, false);
        }
        drop(holders);
        if need < Need::Works && others_wait && self.slots.is_wanted() {
            self.slots.ask_for_one();
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.lock().by_session.remove(&self.session);
    }
}
