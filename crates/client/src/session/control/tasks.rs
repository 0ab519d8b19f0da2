//! Tasks beside the conversation: commands and sub-agents.

use countersign_protocol::ids::{TaskId, ToolUseId};
use countersign_protocol::request::{
    BackgroundTasks, GetTaskOutput, GetTaskOutputResponse, StopTask,
};

use crate::error::ControlError;
use crate::session::SessionHandle;

/// Tasks.
impl SessionHandle {
    /// Stops a background task. A message says when it has ended. From 2.1.197 on a task that does
    /// not exist is no error.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn stop_task(&self, task: impl Into<TaskId>) -> Result<(), ControlError> {
        self.call(StopTask::new(task)).await.map(drop)
    }

    /// Moves all commands and sub-agents that the turn waits for to the background. From 2.1.197 on.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn background_tasks(&self) -> Result<(), ControlError> {
        self.call(BackgroundTasks::new()).await.map(drop)
    }

    /// Moves one tool call to the background, and says whether it was moved. From 2.1.197 on.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn background_tool_call(
        &self,
        call: impl Into<ToolUseId>,
    ) -> Result<bool, ControlError> {
        let response = self.call(BackgroundTasks::new().with_tool_use_id(call)).await?;
        Ok(response.backgrounded.unwrap_or(false))
    }

    /// The end of the output of a background command: the last 8 KiB. From 2.1.325 on.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn task_output(
        &self,
        task: impl Into<TaskId>,
    ) -> Result<GetTaskOutputResponse, ControlError> {
        self.call(GetTaskOutput::new(task)).await
    }
}
