//! Requests of the CLI: each gets to whoever answers it, in a task of its own.

use std::collections::BTreeMap;
#[cfg(feature = "mcp")]
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[cfg(feature = "mcp")]
use countersign_protocol::ask::McpReply;
use countersign_protocol::ask::{
    CanUseTool, CliRequest, Elicitation, HookCallback, RequestUserDialog,
};
use countersign_protocol::control::ControlRequest;
use countersign_protocol::hook::{HookEvent, HookMatcher};
use countersign_protocol::ids::{HookCallbackId, RequestId};
use countersign_protocol::request::McpMessage;
use countersign_protocol::{Decoded, FromCli, Line, ToCli};
use tracing::Instrument as _;

use super::bypass::NOT_LAUNCHED;
use super::callback::Callback;
use super::duty::{Duty, Failing};
use super::shared::{Asked, Shared};
use super::tasks::Tasks;
use crate::dialog::{DialogHandler, ElicitationHandler, declined};
use crate::hook::{AsksPerson, Hook};
use crate::permission::{AnyPermissionHandler, PermissionAnswer, PermissionAsk};
use crate::turn::Decision;

/// Who answers what.
#[derive(Clone)]
pub(crate) struct Handlers {
    pub(crate) permission: Arc<dyn AnyPermissionHandler>,
    pub(crate) permission_timeout: Option<Duration>,
    pub(crate) hooks: Vec<Arc<Hook>>,
    pub(crate) elicitation: Option<ElicitationHandler>,
    pub(crate) dialogs: Option<DialogHandler>,
    #[cfg(feature = "mcp")]
    pub(crate) mcp: BTreeMap<String, crate::mcp::McpServer>,
}

impl Handlers {
    pub(crate) fn new(permission: Arc<dyn AnyPermissionHandler>) -> Self {
        Self {
            permission,
            permission_timeout: None,
            hooks: Vec::new(),
            elicitation: None,
            dialogs: None,
            #[cfg(feature = "mcp")]
            mcp: BTreeMap::new(),
        }
    }

    /// The hooks, as they are registered.
    pub(crate) fn registrations(&self) -> BTreeMap<HookEvent, Vec<HookMatcher>> {
        let mut registrations: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (number, hook) in self.hooks.iter().enumerate() {
            registrations
                .entry(hook.event().clone())
                .or_default()
                .push(hook.registration(HookCallbackId::from(format!("hook_{number}"))));
        }
        registrations
    }

    fn hook(&self, id: &HookCallbackId) -> Option<&Arc<Hook>> {
        let number: usize = id.as_str().strip_prefix("hook_")?.parse().ok()?;
        self.hooks.get(number)
    }

    /// The hook that answers a call of which cannot be told which it is for: one whose failure
    /// refuses what it is asked about. Without an event it may be about any, and worst is a tool.
    fn stand_in(&self, event: Option<&HookEvent>) -> Option<&Arc<Hook>> {
        self.hooks
            .iter()
            .filter(|hook| hook.refuses_when_failed())
            .filter(|hook| event.is_none_or(|event| hook.event() == event))
            .min_by_key(|hook| *hook.event() != HookEvent::PreToolUse)
    }
}

/// Serves the requests of one session.
pub(super) struct Server {
    shared: Arc<Shared>,
    handlers: Handlers,
    #[cfg(feature = "mcp")]
    mcp: HashMap<String, crate::mcp::Connection>,
    tasks: Tasks,
    /// A handler was begun.
    has_begun: bool,
}

impl Server {
    pub(super) fn new(shared: Arc<Shared>, handlers: Handlers) -> Self {
        #[cfg(feature = "mcp")]
        let mcp = handlers
            .mcp
            .iter()
            .map(|(name, server)| {
                let (shared, to) = (Arc::clone(&shared), name.clone());
                let connection = server.connect(move |message| {
                    super::control::post_mcp_message(&shared, &to, message);
                });
                (name.clone(), connection)
            })
            .collect();
        Self {
            shared,
            handlers,
            #[cfg(feature = "mcp")]
            mcp,
            tasks: Tasks::default(),
            has_begun: false,
        }
    }

    /// Whether a handler was begun since this was last asked.
    pub(super) fn has_begun(&mut self) -> bool {
        std::mem::take(&mut self.has_begun)
    }

    /// Waits for the handlers that are left, but not for long.
    pub(super) async fn stop(&self, limit: Duration) {
        self.tasks.stop(limit).await;
    }

    /// A request came.
    pub(super) fn serve(&mut self, line: &Line<'_>) {
        let request = match line.decode::<FromCli>() {
            Decoded::Known(FromCli::ControlRequest(request))
            | Decoded::Unknown(FromCli::ControlRequest(request)) => *request,
            Decoded::Known(_) | Decoded::Unknown(_) => return,
            Decoded::Malformed(malformed) => {
                self.shared.counters.malformed();
                tracing::warn!(kind = %malformed.kind, "a malformed request is refused");
                // Refused, not ignored: the CLI would wait for ever.
                if let Some(id) = line.to_request_id() {
                    self.refuse_unread(id, line.bytes(), &malformed.to_string());
                }
                return;
            }
        };
        let ControlRequest { request_id, request, .. } = request;
        match request {
            CliRequest::CanUseTool(request) => self.permission(request_id, request),
            CliRequest::HookCallback(request) => self.hook(request_id, request),
            CliRequest::McpMessage(request) => self.mcp_message(request_id, request),
            CliRequest::Elicitation(request) => self.elicitation(request_id, *request),
            CliRequest::RequestUserDialog(request) => self.dialog(request_id, request),
            other => {
                let reason = format!("Unsupported control request subtype: {}", other.name());
                if self.refuse(&request_id, &reason) {
                    self.shared.counters.unanswerable();
                }
            }
        }
    }

    /// Refuses a request that was too long to be read, of which this is left.
    pub(super) fn refuse_too_long(&self, line: &Line<'_>) {
        // Without an id there is nothing to answer to.
        if let Some(id) = line.to_request_id() {
            self.refuse_unread(id, line.bytes(), "the request is longer than a line may be");
        }
    }

    /// Refuses a request that cannot be read, of which this is there.
    fn refuse_unread(&self, id: RequestId, line: &[u8], reason: &str) {
        // Most versions go on when a hook has an error, and what it was to decide about happens.
        let hook = Callback::read(line).and_then(|Callback { id, event }| {
            let hook = id.and_then(|id| self.handlers.hook(&id));
            hook.or_else(|| self.handlers.stand_in(event.as_ref()))
        });
        match hook {
            Some(hook) => self.fail_hook(id, hook, "the request cannot be read", reason),
            None => drop(self.refuse(&id, reason)),
        }
    }

    /// Answers the call of a hook as if it had failed.
    fn fail_hook(&self, id: RequestId, hook: &Arc<Hook>, what: &'static str, reason: &str) {
        let failing = Failing::Hook(Arc::clone(hook));
        if let Some(mut duty) = self.take_on(id, "hook", failing, Asked::Program) {
            duty.fail(what, Some(&reason));
        }
    }

    /// Refuses a request, unless it was asked before.
    fn refuse(&self, id: &RequestId, reason: &str) -> bool {
        let is_new = self.shared.open(id, Failing::Error, Asked::Program).is_some();
        if is_new {
            self.shared.refuse(id, reason);
        }
        is_new
    }

    fn take_on(
        &self,
        id: RequestId,
        kind: &'static str,
        failing: Failing,
        asked: Asked,
    ) -> Option<Duty> {
        Duty::take_on(&self.shared, id, kind, failing, asked)
    }

    fn permission(&mut self, id: RequestId, request: Box<CanUseTool>) {
        let (request, at) = (Arc::<CanUseTool>::from(request), Instant::now());
        let asked = Asked::Permission(Arc::clone(&request));
        let failing = Failing::Deny { asked: at };
        let Some(duty) = self.take_on(id, "permission", failing, asked) else { return };
        duty.span().record("tool", &*request.tool_name);
        duty.span().record("tool_use_id", request.tool_use_id.as_str());
        let handler = Arc::clone(&self.handlers.permission);
        let limit = self.handlers.permission_timeout;
        let shared = Arc::clone(&self.shared);
        let call = request.tool_use_id.clone();
        let ask = PermissionAsk::new(duty.request_id().clone(), request, duty.cancelled());
        self.run(
            duty,
            limit,
            async move { handler.decide_boxed(ask).await },
            move |mut duty, answer| {
                let PermissionAnswer { tool_use_id, result, input_changed, message, fresh_start } =
                    answer;
                if tool_use_id != call {
                    duty.fail("the handler answered another call than it was asked about", None);
                    return;
                }
                if shared.setup.forbids(&result) {
                    duty.fail(NOT_LAUNCHED, None);
                    return;
                }
                let before = message.map(ToCli::User);
                let decision = Decision::of(&result, input_changed, at.elapsed());
                duty.span().record("decision", decision.name());
                duty.answer_with(&result, before.as_ref(), || {
                    shared.decisions().note(call, decision);
                    if let Some(fresh) = fresh_start {
                        shared.plan_fresh_start(fresh);
                    }
                });
            },
        );
    }

    fn hook(&mut self, id: RequestId, request: Box<HookCallback>) {
        let Some(hook) = self.handlers.hook(&request.callback_id).map(Arc::clone) else {
            let reason = format!("there is no hook {}", request.callback_id);
            match self.handlers.stand_in(Some(&request.input.event())) {
                Some(hook) => self.fail_hook(id, hook, "nobody knows the hook", &reason),
                None => drop(self.refuse(&id, &reason)),
            }
            return;
        };
        let failing = Failing::Hook(Arc::clone(&hook));
        let Some(duty) = self.take_on(id, "hook", failing, Asked::Program) else { return };
        duty.span().record("event", hook.event().as_str());
        let (limit, cancelled) = (hook.limit(), duty.cancelled());
        let (shared, id) = (Arc::clone(&self.shared), duty.request_id().clone());
        let asks = AsksPerson::new(move || shared.asks_a_person(&id));
        let reaction = async move { hook.call(*request, cancelled, asks).await };
        let shared = Arc::clone(&self.shared);
        self.run(duty, limit, reaction, move |mut duty, output| {
            if shared.setup.forbids_hook(&output) {
                duty.fail(NOT_LAUNCHED, None);
            } else {
                duty.answer(&output);
            }
        });
    }

    #[cfg(feature = "mcp")]
    fn mcp_message(&mut self, id: RequestId, request: McpMessage) {
        let Some(connection) = self.mcp.get(&request.server_name) else {
            self.refuse(&id, &format!("there is no MCP server {} here", request.server_name));
            return;
        };
        let Some(duty) = self.take_on(id, "mcp", Failing::Error, Asked::Program) else { return };
        duty.span().record("server", &*request.server_name);
        // It reads the message now, so that what comes later finds it.
        let reply = connection.handle(request.message);
        let reply = async move { Ok(McpReply::new(reply.await)) };
        self.run(duty, None, reply, |duty, reply| duty.answer(&reply));
    }

    #[cfg(not(feature = "mcp"))]
    #[expect(clippy::needless_pass_by_value, reason = "it takes what its twin takes")]
    fn mcp_message(&mut self, id: RequestId, request: McpMessage) {
        self.refuse(&id, &format!("there is no MCP server {} here", request.server_name));
    }

    fn elicitation(&mut self, id: RequestId, request: Elicitation) {
        let handler = self.handlers.elicitation.clone();
        let asked = if handler.is_some() { Asked::Person } else { Asked::Program };
        let Some(duty) = self.take_on(id, "elicitation", Failing::Error, asked) else { return };
        let Some(handler) = handler else {
            duty.answer(&declined());
            return;
        };
        let answer = async move { handler.call(request).await };
        self.run(duty, None, answer, |duty, answer| duty.answer(&answer));
    }

    fn dialog(&mut self, id: RequestId, request: RequestUserDialog) {
        let handler = self.handlers.dialogs.clone();
        let Some(handler) = handler.filter(|handler| handler.kinds.contains(&request.dialog_kind))
        else {
            self.refuse(&id, &format!("dialogs of kind {} are not shown", request.dialog_kind));
            return;
        };
        let Some(duty) = self.take_on(id, "dialog", Failing::Error, Asked::Person) else { return };
        let answer = async move { handler.call(request).await };
        self.run(duty, None, answer, |duty, answer| duty.answer(&answer));
    }

    /// Runs a handler, and sees to it that there is an answer whatever becomes of it.
    fn run<T: Send + 'static>(
        &mut self,
        mut duty: Duty,
        limit: Option<Duration>,
        handler: impl Future<Output = Result<T, crate::permission::HandlerFailure>> + Send + 'static,
        done: impl FnOnce(Duty, T) + Send + 'static,
    ) {
        let span = duty.span().clone();
        let work = async move {
            let outcome = match limit {
                None => Ok(handler.await),
                Some(limit) => tokio::time::timeout(limit, handler).await,
            };
            match outcome {
                Ok(Ok(answer)) => done(duty, answer),
                Ok(Err(error)) => duty.fail("the handler failed", Some(&error)),
                Err(_) => duty.fail("nobody answered in time", None),
            }
        };
        self.has_begun = true;
        self.tasks.spawn(work.instrument(span));
    }
}
