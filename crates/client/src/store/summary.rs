//! What a list shows of a session, kept by a store beside the transcript.

use countersign_protocol::RawJson;
use countersign_protocol::ids::SessionId;
use jiff::Timestamp;

use super::key::StoreKey;
use crate::transcript::{Digest, ProjectKey, SessionInfo};

/// What a list shows of a session, as a store keeps it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SessionSummary {
    /// The session.
    pub session_id: SessionId,
    /// When something was last appended, by the same clock as in
    /// [`StoredSession`](super::StoredSession). The store sets it.
    pub modified: Timestamp,
    /// What was gathered. A store keeps it as it is.
    pub data: RawJson,
}

impl SessionSummary {
    /// A summary as it was kept.
    #[must_use]
    pub const fn new(session_id: SessionId, modified: Timestamp, data: RawJson) -> Self {
        Self { session_id, modified, data }
    }

    pub(crate) fn from_digest(session: SessionId, modified: Timestamp, digest: &Digest) -> Self {
        let data = RawJson::from_value(digest).unwrap_or_else(|_| RawJson::empty_object());
        Self::new(session, modified, data)
    }

    /// What a list shows; nothing for a session that a list does not show.
    pub(crate) fn info(&self, project: &ProjectKey) -> Option<SessionInfo> {
        let digest = self.data.decode().unwrap_or_default();
        SessionInfo::from_digest(self.session_id.clone(), project.clone(), self.modified, digest)
    }
}

/// Takes entries that are appended to a session into its summary.
///
/// A store that lists summaries calls this in `append`, for keys without a subpath, keeps the
/// result, and sets [`modified`](SessionSummary::modified) to the time of the write. What was
/// appended before need not be read again.
#[must_use]
pub fn fold_summary(
    previous: Option<&SessionSummary>,
    key: &StoreKey,
    entries: &[RawJson],
) -> SessionSummary {
    let mut digest: Digest =
        previous.and_then(|previous| previous.data.decode().ok()).unwrap_or_default();
    for entry in entries {
        digest.add(entry.as_str());
    }
    let modified = previous.map_or(Timestamp::UNIX_EPOCH, |previous| previous.modified);
    SessionSummary::from_digest(key.session_id().clone(), modified, &digest)
}
