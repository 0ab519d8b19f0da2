//! Everything in one file of SQLite.
//!
//! One thread writes ([`writer`]), a few connections read ([`readers`]). What a write changes is
//! decided in [`plan`](super::plan) and written down in [`write`].

mod access;
mod backup;
mod file;
mod list;
mod read;
mod readers;
#[cfg(test)]
mod tests;
mod transcripts;
mod write;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use countersign::park::ParkingToken;
use countersign::process::Mark;
use countersign::store::SessionStore;
use jiff::Timestamp;
use rusqlite::params;

use self::file::{StoreFile, unavailable};
use self::readers::Readers;
use self::transcripts::Transcripts;
use self::writer::{Scratch, Writer};
use super::clock::to_number;
use super::plan::{CommandKey, to_i64, to_u64};
use super::{
    ApprovalFilter, AuditEntry, AuditFilter, Command, Page, ServerRun, SessionFilter, Store,
    StoreError, StoreFuture, StoredMessage, Totals, Write, WriteError, Written,
};
use crate::access::{Clock, SystemClock};
use crate::bus::Bus;
use crate::id::{ApprovalId, MessageId, SessionId};
use crate::session::{Approval, By, Deleted, Event, Head};

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Unavailable(Box::new(error))
    }
}

/// How a store in a file behaves.
#[derive(Clone, Debug)]
pub struct SqliteSettings {
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// How long is waited for another process that has locked the file.
    pub patience: Duration,
    /// How many may read at the same time.
    pub readers: u32,
}

impl Default for SqliteSettings {
    fn default() -> Self {
        Self { clock: Arc::new(SystemClock), patience: Duration::from_secs(5), readers: 4 }
    }
}

/// A store in one file.
///
/// Beside the file `F` there are `F-wal` and `F-shm`, which are part of it, and `F.lock`, which says
/// whose it is. Only its owner can read them.
#[derive(Debug)]
pub struct SqliteStore {
    writer: Writer,
    readers: Arc<Readers>,
}

impl SqliteStore {
    /// Opens a file, and makes it if it is not there.
    ///
    /// # Errors
    /// When another server uses it, when a newer version wrote it, or when it cannot be opened.
    pub async fn open(path: impl Into<PathBuf>, bus: Arc<Bus>) -> Result<Self, StoreError> {
        Self::open_with(path, bus, SqliteSettings::default()).await
    }

    /// Opens a file with other settings.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn open_with(
        path: impl Into<PathBuf>,
        bus: Arc<Bus>,
        settings: SqliteSettings,
    ) -> Result<Self, StoreError> {
        let path = path.into();
        let opening = tokio::task::spawn_blocking(move || Self::open_now(&path, bus, settings));
        opening.await.map_err(unavailable)?
    }

    fn open_now(path: &Path, bus: Arc<Bus>, settings: SqliteSettings) -> Result<Self, StoreError> {
        let (file, lock) = StoreFile::take(path, settings.patience)?;
        let (connection, file) = (file.writer()?, Arc::new(file));
        let readers = Arc::new(Readers::new(Arc::clone(&file), settings.readers.max(1)));
        let writer = Writer::start((file, lock), connection, bus, settings.clock)?;
        Ok(Self { writer, readers })
    }

    fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&rusqlite::Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        Box::pin(self.readers.read(work))
    }

    /// Runs a statement that deletes what is from before a time, and says how much that was.
    fn forget(&self, sql: &'static str, before: Timestamp) -> StoreFuture<'_, u64> {
        self.change(move |scratch| {
            let gone = scratch.connection.prepare_cached(sql)?.execute([to_number(before)])?;
            Ok(u64::try_from(gone).unwrap_or(u64::MAX))
        })
    }

    fn change<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Scratch<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        Box::pin(self.writer.run(work))
    }
}

impl Store for SqliteStore {
    fn write(&self, write: Write) -> StoreFuture<'_, Written, WriteError> {
        let work = move |scratch: &mut Scratch<'_>| write::write(scratch, &write);
        Box::pin(self.writer.run(work))
    }

    fn carried_out(&self, command: Command) -> StoreFuture<'_, Option<String>, WriteError> {
        Box::pin(async move {
            let key = CommandKey::of(&command);
            let looking = CommandKey::of(&command);
            let look =
                move |connection: &rusqlite::Connection| write::carried_out(connection, &looking);
            match self.read(look).await? {
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
        self.read(move |connection| read::head(connection, session))
    }

    fn sessions(&self, filter: SessionFilter) -> StoreFuture<'_, Page<Arc<Head>>> {
        self.read(move |connection| list::sessions(connection, &filter))
    }

    fn unsettled(&self) -> StoreFuture<'_, Vec<SessionId>> {
        self.read(read::unsettled)
    }

    fn open_since_before(
        &self,
        time: Timestamp,
        limit: usize,
    ) -> StoreFuture<'_, Vec<(SessionId, ApprovalId)>> {
        self.read(move |connection| read::open_since_before(connection, time, limit))
    }

    fn events(
        &self,
        session: SessionId,
        after: u64,
        limit: usize,
    ) -> StoreFuture<'_, Vec<Arc<Event>>> {
        self.read(move |connection| read::events(connection, session, after, limit))
    }

    fn events_before(
        &self,
        session: SessionId,
        before: u64,
        limit: usize,
    ) -> StoreFuture<'_, Vec<Arc<Event>>> {
        self.read(move |connection| read::events_before(connection, session, before, limit))
    }

    fn events_of<'a>(
        &'a self,
        session: SessionId,
        kinds: &'a [&'a str],
        before: u64,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<Event>>> {
        let kinds: Vec<String> = kinds.iter().map(|&kind| kind.to_owned()).collect();
        self.read(move |connection| read::events_of(connection, session, &kinds, before, limit))
    }

    fn all_events<'a>(
        &'a self,
        after: u64,
        kinds: &'a [&'a str],
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<Event>>> {
        let kinds: Vec<String> = kinds.iter().map(|&kind| kind.to_owned()).collect();
        self.read(move |connection| read::all_events(connection, after, &kinds, limit))
    }

    fn last_position(&self) -> StoreFuture<'_, u64> {
        self.read(read::last_position)
    }

    fn approval(&self, approval: ApprovalId) -> StoreFuture<'_, Option<Approval>> {
        self.read(move |connection| read::approval(connection, approval))
    }

    fn parking_token(&self, approval: ApprovalId) -> StoreFuture<'_, Option<ParkingToken>> {
        self.read(move |connection| read::parking_token(connection, approval))
    }

    fn approvals(&self, filter: ApprovalFilter) -> StoreFuture<'_, Page<Approval>> {
        self.read(move |connection| list::approvals(connection, &filter))
    }

    fn count_open(&self) -> StoreFuture<'_, u64> {
        self.read(read::count_open)
    }

    fn message(&self, message: MessageId) -> StoreFuture<'_, Option<StoredMessage>> {
        self.read(move |connection| read::message(connection, message))
    }

    fn queued_messages(&self, session: SessionId) -> StoreFuture<'_, Vec<StoredMessage>> {
        self.read(move |connection| read::queued_messages(connection, session))
    }

    fn audit(&self, filter: AuditFilter) -> StoreFuture<'_, Page<AuditEntry>> {
        self.read(move |connection| list::audit(connection, &filter))
    }

    fn note_in_audit(&self, entry: AuditEntry) -> StoreFuture<'_, ()> {
        self.change(move |scratch| write::put_audit(scratch.connection, &entry))
    }

    fn totals(&self) -> StoreFuture<'_, Totals> {
        self.read(read::totals)
    }

    fn cursor<'a>(&'a self, name: &'a str) -> StoreFuture<'a, Option<u64>> {
        let name = name.to_owned();
        self.read(move |connection| read::cursor(connection, &name))
    }

    fn set_cursor<'a>(&'a self, name: &'a str, position: u64) -> StoreFuture<'a, ()> {
        let name = name.to_owned();
        self.change(move |scratch| {
            let sql = "INSERT INTO cursors (name, position) VALUES (?1, ?2)
                       ON CONFLICT (name) DO UPDATE SET position = ?2";
            let values = params![name, to_i64(position)];
            scratch.connection.prepare_cached(sql)?.execute(values)?;
            Ok(())
        })
    }

    fn begin_run(&self, run: ServerRun) -> StoreFuture<'_, Vec<ServerRun>> {
        self.change(move |scratch| {
            let mut before = read::runs(scratch.connection)?;
            before.retain(|before| before.mark != run.mark);
            let sql = "INSERT INTO runs (mark, process, began) VALUES (?1, ?2, ?3)
                       ON CONFLICT (mark) DO UPDATE SET process = ?2, began = ?3";
            let process = run.process.map(|process| process.to_string());
            let values = params![run.mark.to_string(), process, to_number(run.began_at)];
            scratch.connection.prepare_cached(sql)?.execute(values)?;
            Ok(before)
        })
    }

    fn end_run(&self, mark: Mark) -> StoreFuture<'_, ()> {
        self.change(move |scratch| {
            let sql = "DELETE FROM runs WHERE mark = ?1";
            scratch.connection.prepare_cached(sql)?.execute([mark.to_string()])?;
            Ok(())
        })
    }

    fn forget_commands(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        self.forget("DELETE FROM commands WHERE at < ?1", before)
    }

    fn forget_audit(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        self.forget("DELETE FROM audit WHERE at < ?1", before)
    }

    fn backup(&self, to: PathBuf) -> StoreFuture<'_, ()> {
        self.read(move |connection| backup::backup(connection, &to))
    }

    fn check(&self) -> StoreFuture<'_, ()> {
        self.change(|scratch| {
            let sql = "INSERT INTO checks (one, at) VALUES (1, ?1)
                       ON CONFLICT (one) DO UPDATE SET at = ?1";
            let now = to_number(scratch.now());
            scratch.connection.prepare_cached(sql)?.execute([now])?;
            Ok(())
        })
    }

    fn transcripts(&self) -> Arc<dyn SessionStore> {
        let (writer, readers) = (self.writer.clone(), Arc::clone(&self.readers));
        Arc::new(Transcripts { writer, readers })
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.readers.close().await;
            self.writer.close().await;
            Ok(())
        })
    }
}
