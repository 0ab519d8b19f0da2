//! The model and how it thinks.

use countersign_protocol::request::{
    ListModels, ModelInfo, SetMaxThinkingTokens, SetModel, ThinkingDisplay,
};

use crate::error::ControlError;
use crate::session::SessionHandle;

/// The model.
impl SessionHandle {
    /// Changes the model from the next turn on, and gives the id that the name stands for (from
    /// 2.1.325 on).
    ///
    /// A model that does not exist is accepted: it is refused by the API, in the turn that uses it.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn set_model(
        &self,
        model: impl Into<String>,
    ) -> Result<Option<String>, ControlError> {
        Ok(self.call(SetModel::new(model)).await?.model)
    }

    /// Goes back to the default model, as [`set_model`](Self::set_model).
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn reset_model(&self) -> Result<Option<String>, ControlError> {
        Ok(self.call(SetModel::reset()).await?.model)
    }

    /// The models that can be chosen now. From 2.1.325 on; [`models`](Self::models) are those of the
    /// start, on every version.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn list_models(&self) -> Result<Vec<ModelInfo>, ControlError> {
        Ok(self.call(ListModels::new()).await?.models)
    }

    /// Changes with how many tokens the model may think; `None` goes back to what the session began
    /// with, and 0 turns thinking off where the model lets it. Any other number is for models that
    /// think with a budget, such as Claude Sonnet 4.5; newer ones think as much as they see fit.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn set_max_thinking_tokens(&self, tokens: Option<u64>) -> Result<(), ControlError> {
        let request = match tokens {
            Some(tokens) => SetMaxThinkingTokens::new().with_max_thinking_tokens(tokens),
            None => SetMaxThinkingTokens::reset(),
        };
        self.call(request).await.map(drop)
    }

    /// Changes how thinking is shown; `None` goes back to the CLI's own way.
    ///
    /// Before 2.1.325 the CLI also takes back what
    /// [`set_max_thinking_tokens`](Self::set_max_thinking_tokens) has set, which is to be set again
    /// then; 2.1.62 does nothing else.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn set_thinking_display(
        &self,
        display: Option<ThinkingDisplay>,
    ) -> Result<(), ControlError> {
        let request = match display {
            Some(display) => SetMaxThinkingTokens::new().with_thinking_display(display),
            None => SetMaxThinkingTokens::new().reset_display(),
        };
        self.call(request).await.map(drop)
    }
}
