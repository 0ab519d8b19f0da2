//! The duty to answer.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use countersign_protocol::control::ControlResponse;
use countersign_protocol::ids::RequestId;
use countersign_protocol::permission::{Deny, PermissionResult};
use countersign_protocol::{EncodeError, Frame as _, ToCli, encode_line};
use serde::Serialize;
use tokio_util::sync::CancellationToken;
use tracing::Span;

use super::shared::{Asked, Shared};
use super::spans;
use crate::hook::Hook;

/// The duty to answer one request of the CLI.
///
/// It is done once. When it is dropped undone, because a handler panicked or was dropped itself,
/// it is done with what [`Failing`] says, which never lets anything happen.
#[derive(Debug)]
pub(super) struct Duty {
    shared: Arc<Shared>,
    request_id: RequestId,
    cancelled: CancellationToken,
    /// What is told of it.
    span: Span,
    done: bool,
}

/// What is answered when there is no answer.
#[derive(Debug)]
pub(super) enum Failing {
    /// The tool does not run.
    Deny {
        /// When the CLI asked.
        asked: Instant,
    },
    /// What the hook was asked about does not happen, unless it was set up otherwise.
    Hook(Arc<Hook>),
    /// An error, which the CLI takes for a refusal, too.
    Error,
}

impl Duty {
    /// Takes on a request of the CLI. None if it was taken on already: asked twice, it has one
    /// answer.
    pub(super) fn take_on(
        shared: &Arc<Shared>,
        request_id: RequestId,
        kind: &'static str,
        failing: Failing,
        asked: Asked,
    ) -> Option<Self> {
        let cancelled = shared.open(&request_id, failing, asked)?;
        let span = spans::handler(shared, kind, &request_id);
        Some(Self { shared: Arc::clone(shared), request_id, cancelled, span, done: false })
    }

    /// The request.
    pub(super) fn request_id(&self) -> &RequestId {
        &self.request_id
    }

    /// Says that the CLI wants no answer any more.
    pub(super) fn cancelled(&self) -> CancellationToken {
        self.cancelled.clone()
    }

    /// What is told of it.
    pub(super) fn span(&self) -> &Span {
        &self.span
    }

    /// Answers; what is to be said `before` goes directly before it, so that the CLI has it when
    /// it acts on the answer. Says whether the answer is on its way: it is not when the CLI wants
    /// it no more.
    pub(super) fn answer<T: Serialize>(mut self, payload: &T, before: Option<&ToCli>) -> bool {
        let lines = success(&self.request_id, payload).and_then(|answer| {
            let Some(before) = before else { return Ok(answer) };
            let mut lines = before.to_line()?;
            lines.extend_from_slice(&answer);
            Ok(lines)
        });
        match lines {
            Ok(lines) => {
                self.done = true;
                let is_wanted = self.shared.answer(&self.request_id, &lines);
                self.span.record("outcome", if is_wanted { "answered" } else { "not wanted" });
                is_wanted
            }
            Err(error) => {
                self.fail("the answer cannot be written", Some(&error));
                false
            }
        }
    }

    /// Answers that there is no answer, and why.
    ///
    /// What went wrong is told; the words of the error, which may quote what was asked, only to
    /// the CLI.
    pub(super) fn fail(&mut self, what: &'static str, error: Option<&dyn fmt::Display>) {
        self.done = true;
        self.span.record("outcome", what);
        let reason = match error {
            Some(error) => format!("{what}: {error}"),
            None => what.to_owned(),
        };
        if let Some(denied) = self.shared.refuse_deciding(&self.request_id, &reason) {
            self.span.record("decision", denied.name());
        }
        tracing::warn!(parent: &self.span, what, "refused");
    }
}

impl Failing {
    /// The answer that there is no answer, and why.
    pub(super) fn line(&self, id: &RequestId, reason: &str) -> Result<Vec<u8>, EncodeError> {
        match self {
            Self::Deny { .. } => success(id, &PermissionResult::from(Deny::new(reason))),
            Self::Hook(hook) => match hook.failed(reason) {
                Some(output) => success(id, &output),
                None => refusal(id, reason),
            },
            Self::Error => refusal(id, reason),
        }
    }
}

impl Drop for Duty {
    fn drop(&mut self) {
        if !self.done {
            let reason = if std::thread::panicking() {
                "the handler panicked, so this is refused"
            } else {
                "the handler was dropped without an answer, so this is refused"
            };
            self.fail(reason, None);
        }
    }
}

/// An answer as it goes over the wire. The types of the protocol would have the payload copied
/// twice, and the input of a tool can be long.
#[derive(Serialize)]
struct Answer<'a, T> {
    r#type: &'static str,
    response: Carried<'a, T>,
}

#[derive(Serialize)]
struct Carried<'a, T> {
    subtype: &'static str,
    request_id: &'a str,
    response: &'a T,
}

fn success<T: Serialize>(id: &RequestId, payload: &T) -> Result<Vec<u8>, EncodeError> {
    let response = Carried { subtype: "success", request_id: id.as_str(), response: payload };
    encode_line(&Answer { r#type: "control_response", response })
}

fn refusal(id: &RequestId, reason: &str) -> Result<Vec<u8>, EncodeError> {
    ToCli::from(ControlResponse::refusal(id.clone(), reason)).to_line()
}
