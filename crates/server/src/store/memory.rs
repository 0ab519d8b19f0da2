//! What a transaction changes outside the database: the heads in memory, and what subscribers are
//! told. Neither is ever ahead of the disk.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use lru::LruCache;

use super::error::{StoreError, WriteError};
use super::plan::Published;
use crate::bus::Bus;
use crate::id::SessionId;
use crate::session::Head;

/// How many heads are kept in memory.
const HEADS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4095);

/// The heads that were used last, and what is not committed yet.
#[derive(Debug)]
pub(super) struct Memory {
    on_disk: LruCache<SessionId, Arc<Head>>,
    /// What the jobs of this transaction changed that are done.
    transaction: Layer,
    /// What the job changed that runs now.
    job: Layer,
}

#[derive(Debug, Default)]
struct Layer {
    /// What sessions are; nothing for one that is deleted.
    heads: HashMap<SessionId, Option<Arc<Head>>>,
    news: Vec<Published>,
}

/// What is known of a session without asking the database.
#[derive(Debug, PartialEq)]
pub(super) enum Known {
    /// What it is.
    There(Arc<Head>),
    /// It is deleted.
    Gone,
    /// The database has to be asked.
    Unknown,
}

impl Memory {
    pub(super) fn new() -> Self {
        let on_disk = LruCache::new(HEADS);
        Self { on_disk, transaction: Layer::default(), job: Layer::default() }
    }

    /// What is known of a session.
    pub(super) fn head(&mut self, session: SessionId) -> Known {
        let changed = self.job.heads.get(&session);
        match changed.or_else(|| self.transaction.heads.get(&session)) {
            Some(Some(head)) => Known::There(Arc::clone(head)),
            Some(None) => Known::Gone,
            None => match self.on_disk.get(&session) {
                Some(head) => Known::There(Arc::clone(head)),
                None => Known::Unknown,
            },
        }
    }

    /// Keeps what was read from the disk, of a session of which nothing was known.
    pub(super) fn was_read(&mut self, session: SessionId, head: &Arc<Head>) {
        self.on_disk.put(session, Arc::clone(head));
    }

    /// The job changes a session, or deletes it.
    pub(super) fn change(&mut self, session: SessionId, head: Option<Arc<Head>>) {
        self.job.heads.insert(session, head);
    }

    /// Subscribers are told of it once it is committed.
    pub(super) fn publish(&mut self, news: Vec<Published>) {
        self.job.news.extend(news);
    }

    /// The job is done.
    pub(super) fn keep_job(&mut self) {
        let Layer { heads, news } = std::mem::take(&mut self.job);
        self.transaction.heads.extend(heads);
        self.transaction.news.extend(news);
    }

    /// The job is undone.
    pub(super) fn undo_job(&mut self) {
        self.job = Layer::default();
    }

    /// The transaction is on disk. Subscribers are told.
    pub(super) fn commit(&mut self, bus: &Bus) {
        let Layer { heads, news } = std::mem::take(&mut self.transaction);
        for (session, head) in heads {
            match head {
                Some(head) => drop(self.on_disk.put(session, head)),
                None => drop(self.on_disk.pop(&session)),
            }
        }
        news.into_iter().for_each(|news| news.publish(bus));
    }

    /// Nothing of the transaction is on disk.
    pub(super) fn roll_back(&mut self) {
        self.undo_job();
        self.transaction = Layer::default();
    }

    /// Somebody else may have changed what is on disk.
    pub(super) fn forget(&mut self) {
        self.on_disk.clear();
    }
}

/// Why something was not written: because of the database, or because of what was to be written.
pub(super) trait Failure: From<StoreError> + Send + 'static {
    /// Takes the error if it is one of the database.
    fn of_database(self) -> Result<StoreError, Self>;
}

impl Failure for StoreError {
    fn of_database(self) -> Result<StoreError, Self> {
        if matches!(self, Self::Unavailable(_)) { Ok(self) } else { Err(self) }
    }
}

impl Failure for WriteError {
    fn of_database(self) -> Result<StoreError, Self> {
        match self {
            Self::Store(error) => error.of_database().map_err(Self::Store),
            other => Err(other),
        }
    }
}
