//! A server of tools, connected to one session.
//!
//! `tools/call` and the few other methods are served here and not by rmcp's service loop, which costs
//! many times more for a call: see `docs/mcp.md`.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_protocol::RawJson;
use serde_json::value::RawValue;

use super::call::CallState;
use super::call_request::{CallRequest, Parts};
use super::rpc::{self, ErrorCode, Incoming, Params, Text};
use super::running::RunningCall;
use super::{Outgoing, Tool, ToolServer};

/// How many cancellations are remembered whose call is not known.
const EARLY: usize = 64;

/// A server of tools, connected to one session.
pub(super) struct ToolConnection {
    shared: Arc<Shared>,
}

/// What a message leads to.
pub(super) enum Step {
    /// The answer is there.
    Answer(RawJson),
    /// A tool has to run.
    Run(RunningCall),
}

impl ToolConnection {
    pub(super) fn new(server: ToolServer, limit: Option<Duration>, outgoing: Outgoing) -> Self {
        let (handshakes, unpolled, waiting) = Default::default();
        let shared = Arc::new(Shared { server, outgoing, limit, handshakes, unpolled, waiting });
        shared.server.join(&shared);
        Self { shared }
    }

    /// Takes a message. What depends on the order of messages is done when this returns.
    pub(super) fn take(&self, message: RawJson) -> Step {
        let call = match Incoming::parse(&message) {
            Ok(Incoming::Request { id, method, params }) if method == "tools/call" => {
                self.find(id, &params).map(|tool| (tool, Parts::new(id, &params, &message)))
            }
            Ok(Incoming::Request { id, method, params }) => Err(self.request(id, &method, &params)),
            Ok(Incoming::Notification { method, params }) => {
                if let ("notifications/cancelled", Some(id)) = (&*method, params.request_id) {
                    self.shared.cancel(id.get());
                }
                Err(rpc::acknowledgement())
            }
            Ok(Incoming::Response) => Err(rpc::acknowledgement()),
            Err(answer) => Err(answer),
        };
        match call {
            Ok((tool, parts)) => {
                let request = CallRequest::new(message, parts);
                self.shared.unpolled.fetch_add(1, Ordering::AcqRel);
                let state = Arc::new(CallState::new(request, Arc::clone(&self.shared)));
                Step::Run(RunningCall::new(state, tool, self.shared.handshake()))
            }
            Err(answer) => Step::Answer(answer),
        }
    }

    fn request(&self, id: &RawValue, method: &str, params: &Params<'_>) -> RawJson {
        match method {
            "tools/list" => rpc::result(id, &self.shared.server.listing()),
            "ping" => rpc::result(id, &RawJson::empty_object()),
            "initialize" => {
                // The CLI begins anew, and has forgotten what it asked for.
                self.shared.begin_anew();
                let requested = Text::of(params.protocol_version).unwrap_or_default();
                rpc::result(id, &self.shared.server.greeting(&requested))
            }
            method => {
                let problem = format!("there is no method `{method}`");
                rpc::error(Some(id), ErrorCode::METHOD_NOT_FOUND, &problem)
            }
        }
    }

    /// The tool that is called, or the answer that says why it cannot be.
    fn find(&self, id: &RawValue, params: &Params<'_>) -> Result<Arc<Tool>, RawJson> {
        let invalid = |problem: &str| rpc::error(Some(id), ErrorCode::INVALID_PARAMS, problem);
        let name = Text::of(params.name).ok_or_else(|| invalid("a call names its tool"))?;
        if params.arguments.is_some_and(|arguments| !arguments.get().starts_with('{')) {
            return Err(invalid("the arguments are not an object"));
        }
        let tool = self.shared.server.find(&name);
        tool.ok_or_else(|| invalid(&format!("there is no tool `{name}`")))
    }
}

impl Drop for ToolConnection {
    fn drop(&mut self) {
        self.shared.close();
    }
}

/// What a connection and the calls that it serves have in common.
pub(super) struct Shared {
    server: ToolServer,
    outgoing: Outgoing,
    limit: Option<Duration>,
    /// How often the CLI has begun anew, or [`Self::CLOSED`].
    handshakes: AtomicU64,
    /// How many calls were taken and not polled yet.
    unpolled: AtomicUsize,
    waiting: Mutex<Waiting>,
}

/// The calls that wait for their tool. One whose tool has its answer at once never gets here.
#[derive(Default)]
struct Waiting {
    next: u64,
    /// By a number of our own: two requests may have the same id, by mistake or after a second
    /// handshake.
    calls: HashMap<u64, Arc<CallState>>,
    /// Ids that were cancelled when there was no such call here, but some that were not polled yet;
    /// the newest come last.
    early: VecDeque<Box<str>>,
}

impl Shared {
    const CLOSED: u64 = u64::MAX;

    pub(super) const fn server(&self) -> &ToolServer {
        &self.server
    }

    pub(super) const fn limit(&self) -> Option<Duration> {
        self.limit
    }

    pub(super) fn is_closed(&self) -> bool {
        self.handshake() == Self::CLOSED
    }

    /// The number of the handshake that is in force.
    fn handshake(&self) -> u64 {
        self.handshakes.load(Ordering::Acquire)
    }

    /// Sends a message of the server.
    pub(super) fn send(&self, message: RawJson) {
        if !self.is_closed() {
            (self.outgoing)(message);
        }
    }

    pub(super) fn tools_changed(&self) {
        self.send(rpc::notification::<()>("notifications/tools/list_changed", None));
    }

    /// Says that a call has been polled, or never will be.
    pub(super) fn polled(&self) {
        self.unpolled.fetch_sub(1, Ordering::AcqRel);
    }

    /// Enters a call that was taken after this handshake, so that it can be cancelled. If it has
    /// been already, it is told so.
    pub(super) fn enter(&self, call: &Arc<CallState>, handshake: u64) -> u64 {
        let mut waiting = self.waiting();
        let number = waiting.next;
        waiting.next += 1;
        waiting.calls.insert(number, Arc::clone(call));
        let early = waiting.early.iter().position(|id| **id == *call.request().id().get());
        let cancelled = early.and_then(|at| waiting.early.remove(at)).is_some();
        if cancelled || self.handshake() != handshake {
            drop(waiting);
            call.cancel();
        }
        number
    }

    pub(super) fn leave(&self, number: u64) {
        let call = self.waiting().calls.remove(&number);
        // Outside of the lock: it may be the last to hold what the handler left behind.
        drop(call);
    }

    fn cancel(&self, id: &str) {
        let mut waiting = self.waiting();
        let fits = |call: &&Arc<CallState>| call.request().id().get() == id;
        let calls: Vec<_> = waiting.calls.values().filter(fits).cloned().collect();
        if self.unpolled.load(Ordering::Acquire) == 0 {
            waiting.early.clear();
        } else if calls.is_empty() {
            if waiting.early.len() == EARLY {
                waiting.early.pop_front();
            }
            waiting.early.push_back(id.into());
        }
        drop(waiting);
        calls.iter().for_each(|call| call.cancel());
    }

    fn begin_anew(&self) {
        let mut waiting = self.waiting();
        self.handshakes.fetch_add(1, Ordering::AcqRel);
        waiting.early.clear();
        Self::cancel_all(waiting);
    }

    fn close(&self) {
        let waiting = self.waiting();
        self.handshakes.store(Self::CLOSED, Ordering::Release);
        Self::cancel_all(waiting);
    }

    fn cancel_all(waiting: MutexGuard<'_, Waiting>) {
        let calls: Vec<_> = waiting.calls.values().cloned().collect();
        drop(waiting);
        calls.iter().for_each(|call| call.cancel());
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
