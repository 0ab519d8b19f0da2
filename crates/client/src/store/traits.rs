//! What a session store is.

use std::pin::Pin;

use countersign_protocol::RawJson;
use countersign_protocol::ids::SessionId;
use jiff::Timestamp;

use super::error::StoreError;
use super::key::StoreKey;
use super::summary::SessionSummary;
use crate::transcript::ProjectKey;

/// What the methods of a store return.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Keeps transcripts: takes entries, and gives them back in the same order.
///
/// Entries are opaque. A store gives each back as the text it came in, and does not look at it.
/// The same entry may be appended twice, when an attempt failed after it had taken effect; a store
/// may drop the second by its `uuid`, and readers of this crate do.
///
/// The other methods need not be there: by default each says that it is unsupported. A session can
/// be mirrored and resumed without them. To be continued without naming it, a session has to be
/// listed; to be resumed with its sub-agents, those have to be listed.
///
/// The module `store::conformance`, with the feature `conformance`, has these rules as tests.
pub trait SessionStore: Send + Sync {
    /// Adds entries at the end. No entries is nothing to do.
    fn append<'a>(&'a self, key: &'a StoreKey, entries: &'a [RawJson]) -> StoreFuture<'a, ()>;

    /// All entries, in the order in which they were added; nothing for a key that has none.
    fn load<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Option<Vec<RawJson>>>;

    /// The sessions of a project, in any order. Sub-agents are not sessions.
    fn list_sessions<'a>(
        &'a self,
        _project: &'a ProjectKey,
    ) -> StoreFuture<'a, Vec<StoredSession>> {
        unsupported("list_sessions")
    }

    /// What a list shows of the sessions of a project, gathered with
    /// [`fold_summary`](super::fold_summary) while they were appended to.
    fn list_session_summaries<'a>(
        &'a self,
        _project: &'a ProjectKey,
    ) -> StoreFuture<'a, Vec<SessionSummary>> {
        unsupported("list_session_summaries")
    }

    /// Removes a transcript. That of a session takes those of its sub-agents with it. What is not
    /// there is removed already.
    fn delete<'a>(&'a self, _key: &'a StoreKey) -> StoreFuture<'a, ()> {
        unsupported("delete")
    }

    /// The subpaths of a session, in any order. They are checked by those who use them.
    fn list_subkeys<'a>(&'a self, _key: &'a StoreKey) -> StoreFuture<'a, Vec<String>> {
        unsupported("list_subkeys")
    }
}

/// A session in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredSession {
    /// The session.
    pub session_id: SessionId,
    /// When something was last appended to it, by the clock of the store.
    pub modified: Timestamp,
}

impl StoredSession {
    /// A session that was last appended to at that time.
    #[must_use]
    pub const fn new(session_id: SessionId, modified: Timestamp) -> Self {
        Self { session_id, modified }
    }
}

fn unsupported<'a, T>(operation: &'static str) -> StoreFuture<'a, T> {
    Box::pin(async move { Err(StoreError::Unsupported { operation }) })
}
