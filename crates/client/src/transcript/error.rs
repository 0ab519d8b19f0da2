//! What can go wrong with sessions on disk.

use std::io;
use std::path::{Path, PathBuf};

use countersign_protocol::ids::{AgentId, MessageUuid, SessionId};

/// Why something could not be done with a session on disk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TranscriptError {
    /// A session id is not a UUID. It would become part of a path, so nothing else is taken.
    #[error("{id:?} is not a session id: give a UUID")]
    NotASessionId {
        /// What was given.
        id: String,
    },
    /// There is no such session.
    #[error("no session {session} in {}: check the id, the folder and CLAUDE_CONFIG_DIR", place.display())]
    NotFound {
        /// The session.
        session: SessionId,
        /// Where it was looked for.
        place: PathBuf,
    },
    /// The session has no such sub-agent.
    #[error("session {session} has no sub-agent {agent}: list its sub-agents to see those it has")]
    NoSuchAgent {
        /// The session.
        session: SessionId,
        /// The sub-agent.
        agent: AgentId,
    },
    /// The session has no such message.
    #[error("session {session} has no message {message}: give the uuid of one of its messages")]
    NoSuchMessage {
        /// The session.
        session: SessionId,
        /// The message.
        message: MessageUuid,
    },
    /// There is nothing in the session that could be forked.
    #[error("session {session} has no messages to fork")]
    NothingToFork {
        /// The session.
        session: SessionId,
    },
    /// A title or a tag has nothing in it that can be seen.
    #[error("the {what} is empty: give one with something to read in it")]
    Empty {
        /// What is empty.
        what: &'static str,
    },
    /// Neither `CLAUDE_CONFIG_DIR` nor `HOME` says where the CLI keeps its files.
    #[error("neither CLAUDE_CONFIG_DIR nor HOME is set: name the folder with Sessions::at")]
    NoHome,
    /// A file or a folder could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

/// Gives an error of the system its path and what was tried.
pub(crate) fn io_error(
    action: &'static str,
    path: &Path,
) -> impl FnOnce(io::Error) -> TranscriptError {
    let path = path.to_owned();
    move |source| TranscriptError::Io { action, path, source }
}
