//! Everything in a database of PostgreSQL.
//!
//! One task writes, on a connection that has the lock of the server ([`writer`]); a pool of
//! connections reads ([`readers`]). What a write changes is decided in [`plan`](super::plan) and
//! written down in [`write`]. Both need connections of their own: a pooler that gives a connection
//! to others between two transactions cannot be in between.

mod access;
mod connect;
mod list;
mod read;
mod readers;
mod tls;
mod transcripts;
mod write;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use countersign::park::ParkingToken;
use countersign::process::Mark;
use countersign::store::SessionStore;
use jiff::Timestamp;
use tokio_util::task::TaskTracker;

use self::connect::{Database, execute};
use self::readers::Readers;
use self::transcripts::Transcripts;
use self::writer::Writer;
use super::clock::to_number;
use super::plan::{CommandKey, to_i64};
use super::words::storable;
use super::{
    ApprovalFilter, AuditEntry, AuditFilter, Command, Page, ServerRun, SessionFilter, Store,
    StoreError, StoreFuture, StoredMessage, Totals, Write, WriteError, Written,
};
use crate::access::{Clock, SystemClock};
use crate::bus::Bus;
use crate::id::{ApprovalId, MessageId, SessionId};
use crate::session::{Approval, By, Deleted, Event, Head};

/// How a store in a database behaves.
#[derive(Clone, Debug)]
pub struct PostgresSettings {
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// How long is waited for the database: for a connection, and for an answer.
    pub patience: Duration,
    /// How many may read at the same time.
    pub readers: usize,
}

impl Default for PostgresSettings {
    fn default() -> Self {
        let clock = Arc::new(SystemClock);
        Self { clock, patience: Duration::from_secs(15), readers: 8 }
    }
}

/// A store in a database of PostgreSQL, which it has for itself: a schema with nothing else in it,
/// and one server at a time.
#[derive(Debug)]
pub struct PostgresStore {
    writer: Writer,
    readers: Readers,
    tasks: TaskTracker,
}

impl PostgresStore {
    /// Connects to a database, such as `postgresql://user@host/database`, and makes what is missing
    /// in it.
    ///
    /// How the connection is secured is said by `sslmode` and `sslrootcert` in the query of the URL, in
    /// the words of PostgreSQL. To another machine it has to be, unless `sslmode=disable` says that it
    /// need not.
    ///
    /// # Errors
    /// When another server uses it, when a newer version wrote it, or when it cannot be reached.
    pub async fn connect(url: &str, bus: Arc<Bus>) -> Result<Self, StoreError> {
        Self::connect_with(url, bus, PostgresSettings::default()).await
    }

    /// Connects to a database with other settings.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub async fn connect_with(
        url: &str,
        bus: Arc<Bus>,
        settings: PostgresSettings,
    ) -> Result<Self, StoreError> {
        let PostgresSettings { clock, patience, readers } = settings;
        let database = Database::of(url, patience).await?;
        let tasks = TaskTracker::new();
        let mut client = connect::take(&database, &tasks).await?;
        connect::migrate(&mut client).await?;
        let readers = Readers::new(connect::readers(&database, patience, readers)?, patience);
        let writer = Writer::start(client, database, bus, clock, patience, &tasks).await?;
        Ok(Self { writer, readers, tasks })
    }

    /// Looks whether a database could be reached by this URL, without trying: whether it can be read,
    /// and whether the connection would be secured as far as it has to be.
    ///
    /// # Errors
    /// What is wrong with it, and what to do. It is not repeated: it may have a password in it.
    pub fn check_url(url: &str) -> Result<(), StoreError> {
        connect::read_url(url).map(drop)
    }

    /// Runs a statement that deletes what is from before a time, and says how much that was.
    fn forget(&self, sql: &'static str, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.writer.run((sql, to_number(before)), |(sql, before), scratch| {
            Box::pin(async move { execute(scratch.client, sql, &[before]).await })
        }))
    }
}

impl Store for PostgresStore {
    fn write(&self, write: Write) -> StoreFuture<'_, Written, WriteError> {
        Box::pin(self.writer.run(write, write::write))
    }

    fn carried_out(&self, command: Command) -> StoreFuture<'_, Option<String>, WriteError> {
        Box::pin(async move {
            let key = CommandKey::of(&command);
            let looking = CommandKey::of(&command);
            let found = self
                .readers
                .read(move |client| async move {
                    let Some(row) = write::carried_out(&client, &looking).await? else {
                        return Ok(None);
                    };
                    let (fingerprint, response): (Vec<u8>, Vec<u8>) =
                        (row.try_get(0)?, row.try_get(1)?);
                    Ok(Some((fingerprint, String::from_utf8_lossy(&response).into_owned())))
                })
                .await?;
            match found {
                Some((fingerprint, response)) => {
                    key.before(&command, &fingerprint, response).map(Some)
                }
                None => Ok(None),
            }
        })
    }

    fn delete(&self, session: SessionId, by: By) -> StoreFuture<'_, (), WriteError> {
        let delete = Write::to(session, vec![Deleted { by }.into()]);
        Box::pin(async move { self.write(delete).await.map(drop) })
    }

    fn head(&self, session: SessionId) -> StoreFuture<'_, Option<Arc<Head>>> {
        self.readers.read(move |client| async move { read::head(&client, session).await })
    }

    fn sessions(&self, filter: SessionFilter) -> StoreFuture<'_, Page<Arc<Head>>> {
        self.readers.read(move |client| async move { list::sessions(&client, &filter).await })
    }

    fn unsettled(&self) -> StoreFuture<'_, Vec<SessionId>> {
        self.readers.read(|client| async move { read::unsettled(&client).await })
    }

    fn open_since_before(
        &self,
        time: Timestamp,
        limit: usize,
    ) -> StoreFuture<'_, Vec<(SessionId, ApprovalId)>> {
        self.readers
            .read(move |client| async move { read::open_since_before(&client, time, limit).await })
    }

    fn events(
        &self,
        session: SessionId,
        after: u64,
        limit: usize,
    ) -> StoreFuture<'_, Vec<Arc<Event>>> {
        self.readers
            .read(move |client| async move { read::events(&client, session, after, limit).await })
    }

    fn events_before(
        &self,
        session: SessionId,
        before: u64,
        limit: usize,
    ) -> StoreFuture<'_, Vec<Arc<Event>>> {
        self.readers.read(move |client| async move {
            read::events_before(&client, session, before, limit).await
        })
    }

    fn events_of<'a>(
        &'a self,
        session: SessionId,
        kinds: &'a [&'a str],
        before: u64,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<Event>>> {
        self.readers.read(move |client| async move {
            read::events_of(&client, session, kinds, before, limit).await
        })
    }

    fn all_events<'a>(
        &'a self,
        after: u64,
        kinds: &'a [&'a str],
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<Event>>> {
        self.readers
            .read(move |client| async move { read::all_events(&client, after, kinds, limit).await })
    }

    fn last_position(&self) -> StoreFuture<'_, u64> {
        self.readers.read(|client| async move { read::last_position(&client).await })
    }

    fn approval(&self, approval: ApprovalId) -> StoreFuture<'_, Option<Approval>> {
        self.readers.read(move |client| async move { read::approval(&client, approval).await })
    }

    fn parking_token(&self, approval: ApprovalId) -> StoreFuture<'_, Option<ParkingToken>> {
        self.readers.read(move |client| async move { read::parking_token(&client, approval).await })
    }

    fn approvals(&self, filter: ApprovalFilter) -> StoreFuture<'_, Page<Approval>> {
        self.readers.read(move |client| async move { list::approvals(&client, &filter).await })
    }

    fn count_open(&self) -> StoreFuture<'_, u64> {
        self.readers.read(|client| async move { read::count_open(&client).await })
    }

    fn message(&self, message: MessageId) -> StoreFuture<'_, Option<StoredMessage>> {
        self.readers.read(move |client| async move { read::message(&client, message).await })
    }

    fn queued_messages(&self, session: SessionId) -> StoreFuture<'_, Vec<StoredMessage>> {
        self.readers
            .read(move |client| async move { read::queued_messages(&client, session).await })
    }

    fn audit(&self, filter: AuditFilter) -> StoreFuture<'_, Page<AuditEntry>> {
        self.readers.read(move |client| async move { list::audit(&client, &filter).await })
    }

    fn note_in_audit(&self, entry: AuditEntry) -> StoreFuture<'_, ()> {
        Box::pin(
            self.writer
                .run(entry, |entry, scratch| Box::pin(write::put_audit(scratch.client, entry))),
        )
    }

    fn totals(&self) -> StoreFuture<'_, Totals> {
        self.readers.read(|client| async move { read::totals(&client).await })
    }

    fn cursor<'a>(&'a self, name: &'a str) -> StoreFuture<'a, Option<u64>> {
        self.readers.read(move |client| async move { read::cursor(&client, name).await })
    }

    fn set_cursor<'a>(&'a self, name: &'a str, position: u64) -> StoreFuture<'a, ()> {
        let input = (storable(name), to_i64(position));
        Box::pin(self.writer.run(input, |(name, position), scratch| {
            Box::pin(async move {
                let sql = "INSERT INTO cursors (name, position) VALUES ($1, $2)
                           ON CONFLICT (name) DO UPDATE SET position = $2";
                execute(scratch.client, sql, &[name, position]).await.map(drop)
            })
        }))
    }

    fn begin_run(&self, run: ServerRun) -> StoreFuture<'_, Vec<ServerRun>> {
        Box::pin(self.writer.run(run, |run, scratch| {
            Box::pin(async move {
                let mut before = read::runs(scratch.client).await?;
                before.retain(|before| before.mark != run.mark);
                let sql = "INSERT INTO runs (mark, process, began) VALUES ($1, $2, $3)
                           ON CONFLICT (mark) DO UPDATE SET process = $2, began = $3";
                let process = run.process.map(|process| process.to_string());
                let (mark, began) = (run.mark.to_string(), to_number(run.began_at));
                execute(scratch.client, sql, &[&mark, &process, &began]).await?;
                Ok(before)
            })
        }))
    }

    fn end_run(&self, mark: Mark) -> StoreFuture<'_, ()> {
        Box::pin(self.writer.run(mark.to_string(), |mark, scratch| {
            Box::pin(async move {
                let sql = "DELETE FROM runs WHERE mark = $1";
                execute(scratch.client, sql, &[mark]).await.map(drop)
            })
        }))
    }

    fn forget_commands(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        self.forget("DELETE FROM commands WHERE at < $1", before)
    }

    fn forget_audit(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        self.forget("DELETE FROM audit WHERE at < $1", before)
    }

    fn backup(&self, _to: PathBuf) -> StoreFuture<'_, ()> {
        Box::pin(async {
            Err(StoreError::Unsupported(
                "a database of PostgreSQL is backed up with pg_dump, which also works while the \
                 server runs"
                    .to_owned(),
            ))
        })
    }

    fn check(&self) -> StoreFuture<'_, ()> {
        Box::pin(self.writer.run((), |(), scratch| {
            Box::pin(async move {
                let sql = "INSERT INTO checks (one, at) VALUES (1, $1)
                           ON CONFLICT (one) DO UPDATE SET at = $1";
                let now = to_number(scratch.now());
                execute(scratch.client, sql, &[&now]).await.map(drop)
            })
        }))
    }

    fn transcripts(&self) -> Arc<dyn SessionStore> {
        let (writer, readers) = (self.writer.clone(), self.readers.clone());
        Arc::new(Transcripts { writer, readers })
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.writer.close().await;
            self.readers.close();
            self.tasks.close();
            self.tasks.wait().await;
            Ok(())
        })
    }
}
