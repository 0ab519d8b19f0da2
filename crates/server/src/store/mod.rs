//! Where everything is kept.
//!
//! A [`Store`] writes events, and in the same transaction what is made of them: the heads of
//! sessions, approvals, messages, the audit. The rules are in [`Head::apply`] and not here: what they
//! refuse is not written. There are two stores, and one suite that both pass.

mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
mod cursor;
mod error;
mod memory;
mod plan;
mod postgres;
mod projection;
mod query;
mod sqlite;
mod words;

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use countersign::park::ParkingToken;
use countersign::process::{Mark, ProcessId};
use countersign::store::SessionStore;
use jiff::Timestamp;

pub use self::error::{StoreError, WriteError};
pub use self::postgres::{PostgresSettings, PostgresStore};
pub use self::projection::{AuditEntry, Derived, derive, open_approval, update_approval};
pub use self::query::{
    ApprovalFilter, AuditFilter, Page, SessionFilter, SessionOrder, StoredMessage, Totals,
};
pub use self::sqlite::{SqliteSettings, SqliteStore};
use crate::id::{ApprovalId, MessageId, SessionId};
use crate::session::{Approval, By, Event, Happening, Head};

/// How much events are read at once, in bytes of their bodies.
pub const PAGE_BYTES: usize = 4 << 20;

/// The future of an operation on a store.
pub type StoreFuture<'a, T, E = StoreError> =
    Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'a>>;

/// What is to happen, all of it or nothing.
#[derive(Clone, Debug, Default)]
pub struct Write {
    /// What is to happen in each session, in this order.
    pub appends: Vec<Append>,
    /// The command that it is because of, so that the same one is not carried out twice.
    pub command: Option<Command>,
}

/// What is to happen in one session.
#[derive(Clone, Debug)]
pub struct Append {
    /// The session.
    pub session: SessionId,
    /// What, in this order. For a session that is not there the first has to be
    /// [`Happening::Created`].
    pub happenings: Vec<Happening>,
}

/// A command that may come again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Whose key it is: two people may choose the same.
    pub owner: String,
    /// The key that came with it.
    pub key: String,
    /// What was asked for. The same key for something else is a mistake.
    pub fingerprint: String,
    /// What is answered when it comes again: JSON.
    pub response: String,
}

/// What came of a [`Write`].
#[derive(Clone, Debug)]
pub enum Written {
    /// It was written.
    Now {
        /// The events, in their order.
        events: Vec<Arc<Event>>,
        /// What the sessions are now, one for each append.
        heads: Vec<Arc<Head>>,
    },
    /// The command was carried out before.
    Before {
        /// What was answered then.
        response: String,
    },
}

/// A run of a server, to find what it left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerRun {
    /// What all processes carry that it started.
    pub mark: Mark,
    /// The server.
    pub process: Option<ProcessId>,
    /// When it began.
    pub began_at: Timestamp,
}

impl Write {
    /// Something happens in one session.
    #[must_use]
    pub fn to(session: SessionId, happenings: Vec<Happening>) -> Self {
        Self { appends: vec![Append { session, happenings }], command: None }
    }

    /// And something in another one.
    #[must_use]
    pub fn and_to(mut self, session: SessionId, happenings: Vec<Happening>) -> Self {
        self.appends.push(Append { session, happenings });
        self
    }

    /// Because of this command.
    #[must_use]
    pub fn because_of(mut self, command: Option<Command>) -> Self {
        self.command = command;
        self
    }
}

/// Where everything is kept.
///
/// What was written is on disk when [`write`](Self::write) returns. Events are given to the
/// [`Bus`](crate::bus::Bus) that the store was opened with, after they are on disk and in their
/// order.
pub trait Store: Send + Sync {
    /// Writes what happens.
    ///
    /// When two write to the same session, one is first, and the other is judged by what the first
    /// made of it.
    fn write(&self, write: Write) -> StoreFuture<'_, Written, WriteError>;

    /// What a command was answered with that was carried out before, if it was.
    ///
    /// It is asked before anything else is looked at: what was true then need not be true any more.
    fn carried_out(&self, command: Command) -> StoreFuture<'_, Option<String>, WriteError>;

    /// Deletes a session with everything that it had, and leaves one event that says so. The audit
    /// stays.
    fn delete(&self, session: SessionId, by: By) -> StoreFuture<'_, (), WriteError>;

    /// What a session is now.
    fn head(&self, session: SessionId) -> StoreFuture<'_, Option<Arc<Head>>>;

    /// Sessions that fit, a page of them.
    fn sessions(&self, filter: SessionFilter) -> StoreFuture<'_, Page<Arc<Head>>>;

    /// The sessions about which something has to be done when the server starts: those with a
    /// process, and those that want one or wait for one.
    fn unsettled(&self) -> StoreFuture<'_, Vec<SessionId>>;

    /// What was asked before this time and is still open, oldest first, at most so much.
    fn open_since_before(
        &self,
        time: Timestamp,
        limit: usize,
    ) -> StoreFuture<'_, Vec<(SessionId, ApprovalId)>>;

    /// Events of a session after a number, oldest first, at most so many and of at most [`PAGE_BYTES`]:
    /// one is given however large it is. Only after a page without events there are no more.
    fn events(
        &self,
        session: SessionId,
        after: u64,
        limit: usize,
    ) -> StoreFuture<'_, Vec<Arc<Event>>>;

    /// The last events of a session before a number, oldest first, at most so many and of at most
    /// [`PAGE_BYTES`], as with [`events`](Self::events).
    fn events_before(
        &self,
        session: SessionId,
        before: u64,
        limit: usize,
    ) -> StoreFuture<'_, Vec<Arc<Event>>>;

    /// The last events of a session before a number that are of these kinds, or of any if there are none,
    /// newest first, at most so many and of at most [`PAGE_BYTES`].
    fn events_of<'a>(
        &'a self,
        session: SessionId,
        kinds: &'a [&'a str],
        before: u64,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<Event>>>;

    /// Events of all sessions after a position, oldest first, at most so many and of at most
    /// [`PAGE_BYTES`], as with [`events`](Self::events); of these kinds, or of all kinds if there are
    /// none.
    fn all_events<'a>(
        &'a self,
        after: u64,
        kinds: &'a [&'a str],
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<Event>>>;

    /// The position of the last event.
    fn last_position(&self) -> StoreFuture<'_, u64>;

    /// An approval.
    fn approval(&self, approval: ApprovalId) -> StoreFuture<'_, Option<Approval>>;

    /// What brings the call of an approval back.
    fn parking_token(&self, approval: ApprovalId) -> StoreFuture<'_, Option<ParkingToken>>;

    /// Approvals that fit, a page of them.
    fn approvals(&self, filter: ApprovalFilter) -> StoreFuture<'_, Page<Approval>>;

    /// How many approvals are open.
    fn count_open(&self) -> StoreFuture<'_, u64>;

    /// What somebody said, as it was last.
    fn message(&self, message: MessageId) -> StoreFuture<'_, Option<StoredMessage>>;

    /// Messages of a session that wait, in their order.
    fn queued_messages(&self, session: SessionId) -> StoreFuture<'_, Vec<StoredMessage>>;

    /// Entries of the audit that fit, newest first, a page of them.
    fn audit(&self, filter: AuditFilter) -> StoreFuture<'_, Page<AuditEntry>>;

    /// Adds to the audit what is about no session.
    fn note_in_audit(&self, entry: AuditEntry) -> StoreFuture<'_, ()>;

    /// What all sessions have used.
    fn totals(&self) -> StoreFuture<'_, Totals>;

    /// How far somebody has come who reads all events, by name.
    fn cursor<'a>(&'a self, name: &'a str) -> StoreFuture<'a, Option<u64>>;

    /// Keeps how far somebody has come.
    fn set_cursor<'a>(&'a self, name: &'a str, position: u64) -> StoreFuture<'a, ()>;

    /// Notes that a server runs, and gives those before it that did not say that they ended.
    fn begin_run(&self, run: ServerRun) -> StoreFuture<'_, Vec<ServerRun>>;

    /// Notes that nothing is left of a run.
    fn end_run(&self, mark: Mark) -> StoreFuture<'_, ()>;

    /// Forgets commands that are older than this time.
    fn forget_commands(&self, before: Timestamp) -> StoreFuture<'_, u64>;

    /// Forgets what is in the audit from before this time, and says how much that was.
    fn forget_audit(&self, before: Timestamp) -> StoreFuture<'_, u64>;

    /// Copies everything to a file, while the store is in use.
    fn backup(&self, to: PathBuf) -> StoreFuture<'_, ()>;

    /// Whether the store can be written to.
    fn check(&self) -> StoreFuture<'_, ()>;

    /// Where transcripts of the CLI are kept.
    fn transcripts(&self) -> Arc<dyn SessionStore>;

    /// Ends it. What was written before is on disk.
    fn close(&self) -> StoreFuture<'_, ()>;
}
