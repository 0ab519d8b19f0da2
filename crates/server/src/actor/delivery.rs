//! Questions of the CLI become approvals, and answers get back to where they are waited for.

use countersign::park::canonical_input;
use countersign::permission::PermissionAsk;
use countersign::protocol::ask::{CanUseTool, Elicitation};
use countersign::protocol::hook::PreToolUseInput;
use countersign::{Session, SessionHandle};
use countersign_protocol::RawJson;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::desk::{Ask, ENTER_PLAN_MODE, Gate, Withdrawn};
use super::words::digest;
use super::{Actor, Done, Leave};
use crate::id::ApprovalId;
use crate::session::{
    Answer, ApprovalClosed, ApprovalDelivered, ApprovalEnd, ApprovalKind, ApprovalOpened,
    CallOutcome, Delivery, GrantUsed, Happening, ModeChanged, Pending, RulesChanged, Stage,
    ToolCalled,
};

/// How many calls may run at once before the first of them counts as one that nothing is heard of.
const MOST_CALLS: usize = 256;

/// Who waits for an answer.
pub(super) struct Waiter {
    reply: Reply,
    /// When it is gone, nobody looks any more whether the CLI withdraws its question.
    _waits: Option<oneshot::Sender<()>>,
    /// Since when the person is asked by this process. Not by the clock on the wall, which may jump.
    pub(super) since: Instant,
    how: Delivery,
}

enum Reply {
    Permission(oneshot::Sender<Answer>),
    Gate(oneshot::Sender<Gate>),
}

/// What is asked, without who asks.
struct Question {
    kind: ApprovalKind,
    tool: String,
    tool_use_id: Option<String>,
    agent: Option<String>,
    request: RawJson,
}

impl Actor {
    /// The CLI asks something.
    pub(super) async fn asked(&mut self, ask: Ask, session: Option<&Session>) -> Result<(), Leave> {
        if self.leaving.is_some() {
            // Kept until the process is gone: what is dropped is refused, and it may hear of that.
            self.early.push(ask);
            return Ok(());
        }
        match ask {
            Ask::Permission(request, withdrawn, reply) => {
                self.permission(request, withdrawn, reply, session).await
            }
            Ask::Call(input, withdrawn, reply) => self.call(*input, withdrawn, reply).await,
            Ask::Elicitation(request, reply) => self.elicitation(&request, reply).await,
        }
    }

    async fn permission(
        &mut self,
        request: Box<CanUseTool>,
        withdrawn: Withdrawn,
        reply: oneshot::Sender<Answer>,
        session: Option<&Session>,
    ) -> Result<(), Leave> {
        let call = request.tool_use_id.as_str();
        let granted = self.granted.remove(call);
        if granted.as_ref().is_some_and(|input| *input == digest(&request.input)) {
            drop(reply.send(Answer::allow()));
            return Ok(());
        }
        let known = match granted {
            None => self.as_shown(call, &request.tool_name, &request.input).await?,
            Some(_) => None,
        };
        if let Some(approval) = known {
            // It comes back, after it was parked or its process was lost.
            let reply = Reply::Permission(reply);
            self.wait_for(approval, reply, withdrawn, Delivery::Resumed);
            return self.deliver().await;
        }
        if self.use_grant(&request.tool_name, &request.input, call).await? {
            drop(reply.send(Answer::allow()));
            return Ok(());
        }
        let Some(session) = session else {
            self.early.push(Ask::Permission(request, withdrawn, reply));
            return Ok(());
        };
        let kind = PermissionAsk::again((*request).clone()).into_kind();
        // The call of a sub-agent is not in the transcript by which the CLI would bring it back.
        let token = if request.agent_id.is_none() { token(session, call) } else { None };
        let question = Question {
            kind: ApprovalKind::of_ask(&kind),
            tool: request.tool_name.clone(),
            tool_use_id: Some(call.to_owned()),
            agent: request.agent_id.as_ref().map(ToString::to_string),
            request: raw(&*request),
        };
        let approval = self.open_approval(question, token).await?;
        self.wait_for(approval, Reply::Permission(reply), withdrawn, Delivery::Live);
        Ok(())
    }

    /// Something is about to run. It does not before that is written down.
    async fn call(
        &mut self,
        input: PreToolUseInput,
        withdrawn: Withdrawn,
        reply: oneshot::Sender<Gate>,
    ) -> Result<(), Leave> {
        let call = input.tool_use_id.to_string();
        let agent = input.base.agent_id.as_ref().map(ToString::to_string);
        let called = ToolCalled {
            tool_use_id: call.clone(),
            tool: input.tool_name.clone(),
            mode: input.base.permission_mode.clone(),
            agent: agent.clone(),
            folder: Some(input.base.cwd.clone()),
            input: Some(input.tool_input.clone()),
        };
        let mut happens: Vec<Happening> = Vec::new();
        // Calls of which nothing is heard any more do not pile up.
        if self.head.calls.len() >= MOST_CALLS
            && let Some((oldest, _)) = self.head.calls.first_key_value()
        {
            happens.extend(self.head.decided(oldest, CallOutcome::Unknown));
        }
        happens.push(called.into());
        self.write(happens).await?;
        self.watching.called(&call, &input.tool_input);
        if input.tool_name != ENTER_PLAN_MODE {
            // Here, since it may run without being asked for, because of the mode or a rule: what it
            // was approved for has happened then, too.
            let (tool, input) = (&input.tool_name, &input.tool_input);
            let mut all = self.head.approvals.values();
            let is_asked = all.any(|pending| pending.tool_use_id.as_ref() == Some(&call));
            if !is_asked && self.use_grant(tool, input, &call).await? {
                self.granted.insert(call, digest(input));
            }
            drop(reply.send(Gate::Passed));
            return Ok(());
        }
        if self.may_bypass {
            let why = "Plan mode cannot be entered in this session: it was started without permission \
                       checks, and would not ask in plan mode, either. Go on without it.";
            drop(reply.send(Gate::Decided(Answer::deny(why))));
            return Ok(());
        }
        if let Some(approval) = self.as_shown(&call, &input.tool_name, &input.tool_input).await? {
            self.wait_for(approval, Reply::Gate(reply), withdrawn, Delivery::Resumed);
            return self.deliver().await;
        }
        if self.use_grant(&input.tool_name, &input.tool_input, &call).await? {
            drop(reply.send(Gate::Decided(Answer::allow())));
            return Ok(());
        }
        let question = Question {
            kind: ApprovalKind::EnterPlan,
            tool: input.tool_name.clone(),
            tool_use_id: Some(call),
            agent,
            request: raw(&input),
        };
        let approval = self.open_approval(question, None).await?;
        self.wait_for(approval, Reply::Gate(reply), withdrawn, Delivery::Live);
        Ok(())
    }

    async fn elicitation(
        &mut self,
        request: &Elicitation,
        mut reply: oneshot::Sender<Answer>,
    ) -> Result<(), Leave> {
        let question = Question {
            kind: ApprovalKind::Elicitation,
            tool: request.mcp_server_name.clone(),
            tool_use_id: None,
            agent: None,
            request: raw(request),
        };
        if reply.is_closed() {
            return Ok(());
        }
        let approval = self.open_approval(question, None).await?;
        // The client says in no other way that it is not wanted any more.
        let (to_wait, told) = oneshot::channel::<Answer>();
        self.work.push(Box::pin(async move {
            tokio::select! {
                biased;
                answer = told => {
                    if let Ok(answer) = answer {
                        drop(reply.send(answer));
                    }
                    Done::Answered
                }
                () = reply.closed() => Done::Withdrawn(approval),
            }
        }));
        let waiter = Waiter {
            reply: Reply::Permission(to_wait),
            _waits: None,
            since: Instant::now(),
            how: Delivery::Live,
        };
        self.waiters.insert(approval, waiter);
        Ok(())
    }

    /// The approval of a call that is not closed. An answer that went out to this process is not given
    /// to it again.
    fn known(&self, call: &str) -> Option<ApprovalId> {
        let current = self.generation;
        let is_out =
            |pending: &Pending| pending.stage == Stage::Delivered && pending.generation == current;
        let mut all = self.head.approvals.iter().filter(|(_, pending)| !is_out(pending));
        all.find(|(_, pending)| pending.tool_use_id.as_deref() == Some(call)).map(|(id, _)| *id)
    }

    /// The approval of a call that comes back. What a person decides about is what was shown: when
    /// something else comes under the name of the call, as after somebody changed the transcript, the
    /// approval is closed, and there is none for it.
    async fn as_shown(
        &mut self,
        call: &str,
        tool: &str,
        input: &RawJson,
    ) -> Result<Option<ApprovalId>, Leave> {
        let Some(approval) = self.known(call) else { return Ok(None) };
        let asked = self.approval(approval).await?.and_then(|stored| stored.call());
        let is_same = |(known, shown): (String, RawJson)| {
            known == tool && canonical_input(&shown) == canonical_input(input)
        };
        if asked.is_some_and(is_same) {
            return Ok(Some(approval));
        }
        tracing::warn!(session = %self.id, %approval, "a call came back with another input");
        self.waiters.remove(&approval);
        let why = Some("the call came back with another input than was shown".to_owned());
        let end = ApprovalEnd::Cancelled;
        self.write(vec![ApprovalClosed { approval, end, why }.into()]).await?;
        Ok(None)
    }

    /// Whether the call may run because it was approved for a process that is gone.
    async fn use_grant(&mut self, tool: &str, input: &RawJson, call: &str) -> Result<bool, Leave> {
        if self.head.grants.is_empty() {
            return Ok(false);
        }
        let input = digest(input);
        let granted =
            self.head.grants.iter().find(|grant| grant.tool == tool && grant.input == input);
        let Some(approval) = granted.map(|grant| grant.approval) else { return Ok(false) };
        self.write(vec![GrantUsed { approval, tool_use_id: call.to_owned() }.into()]).await?;
        Ok(true)
    }

    async fn open_approval(
        &mut self,
        question: Question,
        token: Option<RawJson>,
    ) -> Result<ApprovalId, Leave> {
        let approval = ApprovalId::new();
        let Question { kind, tool, tool_use_id, agent, request } = question;
        let opened = ApprovalOpened {
            approval,
            generation: self.generation,
            turn: self.head.turn.as_ref().map(|turn| turn.id),
            kind,
            tool,
            tool_use_id,
            agent,
            request,
            token,
        };
        self.write(vec![opened.into()]).await?;
        Ok(approval)
    }

    fn wait_for(
        &mut self,
        approval: ApprovalId,
        reply: Reply,
        withdrawn: Withdrawn,
        how: Delivery,
    ) {
        let (waits, over) = oneshot::channel::<()>();
        self.work.push(Box::pin(async move {
            tokio::select! {
                // First: what is withdrawn late is not what is waited for now.
                biased;
                _ = over => Done::Answered,
                () = withdrawn => Done::Withdrawn(approval),
            }
        }));
        let waiter = Waiter { reply, _waits: Some(waits), since: Instant::now(), how };
        self.waiters.insert(approval, waiter);
    }

    /// The CLI does not want an answer any more.
    pub(super) async fn withdrawn(
        &mut self,
        approval: ApprovalId,
        session: &SessionHandle,
    ) -> Result<(), Leave> {
        self.waiters.remove(&approval);
        // It is asked for as long as its process is not the reason why it cannot be answered.
        if session.is_ending() {
            return Ok(());
        }
        let Some(pending) = self.head.approvals.get(&approval) else { return Ok(()) };
        // One that went out is closed by what comes of it.
        if pending.stage == Stage::Delivered || self.leaving.is_some() {
            return Ok(());
        }
        let why = Some("the CLI does not ask any more".to_owned());
        let end = ApprovalEnd::Cancelled;
        self.write(vec![ApprovalClosed { approval, end, why }.into()]).await
    }

    /// Gives answers to those who wait for them. That it goes out is written first. Nothing goes out
    /// once somebody has ended the turn.
    pub(super) async fn deliver(&mut self) -> Result<(), Leave> {
        if self.head.is_being_ended() {
            return Ok(());
        }
        let due: Vec<_> = self.head.undelivered().map(|(id, _)| id).collect();
        for approval in due {
            let Some(how) = self.waiters.get(&approval).map(|waiter| waiter.how) else { continue };
            let Some(stored) = self.approval(approval).await? else { continue };
            let Some(answer) = stored.given.as_ref().map(|given| given.answer.clone()) else {
                continue;
            };
            let effects = match stored.check(&answer) {
                Ok(effects) => effects,
                Err(error) => {
                    // It was checked when it was given, so this is a defect. Nothing runs.
                    tracing::error!(session = %self.id, %error, "an answer does not fit");
                    continue;
                }
            };
            let generation = self.generation;
            let mut happens: Vec<Happening> =
                vec![ApprovalDelivered { approval, generation, how }.into()];
            if !effects.updates.is_empty() {
                let (updates, approval) = (effects.updates, Some(approval));
                happens.push(RulesChanged { updates, approval }.into());
            }
            if let Some(mode) = effects.mode {
                happens.push(ModeChanged { mode }.into());
            }
            if !self.write_unless_refused(happens).await? {
                return Ok(());
            }
            self.give(approval, &stored, answer).await?;
        }
        Ok(())
    }

    /// Refuses what is waited for, because the turn is being ended.
    pub(super) async fn refuse_waiting(&mut self, why: &str) -> Result<(), Leave> {
        for (approval, waiter) in std::mem::take(&mut self.waiters) {
            let Reply::Permission(reply) = waiter.reply else { continue };
            let (end, why) = (ApprovalEnd::Cancelled, Some(why.to_owned()));
            self.write(vec![ApprovalClosed { approval, end, why }.into()]).await?;
            drop(reply.send(Answer::deny_and_stop("The user ended the turn.")));
        }
        Ok(())
    }

    /// Hands an answer over.
    async fn give(
        &mut self,
        approval: ApprovalId,
        stored: &crate::session::Approval,
        answer: Answer,
    ) -> Result<(), Leave> {
        let Some(waiter) = self.waiters.remove(&approval) else { return Ok(()) };
        let stops = answer.stops();
        let taken = match waiter.reply {
            Reply::Permission(reply) => reply.send(answer).is_ok(),
            Reply::Gate(reply) => reply.send(Gate::Decided(answer)).is_ok(),
        };
        if !taken {
            // Nobody waits any more, so it did not get there.
            let why = Some("the CLI did not ask any more when it was answered".to_owned());
            let end = ApprovalEnd::Cancelled;
            return self.write(vec![ApprovalClosed { approval, end, why }.into()]).await;
        }
        // What has no result of its own is done.
        if !stored.kind.is_permission() {
            let expired = self.head.approvals.get(&approval).map(Pending::effective_end);
            let end = expired.unwrap_or(ApprovalEnd::Done);
            self.write(vec![ApprovalClosed { approval, end, why: None }.into()]).await?;
            // A denial of these does not end the turn by itself.
            if stops && let Some(turn) = &self.head.turn {
                let (turn, by) = (turn.id, crate::session::By::Server);
                self.write(vec![crate::session::InterruptAsked { turn, by }.into()]).await?;
            }
        }
        Ok(())
    }
}

/// What brings a call back when the process is gone.
fn token(session: &SessionHandle, call: &str) -> Option<RawJson> {
    let tokens = session.parking_tokens();
    let tokens =
        tokens.inspect_err(|error| tracing::info!(%error, "a call cannot be parked")).ok()?;
    let found = tokens.iter().find(|token| token.tool_use_id().is_ok_and(|id| id.as_str() == call));
    RawJson::from_value(found?).ok()
}

fn raw<T: serde::Serialize>(value: &T) -> RawJson {
    // What came as JSON can be written as JSON.
    RawJson::from_value(value).unwrap_or_else(|_| RawJson::empty_object())
}
