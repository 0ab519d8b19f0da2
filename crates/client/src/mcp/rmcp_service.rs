//! What stands around a handler of rmcp: it is kept from panicking, outliving its connection, and
//! leaving requests unanswered.

use std::borrow::Cow;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_protocol::RawJson;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, JsonRpcMessage,
    ProtocolVersion, RequestId, ServerConfig, ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, Service};
use rmcp::transport::Transport;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::Outgoing;
use super::handler::CatchPanic;
use super::running::GRACE;

/// A handler that answers whatever it does, and ends with its connection.
///
/// rmcp runs each request on a task of its own: a panic there leaves the request without an answer,
/// and the task goes on after the connection has ended.
pub(super) struct Contained<H> {
    handler: Arc<H>,
    ended: CancellationToken,
}

impl<H> Contained<H> {
    pub(super) const fn new(handler: Arc<H>, ended: CancellationToken) -> Self {
        Self { handler, ended }
    }

    async fn contain<T>(
        &self,
        work: impl Future<Output = Result<T, ErrorData>> + Send,
        given_up: impl Future<Output = ()> + Send,
    ) -> Result<T, ErrorData> {
        let mut work = CatchPanic::new(Box::pin(work));
        let end = tokio::select! {
            biased;
            result = &mut work => Some(result),
            () = self.ended.cancelled() => None,
            () = given_up => None,
        };
        work.abandon();
        match end {
            Some(Ok(result)) => result,
            Some(Err(panic)) => {
                let problem = format!("the handler panicked: {panic}");
                Err(ErrorData::internal_error(problem, None))
            }
            None => Err(ErrorData::new(ErrorCode(-32800), "the request was cancelled", None)),
        }
    }
}

impl<H: ServerHandler> Service<RoleServer> for Contained<H> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let cancelled = context.ct.clone();
        let given_up = async move {
            cancelled.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        self.contain(self.handler.handle_request(request, context), given_up).await
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let work = self.handler.handle_notification(notification, context);
        self.contain(work, std::future::pending()).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&self.handler)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ServerHandler::supported_protocol_versions(&self.handler)
    }
}

/// The transport of a service loop: what it reads comes from a queue, its answers go to those who
/// wait for them, and everything else goes out.
pub(super) struct InMemory {
    incoming: mpsc::Receiver<ClientJsonRpcMessage>,
    pending: Arc<Pending>,
    outgoing: Outgoing,
}

impl InMemory {
    pub(super) const fn new(
        incoming: mpsc::Receiver<ClientJsonRpcMessage>,
        pending: Arc<Pending>,
        outgoing: Outgoing,
    ) -> Self {
        Self { incoming, pending, outgoing }
    }

    fn end(&mut self) {
        // In this order: whoever opens a request after the second finds the queue closed.
        self.incoming.close();
        self.pending.close();
    }
}

impl Transport<RoleServer> for InMemory {
    type Error = Infallible;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        let id = match &message {
            JsonRpcMessage::Response(response) => Some(Some(&response.id)),
            JsonRpcMessage::Error(error) => Some(error.id.as_ref()),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        match (RawJson::from_value(&message), id) {
            (Ok(answer), Some(Some(id))) => self.pending.answer(id, answer),
            (Ok(message), None) if !self.pending.is_closed() => (self.outgoing)(message),
            (Ok(_), _) => tracing::debug!("the server said something that nobody waits for"),
            (Err(problem), id) => {
                tracing::warn!(%problem, "a message of the server cannot be written");
                if let Some(Some(id)) = id {
                    self.pending.withdraw(id);
                }
            }
        }
        std::future::ready(Ok(()))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        self.end();
        Ok(())
    }
}

impl Drop for InMemory {
    fn drop(&mut self) {
        self.end();
    }
}

/// The requests of the CLI that are not answered yet.
#[derive(Default)]
pub(super) struct Pending(Mutex<Requests>);

#[derive(Default)]
struct Requests {
    closed: bool,
    open: HashMap<RequestId, oneshot::Sender<RawJson>>,
}

impl Pending {
    /// Waits for the answer to a request, unless one with this id is waited for already.
    pub(super) fn open(&self, id: RequestId) -> Option<oneshot::Receiver<RawJson>> {
        let mut requests = self.requests();
        if requests.open.contains_key(&id) {
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        requests.open.insert(id, sender);
        Some(receiver)
    }

    /// Nobody waits for this request any more. Whether somebody did.
    pub(super) fn withdraw(&self, id: &RequestId) -> bool {
        self.requests().open.remove(id).is_some()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.requests().closed
    }

    fn answer(&self, id: &RequestId, answer: RawJson) {
        let waiting = self.requests().open.remove(id);
        if waiting.is_none_or(|waiting| waiting.send(answer).is_err()) {
            tracing::debug!("the server answered a request that nobody waits for");
        }
    }

    fn close(&self) {
        let mut requests = self.requests();
        requests.closed = true;
        requests.open.clear();
    }

    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
