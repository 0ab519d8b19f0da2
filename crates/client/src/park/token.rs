//! What has to be kept to go on later.

use std::path::PathBuf;

use countersign_protocol::Version;
use countersign_protocol::ask::CanUseTool;
use countersign_protocol::ids::{MessageUuid, SessionId, ToolUseId};
use countersign_protocol::permission::PermissionMode;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::mark::{MarkError, MarkPlace};
use crate::process::ProcessId;
use crate::session::{Kept, Session, SessionHandle};
use crate::store::StoreSessionError;

/// What has to be kept of a session that waits on one call, to go on with it later, in another
/// process and after a crash.
///
/// It can be written with `serde`, and holds the input of the call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParkingToken {
    pub(super) session: String,
    pub(super) cwd: PathBuf,
    /// Where the transcript was. In another home folder it is somewhere else.
    pub(super) transcript: Option<PathBuf>,
    pub(super) mode: Option<String>,
    pub(super) version: Option<String>,
    /// The process that asked. It must be gone before another one goes on.
    pub(super) process: Option<ProcessId>,
    /// The request, whole, as JSON: the input of a tool stays as it is, byte for byte.
    pub(super) request: String,
}

/// Why a session cannot be parked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ParkError {
    /// It does not wait for anybody.
    #[error("the session waits for no permission, so there is nothing to park it on")]
    NotAsking,
    /// It waits on several calls.
    #[error(
        "the session waits on {count} calls, and can be parked on one: answer the others first"
    )]
    Several {
        /// How many.
        count: usize,
    },
    /// It is not known which session it is.
    #[error("the session has no id yet: it can be parked once its first turn has begun")]
    NoSession,
    /// The transcript does not have the call.
    #[error("the transcript cannot bring the call back: {0}")]
    Transcript(#[from] MarkError),
    /// The session came from a store, and the store does not have the call. The transcript that has
    /// it is removed with the session.
    #[error("the session store cannot bring the call back: {0}")]
    Store(#[source] StoreSessionError),
    /// What was asked cannot be kept.
    #[error("the request cannot be kept: {0}")]
    NotJson(#[from] serde_json::Error),
}

impl ParkingToken {
    /// The session.
    #[must_use]
    pub fn session_id(&self) -> SessionId {
        SessionId::from(self.session.as_str())
    }

    /// The call that waits.
    ///
    /// # Errors
    /// When the token was changed and its request cannot be read.
    pub fn request(&self) -> Result<CanUseTool, serde_json::Error> {
        serde_json::from_str(&self.request)
    }

    /// The id of the call that waits.
    ///
    /// # Errors
    /// When the token was changed and its request cannot be read.
    pub fn tool_use_id(&self) -> Result<ToolUseId, serde_json::Error> {
        Ok(self.request()?.tool_use_id)
    }

    /// The folder that the session works in.
    #[must_use]
    pub fn cwd(&self) -> &std::path::Path {
        &self.cwd
    }

    /// The mode that was in force.
    #[must_use]
    pub fn mode(&self) -> Option<PermissionMode> {
        self.mode.as_deref().map(PermissionMode::from)
    }

    /// The id of the message that tells the model what was decided, if it comes to that: always the
    /// same for one call, so that a transcript shows whether it was told.
    pub(super) fn telling(&self) -> Result<MessageUuid, serde_json::Error> {
        // FNV-1a with 128 bits.
        const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
        const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        let call = self.tool_use_id()?;
        let bytes = self.session.bytes().chain([0]).chain(call.as_str().bytes());
        let hash = bytes.fold(BASIS, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME));
        let uuid = uuid::Builder::from_random_bytes(hash.to_be_bytes()).into_uuid();
        Ok(MessageUuid::from(uuid.to_string()))
    }

    pub(super) fn version(&self) -> Option<Version> {
        self.version.as_deref()?.parse().ok()
    }
}

impl SessionHandle {
    /// Tokens for all calls that wait for a permission now.
    ///
    /// Only one of them can be resumed: the CLI brings back the last call that was put off. So a
    /// token is of use when it is the only one.
    ///
    /// # Errors
    /// When the session has no id yet, or a request cannot be kept.
    pub fn parking_tokens(&self) -> Result<Vec<ParkingToken>, ParkError> {
        let snapshot = self.snapshot();
        let place = self.shared().place();
        let session = snapshot.session_id.ok_or(ParkError::NoSession)?;
        self.open_permissions()
            .iter()
            .map(|request| {
                Ok(ParkingToken {
                    session: session.as_str().to_owned(),
                    cwd: place.cwd.clone(),
                    transcript: place.transcript(&session),
                    mode: snapshot.permission_mode.as_ref().map(ToString::to_string),
                    version: snapshot.version.map(|version| version.to_string()),
                    process: self.process_id(),
                    request: serde_json::to_string(&**request)?,
                })
            })
            .collect()
    }
}

/// A session that can be parked: what has to be written is written.
///
/// It says so for the moment in which it was made: whoever answers the call after that is first.
#[derive(Debug)]
#[must_use = "the session is parked by `park`"]
pub struct Parkable {
    token: ParkingToken,
    handle: SessionHandle,
}

impl Parkable {
    /// Ends the process of the session, and gives what is needed to go on; see [`Session::park`]. It
    /// waits for nothing but the end of the process.
    ///
    /// # Errors
    /// When the call was answered meanwhile, or another one waits; the session goes on as before.
    pub async fn park(self) -> Result<ParkingToken, ParkError> {
        let Self { token, handle } = self;
        // Meanwhile it may have been answered. A call that runs must not be brought back.
        match handle.shared().put_off(&token.tool_use_id()?) {
            Ok(()) => {}
            Err(0) => return Err(ParkError::NotAsking),
            Err(count) => return Err(ParkError::Several { count }),
        }
        // At once: a CLI whose input is closed would refuse the call and go on.
        handle.kill().await;
        Ok(token)
    }
}

impl Session {
    /// Ends the process of a session that waits on one call, and gives what is needed to go on.
    ///
    /// Handlers that are running for it are dropped, and what runs in the background ends. The
    /// session is only ended once it is certain that its transcript has the call and that nobody
    /// has answered it: an answer that comes first wins, and one that comes later goes nowhere.
    /// A [store](crate::SessionBuilder::session_store) that it is kept in has the call by then, too.
    ///
    /// # Errors
    /// When the session waits on no call or on several, its transcript does not have the call, the
    /// store that it came from fails, or the call was answered meanwhile; it then goes on as before.
    pub async fn park(self) -> Result<ParkingToken, (Self, ParkError)> {
        let parkable = match self.prepare_parking().await {
            Ok(parkable) => parkable,
            Err(error) => return Err((self, error)),
        };
        parkable.park().await.map_err(|error| (self, error))
    }

    /// Waits until the session can be parked: the first half of [`park`](Self::park), for those who
    /// have something else to do meanwhile. The call of a sub-agent is not in the transcript of the
    /// session, so that such a session is waited for until the limit of a request is over.
    ///
    /// The future does not borrow the session. Nothing has happened when it is dropped.
    ///
    /// # Errors
    /// As [`park`](Self::park).
    pub fn prepare_parking(
        &self,
    ) -> impl Future<Output = Result<Parkable, ParkError>> + Send + 'static {
        let (handle, kept) = (self.handle(), self.kept());
        async move {
            let mut tokens = handle.parking_tokens()?;
            let (Some(token), true) = (tokens.pop(), tokens.is_empty()) else {
                return Err(match tokens.len() {
                    0 => ParkError::NotAsking,
                    others => ParkError::Several { count: others + 1 },
                });
            };
            // The CLI writes its transcript when it gets to it, after it has asked.
            let place = MarkPlace::of(&token)?;
            place.wait_for_call(handle.shared().request_timeout).await?;
            keep_in_store(&kept, &token, &place).await?;
            Ok(Parkable { token, handle })
        }
    }
}

/// Sees to it that a store which the session is kept in has the call.
async fn keep_in_store(
    kept: &Kept,
    token: &ParkingToken,
    place: &MarkPlace,
) -> Result<(), ParkError> {
    match kept.catch_up(&token.session_id(), |entries| place.is_in(entries)).await {
        Err(error) if kept.is_from_store() => Err(ParkError::Store(error)),
        Err(error) => {
            tracing::warn!(%error, "the session is parked, and its store may lack the call");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}
