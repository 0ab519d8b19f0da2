//! What a session tells about itself: spans with names, ids and outcomes. What is said in the
//! session is told at the level TRACE alone.

use countersign_protocol::ids::{RequestId, SessionId};
use tracing::Span;
use tracing::field::Empty;

use super::shared::Shared;
use super::snapshot::Snapshot;
use crate::error::ControlError;

/// A session, within the span in which it is started.
pub(super) fn session(known: &Snapshot) -> Span {
    let span = tracing::info_span!("session", session_id = Empty, pid = Empty);
    if let Some(session) = &known.session_id {
        span.record("session_id", session.as_str());
    }
    span
}

/// The CLI says which session it is.
pub(super) fn session_is(shared: &Shared, session: &SessionId) {
    // Only when it is news: whoever writes spans down writes each value.
    if shared.snapshot.borrow().session_id.as_ref() != Some(session) {
        shared.span.record("session_id", session.as_str());
    }
}

/// A control request of ours. One that was withdrawn has no outcome.
pub(super) fn request(shared: &Shared, subtype: &str, id: &RequestId) -> Span {
    tracing::debug_span!(
        parent: &shared.span,
        "control_request",
        subtype,
        request_id = id.as_str(),
        outcome = Empty,
    )
}

/// What came of a control request, in a word.
pub(super) fn outcome<T>(answer: &Result<T, ControlError>) -> &'static str {
    match answer {
        Ok(_) => "success",
        Err(ControlError::Refused { .. }) => "refused",
        Err(ControlError::Timeout { .. }) => "timeout",
        Err(ControlError::SessionEnded { .. }) => "ended",
        Err(_) => "unreadable",
    }
}

/// A request of the CLI, while it is answered. What its handler logs belongs to it.
pub(super) fn handler(shared: &Shared, kind: &'static str, id: &RequestId) -> Span {
    tracing::debug_span!(
        parent: &shared.span,
        "handler",
        kind,
        request_id = id.as_str(),
        tool = Empty,
        tool_use_id = Empty,
        event = Empty,
        server = Empty,
        decision = Empty,
        outcome = Empty,
    )
}
