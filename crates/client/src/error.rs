//! What can go wrong, by what was tried.

use std::path::PathBuf;
use std::time::Duration;

use countersign_protocol::request::ErrorCode;
use thiserror::Error;

use crate::cli::{FindError, Unsupported, VersionError};
use crate::options::OptionsError;
use crate::process::SpawnError;
use crate::session::SessionEnd;

/// Why there is no session.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The CLI was not found.
    #[error(transparent)]
    NotFound(#[from] FindError),
    /// Its version could not be told, and something depends on it.
    #[error(transparent)]
    Version(#[from] VersionError),
    /// The version of the CLI lacks what was asked for.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// Options contradict each other.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// The CLI could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The tape could not be made.
    #[error("the session cannot be recorded: {0}")]
    Record(#[from] countersign_record::CreateError),
    /// The CLI was started in another folder than was named, and was ended.
    #[error(
        "the CLI was started in {found}, because {wanted} leads there now",
        found = found.display(),
        wanted = wanted.display()
    )]
    Elsewhere {
        /// The folder that was named.
        wanted: PathBuf,
        /// The folder that it was in.
        found: PathBuf,
    },
    /// The CLI ended before it had answered `initialize`, because there is no session to go on with,
    /// the id of a new one is taken, or an option is not to its liking. It is said in its own words.
    #[error("the CLI ended before the session began: {0}")]
    Ended(#[from] Box<SessionEnd>),
    /// The CLI refused `initialize`, or did not answer it.
    #[error("the session could not be opened: {0}")]
    Initialize(#[source] ControlError),
    /// The session could not be brought from its store, or not be kept in one.
    #[error("the session cannot use its store: {0}")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Why a control request has no answer that could be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ControlError {
    /// The CLI refused.
    #[error("the CLI refused {subtype}: {message}{}", code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default())]
    Refused {
        /// The request.
        subtype: String,
        /// Why, in words.
        message: String,
        /// Why, as a code. Versions up to 2.1.197 send none.
        code: Option<ErrorCode>,
    },
    /// No answer came in time. The request was withdrawn.
    #[error("the CLI did not answer {subtype} within {waited:?}")]
    Timeout {
        /// The request.
        subtype: String,
        /// How long was waited.
        waited: Duration,
    },
    /// The session has ended.
    #[error("the session has ended, so {subtype} has no answer")]
    SessionEnded {
        /// The request.
        subtype: String,
    },
    /// The answer has another shape than it should.
    #[error("the answer to {subtype} cannot be read: {reason}")]
    Unreadable {
        /// The request.
        subtype: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The CLI carried out something else than was asked.
    #[error("the CLI carried out {subtype} otherwise than asked: {what}")]
    NotAsAsked {
        /// The request.
        subtype: String,
        /// What it did.
        what: String,
    },
    /// The request was not sent, because this session may not make it.
    #[error("{subtype} was not sent: {reason}")]
    Forbidden {
        /// The request.
        subtype: String,
        /// Why it may not.
        reason: String,
    },
    /// This version of the CLI does not know the request, so it was not sent.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// What was given raw is no such request, so it was not sent.
    #[error("a request {subtype} cannot be made of these fields: {reason}")]
    NotARequest {
        /// The request.
        subtype: String,
        /// What is wrong with the fields.
        reason: String,
    },
    /// The request cannot be written.
    #[error("{subtype} cannot be written: {source}")]
    NotJson {
        /// The request.
        subtype: String,
        /// Why.
        source: countersign_protocol::EncodeError,
    },
}

/// Why a message did not reach the CLI.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SendError {
    /// The session has ended, or its input was closed.
    #[error("the session has ended, so nothing can be sent")]
    SessionEnded,
    /// The message cannot be written.
    #[error("the message cannot be written: {0}")]
    NotJson(#[from] countersign_protocol::EncodeError),
}

/// Why a turn has no outcome.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The message that begins it could not be sent.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The session ended before the turn did.
    #[error("the session ended in the middle of the turn: {0}")]
    SessionEnded(#[source] Box<SessionEnd>),
    /// There is no turn, because the CLI has dropped the message. The session goes on.
    #[error("the CLI has dropped the message: {0}")]
    Dropped(#[from] Dropped),
    /// The turn is over, but its result was longer than a line may be, and was passed over. The
    /// session goes on.
    #[error(
        "the result of the turn is a line of {length} bytes, which is more than is allowed; allow \
         longer ones with SessionBuilder::max_line"
    )]
    ResultTooLong {
        /// How many bytes it had.
        length: u64,
    },
    /// The turn is over, but its result cannot be read. The session goes on.
    #[error("the result of the turn cannot be read: {reason}")]
    ResultUnreadable {
        /// What is wrong with it.
        reason: String,
    },
    /// Messages of the turn, and perhaps its result, were lost: the file that they had been put
    /// into cannot be read. The session goes on, and perhaps the turn does.
    #[error("messages of the turn were lost, {length} bytes of them")]
    Lost {
        /// How many bytes.
        length: u64,
    },
}

/// Why a message has no turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Dropped {
    /// It was withdrawn: by [`cancel_message`](crate::SessionHandle::cancel_message),
    /// [`interrupt_and_drop_queued`](crate::SessionHandle::interrupt_and_drop_queued) or the CLI.
    #[error("it was withdrawn")]
    Withdrawn,
    /// The CLI has discarded it.
    #[error("it was discarded")]
    Discarded,
    /// The CLI has refused it.
    #[error("it was refused")]
    Refused,
    /// The session had a message with its `uuid` before. That one has, or had, a turn.
    #[error("the session had a message with its uuid before")]
    Known,
}

/// Why a conversation does not begin anew.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FreshError {
    /// The mode could not be changed.
    #[error(transparent)]
    Mode(#[from] ControlError),
    /// Nothing could be sent.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The session ended while its conversation was cleared.
    #[error(transparent)]
    Turn(#[from] TurnError),
    /// The conversation was not cleared.
    #[error("the conversation could not be cleared: {0}")]
    NotCleared(String),
    /// A new process could not be started.
    #[error(transparent)]
    Connect(#[from] ConnectError),
}
