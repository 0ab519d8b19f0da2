//! A store in memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign_protocol::RawJson;
use jiff::{SignedDuration, Timestamp};

use super::key::StoreKey;
use super::summary::{SessionSummary, fold_summary};
use super::traits::{SessionStore, StoreFuture, StoredSession};
use crate::transcript::ProjectKey;

/// A store in memory, for tests and for programs that keep nothing. It grows with what it holds.
#[derive(Debug, Default)]
pub struct MemoryStore {
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    streams: BTreeMap<StoreKey, Stream>,
    last: Timestamp,
}

#[derive(Debug, Default)]
struct Stream {
    entries: Vec<RawJson>,
    modified: Timestamp,
    summary: Option<SessionSummary>,
}

impl Held {
    /// A time that is later than any before: two appends are never at the same time.
    fn now(&mut self) -> Timestamp {
        let least = self.last.checked_add(SignedDuration::from_millis(1)).unwrap_or(self.last);
        self.last = Timestamp::now().max(least);
        self.last
    }
}

impl MemoryStore {
    /// A store with nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sessions<T>(
        &self,
        project: &ProjectKey,
        take: impl Fn(&StoreKey, &Stream) -> Option<T>,
    ) -> Vec<T> {
        let held = self.held();
        let of = |key: &StoreKey| key.project_key() == project && key.subpath().is_none();
        held.streams.iter().filter(|(key, _)| of(key)).filter_map(|(key, s)| take(key, s)).collect()
    }
}

impl SessionStore for MemoryStore {
    fn append<'a>(&'a self, key: &'a StoreKey, entries: &'a [RawJson]) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            if entries.is_empty() {
                return Ok(());
            }
            let mut held = self.held();
            let now = held.now();
            let stream = held.streams.entry(key.clone()).or_default();
            stream.entries.extend_from_slice(entries);
            stream.modified = now;
            if key.subpath().is_none() {
                let mut summary = fold_summary(stream.summary.as_ref(), key, entries);
                summary.modified = now;
                stream.summary = Some(summary);
            }
            Ok(())
        })
    }

    fn load<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Option<Vec<RawJson>>> {
        Box::pin(async move { Ok(self.held().streams.get(key).map(|s| s.entries.clone())) })
    }

    fn list_sessions<'a>(&'a self, project: &'a ProjectKey) -> StoreFuture<'a, Vec<StoredSession>> {
        Box::pin(async move {
            Ok(self.sessions(project, |key, stream| {
                Some(StoredSession::new(key.session_id().clone(), stream.modified))
            }))
        })
    }

    fn list_session_summaries<'a>(
        &'a self,
        project: &'a ProjectKey,
    ) -> StoreFuture<'a, Vec<SessionSummary>> {
        Box::pin(async move { Ok(self.sessions(project, |_, stream| stream.summary.clone())) })
    }

    fn delete<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let mut held = self.held();
            held.streams.remove(key);
            if key.subpath().is_none() {
                held.streams.retain(|other, _| other.main() != *key);
            }
            Ok(())
        })
    }

    fn list_subkeys<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Vec<String>> {
        Box::pin(async move {
            let (held, main) = (self.held(), key.main());
            let of = held.streams.keys().filter(|other| other.main() == main);
            Ok(of.filter_map(|other| other.subpath().map(ToString::to_string)).collect())
        })
    }
}
