//! Beginning anew: a plan that is carried out in a conversation of its own.

use countersign_protocol::message::UserMessage;

use super::Session;
use crate::cli::Capability;
use crate::error::FreshError;
use crate::permission::FreshStart;
use crate::recording::Tape;
use crate::turn::Turn;

impl Session {
    /// Clears the conversation, and has a plan carried out in the one that begins.
    ///
    /// The mode of the plan is in force before the model is asked. From 2.1.197 on the process
    /// stays the same and has a new session id; before, another process is started in its place,
    /// set up in the same way.
    ///
    /// # Errors
    /// When the conversation cannot be cleared, in which case the mode stays as it was; when the mode
    /// cannot be changed; or when the session ends.
    pub async fn begin_fresh(&mut self, fresh: &FreshStart) -> Result<Turn<&mut Self>, FreshError> {
        let version = self.snapshot().version;
        if version.is_some_and(|version| Capability::CLEAR.in_version(version)) {
            self.clear(fresh).await?;
        } else {
            self.replace(fresh).await?;
        }
        Ok(Turn::begin(self, UserMessage::prompt(fresh.prompt())).await?)
    }

    async fn clear(&mut self, fresh: &FreshStart) -> Result<(), FreshError> {
        let before = self.snapshot().session_id;
        let mut command = UserMessage::prompt("/clear");
        // Also where messages are sent as they are.
        command.client_composed = Some(false);
        let outcome = self.send_message(command).await?.finish().await?;
        if let Some(error) = outcome.error() {
            return Err(FreshError::NotCleared(error));
        }
        if outcome.session_id() == before.as_ref() {
            return Err(FreshError::NotCleared("the session is the same as before".to_owned()));
        }
        // Not earlier: it is for the plan, and not for a conversation that could not be cleared.
        self.set_permission_mode(fresh.mode.clone()).await?;
        Ok(())
    }

    async fn replace(&mut self, fresh: &FreshStart) -> Result<(), FreshError> {
        let mut builder = (*self.builder).clone();
        builder.options.begin_anew(fresh.mode.clone());
        builder.tape = builder.tape.as_ref().map(Tape::next);
        let next = builder.connect().await?;
        let before = std::mem::replace(self, next);
        before.close().await;
        Ok(())
    }
}
