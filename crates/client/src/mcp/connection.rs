//! A server of tools, connected to one session.
//!
//! `tools/call` and the few other methods are served here and not by rmcp's service loop, which costs
//! many times more for a call: see `docs/mcp.md`.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_protocol::RawJson;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::call::CallState;
use super::call_request::{CallParams, CallRequest};
use super::rpc::{self, ErrorCode, Incoming};
use super::running::RunningCall;
use super::{Outgoing, ToolServer};

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
        let (handshakes, waiting) = (AtomicU64::default(), Mutex::default());
        let shared = Arc::new(Shared { server, outgoing, limit, handshakes, waiting });
        shared.server.join(&shared);
        Self { shared }
    }

    /// Takes a message. What depends on the order of messages is done when this returns.
    pub(super) fn take(&self, message: RawJson) -> Step {
        let call = match Incoming::parse(&message) {
            Ok(Incoming::Request { id, method, params }) if method == "tools/call" => {
                self.find(id, params).map(|(tool, params)| (tool, params.parts(id, &message)))
            }
            Ok(Incoming::Request { id, method, params }) => Err(self.request(id, &method, params)),
            Ok(Incoming::Notification { method, params }) => {
                if method == "notifications/cancelled" {
                    self.cancel(params);
                }
                Err(rpc::acknowledgement())
            }
            Ok(Incoming::Response) => Err(rpc::acknowledgement()),
            Err(answer) => Err(answer),
        };
        match call {
            Ok((tool, parts)) => {
                let request = CallRequest::new(message, parts);
                let state = Arc::new(CallState::new(request, Arc::clone(&self.shared)));
                Step::Run(RunningCall::new(state, tool, self.shared.handshake()))
            }
            Err(answer) => Step::Answer(answer),
        }
    }

    fn request(&self, id: &RawValue, method: &str, params: Option<&RawValue>) -> RawJson {
        match method {
            "tools/list" => rpc::result(id, &self.shared.server.listing()),
            "ping" => rpc::result(id, &RawJson::empty_object()),
            "initialize" => {
                // The CLI begins anew, and has forgotten what it asked for.
                self.shared.begin_anew();
                let requested = params.and_then(|params| decoded::<Initialize<'_>>(params).ok());
                let version = requested.map(|params| params.protocol_version).unwrap_or_default();
                rpc::result(id, &self.shared.server.greeting(&version))
            }
            method => {
                let problem = format!("there is no method `{method}`");
                rpc::error(Some(id), ErrorCode::METHOD_NOT_FOUND, &problem)
            }
        }
    }

    /// The tool that is called, or the answer that says why it cannot be.
    fn find<'a>(
        &self,
        id: &RawValue,
        params: Option<&'a RawValue>,
    ) -> Result<(Arc<super::Tool>, CallParams<'a>), RawJson> {
        let invalid = |problem: &str| rpc::error(Some(id), ErrorCode::INVALID_PARAMS, problem);
        let params = CallParams::parse(params).map_err(|problem| invalid(&problem))?;
        match self.shared.server.find(&params.name) {
            Some(tool) => Ok((tool, params)),
            None => Err(invalid(&format!("there is no tool `{}`", params.name))),
        }
    }

    fn cancel(&self, params: Option<&RawValue>) {
        if let Some(Ok(cancelled)) = params.map(decoded::<Cancelled<'_>>) {
            self.shared.cancel(cancelled.request_id.get());
        }
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
    waiting: Mutex<Waiting>,
}

/// The calls that wait for their tool. One whose tool has its answer at once never gets here.
#[derive(Default)]
struct Waiting {
    next: u64,
    /// By a number of our own: two requests may have the same id, by mistake or after a second
    /// handshake.
    calls: HashMap<u64, Arc<CallState>>,
    /// Ids that were cancelled before their call got here; the newest come last.
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

    /// Enters a call that was taken after this handshake, so that it can be cancelled. If it has
    /// been already, it is told so.
    pub(super) fn enter(&self, call: &Arc<CallState>, handshake: u64) -> u64 {
        let mut waiting = self.waiting();
        let number = waiting.next;
        waiting.next += 1;
        waiting.calls.insert(number, Arc::clone(call));
        let cancelled = waiting.early.iter().any(|id| **id == *call.request().id().get());
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
        if calls.is_empty() {
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

fn decoded<'a, T: Deserialize<'a>>(params: &'a RawValue) -> Result<T, serde_json::Error> {
    serde_json::from_str(params.get())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialize<'a> {
    #[serde(borrow)]
    protocol_version: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cancelled<'a> {
    #[serde(borrow)]
    request_id: &'a RawValue,
}
