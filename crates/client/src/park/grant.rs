//! The answer to a call that was parked, kept until the call is made.

use std::sync::{Arc, Mutex, PoisonError};

use countersign_protocol::RawJson;
use countersign_protocol::ask::CanUseTool;
use countersign_protocol::permission::PermissionResult;
use tokio::sync::watch;

use super::gate::Gate;
use super::resume::Raised;
use super::same::is_same;
use crate::permission::{
    AnswerError, AnyPermissionHandler, HandlerFailure, PermissionAnswer, PermissionAsk,
    PermissionHandler,
};

/// Decides about the call that was parked.
pub(super) enum Answer {
    /// It is decided.
    Given(Box<dyn FnOnce(PermissionAsk) -> Result<PermissionAnswer, AnswerError> + Send>),
    /// The handler of the session decides.
    ByHandler(Arc<dyn AnyPermissionHandler>),
}

impl Answer {
    pub(super) async fn decide(
        self,
        ask: PermissionAsk,
    ) -> Result<PermissionAnswer, HandlerFailure> {
        match self {
            Self::Given(answer) => Ok(answer(ask)?),
            Self::ByHandler(handler) => handler.decide_boxed(ask).await,
        }
    }
}

/// Gives a parked call its answer, and everything else to the handler of the session.
#[derive(Clone)]
pub(super) struct Answering {
    shared: Arc<Shared>,
    others: Arc<dyn AnyPermissionHandler>,
}

struct Shared {
    /// The call, as it was parked.
    request: Arc<CanUseTool>,
    /// Hooks that may have to see it first.
    gate: Option<Gate>,
    /// Who decides about it, until it is decided.
    answer: Mutex<Option<Answer>>,
    grant: Mutex<Option<Grant>>,
    /// How the CLI asked for it, once it has.
    asked: watch::Sender<Option<Raised>>,
}

/// The same tool with the same input may run once.
pub(super) struct Grant {
    pub(super) tool: String,
    pub(super) input: RawJson,
    /// What was answered: another input, rules, a mode.
    pub(super) answer: PermissionAnswer,
}

impl Answering {
    pub(super) fn new(
        request: Arc<CanUseTool>,
        gate: Option<Gate>,
        answer: Answer,
        others: Arc<dyn AnyPermissionHandler>,
    ) -> Self {
        let shared = Shared {
            request,
            gate,
            answer: Mutex::new(Some(answer)),
            grant: Mutex::default(),
            asked: watch::Sender::new(None),
        };
        Self { shared: Arc::new(shared), others }
    }

    /// Waits until the call was asked for, and says how.
    pub(super) async fn asked(&self) -> Raised {
        let mut asked = self.shared.asked.subscribe();
        // The sender is here, so it only returns when it is so.
        let asked = asked.wait_for(Option::is_some).await;
        asked.ok().and_then(|asked| asked.clone()).unwrap_or(Raised::SameCall)
    }

    /// The answer, if it was not given yet. It is not given to the call then.
    pub(super) fn take(&self) -> Option<Answer> {
        self.shared.answer.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Lets a call of the same tool with the same input have the answer, once.
    pub(super) fn grant(&self, grant: Grant) {
        *self.shared.grant.lock().unwrap_or_else(PoisonError::into_inner) = Some(grant);
    }

    fn granted(&self, ask: &PermissionAsk) -> Option<Grant> {
        let mut grant = self.shared.grant.lock().unwrap_or_else(PoisonError::into_inner);
        grant.take_if(|grant| grant.tool == ask.tool_name() && is_same(&grant.input, ask.input()))
    }
}

impl PermissionHandler for Answering {
    async fn decide(&self, ask: PermissionAsk) -> Result<PermissionAnswer, HandlerFailure> {
        let parked = &self.shared.request;
        if *ask.tool_use_id() == parked.tool_use_id
            && let Some(answer) = self.take()
        {
            // Nobody has decided about anything else that comes under its name.
            let is_it = ask.tool_name() == parked.tool_name && is_same(ask.input(), &parked.input);
            let raised = if is_it { Raised::SameCall } else { Raised::OtherCall };
            self.shared.asked.send_replace(Some(raised));
            let passed = match &self.shared.gate {
                Some(gate) => gate.pass(ask).await,
                None => Ok(ask),
            };
            return match passed {
                Ok(ask) if is_it => answer.decide(ask).await,
                Ok(ask) => self.others.decide_boxed(ask).await,
                Err(refused) => Ok(refused),
            };
        }
        match self.granted(&ask) {
            Some(grant) => Ok(again(ask, grant.answer)?),
            None => self.others.decide_boxed(ask).await,
        }
    }
}

/// The same answer to another ask.
fn again(ask: PermissionAsk, answer: PermissionAnswer) -> Result<PermissionAnswer, AnswerError> {
    let PermissionResult::Allow(allow) = answer.result else {
        return Ok(ask.deny("it was not allowed"));
    };
    let mut allowing = ask.allowing();
    if let Some(input) = allow.updated_input {
        allowing = allowing.input(input)?;
    }
    Ok(allowing.updates(allow.updated_permissions.into_iter().flatten()).answer())
}
