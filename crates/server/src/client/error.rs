//! Why a server did not do what it was asked to do.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use countersign_protocol::RawJson;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::access::first::ReadTokenError;
use crate::config::ConfigError;
use crate::id::{SessionId, TurnId};
use crate::outgoing::{OutgoingError, RootsError};
use crate::session::Approval;

/// Why a server did not do what it was asked to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The server says why.
    #[error(transparent)]
    Problem(Box<Problem>),
    /// There is no answer: nobody is there, the connection was lost, or it cannot be secured.
    /// [`OutgoingError`] says which.
    #[error(transparent)]
    Connection(#[from] OutgoingError),
    /// The answer is not what the API promises.
    #[error(
        "{what} of the server cannot be read: {source}; is it another version than this client?"
    )]
    Unreadable {
        /// What.
        what: &'static str,
        /// Why not.
        source: serde_json::Error,
    },
    /// The answer is that of something else.
    #[error("status {status} with {kind:?}: is this the address of a Countersign server?")]
    NotOurs {
        /// The status.
        status: u16,
        /// What the answer says that it is.
        kind: String,
    },
    /// An event of a stream is longer than this client reads.
    #[error("an event of the stream is longer than {most} bytes; set the client a higher limit")]
    TooLong {
        /// How long it may be.
        most: usize,
    },
    /// The log of a session lacks something, also when it is asked for again.
    #[error(
        "event {expected} of session {session} is missing: the server goes on with {found} after it"
    )]
    Gap {
        /// The session.
        session: SessionId,
        /// The event that should have come.
        expected: u64,
        /// The one that came.
        found: u64,
    },
    /// The server ended a stream. It is opened again.
    #[error("the server ended the stream")]
    StreamEnded,
}

/// Why the server did not do something, as RFC 9457 has it.
#[derive(Clone, PartialEq)]
pub struct Problem {
    kind: String,
    title: String,
    status: u16,
    detail: Option<String>,
    retry_after: Option<Duration>,
    members: BTreeMap<String, RawJson>,
}

impl Problem {
    /// Reads the body of an answer.
    pub(super) fn read(
        status: u16,
        retry_after: Option<Duration>,
        body: &[u8],
    ) -> Result<Self, serde_json::Error> {
        let mut members: BTreeMap<String, RawJson> = serde_json::from_slice(body)?;
        let mut text = |name| -> Result<Option<String>, serde_json::Error> {
            members.remove(name).map(|value| value.decode()).transpose()
        };
        let kind = text("type")?.unwrap_or_default();
        let title = text("title")?.unwrap_or_default();
        let detail = text("detail")?;
        members.remove("status");
        let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
        Ok(Self { kind, title, status, detail, retry_after, members })
    }

    /// What kind of problem it is, such as `already-answered`. It is the end of its `type`.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// What it is, in a few words, the same every time.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The status of the answer.
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// What it is this time, and what to do about it.
    #[must_use]
    pub fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }

    /// After how long to try again.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// What else it says, by name. It depends on the kind.
    #[must_use]
    pub const fn members(&self) -> &BTreeMap<String, RawJson> {
        &self.members
    }

    /// One of its further members, if it is there and can be read as this.
    #[must_use]
    pub fn member<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.members.get(name)?.decode().ok()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.detail, &*self.title) {
            (Some(detail), "") => f.write_str(detail),
            (Some(detail), title) => write!(f, "{title}: {detail}"),
            (None, "") => write!(f, "the server answers with status {}", self.status),
            (None, title) => f.write_str(title),
        }
    }
}

impl fmt::Debug for Problem {
    /// Without further members: they may have what an agent was asked to do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Problem");
        shown.field("kind", &self.kind).field("status", &self.status);
        shown.field("detail", &self.detail).finish_non_exhaustive()
    }
}

impl std::error::Error for Problem {}

impl ClientError {
    /// What the server says, if it says why.
    #[must_use]
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Problem(problem) => Some(problem),
            _ => None,
        }
    }

    fn of_kind(&self, kind: &str) -> Option<&Problem> {
        self.problem().filter(|problem| problem.kind == kind)
    }

    /// The approval as it is, if an answer was refused because somebody was first or it is not asked
    /// any more.
    #[must_use]
    pub fn already_answered(&self) -> Option<Approval> {
        self.of_kind("already-answered")?.member("approval")
    }

    /// Whether a turn was to be interrupted that is over, and which one is running now.
    #[must_use]
    pub fn stale_turn(&self) -> Option<Option<TurnId>> {
        self.of_kind("stale-turn").map(|problem| problem.member("running"))
    }

    /// Whether there is no such thing: session, approval, token.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.problem().is_some_and(|problem| problem.status == 404)
    }

    /// Whether the token is not good, or not for this.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.problem().is_some_and(|problem| matches!(problem.status, 401 | 403))
    }

    /// Whether a server may do it later that does not do it now.
    pub(super) fn may_pass(&self) -> bool {
        let passes = |status: u16| status >= 500 || matches!(status, 408 | 425 | 429);
        match self {
            Self::Problem(problem) => passes(problem.status),
            Self::NotOurs { status, .. } => passes(*status),
            Self::Connection(error) => error.may_pass(),
            Self::StreamEnded => true,
            Self::Unreadable { .. } | Self::TooLong { .. } | Self::Gap { .. } => false,
        }
    }
}

/// Why there is no client.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The address is none.
    #[error("{0:?} is not the address of a server; write it as \"http://127.0.0.1:7787\"")]
    Address(String),
    /// The token would go over the network for everybody to read.
    #[error(
        "without TLS everybody on the way to {0} reads the token: write https://, or say that plain HTTP is good enough there"
    )]
    InTheClear(String),
    /// The token is none.
    #[error("this is no token: it is one word that begins with cst_")]
    Token,
    /// There is no token for this server.
    #[error("there is no token for {0}: set COUNTERSIGN_TOKEN")]
    NoToken(String),
    /// The certificates cannot be used.
    #[error(transparent)]
    Roots(#[from] RootsError),
    /// The configuration of the server on this machine cannot be read, so it is not known where it
    /// is.
    #[error("it is not known where the server is: {0}; set COUNTERSIGN_SERVER")]
    Config(#[from] ConfigError),
    /// The server on this machine takes any port that is free.
    #[error("the server takes any port that is free: set COUNTERSIGN_SERVER to its address")]
    AnyPort,
    /// The token of the server on this machine cannot be read.
    #[error("{0}; or set COUNTERSIGN_TOKEN")]
    ReadToken(#[from] ReadTokenError),
    /// The working folder is gone.
    #[error("the working folder cannot be found: {0}")]
    Folder(#[source] io::Error),
    /// The file with server and token cannot be read.
    #[error("{file} cannot be used: {message}")]
    Profile {
        /// The file.
        file: PathBuf,
        /// Why not, and what to do.
        message: String,
    },
}
