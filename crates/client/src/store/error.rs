//! What can go wrong with session stores.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::key::StoreKey;
use crate::transcript::TranscriptError;

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store does not offer this.
    #[error("the session store does not offer {operation}: use one that does")]
    Unsupported {
        /// What was asked.
        operation: &'static str,
    },
    /// The store did not answer in time.
    #[error("the session store did not answer {operation} within {after:?}")]
    Timeout {
        /// What was asked.
        operation: &'static str,
        /// How long was waited.
        after: Duration,
    },
    /// A file of the store could not be read or written.
    #[error("cannot use {}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// What is behind the store failed.
    #[error("the session store failed: {0}")]
    Backend(#[source] Box<dyn Error + Send + Sync>),
}

impl StoreError {
    /// An error of what is behind a store.
    pub fn backend(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Backend(error.into())
    }

    /// Whether the store does not offer what was asked, as opposed to having failed.
    #[must_use]
    pub const fn is_unsupported(&self) -> bool {
        matches!(self, Self::Unsupported { .. })
    }
}

/// Why something is not a key. Keys become paths, here or in the store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The session id is not a UUID.
    #[error("{0:?} is not a session id: give a UUID")]
    Session(String),
    /// The subpath leads elsewhere.
    #[error("{0:?} is not a subpath: give names with / between them, such as subagents/agent-1")]
    Subpath(String),
}

/// Why something could not be done with a session in a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreSessionError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no such session in the store.
    #[error("no session {key} in the session store: check the id and the project")]
    NotFound {
        /// What was looked for.
        key: StoreKey,
    },
    /// The session is not what was expected, or a file is not.
    #[error(transparent)]
    Transcript(#[from] TranscriptError),
    /// The session cannot be named in a store.
    #[error(transparent)]
    Key(#[from] KeyError),
}
