//! What was used, and what it cost.

use countersign_protocol::request::{
    GetContextUsage, GetContextUsageResponse, GetSessionCost, GetUsage, GetUsageResponse,
};

use crate::error::ControlError;
use crate::session::SessionHandle;

/// Usage.
impl SessionHandle {
    /// What the context is filled with. Figures are estimates. From 2.1.197 on.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn context_usage(&self) -> Result<GetContextUsageResponse, ControlError> {
        self.call(GetContextUsage::new()).await
    }

    /// What the session used, and how much of the plan's limits. What usage consists of, which takes
    /// long to find out, is left out; see [`GetUsage`] for that. From 2.1.197 on.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn usage(&self) -> Result<GetUsageResponse, ControlError> {
        self.call(GetUsage::new().with_skip_behaviors(true)).await
    }

    /// What `/cost` shows: text for a person. For figures see [`usage`](Self::usage). From 2.1.197
    /// on.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn session_cost(&self) -> Result<String, ControlError> {
        Ok(self.call(GetSessionCost::new()).await?.text)
    }
}
