//! The answer to a call that was parked, kept until the call is made.

use std::sync::{Arc, Mutex, PoisonError};

use countersign_protocol::RawJson;
use countersign_protocol::ids::ToolUseId;
use countersign_protocol::permission::PermissionResult;
use tokio::sync::watch;

use super::gate::Gate;
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
    call: ToolUseId,
    /// Hooks that may have to see it first.
    gate: Option<Gate>,
    /// Who decides about it, until it is decided.
    answer: Mutex<Option<Answer>>,
    grant: Mutex<Option<Grant>>,
    asked: watch::Sender<bool>,
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
        call: ToolUseId,
        gate: Option<Gate>,
        answer: Answer,
        others: Arc<dyn AnyPermissionHandler>,
    ) -> Self {
        let shared = Shared {
            call,
            gate,
            answer: Mutex::new(Some(answer)),
            grant: Mutex::default(),
            asked: watch::Sender::new(false),
        };
        Self { shared: Arc::new(shared), others }
    }

    /// Waits until the call was asked for.
    pub(super) async fn asked(&self) {
        // The sender is here, so it only returns when it is so.
        drop(self.shared.asked.subscribe().wait_for(|asked| *asked).await);
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
        if *ask.tool_use_id() == self.shared.call
            && let Some(answer) = self.take()
        {
            self.shared.asked.send_replace(true);
            let passed = match &self.shared.gate {
                Some(gate) => gate.pass(ask).await,
                None => Ok(ask),
            };
            return match passed {
                Ok(ask) => answer.decide(ask).await,
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

/// Whether two inputs mean the same: the order of keys and the space between them do not count.
fn is_same(one: &RawJson, other: &RawJson) -> bool {
    let value = |json: &RawJson| json.decode::<serde_json::Value>();
    match (value(one), value(other)) {
        // Numbers that a float cannot hold apart are compared as they are spelled.
        (Ok(one_value), Ok(other_value)) => {
            one_value == other_value && digits(one.as_str()) == digits(other.as_str())
        }
        _ => one == other,
    }
}

/// The digits in a text, sorted: equal for two spellings of the same values.
fn digits(text: &str) -> Vec<u8> {
    let mut digits: Vec<u8> = text.bytes().filter(u8::is_ascii_digit).collect();
    digits.sort_unstable();
    digits
}
