//! A call while its tool runs: it ends in one answer, whatever the tool does.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use countersign_protocol::RawJson;

use super::call::CallState;
use super::handler::{CatchPanic, Work};
use super::rpc::{self, ErrorCode};
use super::{Call, Tool, ToolOutput};

/// How long a handler may go on after its call was withdrawn.
pub(super) const GRACE: Duration = Duration::from_secs(5);

/// A call whose tool is to run. Dropping it withdraws the call.
pub(super) struct RunningCall {
    state: Arc<CallState>,
    tool: Arc<Tool>,
    /// The handshake that was in force when it came.
    handshake: u64,
    polled: bool,
    /// Its number among the calls that wait, if it has to.
    number: Option<u64>,
}

/// How the tool ended.
enum End {
    /// By itself, or with the message of a panic.
    Finished(Result<ToolOutput, String>),
    /// It took longer than this.
    TimedOut(Duration),
    /// The CLI does not want to know any more.
    Withdrawn,
    /// The session is over.
    Closed,
}

impl RunningCall {
    pub(super) const fn new(state: Arc<CallState>, tool: Arc<Tool>, handshake: u64) -> Self {
        Self { state, tool, handshake, polled: false, number: None }
    }

    /// Runs the tool, and answers the call.
    pub(super) async fn run(mut self) -> RawJson {
        let end = if self.state.shared().is_closed() { End::Closed } else { self.serve().await };
        let output = match end {
            End::Finished(Ok(output)) => {
                self.state.end();
                output
            }
            End::Finished(Err(panic)) => self.failed(&format!("panicked: {panic}")),
            End::TimedOut(limit) => self.failed(&format!("did not finish within {limit:?}")),
            End::Withdrawn => self.failed("was cancelled"),
            End::Closed => {
                let problem = "the session is over";
                return rpc::error(Some(self.state.request().id()), ErrorCode::CLOSED, problem);
            }
        };
        rpc::result(self.state.request().id(), &output)
    }

    async fn serve(&mut self) -> End {
        let mut work = CatchPanic::new((self.tool.handler())(Call::new(Arc::clone(&self.state))));
        // Most tools have their answer at once: then there is nothing to be woken for.
        let first = poll_fn(|context| Poll::Ready(Pin::new(&mut work).poll(context))).await;
        if let Poll::Ready(result) = first {
            return End::Finished(result);
        }
        self.number = Some(self.state.shared().enter(&self.state, self.handshake));
        self.polled();
        // In a box, so that a call that need not wait stays small.
        let end = Box::pin(self.wait(&mut work)).await;
        work.abandon();
        end
    }

    async fn wait(&self, work: &mut CatchPanic<Work>) -> End {
        let shared = self.state.shared();
        let limit = self.tool.limit().or(shared.limit());
        let too_late = async {
            match limit {
                Some(limit) => {
                    tokio::time::sleep(limit).await;
                    limit
                }
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            result = &mut *work => return End::Finished(result),
            () = self.state.cancellation().cancelled() => {}
            limit = too_late => return End::TimedOut(limit),
        }
        if shared.is_closed() {
            return End::Closed;
        }
        match tokio::time::timeout(GRACE, work).await {
            Ok(result) => End::Finished(result),
            Err(_) => End::Withdrawn,
        }
    }

    /// Says, once, that nobody needs to remember cancellations for this call.
    fn polled(&mut self) {
        if !std::mem::replace(&mut self.polled, true) {
            self.state.shared().polled();
        }
    }

    fn failed(&self, how: &str) -> ToolOutput {
        let name = self.tool.name();
        tracing::warn!(tool = name, "a tool failed");
        ToolOutput::error(format!("the tool `{name}` {how}"))
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.polled();
        if let Some(number) = self.number {
            self.state.shared().leave(number);
        }
        if !self.state.end() {
            self.state.cancel();
        }
    }
}
