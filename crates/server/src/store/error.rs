//! What can go wrong with a store.

use std::path::PathBuf;

use thiserror::Error;

use crate::id::SessionId;
use crate::session::{Refused, UnreadableEvent};

/// The store did not do what it was asked to do.
#[derive(Debug, Error)]
pub enum StoreError {
    /// It cannot be had now: locked, full, gone. Trying again may help.
    #[error("the store cannot be used now: {0}")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// It is another one's.
    #[error("{0}")]
    InUse(String),
    /// It was made by another version.
    #[error("{0}")]
    Version(String),
    /// What is in it cannot be read.
    #[error(transparent)]
    Event(#[from] UnreadableEvent),
    /// What is in it cannot be read.
    #[error("{what} in the store cannot be read: {source}")]
    Unreadable {
        /// What.
        what: &'static str,
        /// Why.
        source: serde_json::Error,
    },
    /// It cannot do that.
    #[error("{0}")]
    Unsupported(String),
    /// A page cannot begin there.
    #[error(
        "{0:?} is no place in this list: leave it out to begin at the start, or give what came with \
         the page before"
    )]
    Cursor(String),
    /// A file is there already, and is not written over.
    #[error("{} is there already: name a file that is not", .0.display())]
    Exists(PathBuf),
    /// It was closed.
    #[error("the store is closed")]
    Closed,
}

/// Something was not written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// It may not happen.
    #[error("{refused}")]
    Refused {
        /// The session in which it would have happened.
        session: SessionId,
        /// Why not.
        refused: Refused,
    },
    /// The key of the command was used for another one.
    #[error("the key {0:?} was used for another command: every command needs a key of its own")]
    KeyReused(String),
    /// The store failed. Nothing was written, unless the store was lost in the middle of it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl WriteError {
    /// Whether trying the same again would end in the same way, and something else could still be
    /// written.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        !matches!(self, Self::Store(StoreError::Unavailable(_) | StoreError::Closed))
    }

    /// Why it may not happen, if that is why.
    #[must_use]
    pub const fn refused(&self) -> Option<&Refused> {
        match self {
            Self::Refused { refused, .. } => Some(refused),
            _ => None,
        }
    }
}
