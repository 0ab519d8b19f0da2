//! The echo of a message: the CLI shows that it has taken it up, or that it has known it before.

use countersign_protocol::Version;
use countersign_protocol::ids::MessageUuid;
use countersign_protocol::message::UserMessage;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The first version that is known to say when it got the messages that it takes up.
const SAYS_WHEN: Version = Version::new(2, 1, 120);

/// The echo of a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Echo {
    /// The message.
    pub(crate) message: MessageUuid,
    /// Whether it says when the message came.
    says_when: bool,
}

/// The fields that count, each by itself: another that is wrong does not matter.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields<'a> {
    #[serde(borrow)]
    uuid: Option<&'a RawValue>,
    #[serde(borrow, rename = "isReplay")]
    is_replay: Option<&'a RawValue>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
}

impl Echo {
    /// The echo that this is, if it is one.
    pub(crate) fn of(user: &UserMessage) -> Option<Self> {
        let message = user.uuid.clone().filter(|_| user.is_replay == Some(true))?;
        Some(Self { message, says_when: user.timestamp.is_some() })
    }

    /// The same, of a frame of the user that need not be readable.
    pub(crate) fn read(object: &[u8]) -> Option<Self> {
        let fields: Fields<'_> = serde_json::from_slice(object).ok()?;
        let message: String = serde_json::from_str(fields.uuid?.get()).ok()?;
        (fields.is_replay?.get() == "true").then(|| Self {
            message: MessageUuid::from(message),
            says_when: fields.timestamp.is_some(),
        })
    }

    /// Whether the CLI had the message before, and drops it. `may_be_taken_up` says whether a turn
    /// runs that can have taken it up.
    ///
    /// It does not say when such a message came. Old versions never do, but show a message that
    /// they take up only once the turn has begun.
    pub(crate) fn is_of_known(&self, version: Option<Version>, may_be_taken_up: bool) -> bool {
        !self.says_when && (version.is_some_and(|it| it >= SAYS_WHEN) || !may_be_taken_up)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_known_is_told_from_one_that_is_taken_up() {
        let taken_up =
            Echo::read(br#"{"uuid":"m","timestamp":"now","isReplay":true,"message":5}"#).unwrap();
        let bare = Echo::read(br#"{"uuid":"m","isReplay":true}"#).unwrap();
        let (old, new) = (Some(Version::new(2, 1, 62)), Some(Version::new(2, 1, 197)));
        for version in [None, old, new] {
            for may_be_taken_up in [false, true] {
                assert!(!taken_up.is_of_known(version, may_be_taken_up));
                let is_known = version == new || !may_be_taken_up;
                assert_eq!(bare.is_of_known(version, may_be_taken_up), is_known, "{version:?}");
            }
        }
        assert_eq!(Echo::read(br#"{"uuid":"m"}"#), None);
        assert_eq!(Echo::read(br#"{"isReplay":true}"#), None);
    }
}
