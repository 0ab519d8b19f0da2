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

use super::shared::{Asked, Refused, Shared};
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

    /// Answers.
    pub(super) fn answer<T: Serialize>(self, payload: &T) {
        self.answer_with(payload, None, || ());
    }

    /// Answers; what is to be said `before` goes directly before it, so that the CLI has it when
    /// it acts on the answer. For the same reason `note` is called before anything goes out: what
    /// comes of the answer may be read elsewhere before this returns. Neither is done when the CLI
    /// wants no answer any more.
    pub(super) fn answer_with<T: Serialize>(
        mut self,
        payload: &T,
        before: Option<&ToCli>,
        note: impl FnOnce(),
    ) {
        let lines = success(&self.request_id, payload).and_then(|answer| {
            let Some(before) = before else { return Ok(answer) };
            let mut lines = before.to_line()?;
            lines.extend_from_slice(&answer);
            Ok(lines)
        });
        match lines {
            Ok(lines) => {
                self.done = true;
                let is_wanted = self.shared.answer(&self.request_id, &lines, note);
                self.span.record("outcome", if is_wanted { "answered" } else { "not wanted" });
            }
            Err(error) => self.fail("the answer cannot be written", Some(&error)),
        }
    }

    /// Answers that there is no answer, and why.
    ///
    /// What went wrong is told; the words of the error, which may quote what was asked, only to
    /// the CLI.
    pub(super) fn fail(&mut self, what: &'static str, error: Option<&dyn fmt::Display>) {
        self.done = true;
        let reason = match error {
            Some(error) => format!("{what}: {error}"),
            None => what.to_owned(),
        };
        match self.shared.refuse_deciding(&self.request_id, &reason) {
            // It was parked, or withdrawn: a handler that gives up then has done nothing wrong.
            Refused::NotWanted => {
                self.span.record("outcome", "not wanted");
                tracing::debug!(parent: &self.span, what, "given up, and not wanted any more");
                return;
            }
            Refused::Permission(denied) => {
                self.span.record("outcome", what).record("decision", denied.name());
            }
            Refused::Other => {
                self.span.record("outcome", what);
            }
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use countersign_protocol::RawJson;
    use countersign_protocol::request::Initialize;
    use rustix::io::ioctl_fionread;
    use tokio::net::unix::pipe;

    use super::*;
    use crate::counters::Counters;
    use crate::link::Outbox;
    use crate::session::place::Place;
    use crate::session::shared::Setup;
    use crate::session::snapshot::Snapshot;

    fn shared(outbox: Outbox) -> Arc<Shared> {
        let place = Place { cwd: "/".into(), config_home: None, mark: None };
        let setup = Setup {
            verbatim: false,
            may_bypass: false,
            in_process_mcp: Vec::new(),
            initialize: Initialize::new(),
        };
        let (snapshot, limit) = (Snapshot::default(), Duration::from_secs(60));
        Shared::new(
            outbox,
            Span::none(),
            Arc::new(Counters::default()),
            snapshot,
            place,
            setup,
            limit,
        )
    }

    #[tokio::test]
    async fn what_is_decided_is_noted_before_the_cli_can_act_on_it() {
        let (reader, writer) = std::io::pipe().unwrap();
        let sender = pipe::Sender::from_owned_fd(writer.into()).unwrap();
        // Else what is sent would wait for the owner of a session, who is not here.
        sender.writable().await.unwrap();
        let shared = shared(Outbox::new(sender, None, None));
        let take_on =
            || Duty::take_on(&shared, "r1".into(), "permission", Failing::Error, Asked::Person);
        let duty = take_on().unwrap();
        let mut sent_before = None;
        let payload = RawJson::empty_object();
        duty.answer_with(&payload, None, || sent_before = ioctl_fionread(&reader).ok());
        assert_eq!(sent_before, Some(0));
        assert!(ioctl_fionread(&reader).unwrap() > 0);

        let duty = take_on().unwrap();
        shared.cancelled(&"r1".into());
        duty.answer_with(&payload, None, || panic!("nothing is decided that is not wanted"));
    }

    #[tokio::test]
    async fn a_handler_that_gives_up_what_nobody_wants_has_not_refused_it() {
        let (_reader, writer) = std::io::pipe().unwrap();
        let sender = pipe::Sender::from_owned_fd(writer.into()).unwrap();
        let shared = shared(Outbox::new(sender, None, None));
        let asked = || Asked::Person;
        let _duty = Duty::take_on(&shared, "r1".into(), "permission", Failing::Error, asked());
        let refused = || shared.refuse_deciding(&"r1".into(), "the handler failed");
        assert!(matches!(refused(), Refused::Other));
        assert!(matches!(refused(), Refused::NotWanted));
    }
}
