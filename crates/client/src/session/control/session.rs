//! The session as a whole.

use countersign_protocol::request::{
    AccountInfo, AgentInfo, EndSession, GenerateSessionTitle, GetBinaryVersion,
    GetBinaryVersionResponse, GetStatus, InitializeResponse, ModelInfo, RenameSession, SetColor,
    SetCwd, SetCwdResponse, SetHasSubscribers, SlashCommand, StatusSection,
};

use crate::cli::Capability;
use crate::error::ControlError;
use crate::session::SessionHandle;

/// What the CLI said of itself at the start.
impl SessionHandle {
    /// The slash commands and skills.
    #[must_use]
    pub fn commands(&self) -> &[SlashCommand] {
        self.initialization().and_then(|said| said.commands.as_deref()).unwrap_or_default()
    }

    /// The models that can be chosen.
    #[must_use]
    pub fn models(&self) -> &[ModelInfo] {
        self.initialization().and_then(|said| said.models.as_deref()).unwrap_or_default()
    }

    /// The sub-agents. Before 2.1.197 the CLI does not tell, and there are none here.
    #[must_use]
    pub fn agents(&self) -> &[AgentInfo] {
        self.initialization().and_then(|said| said.agents.as_deref()).unwrap_or_default()
    }

    /// Who pays, and how the CLI is logged in.
    #[must_use]
    pub fn account(&self) -> Option<&AccountInfo> {
        self.initialization().and_then(|said| said.account.as_ref())
    }

    /// Sends `initialize` again as it was sent at the start, and gives what the CLI says now. From
    /// 2.1.197 on.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn reinitialize(&self) -> Result<InitializeResponse, ControlError> {
        self.need(Capability::REPEAT_INITIALIZE)?;
        self.call(self.shared().setup.initialize.clone()).await
    }
}

/// The session.
impl SessionHandle {
    /// Gives the session a title, in its transcript. From 2.1.197 on.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn rename_session(&self, title: impl Into<String>) -> Result<(), ControlError> {
        self.call(RenameSession::new(title)).await.map(drop)
    }

    /// Has the model make a title of a description; none if it could not. The session keeps the
    /// title it has. From 2.1.197 on. *Unstable.*
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn generate_session_title(
        &self,
        description: impl Into<String>,
    ) -> Result<Option<String>, ControlError> {
        let request = GenerateSessionTitle::new(description).with_persist(false);
        Ok(self.call(request).await?.title)
    }

    /// Sets the accent colour. It is in the public types of the CLI, but every tested version
    /// refuses it over pipes.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn set_color(&self, color: impl Into<String>) -> Result<(), ControlError> {
        self.call(SetColor::new(color)).await.map(drop)
    }

    /// The version of the program, and when it was built. From 2.1.197 on; the version alone is in
    /// the [`snapshot`](Self::snapshot).
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn binary_version(&self) -> Result<GetBinaryVersionResponse, ControlError> {
        self.call(GetBinaryVersion::new()).await
    }

    /// Says whether anybody watches what this program passes on; `None` says that it is not known.
    ///
    /// It only matters to a CLI that holds back pieces of messages: it may hold them longer while
    /// nobody watches. From 2.1.325 on.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn set_has_subscribers(&self, watched: Option<bool>) -> Result<(), ControlError> {
        let request = match watched {
            Some(watched) => SetHasSubscribers::new(watched),
            None => SetHasSubscribers::unknown(),
        };
        self.call(request).await.map(drop)
    }

    /// What `/status` shows: text for a person. From 2.1.325 on. *Unstable.*
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn status(&self) -> Result<Vec<StatusSection>, ControlError> {
        Ok(self.call(GetStatus::new()).await?.sections)
    }

    /// Moves the session to another folder, if that is answered with [`SetCwdResponse::Ok`]. For a
    /// folder that somebody has to trust first, [`SetCwd`] says that they do. From 2.1.325 on.
    /// *Unstable.*
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn set_cwd(&self, folder: impl Into<String>) -> Result<SetCwdResponse, ControlError> {
        self.call(SetCwd::new(folder)).await
    }

    /// Has the CLI end by itself, without waiting for a running turn. From 2.1.197 on. *Unstable*;
    /// [`close`](Self::close) ends every session, and sees to what it leaves.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn end_session(&self) -> Result<(), ControlError> {
        self.call(EndSession::new()).await.map(drop)
    }
}
