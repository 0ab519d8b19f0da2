//! The conversation: ask beside it, cut it back, take it along.

use countersign_protocol::ids::MessageUuid;
use countersign_protocol::request::{
    Call as _, ExportConversation, ExportConversationResponse, GetPlan, GetPlanResponse,
    RewindConversation, RewindConversationResponse, SetPromptSuggestionsPaused, SideQuestion,
    SideQuestionResponse,
};

use crate::error::ControlError;
use crate::session::SessionHandle;

/// The conversation.
impl SessionHandle {
    /// Asks the model something beside the conversation, which stays as it is. One at a time; when
    /// the future is dropped, the question is withdrawn. From 2.1.197 on. *Unstable.*
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn side_question(
        &self,
        question: impl Into<String>,
    ) -> Result<SideQuestionResponse, ControlError> {
        self.call(SideQuestion::new(question)).await
    }

    /// The plan file of the session. From 2.1.325 on. *Unstable.*
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn plan(&self) -> Result<GetPlanResponse, ControlError> {
        self.call(GetPlan::new()).await
    }

    /// The conversation as the terminal would show it. From 2.1.325 on. *Unstable.*
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn export_conversation(&self) -> Result<ExportConversationResponse, ControlError> {
        self.call(ExportConversation::new()).await
    }

    /// Cuts the conversation back to before a message of the user. Files stay as they are; see
    /// [`rewind_files`](Self::rewind_files). From 2.1.197 on. *Unstable.*
    ///
    /// # Errors
    /// As [`call`](Self::call), and [`ControlError::NotAsAsked`] when the CLI says why it was not
    /// done.
    pub async fn rewind_conversation(
        &self,
        message: impl Into<MessageUuid>,
    ) -> Result<RewindConversationResponse, ControlError> {
        let response = self.call(RewindConversation::new(message)).await?;
        if response.rewound {
            return Ok(response);
        }
        let why = response.error.or(response.reason);
        Err(ControlError::NotAsAsked {
            subtype: RewindConversation::SUBTYPE.to_owned(),
            what: why.unwrap_or_else(|| "the conversation is as it was".to_owned()),
        })
    }

    /// Holds back suggested prompts, or lets them come again. From 2.1.325 on. *Unstable.*
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn pause_prompt_suggestions(&self, paused: bool) -> Result<(), ControlError> {
        self.call(SetPromptSuggestionsPaused::new(paused)).await.map(drop)
    }
}
