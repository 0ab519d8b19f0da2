//! The rules of a store, as tests that any store can be put to.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use countersign_server::access::Clock;
//! # use countersign_server::store::{SqliteSettings, SqliteStore, Store, StoreError, StoreFuture};
//! # use countersign_server::store::conformance::{self, Place};
//! # use countersign_server::bus::Bus;
//! struct InAFolder(tempfile::TempDir);
//!
//! impl Place for InAFolder {
//!     fn open(&self, bus: Arc<Bus>, clock: Arc<dyn Clock>) -> StoreFuture<'_, Arc<dyn Store>> {
//!         Box::pin(async move {
//!             let settings = SqliteSettings { clock, ..SqliteSettings::default() };
//!             let store = SqliteStore::open_with(self.0.path().join("store"), bus, settings).await?;
//!             Ok(Arc::new(store) as _)
//!         })
//!     }
//! }
//!
//! # async fn check() {
//! let fresh = async || Arc::new(InAFolder(tempfile::tempdir().unwrap())) as _;
//! assert!(conformance::check(fresh).await.broken.is_empty());
//! # }
//! ```

mod agree;
mod approvals;
mod audit;
mod books;
mod commands;
mod deletion;
mod lists;
mod log;
mod messages;
mod sample;
mod search;
mod telling;
mod tester;
mod writing;

use std::sync::Arc;

pub use self::agree::{agrees, fold};
pub use self::tester::Reason;
use self::tester::Tester;
use super::{Store, StoreFuture};
use crate::access::Clock;
use crate::bus::Bus;

/// A place where a store is: empty at first, and the same store whenever it is opened again.
pub trait Place: Send + Sync {
    /// Opens the store.
    fn open(&self, bus: Arc<Bus>, clock: Arc<dyn Clock>) -> StoreFuture<'_, Arc<dyn Store>>;
}

/// A store breaks a rule.
#[derive(Debug, thiserror::Error)]
#[error("the store breaks a rule, {rule:?}: {reason}")]
#[non_exhaustive]
pub struct Violation {
    /// The rule.
    pub rule: &'static str,
    /// What it did.
    pub reason: Reason,
}

/// What a store was put to.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The rules that it keeps.
    pub passed: Vec<&'static str>,
    /// Those that it breaks.
    pub broken: Vec<Violation>,
}

/// Puts a store to all tests. `fresh` is asked for a place with an empty store, once for each.
pub async fn check(fresh: impl AsyncFn() -> Arc<dyn Place>) -> Report {
    let mut report = Report::default();
    for rule in RULES {
        let result = Box::pin(test(rule, fresh().await)).await;
        report.add(rule, result);
    }
    report.add(books::TRANSCRIPTS, books::transcripts(fresh).await);
    report
}

impl Report {
    fn add(&mut self, rule: &'static str, result: Result<(), Reason>) {
        match result {
            Ok(()) => self.passed.push(rule),
            Err(reason) => self.broken.push(Violation { rule, reason }),
        }
    }
}

async fn test(rule: &str, place: Arc<dyn Place>) -> Result<(), Reason> {
    let tester = Tester::open(place).await?;
    let tested = test_with(rule, &tester).await;
    tested.and(tester.store.close().await.map_err(Reason::from))
}

macro_rules! rules {
    ($($test:path = $rule:literal;)+) => {
        const RULES: &[&str] = &[$($rule),+];

        async fn test_with(rule: &str, tester: &Tester) -> Result<(), Reason> {
            match rule {
                $($rule => $test(tester).await,)+
                _ => Ok(()),
            }
        }
    };
}

rules! {
    log::every_kind = "everything that can happen comes back as it was written";
    log::odd_text = "text comes back letter for letter, whatever is in it";
    log::large = "a large event comes back whole";
    log::numbers = "events of a session have numbers without gaps, and positions grow";
    log::parts = "the log of a session is read in parts, forwards and backwards";
    log::heavy = "a page of events is bounded by what it weighs";
    log::of_kinds = "events of a session are read by kind, newest first";
    log::of_all = "events of all sessions are read by position and kind";
    log::times = "an event has the time of the clock, even if that goes back";

    writing::refused_whole = "what is refused leaves nothing, in none of its sessions";
    writing::others_go_on = "what is refused does not touch what is written beside it";
    writing::several_sessions = "one write reaches several sessions, in its order";
    writing::no_session = "a session has to be made first, and once";
    writing::first_answer = "of many answers at the same time one is written";
    writing::many_writers = "many who write to one session lose nothing";
    writing::stale_turn = "an interrupt of a turn that is over is refused";
    writing::names = "a name of an approval or a message is used once";
    writing::head_is_the_log = "the head is what the log makes of it, after every event";

    commands::again = "a command that comes again is not carried out again";
    commands::together = "a command that comes many times at once is carried out once";
    commands::reused = "a key for another command is refused, and is another one's for another owner";
    commands::refused = "a command that was refused may come again";
    commands::forgotten = "commands are forgotten when they are old";

    approvals::life = "an approval is kept from the question to what became of it";
    approvals::rounds = "plans are counted";
    approvals::tokens = "what brings a call back is kept apart";
    approvals::listed = "approvals are listed by session, stage and kind, in pages";
    approvals::waiting = "approvals that wait are found by their age";

    messages::kept = "a message is kept as it was last";
    messages::queue = "messages that wait are read in their order";

    lists::filters = "sessions are listed by state, archive, label and parent";
    lists::untouched = "sessions are listed by the time since which nothing happened in them";
    lists::folders = "sessions are listed by folder, component by component";
    lists::pages = "pages of sessions have each session once";
    lists::stable = "pages are not disturbed by what is written meanwhile";
    lists::same_time = "sessions of the same time are listed once each";
    lists::broken_cursors = "a page that begins nowhere is refused";
    lists::unsettled = "sessions about which something has to be done are found";
    lists::totals = "what all sessions have used is added up";

    search::words = "sessions are found by words of their title and of what was said";
    search::unsaid = "what is not said any more is not found any more";
    search::hostile = "no search breaks anything";
    search::long = "a long text is searched at its beginning";

    audit::decisions = "what was decided is in the audit, with what was asked";
    audit::unasked = "what no person was asked about is in the audit, and what people do besides";
    audit::forgotten = "the audit is forgotten when it is old, and nothing else is";
    audit::listed = "the audit is read newest first, by session, approval, kind and time";

    deletion::everything = "a deleted session leaves one event and its audit";
    deletion::by_itself = "what is not in the archive is deleted by nobody but people";
    deletion::refused = "a session with a process is not deleted";
    deletion::transcripts = "transcripts are deleted with their session, and no others";

    telling::in_order = "subscribers are told in the order of positions, what is on disk";
    telling::nothing_else = "subscribers are not told what is refused or was carried out before";

    books::cursors = "it is kept how far somebody has come";
    books::runs = "runs of servers that did not end are found";
    books::in_use = "a second server is refused while the first one runs";
    books::again = "everything is the same after it was closed and opened";
    books::closed = "a closed store says so";
    books::can_be_written = "a store that works says so";
}
