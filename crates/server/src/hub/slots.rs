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
    /// How many wait for a slot.
    waiting: usize,
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

    /// Waits for a slot, and has somebody give up theirs. Those who wait are in their order for as long
    /// as the future is not dropped.
    pub(super) async fn take(self: &Arc<Self>, session: SessionId) -> Option<Slot> {
        let _waiting = Waiting::begin(self);
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

    /// Asks sessions that can do without their processes, the one that can do so most easily first: as
    /// many as are waited for, and no more.
    fn ask(&self) {
        let mut holders = self.lock();
        let asked = holders.by_session.values().filter(|holder| holder.asked).count();
        let coming = asked + self.free.available_permits();
        let wanted = holders.waiting.saturating_sub(coming);
        for _ in 0..wanted {
            let can = holders.by_session.values_mut();
            let can = can.filter(|holder| !holder.asked && holder.need < Need::Works);
            let Some(holder) = can.min_by_key(|holder| (holder.need, holder.since)) else { return };
            holder.asked = true;
            holder.give_up.notify_one();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Holders> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody waits for a slot.
struct Waiting(Arc<Slots>);

impl Waiting {
    fn begin(slots: &Arc<Slots>) -> Self {
        slots.lock().waiting += 1;
        let waiting = Self(Arc::clone(slots));
        slots.ask();
        waiting
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.lock().waiting -= 1;
    }
}

impl Slot {
    /// Says how much the session needs its process.
    pub(crate) fn need(&self, need: Need) {
        let mut holders = self.slots.lock();
        holders.clock += 1;
        let clock = holders.clock;
        let Some(holder) = holders.by_session.get_mut(&self.session) else { return };
        if holder.need != need {
            (holder.need, holder.since, holder.asked) = (need, clock, false);
        }
        drop(holders);
        self.slots.ask();
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.lock().by_session.remove(&self.session);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn is_asked(slot: &Slot) -> bool {
        slot.give_up.notified().now_or_never().is_some()
    }

    #[tokio::test]
    async fn as_many_give_up_as_are_waited_for() {
        let slots = Slots::new(3);
        let held: Vec<_> = (0..3).map(|_| slots.try_take(SessionId::new()).unwrap()).collect();
        assert!(slots.try_take(SessionId::new()).is_none());
        let asked = || held.iter().map(is_asked).collect::<Vec<_>>();
        held[0].need(Need::Rests);
        let mut waiting = Box::pin(slots.take(SessionId::new()));
        assert!(waiting.as_mut().now_or_never().is_none());
        for slot in &held {
            slot.need(Need::Rests);
        }
        assert_eq!(asked(), [true, false, false]);
        // One that cannot do without it after all is not waited for.
        held[0].need(Need::Works);
        assert_eq!(asked(), [false, true, false]);
        // And one who waits for a person goes first.
        held[2].need(Need::Asks);
        let mut second = Box::pin(slots.take(SessionId::new()));
        assert!(second.as_mut().now_or_never().is_none());
        assert_eq!(asked(), [false, false, true]);
        // Nobody is asked for somebody who does not wait any more.
        drop(second);
        held[0].need(Need::Rests);
        assert_eq!(asked(), [false; 3]);
        drop(held);
        assert!(waiting.await.is_some());
    }
}
