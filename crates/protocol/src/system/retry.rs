//! `system` frames about requests that take a while or go wrong.

use countersign_protocol_derive::WireObject;

use crate::ids::{ApiRequestId, MessageUuid, RequestId, SessionId};
use crate::message::AssistantErrorKind;
use crate::names::open_enum;
use crate::wire::{Extra, Num};

/// A request to the API failed and is tried again.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ApiRetry {
    /// The number of the attempt that failed, from 1.
    pub attempt: u64,
    /// How often it is tried at most.
    pub max_retries: u64,
    /// How long it waits before the next attempt.
    pub retry_delay_ms: Num,
    /// The HTTP status; none when there was no answer.
    pub error_status: Option<u64>,
    /// What went wrong.
    pub error: Option<AssistantErrorKind>,
    /// How long it was waited for an answer that did not come.
    pub no_response: Option<NoResponse>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A request that got no answer.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct NoResponse {
    /// How long it was waited.
    pub waited_ms: Option<Num>,
    /// How long it waits before the next attempt.
    pub retry_wait_ms: Option<Num>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A control request of the client is being worked on.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ControlRequestProgress {
    /// The request.
    pub request_id: RequestId,
    /// What is happening.
    pub status: ControlRequestStatus,
    /// The number of the attempt that failed.
    pub attempt: Option<u64>,
    /// How often it is tried at most.
    pub max_retries: Option<u64>,
    /// How long it waits before the next attempt.
    pub retry_delay_ms: Option<Num>,
    /// The HTTP status.
    pub error_status: Option<u64>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Another model took over, because the first one was overloaded.
///
/// Not in the public types; seen on 2.1.197 and 2.1.325.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ModelFallback {
    /// The first model.
    pub original_model: String,
    /// The one that took over.
    pub fallback_model: String,
    /// Why: `overloaded`.
    pub trigger: Option<String>,
    /// The same in words.
    pub content: Option<String>,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The model refused, and another one took over.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ModelRefusalFallback {
    /// Always `refusal`.
    pub trigger: Option<String>,
    /// What happened.
    pub direction: FallbackDirection,
    /// How long it holds.
    pub scope: Option<FallbackScope>,
    /// The model that refused.
    pub original_model: String,
    /// The one that took over.
    pub fallback_model: String,
    /// The request to the API.
    pub request_id: Option<ApiRequestId>,
    /// What kind of refusal.
    pub api_refusal_category: Option<String>,
    /// Why, in words.
    pub api_refusal_explanation: Option<String>,
    /// Messages that no longer count.
    pub retracted_message_uuids: Option<Vec<MessageUuid>>,
    /// The message that was refused.
    pub refused_user_message_uuid: Option<MessageUuid>,
    /// The same in words.
    pub content: String,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The model refused, and no other one took over.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ModelRefusalNoFallback {
    /// The model that refused.
    pub original_model: String,
    /// The request to the API.
    pub request_id: Option<ApiRequestId>,
    /// What kind of refusal.
    pub api_refusal_category: Option<String>,
    /// Why, in words.
    pub api_refusal_explanation: Option<String>,
    /// The message that was refused.
    pub refused_user_message_uuid: Option<MessageUuid>,
    /// The same in words.
    pub content: String,
    /// Names this frame.
    pub uuid: Option<MessageUuid>,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Fields this type does not name.
    pub extra: Extra,
}

open_enum! {
    /// What is happening to a control request.
    ControlRequestStatus {
        /// It was begun.
        Started = "started",
        /// The API failed, and it is tried again.
        ApiRetry = "api_retry",
    }

    /// How a conversation moves between models after a refusal.
    FallbackDirection {
        /// The message is tried on the other model.
        Retry = "retry",
        /// The conversation is back on the first model.
        Revert = "revert",
        /// The conversation stays on the other model.
        Sticky = "sticky",
    }

    /// How long a fallback holds.
    FallbackScope {
        /// For the session.
        Session = "session",
        /// For this turn.
        Local = "local",
    }
}
