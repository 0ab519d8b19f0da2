//! The control requests, each a method.

use countersign_protocol::control::ControlRequest;
use countersign_protocol::permission::PermissionMode;
use countersign_protocol::request::{
    ClientRequest, Interrupt, InterruptResponse, McpMessage, SetPermissionMode,
};
use countersign_protocol::{Frame as _, RawJson, ToCli};

use super::handle::SessionHandle;
use super::shared::Shared;
use crate::error::ControlError;

/// The turn, the mode and the model.
impl SessionHandle {
    /// Stops the running turn. It ends with a result that says so; messages that are queued
    /// survive, and the receipt names them (2.1.325).
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn interrupt(&self) -> Result<InterruptResponse, ControlError> {
        self.call(Interrupt::new()).await
    }

    /// Changes the permission mode, now: before the first message, in a turn, or after one.
    ///
    /// When it returns, the CLI has said that the mode is in force.
    ///
    /// # Errors
    /// As [`call`](Self::call). Bypassing permissions needs a session that was started with the
    /// permission for it.
    pub async fn set_permission_mode(&self, mode: PermissionMode) -> Result<(), ControlError> {
        let asked = mode.clone();
        let response = self.call(SetPermissionMode::new(mode)).await?;
        // Old versions say yes to anything; what counts is what they say it is now.
        if let Some(now) = response.mode
            && now != asked
        {
            return Err(ControlError::NotAsAsked {
                subtype: "set_permission_mode".to_owned(),
                what: format!("the mode is {now} and not {asked}"),
            });
        }
        self.shared().snapshot.send_modify(|snapshot| snapshot.permission_mode = Some(asked));
        Ok(())
    }
}

/// Carries a message of an in-process MCP server. Nobody waits for the answer, which says nothing.
#[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "there are no such servers"))]
pub(super) fn post_mcp_message(shared: &Shared, server: &str, message: RawJson) {
    post(shared, McpMessage::new(server, message).into());
}

/// Interrupts the running turn without waiting for the receipt.
pub(super) fn post_interrupt(shared: &Shared) {
    post(shared, Interrupt::new().into());
}

fn post(shared: &Shared, request: ClientRequest) {
    let frame = ToCli::from(ControlRequest::new(shared.next_request_id(), request));
    match frame.to_line() {
        // A session that has ended has nobody to tell.
        Ok(line) => drop(shared.outbox.push(&line)),
        Err(error) => tracing::warn!(%error, "a request cannot be written"),
    }
}
