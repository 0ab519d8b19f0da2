//! What can be done with a session from anywhere.

use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::ask::CanUseTool;
use countersign_protocol::control::{ControlRequest, Failure, Response};
use countersign_protocol::ids::{MessageUuid, RequestId};
use countersign_protocol::message::UserMessage;
use countersign_protocol::request::{Call, InitializeResponse};
use countersign_protocol::{EncodeError, Frame as _, RawJson, ToCli, encode_line};
use tracing::Instrument as _;

use super::control::{RawRequest, SetsMode};
use super::shared::Shared;
use super::snapshot::{Sent, SessionEnd, Snapshot};
use super::spans;
use super::watch::Watch;
use crate::cli::Capability;
use crate::counters::Stats;
use crate::error::{ControlError, SendError};
use crate::process::{Mark, ProcessId};

/// A handle on a session: sends messages, makes control requests, ends it.
///
/// It is cheap to clone and can be used from any task, also while somebody reads messages or
/// nobody does. It does not keep the session alive.
#[derive(Debug, Clone)]
pub struct SessionHandle {
    shared: Arc<Shared>,
}

/// What is in the answer to a request.
pub(super) fn read_answer<C: Call>(payload: Option<&RawJson>) -> Result<C::Response, ControlError> {
    C::read_response(payload).map_err(|error| ControlError::Unreadable {
        subtype: C::SUBTYPE.to_owned(),
        reason: error.to_string(),
    })
}

impl SessionHandle {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// What is known of the session now.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.shared.snapshot.borrow().clone()
    }

    /// How many requests of the CLI wait for an answer now: permissions, hooks, calls of tools.
    #[must_use]
    pub fn open_requests(&self) -> usize {
        self.shared.open_requests()
    }

    /// What the CLI said of itself at the start: commands, models, agents, the account.
    #[must_use]
    pub fn initialization(&self) -> Option<&InitializeResponse> {
        self.shared.initialization()
    }

    /// Whether the session is coming to its end, or has ended: nothing that the CLI asks can be
    /// answered any more. It tells a request that was withdrawn because of that from one that the CLI
    /// has withdrawn.
    #[must_use]
    pub fn is_ending(&self) -> bool {
        self.shared.ending.load(std::sync::atomic::Ordering::Acquire)
    }

    /// The permissions that the session waits for now.
    #[must_use]
    pub fn open_permissions(&self) -> Vec<Arc<CanUseTool>> {
        self.shared.open_permissions()
    }

    /// The process of the CLI. With it, and with the mark, somebody who comes after a crash can tell
    /// what is left of the session: see [`Leftovers`](crate::process::Leftovers).
    #[must_use]
    pub fn process_id(&self) -> Option<ProcessId> {
        self.shared.process_id()
    }

    /// What the process of the CLI and all that it starts carry.
    #[must_use]
    pub fn mark(&self) -> Option<Mark> {
        self.shared.place().mark
    }

    /// Follows what is known of the session.
    #[must_use]
    pub fn watch(&self) -> Watch {
        Watch::new(self.shared.snapshot.subscribe())
    }

    /// What passed through the session so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.shared.counters.stats()
    }

    /// Sends a message of the user, and returns its id as soon as it is on its way.
    ///
    /// A message that is sent while a turn is running is queued by the CLI or joined to the turn;
    /// see [`UserMessage::priority`](countersign_protocol::message::Priority). One without a `uuid`
    /// is given one: a message with a uuid that the session has seen is dropped by the CLI, so
    /// sending it again is safe. A turn for it ends with [`Dropped::Known`](crate::Dropped).
    ///
    /// # Errors
    /// When the session has ended.
    pub async fn post(&self, mut message: UserMessage) -> Result<MessageUuid, SendError> {
        let sent = Sent::new(&mut message);
        let id = sent.id.clone();
        self.post_as(message, sent).await?;
        Ok(id)
    }

    /// [`post`](Self::post) for a message that has its id.
    pub(crate) async fn post_as(
        &self,
        mut message: UserMessage,
        sent: Sent,
    ) -> Result<(), SendError> {
        if self.shared.setup.verbatim {
            message.client_composed.get_or_insert(true);
        }
        let line = ToCli::from(message).to_line()?;
        crate::process::call_keeper();
        self.shared.outbox.room().await;
        // Before it is sent, so that its result comes later; and not while there is no room, since
        // whoever sends it may give up.
        let id = sent.id.clone();
        self.shared.snapshot.send_if_modified(|snapshot| snapshot.sent(sent));
        if self.shared.outbox.push(&line).is_err() {
            self.shared.snapshot.send_if_modified(|snapshot| snapshot.dropped(&id));
            return Err(SendError::SessionEnded);
        }
        Ok(())
    }

    /// Makes a control request, and waits for its answer.
    ///
    /// Each public request has a method of its own; this is for the others, and for fields that
    /// the methods do not have. When the future is dropped, the request is withdrawn.
    ///
    /// # Errors
    /// When the CLI refuses, does not answer in time, answers something else, or ends.
    pub async fn call<C: Call>(&self, request: C) -> Result<C::Response, ControlError> {
        self.call_within(request, self.shared.request_timeout).await
    }

    /// [`call`](Self::call) with another limit of time.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn call_within<C: Call>(
        &self,
        request: C,
        limit: Duration,
    ) -> Result<C::Response, ControlError> {
        if let Some(capability) = Capability::request(C::SUBTYPE) {
            self.need(capability)?;
        }
        let payload = self.ask(request, limit).await?;
        read_answer::<C>(payload.as_ref())
    }

    /// Makes a request that has a type, and returns what is in its answer.
    pub(super) async fn ask<C: Call>(
        &self,
        request: C,
        limit: Duration,
    ) -> Result<Option<RawJson>, ControlError> {
        let request = request.into();
        let sets_mode = self.check(&request)?;
        let write =
            |id: &RequestId| ToCli::from(ControlRequest::new(id.clone(), request)).to_line();
        self.exchange(C::SUBTYPE, sets_mode, limit, write).await
    }

    /// Makes a control request of any kind; `fields` is the object without its `subtype`.
    ///
    /// It is sent as the text that it is, also when the version of the CLI, or this crate, knows no
    /// such request. What this session may not ask is not sent in this way either.
    ///
    /// # Errors
    /// As [`call`](Self::call), and when `fields` cannot be those of the request.
    pub async fn call_raw(
        &self,
        subtype: &str,
        fields: &RawJson,
    ) -> Result<Option<RawJson>, ControlError> {
        let request = RawRequest::new(subtype, fields)?;
        let sets_mode = self.check_raw(subtype, &request.0)?;
        let limit = self.shared.request_timeout;
        self.exchange(subtype, sets_mode, limit, |id| encode_line(&request.within(id))).await
    }

    /// Makes sure that the CLI can do this, as far as its version is known.
    pub(super) fn need(&self, capability: Capability) -> Result<(), ControlError> {
        let version = self.shared.snapshot.borrow().version;
        Ok(version.map_or(Ok(()), |version| capability.check(version))?)
    }

    async fn exchange(
        &self,
        subtype: &str,
        sets_mode: SetsMode,
        limit: Duration,
        write: impl FnOnce(&RequestId) -> Result<Vec<u8>, EncodeError>,
    ) -> Result<Option<RawJson>, ControlError> {
        let id = self.shared.next_request_id();
        let line = write(&id)
            .map_err(|source| ControlError::NotJson { subtype: subtype.to_owned(), source })?;
        let span = spans::request(&self.shared, subtype, &id);
        let exchange = self.exchange_as(id, subtype, sets_mode, &line, limit);
        let answer = exchange.instrument(span.clone()).await;
        span.record("outcome", spans::outcome(&answer));
        answer
    }

    async fn exchange_as(
        &self,
        id: RequestId,
        subtype: &str,
        SetsMode(sets_mode): SetsMode,
        line: &[u8],
        limit: Duration,
    ) -> Result<Option<RawJson>, ControlError> {
        let ended = || ControlError::SessionEnded { subtype: subtype.to_owned() };
        let exchange = async {
            // First, because a request that is not sent need not be withdrawn.
            self.shared.outbox.room().await;
            let answer = self.shared.expect(id.clone(), sets_mode).ok_or_else(ended)?;
            let withdrawal = Withdrawal { shared: &self.shared, id: Some(id) };
            self.shared.outbox.push(line).map_err(|_| ended())?;
            let response = answer.await.map_err(|_| ended())?.map_err(|reason| {
                ControlError::Unreadable { subtype: subtype.to_owned(), reason }
            })?;
            withdrawal.not_needed();
            Ok::<_, ControlError>(response.response)
        };
        let response = tokio::time::timeout(limit, exchange)
            .await
            .map_err(|_| ControlError::Timeout { subtype: subtype.to_owned(), waited: limit })??;
        match response {
            Response::Success(success) => Ok(success.response),
            Response::Error(Failure { error, error_code, .. }) => Err(ControlError::Refused {
                subtype: subtype.to_owned(),
                message: error,
                code: error_code,
            }),
            other => Err(ControlError::Unreadable {
                subtype: subtype.to_owned(),
                reason: format!("the answer is neither success nor error, but {}", other.name()),
            }),
        }
    }

    /// Ends the session in order, and returns when nothing is left; see
    /// [`Session::close`](crate::Session::close).
    pub async fn close(&self) -> SessionEnd {
        self.shared.close.cancel();
        self.ended().await
    }

    /// Ends the session at once, and returns when nothing is left.
    pub async fn kill(&self) -> SessionEnd {
        self.shared.kill.cancel();
        self.ended().await
    }

    /// Waits until the session has ended, by itself or otherwise.
    pub async fn ended(&self) -> SessionEnd {
        let ended = self.watch().wait_for(|snapshot| snapshot.ended.is_some()).await;
        match ended.and_then(|snapshot| snapshot.ended) {
            Some(ended) => SessionEnd::clone(&ended),
            // There is nothing else that it waits for.
            None => std::future::pending().await,
        }
    }
}

/// Withdraws a request when nobody waits for its answer any more.
struct Withdrawal<'a> {
    shared: &'a Shared,
    id: Option<RequestId>,
}

impl Withdrawal<'_> {
    fn not_needed(mut self) {
        self.id = None;
    }
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            self.shared.withdraw(id);
        }
    }
}
