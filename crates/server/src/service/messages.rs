//! Messages: said, changed, taken back, put into another order.

use serde::{Deserialize, Serialize};

use super::{Caller, Carried, MessageTaken, Noted, Service, ServiceError};
use crate::id::{MessageId, SessionId};
use crate::session::{
    Image, MessageContent, MessageEdited, MessageQueued, MessageRemoved, MessagesOrdered,
};
use crate::store::Write;

/// A message that is to be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct NewMessage {
    /// The words.
    pub text: String,
    /// The pictures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Whether it goes into the turn that is running, in the place of waiting for its end.
    pub now: bool,
}

impl Service {
    /// Says something in a session. It waits until the turn that is running is over, unless it is to
    /// go into it.
    ///
    /// # Errors
    /// When there is no such session, there is nothing said, or the session has cost all that it may.
    pub async fn send(
        &self,
        caller: &Caller,
        session: SessionId,
        new: NewMessage,
    ) -> Result<Carried<MessageTaken>, ServiceError> {
        let content = MessageContent { text: new.text, images: new.images };
        content.check()?;
        let message = MessageId::new();
        let by = caller.by.clone();
        let queued = MessageQueued { message, content, now: new.now, first: false, by };
        let write = Write::to(session, vec![queued.into()]);
        self.carry(caller, MessageTaken { session, message }, write).await
    }

    /// Changes a message that waits.
    ///
    /// # Errors
    /// When it does not wait any more.
    pub async fn edit_message(
        &self,
        caller: &Caller,
        session: SessionId,
        message: MessageId,
        content: MessageContent,
    ) -> Result<Carried<Noted>, ServiceError> {
        content.check()?;
        let by = caller.by.clone();
        self.note(caller, session, MessageEdited { message, content, by }).await
    }

    /// Takes a message back that waits.
    ///
    /// # Errors
    /// When it does not wait any more.
    pub async fn remove_message(
        &self,
        caller: &Caller,
        session: SessionId,
        message: MessageId,
    ) -> Result<Carried<Noted>, ServiceError> {
        self.note(caller, session, MessageRemoved { message, by: caller.by.clone() }).await
    }

    /// Puts the messages that wait into another order.
    ///
    /// # Errors
    /// When the order does not name each of them once.
    pub async fn order_messages(
        &self,
        caller: &Caller,
        session: SessionId,
        order: Vec<MessageId>,
    ) -> Result<Carried<Noted>, ServiceError> {
        self.note(caller, session, MessagesOrdered { order, by: caller.by.clone() }).await
    }
}
