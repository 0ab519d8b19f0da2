//! The control requests, each a method, by topic.
//!
//! Methods say since which version there is such a request; an older version is not asked, and the
//! answer is [`ControlError::Unsupported`](crate::ControlError::Unsupported). When the version is
//! not known, the CLI is asked. Requests marked *unstable* are not part of the CLI's public types
//! and may change with any release.

mod check;
mod conversation;
mod files;
mod mcp;
mod model;
mod raw;
mod session;
mod settings;
mod tasks;
mod turn;
mod usage;

use countersign_protocol::control::ControlRequest;
use countersign_protocol::request::{ClientRequest, Interrupt, McpMessage};
use countersign_protocol::{Frame as _, RawJson, ToCli};

use super::shared::Shared;

pub(super) use self::check::SetsMode;
pub(super) use self::raw::RawRequest;

/// Carries a message of an in-process MCP server. Nobody waits for the answer, which says nothing.
///
/// To a CLI that does not read, no reports of progress are carried: a tool may make any number of
/// them, and waits for nobody.
#[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "there are no such servers"))]
pub(super) fn post_mcp_message(shared: &Shared, server: &str, message: RawJson) {
    if !(shared.outbox.is_full() && is_progress(&message)) {
        post(shared, McpMessage::new(server, message).into());
    }
}

fn is_progress(message: &RawJson) -> bool {
    #[derive(serde::Deserialize)]
    struct Method {
        method: String,
    }
    let method = serde_json::from_str::<Method>(message.as_str());
    method.is_ok_and(|Method { method }| method == "notifications/progress")
}

/// Interrupts the running turn without waiting for the receipt.
pub(super) fn post_interrupt(shared: &Shared) {
    post(shared, Interrupt::new().into());
}

fn post(shared: &Shared, request: ClientRequest) {
    let frame = ToCli::from(ControlRequest::new(shared.next_post_id(), request));
    match frame.to_line() {
        // A session that has ended has nobody to tell.
        Ok(line) => drop(shared.outbox.push(&line)),
        Err(error) => tracing::warn!(%error, "a request cannot be written"),
    }
}
