//! Why something that somebody wants is not done.

use thiserror::Error;

use crate::config::FolderError;
use crate::id::{ApprovalId, SessionId};
use crate::session::{Approval, ContentError, NotAnAnswer, Refused};
use crate::store::{StoreError, WriteError};

/// Why something that somebody wants is not done.
#[derive(Debug, Error)]
pub enum ServiceError {
    /// There is no such session.
    #[error("there is no session {0}")]
    NoSession(SessionId),
    /// There is no such approval.
    #[error("there is no approval {0}")]
    NoApproval(ApprovalId),
    /// Somebody was first, or it is not asked any more. The approval says which.
    #[error("{}", already(.0))]
    NotOpen(Box<Approval>),
    /// It is no answer to what was asked.
    #[error(transparent)]
    NotAnAnswer(#[from] NotAnAnswer),
    /// The folder may not be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// It cannot be said.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// What was given is not right.
    #[error("{0}")]
    Invalid(String),
    /// The server stops.
    #[error("the server is about to stop: try again when it is back")]
    Closing,
    /// It may not happen as the session is now.
    #[error("{0}")]
    Refused(Refused),
    /// The key of the command was used for another one.
    #[error("the key {0:?} was used for another command: every command needs a key of its own")]
    KeyReused(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn already(approval: &Approval) -> String {
    match &approval.given {
        Some(given) => {
            format!("{} has answered first, with {}", given.by.name(), given.answer.name())
        }
        None => {
            let why = approval.why.as_deref().unwrap_or("the CLI does not ask any more");
            format!("it is not asked any more: {why}")
        }
    }
}

impl From<WriteError> for ServiceError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Refused { refused: Refused::NoSession(session), .. } => {
                Self::NoSession(session)
            }
            WriteError::Refused { refused, .. } => Self::Refused(refused),
            WriteError::KeyReused(key) => Self::KeyReused(key),
            WriteError::Store(error) => Self::Store(error),
        }
    }
}
