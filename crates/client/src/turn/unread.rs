//! What a turn can tell of a frame that cannot be read.

use countersign_protocol::ids::MessageUuid;
use countersign_protocol::message::{MessageOrigin, ResultMessage};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::echo::Echo;
use crate::error::TurnError;
use crate::message::{Message, Saying};

/// Whose result it is, as far as it says.
#[derive(Debug, Default)]
pub(super) struct Whose {
    /// The messages that it answers.
    pub(super) messages: Vec<MessageUuid>,
    /// Whether a background task began the turn.
    pub(super) is_of_task: bool,
}

impl Whose {
    pub(super) fn of(result: &ResultMessage) -> Self {
        let messages = result.user_message_uuids.iter().flatten();
        Self {
            messages: messages.chain(&result.user_message_uuid).cloned().collect(),
            is_of_task: matches!(result.origin, Some(MessageOrigin::TaskNotification(_))),
        }
    }
}

/// What a turn needs to know of a message that cannot be read.
#[derive(Debug)]
pub(super) enum Unread {
    /// It is a result.
    Result(Whose, TurnError),
    /// It is the echo of a message of the user.
    Echo(Echo),
    /// It may have been anything.
    Anything(String),
    /// Messages are missing, and there is no telling which.
    Lost(TurnError),
    /// It is nothing that a turn waits for.
    Other,
}

impl Unread {
    pub(super) fn new(message: &Message, saying: &Saying) -> Self {
        let (kind, error) = match saying {
            Saying::TooLong { length, kind: None } => {
                return Self::Anything(format!("a line of {length} bytes was too long"));
            }
            Saying::TooLong { length, kind: Some(kind) } => {
                (kind, TurnError::ResultTooLong { length: *length })
            }
            Saying::Malformed(malformed) => {
                (&malformed.kind, TurnError::ResultUnreadable { reason: malformed.to_string() })
            }
            Saying::NotAFrame(problem) => return Self::Anything(problem.clone()),
            Saying::Lost { length } => return Self::Lost(TurnError::Lost { length: *length }),
            Saying::Frame(_) | Saying::DeltasDropped { .. } => return Self::Other,
        };
        let abridged = message.abridged();
        match &*kind.frame {
            "result" => Self::Result(Fields::of(&abridged).whose(), error),
            "user" => Echo::read(&abridged).map_or(Self::Other, Self::Echo),
            _ => Self::Other,
        }
    }
}

/// The fields that count, each by itself: another that is wrong does not matter.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fields<'a> {
    #[serde(borrow)]
    user_message_uuid: Option<&'a RawValue>,
    #[serde(borrow)]
    user_message_uuids: Option<&'a RawValue>,
    #[serde(borrow)]
    origin: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Origin {
    kind: String,
}

impl<'a> Fields<'a> {
    fn of(object: &'a [u8]) -> Self {
        serde_json::from_slice(object).unwrap_or_default()
    }

    fn whose(&self) -> Whose {
        let mut messages: Vec<String> = read(self.user_message_uuids).unwrap_or_default();
        messages.extend(read::<String>(self.user_message_uuid));
        let origin: Option<Origin> = read(self.origin);
        Whose {
            messages: messages.into_iter().map(MessageUuid::from).collect(),
            is_of_task: origin.is_some_and(|origin| origin.kind == "task-notification"),
        }
    }
}

fn read<T: DeserializeOwned>(value: Option<&RawValue>) -> Option<T> {
    serde_json::from_str(value?.get()).ok()
}
