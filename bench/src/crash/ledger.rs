//! What clients did and were told, as they know it themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign_server::id::{ApprovalId, MessageId, SessionId};
use countersign_server::session::Answer;

/// What clients did and were told.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    next: AtomicU64,
    noted: Mutex<Noted>,
}

/// The same, to be looked through.
#[derive(Debug, Default)]
pub(super) struct Noted {
    /// Sessions that were to be made, by their titles, and what the server called them.
    pub(super) sessions: BTreeMap<String, Option<SessionId>>,
    /// What was said, word by word, with the name that the server gave it.
    pub(super) messages: BTreeMap<String, Option<MessageId>>,
    /// Answers that the server has taken.
    pub(super) taken: BTreeMap<ApprovalId, Answer>,
    /// Answers that it has not taken, because somebody else was first or it was not asked any more.
    pub(super) refused: u64,
    /// What was seen to be asked.
    pub(super) asked: BTreeSet<ApprovalId>,
    /// Two different things were told to somebody who has used one key twice.
    pub(super) told_otherwise: Vec<String>,
    /// What the server did not do though it should have, in its own words.
    pub(super) complaints: Vec<String>,
    /// How many commands were sent again, with the key that they had, until there was an answer.
    pub(super) sent_again: u64,
}

impl Ledger {
    /// A number that nobody else has.
    pub(super) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
