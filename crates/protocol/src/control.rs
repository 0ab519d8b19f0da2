//! The envelope of control traffic, in both directions.

use countersign_protocol_derive::{WireObject, WireTagged};

use crate::ask::{Ask, CliRequest};
use crate::ids::RequestId;
use crate::request::ErrorCode;
use crate::wire::{Extra, Named, RawJson};

/// A request, to be answered exactly once: [`CliRequest`] when the CLI asks,
/// [`ClientRequest`](crate::request::ClientRequest) when the client does.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ControlRequest<R> {
    /// Names the request; the answer carries the same.
    pub request_id: RequestId,
    /// What is asked.
    #[wire(decisive)]
    pub request: R,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ControlResponse {
    /// The answer.
    #[wire(decisive)]
    pub response: Response,
    /// Fields this type does not name.
    pub extra: Extra,
}

impl ControlResponse {
    /// Answers a request of the CLI, with an answer of the right type.
    ///
    /// # Errors
    /// When the answer cannot be written as JSON.
    pub fn answer<A: Ask>(
        request_id: impl Into<RequestId>,
        answer: &A::Answer,
    ) -> Result<Self, serde_json::Error> {
        Ok(Self::new(Success::new(request_id).with_response(RawJson::from_value(answer)?)))
    }

    /// Refuses a request of the CLI. A permission request that is refused this way denies the
    /// tool.
    #[must_use]
    pub fn refusal(request_id: impl Into<RequestId>, error: impl Into<String>) -> Self {
        Self::new(Failure::new(request_id, error))
    }
}

/// An answer, by whether the request could be carried out.
#[derive(Debug, Clone, PartialEq, WireTagged)]
#[wire(tag = "subtype")]
#[non_exhaustive]
pub enum Response {
    /// It was carried out.
    #[wire(name = "success")]
    Success(Success),
    /// It was not.
    #[wire(name = "error")]
    Error(Failure),
    /// An answer this crate does not know. The CLI takes it for a refusal.
    #[wire(other)]
    Other(Named),
}

impl Response {
    /// The request that is answered.
    ///
    /// The CLI answers a request that has no id with a response that has none; nobody waits for
    /// that one.
    #[must_use]
    pub fn request_id(&self) -> Option<RequestId> {
        match self {
            Self::Success(success) => success.request_id.clone(),
            Self::Error(failure) => failure.request_id.clone(),
            // Whoever waits for it should learn that something came.
            Self::Other(named) => named.fields.get("request_id")?.read().ok(),
        }
    }
}

/// A request was carried out.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct Success {
    /// The request. See [`Response::request_id`] for when it is absent.
    #[wire(new)]
    pub request_id: Option<RequestId>,
    /// The payload; its type depends on the request. Absent for a mere acknowledgement.
    pub response: Option<RawJson>,
    /// Permission requests that still wait for an answer, as whole frames; see
    /// [`pending_requests`]. In the answer to `initialize`, for a client that attaches again.
    pub pending_permission_requests: Option<Vec<RawJson>>,
    /// Dialogs that still wait for an answer.
    pub pending_user_dialog_requests: Option<Vec<RawJson>>,
    /// Elicitations that still wait for an answer.
    pub pending_elicitation_requests: Option<Vec<RawJson>>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// A request was not carried out.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct Failure {
    /// The request. See [`Response::request_id`] for when it is absent.
    #[wire(new)]
    pub request_id: Option<RequestId>,
    /// Why, in words.
    pub error: String,
    /// Why, as a code. Since some version after 2.1.197.
    pub error_code: Option<ErrorCode>,
    /// The model that a refused switch was about.
    pub model: Option<String>,
    /// Permission requests that still wait for an answer, as whole frames; see
    /// [`pending_requests`].
    pub pending_permission_requests: Option<Vec<RawJson>>,
    /// Dialogs that still wait for an answer.
    pub pending_user_dialog_requests: Option<Vec<RawJson>>,
    /// Elicitations that still wait for an answer.
    pub pending_elicitation_requests: Option<Vec<RawJson>>,
    /// Fields this type does not name.
    pub extra: Extra,
}

/// Reads requests that still wait for an answer, out of a list in a response.
///
/// They are kept as text there, so that one that cannot be read does not take the others, and the
/// response itself, with it. Each is decoded like the line it once was.
pub fn pending_requests(
    pending: &[RawJson],
) -> impl Iterator<Item = Result<ControlRequest<CliRequest>, serde_json::Error>> {
    pending.iter().map(RawJson::read)
}

/// Whoever asked no longer wants the answer.
///
/// From the CLI: take the question away and send nothing.
#[derive(Debug, Clone, PartialEq, WireObject)]
#[non_exhaustive]
pub struct ControlCancelRequest {
    /// The request.
    pub request_id: RequestId,
    /// Fields this type does not name.
    pub extra: Extra,
}
