//! What people and programs can do with sessions.
//!
//! Each command is checked, written, and then carried out by whoever attends to the session. A
//! command that comes again under the same key is not carried out again.

mod approvals;
mod error;
mod messages;
mod rules;
mod sessions;

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use self::error::ServiceError;
pub use self::messages::NewMessage;
pub use self::rules::{RuleInForce, RuleSource, RulesInForce};
pub use self::sessions::{ForkSession, NewSession};
use crate::config::Roots;
use crate::hub::Hub;
use crate::id::{ApprovalId, MessageId, SessionId};
use crate::session::{By, Happening, Head};
use crate::store::{Command, StoreError, Write, Written};

/// What people and programs can do with sessions.
#[derive(Clone, Debug)]
pub struct Service {
    hub: Arc<Hub>,
    roots: Arc<Roots>,
}

/// Who wants something, and how it is told from something else that is wanted.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Who.
    pub by: By,
    /// The key that came with the command, if one did.
    pub key: Option<Key>,
}

/// What tells a command that comes again from another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Whose key it is.
    pub owner: String,
    /// The key.
    pub key: String,
    /// What is wanted.
    pub fingerprint: String,
}

/// What came of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried<T> {
    /// What is told to whoever wanted it.
    pub receipt: T,
    /// Whether it was carried out before, under the same key.
    pub before: bool,
}

/// A session was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionMade {
    /// The session.
    pub session: SessionId,
    /// The message that it begins with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
}

/// A message waits for the CLI.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MessageTaken {
    /// The session.
    pub session: SessionId,
    /// The message.
    pub message: MessageId,
}

/// An answer was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AnswerTaken {
    /// The session that asked.
    pub session: SessionId,
    /// The approval.
    pub approval: ApprovalId,
    /// The session in which a plan is carried out, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child: Option<SessionId>,
}

/// What was wanted is noted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Noted {
    /// The session.
    pub session: SessionId,
}

impl Caller {
    /// Somebody without a key.
    #[must_use]
    pub const fn new(by: By) -> Self {
        Self { by, key: None }
    }

    fn command<T: Serialize>(&self, receipt: &T) -> Result<Option<Command>, ServiceError> {
        let Some(Key { owner, key, fingerprint }) = self.key.clone() else { return Ok(None) };
        let response = serde_json::to_string(receipt)
            .map_err(|source| StoreError::Unreadable { what: "the answer to a command", source })?;
        Ok(Some(Command { owner, key, fingerprint, response }))
    }
}

impl Service {
    /// What can be done with the sessions of a hub, in these folders.
    #[must_use]
    pub fn new(hub: Arc<Hub>, roots: Roots) -> Self {
        Self { hub, roots: Arc::new(roots) }
    }

    /// All sessions.
    #[must_use]
    pub const fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    /// The folders that sessions may use.
    #[must_use]
    pub fn roots(&self) -> &Roots {
        &self.roots
    }

    /// What a session is now.
    ///
    /// # Errors
    /// When there is none, or the store cannot be read.
    pub async fn session(&self, session: SessionId) -> Result<Arc<Head>, ServiceError> {
        let head = self.hub.store().head(session).await?;
        head.ok_or(ServiceError::NoSession(session))
    }

    /// What came of a command that was carried out before, under the same key. It is asked before
    /// anything is checked: a folder may be gone since, and the answer is the first one all the same.
    ///
    /// # Errors
    /// When the key was used for another command, or the store cannot be read.
    pub async fn before<T: DeserializeOwned>(
        &self,
        caller: &Caller,
    ) -> Result<Option<Carried<T>>, ServiceError> {
        let Some(command) = caller.command(&())? else { return Ok(None) };
        let response = self.hub.store().carried_out(command).await?;
        response.map(|response| again(&response)).transpose()
    }

    /// Takes note of what came of a command that is about no session.
    ///
    /// # Errors
    /// When it cannot be written.
    pub async fn remember<T: Serialize>(
        &self,
        caller: &Caller,
        receipt: &T,
    ) -> Result<(), ServiceError> {
        if let Some(command) = caller.command(receipt)? {
            self.hub.store().write(Write::default().because_of(Some(command))).await?;
        }
        Ok(())
    }

    /// Writes what is wanted, and has it carried out.
    async fn carry<T: Serialize + DeserializeOwned>(
        &self,
        caller: &Caller,
        receipt: T,
        write: Write,
    ) -> Result<Carried<T>, ServiceError> {
        if self.hub.is_closing() {
            return Err(ServiceError::Closing);
        }
        let write = write.because_of(caller.command(&receipt)?);
        match self.hub.carry(write).await? {
            Written::Now { .. } => Ok(Carried { receipt, before: false }),
            Written::Before { response } => again(&response),
        }
    }

    /// Notes what is wanted of one session.
    async fn note(
        &self,
        caller: &Caller,
        session: SessionId,
        happening: impl Into<Happening>,
    ) -> Result<Carried<Noted>, ServiceError> {
        let write = Write::to(session, vec![happening.into()]);
        self.carry(caller, Noted { session }, write).await
    }
}

/// What was answered before.
fn again<T: DeserializeOwned>(response: &str) -> Result<Carried<T>, ServiceError> {
    let unreadable = |source| StoreError::Unreadable { what: "the answer to a command", source };
    let receipt = serde_json::from_str(response).map_err(unreadable)?;
    Ok(Carried { receipt, before: true })
}
