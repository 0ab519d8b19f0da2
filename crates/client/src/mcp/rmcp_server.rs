//! A server of rmcp, connected to a session: messages go in and out of its service loop.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use countersign_protocol::RawJson;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification,
    JsonRpcMessage, RequestId,
};
use rmcp::service::serve_directly_with_ct;
use serde_json::value::RawValue;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::Outgoing;
use super::rmcp_service::{Contained, InMemory, Pending};
use super::rpc::{self, ErrorCode, Incoming};

/// How many messages the service loop may be behind. What is more waits in the futures of those who
/// ask.
const BACKLOG: usize = 64;

/// A server of rmcp, whose type is forgotten.
#[derive(Clone)]
pub(super) struct RmcpServer {
    name: Arc<str>,
    start: Start,
}

/// Starts the service loop; it ends when the value is dropped.
type Start = Arc<dyn Fn(InMemory, CancellationToken) -> Box<dyn Any + Send> + Send + Sync>;

impl RmcpServer {
    pub(super) fn new(name: String, handler: impl rmcp::ServerHandler) -> Self {
        let handler = Arc::new(handler);
        let start: Start = Arc::new(move |transport, ended| {
            let service = Contained::new(Arc::clone(&handler), ended.clone());
            // Without the part that waits for a handshake: the CLI may have had it in advance, and
            // `initialize` is served like any other request.
            Box::new(serve_directly_with_ct(service, transport, None, ended))
        });
        Self { name: name.into(), start }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn connect(&self, outgoing: Outgoing) -> RmcpConnection {
        RmcpConnection { server: self.clone(), outgoing, live: Mutex::default() }
    }
}

impl fmt::Debug for RmcpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RmcpServer").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A server of rmcp, connected to one session.
pub(super) struct RmcpConnection {
    server: RmcpServer,
    outgoing: Outgoing,
    /// The service loop, from the first message on.
    live: Mutex<Option<Live>>,
}

struct Live {
    line: Line,
    ended: CancellationToken,
    _running: Box<dyn Any + Send>,
}

/// The way to a service loop.
#[derive(Clone)]
struct Line {
    messages: mpsc::Sender<ClientJsonRpcMessage>,
    pending: Arc<Pending>,
}

impl Drop for Live {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

impl RmcpConnection {
    /// Takes a message, and hands it to the service loop unless that is behind.
    pub(super) fn take(&self, message: &RawJson) -> Step {
        let (id, method) = match Incoming::parse(message) {
            Ok(Incoming::Request { id, method, .. }) => (Some(id), Some(method)),
            Ok(Incoming::Notification { method, .. }) => (None, Some(method)),
            Ok(Incoming::Response) => (None, None),
            Err(answer) => return Step::Answer(answer),
        };
        let decoded: ClientJsonRpcMessage = match serde_json::from_str(message.as_str()) {
            Ok(decoded) => decoded,
            Err(problem) => {
                return Step::Answer(match id {
                    Some(id) => {
                        rpc::error(Some(id), ErrorCode::INVALID_PARAMS, &problem.to_string())
                    }
                    None => rpc::acknowledgement(),
                });
            }
        };
        let anew = id.is_some() && method.as_deref() == Some("initialize");
        let Some(line) = self.line(anew) else { return closed(id) };
        match (&decoded, id) {
            (JsonRpcMessage::Request(request), Some(id)) => {
                let Some(answer) = line.pending.open(request.id.clone()) else {
                    let problem = "the id is that of another request";
                    return Step::Answer(rpc::error(Some(id), ErrorCode::INVALID_REQUEST, problem));
                };
                let ticket = Ticket { id: request.id.clone(), line: line.clone() };
                line.post(decoded, id, |unsent, id| Step::Wait { id, ticket, answer, unsent })
            }
            _ => {
                if let JsonRpcMessage::Notification(notification) = &decoded
                    && let ClientNotification::CancelledNotification(cancelled) =
                        &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // The service loop drops the answer; the control request still wants one.
                    line.pending.withdraw(id);
                }
                line.post(decoded, RawValue::NULL, |unsent, _| Step::Told(unsent))
            }
        }
    }

    /// The way to the service loop, which is started if there is none, or if it shall begin anew.
    fn line(&self, anew: bool) -> Option<Line> {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if anew {
            *live = None;
        }
        if live.is_none() {
            *live = self.start();
        }
        live.as_ref().map(|live| live.line.clone())
    }

    fn start(&self) -> Option<Live> {
        tokio::runtime::Handle::try_current().ok()?;
        let (messages, incoming) = mpsc::channel(BACKLOG);
        let line = Line { messages, pending: Arc::default() };
        let transport =
            InMemory::new(incoming, Arc::clone(&line.pending), Arc::clone(&self.outgoing));
        let ended = CancellationToken::new();
        // rmcp asks the handler what it is, and that may panic.
        let start = AssertUnwindSafe(|| (self.server.start)(transport, ended.clone()));
        let running = catch_unwind(start).ok()?;
        Some(Live { line, ended, _running: running })
    }
}

impl Line {
    /// Hands a message over at once if there is room, or leaves it to the step.
    fn post(
        &self,
        message: ClientJsonRpcMessage,
        id: &RawValue,
        step: impl FnOnce(Option<Unsent>, Box<RawValue>) -> Step,
    ) -> Step {
        match self.messages.try_send(message) {
            Ok(()) => step(None, id.to_owned()),
            Err(TrySendError::Full(message)) => {
                let unsent = Unsent { messages: self.messages.clone(), message: Box::new(message) };
                step(Some(unsent), id.to_owned())
            }
            Err(TrySendError::Closed(_)) => closed(Some(id)),
        }
    }
}

/// What a message leads to.
pub(super) enum Step {
    /// The answer is there.
    Answer(RawJson),
    /// The server has been told, or will be when there is room.
    Told(Option<Unsent>),
    /// The server will answer.
    Wait {
        id: Box<RawValue>,
        ticket: Ticket,
        answer: oneshot::Receiver<RawJson>,
        unsent: Option<Unsent>,
    },
}

/// A message that the service loop has no room for yet.
pub(super) struct Unsent {
    messages: mpsc::Sender<ClientJsonRpcMessage>,
    message: Box<ClientJsonRpcMessage>,
}

impl Step {
    pub(super) async fn answer(self) -> RawJson {
        match self {
            Self::Answer(answer) => answer,
            Self::Told(unsent) => {
                if let Some(Unsent { messages, message }) = unsent
                    && messages.send(*message).await.is_err()
                {
                    tracing::debug!("a notification came after the end of the server");
                }
                rpc::acknowledgement()
            }
            Self::Wait { id, ticket, answer, unsent } => {
                if let Some(Unsent { messages, message }) = unsent
                    && messages.send(*message).await.is_err()
                {
                    return gone(Some(&id));
                }
                match answer.await {
                    Ok(answer) => answer,
                    Err(_) if ticket.line.pending.is_closed() => gone(Some(&id)),
                    Err(_) => {
                        let problem = "the request was cancelled";
                        rpc::error(Some(&id), ErrorCode::CANCELLED, problem)
                    }
                }
            }
        }
    }
}

fn closed(id: Option<&RawValue>) -> Step {
    Step::Answer(gone(id))
}

fn gone(id: Option<&RawValue>) -> RawJson {
    rpc::error(id, ErrorCode::CLOSED, "the server has ended")
}

/// A request that somebody waits for. Dropping it withdraws the request.
pub(super) struct Ticket {
    id: RequestId,
    line: Line,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.line.pending.withdraw(&self.id) {
            let cancelled = CancelledNotificationParam::new(Some(self.id.clone()), None);
            let cancelled = CancelledNotification::new(cancelled);
            let message =
                JsonRpcMessage::notification(ClientNotification::CancelledNotification(cancelled));
            if self.line.messages.try_send(message).is_err() {
                tracing::debug!("the server is too far behind to be told of a cancellation");
            }
        }
    }
}
