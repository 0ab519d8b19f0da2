//! The running turn, what is queued behind it, and the mode.

use countersign_protocol::ids::MessageUuid;
use countersign_protocol::permission::PermissionMode;
use countersign_protocol::request::{
    Call as _, CancelAsyncMessage, Interrupt, InterruptResponse, SetPermissionMode,
};

use crate::error::ControlError;
use crate::session::SessionHandle;

/// The turn and the mode.
impl SessionHandle {
    /// Stops the running turn. It ends with a result that says so; messages that are queued
    /// survive, and the receipt names them (from 2.1.325 on).
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn interrupt(&self) -> Result<InterruptResponse, ControlError> {
        self.call(Interrupt::new()).await
    }

    /// Stops the running turn and drops the messages that are queued; the receipt names them.
    ///
    /// From 2.1.325 on. Older versions would leave the messages in the queue, so they are not asked.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn interrupt_and_drop_queued(&self) -> Result<InterruptResponse, ControlError> {
        self.call(Interrupt::new().with_cancel_queued(true)).await
    }

    /// Withdraws a message that waits in the queue of the CLI, and says whether it was still there.
    /// Whoever waits for its turn learns of it ([`Dropped::Withdrawn`](crate::Dropped)). From
    /// 2.1.197 on.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn cancel_message(
        &self,
        message: impl Into<MessageUuid>,
    ) -> Result<bool, ControlError> {
        let message = message.into();
        let answer = self.call(CancelAsyncMessage::new(message.clone())).await?;
        if answer.cancelled {
            self.shared().withdrawn(&message);
        }
        Ok(answer.cancelled)
    }

    /// Changes the permission mode, now: before the first message, in a turn, or after one.
    ///
    /// When it returns, the CLI has said that the mode is in force, and the
    /// [`snapshot`](Self::snapshot) has it. [`PermissionMode::Manual`] is sent as `default`, which
    /// is the same. [`PermissionMode::Auto`] needs 2.1.197.
    ///
    /// # Errors
    /// As [`call`](Self::call). Bypassing permissions needs a session that was set up with
    /// [`allow_dangerously_skip_permissions`](crate::SessionBuilder::allow_dangerously_skip_permissions);
    /// versions that would obey all the same are not asked
    /// ([`ControlError::Forbidden`]).
    pub async fn set_permission_mode(&self, mode: PermissionMode) -> Result<(), ControlError> {
        let asked = match mode {
            PermissionMode::Manual => PermissionMode::Default,
            mode => mode,
        };
        let response = self.call(SetPermissionMode::new(asked.clone())).await?;
        // Old versions say yes to anything; what counts is what they say it is now.
        match response.mode {
            Some(now) if now == asked => Ok(()),
            now => Err(ControlError::NotAsAsked {
                subtype: SetPermissionMode::SUBTYPE.to_owned(),
                what: match now {
                    Some(now) => format!("the mode is {now} and not {asked}"),
                    None => format!("it does not say that the mode is {asked}"),
                },
            }),
        }
    }
}
