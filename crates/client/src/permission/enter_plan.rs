//! Whether the model may enter plan mode.

use std::time::Duration;

use countersign_protocol::hook::{HookOutput, PreToolUseInput, PreToolUseOutput};

use super::handler::HandlerFailure;
use crate::hook::{Hook, HookContext};

/// How long somebody may think about it. A hook has to have a limit, and people take their time.
const PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// The model wants to enter plan mode.
///
/// The CLI asks no host for that, in no mode; a hook that comes before the tool is asked in its
/// place. It is answered by one of its own methods.
#[derive(Debug)]
pub struct EnterPlanAsk {
    input: PreToolUseInput,
    context: HookContext,
}

/// The answer to an [`EnterPlanAsk`]. It can only be made from one.
#[derive(Debug)]
#[must_use = "an answer that is not returned is a refusal"]
pub struct EnterPlanAnswer {
    refused: Option<String>,
}

impl EnterPlanAsk {
    /// What the hook was told: the call, the mode, the session, the sub-agent.
    #[must_use]
    pub fn input(&self) -> &PreToolUseInput {
        &self.input
    }

    /// Waits until the CLI no longer wants an answer.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + 'static {
        self.context.cancelled()
    }

    /// Does not object. Rules and other hooks still may.
    pub fn allow(self) -> EnterPlanAnswer {
        EnterPlanAnswer { refused: None }
    }

    /// Refuses. The model reads the reason, and goes on in the mode that it is in.
    pub fn deny(self, reason: impl Into<String>) -> EnterPlanAnswer {
        EnterPlanAnswer { refused: Some(reason.into()) }
    }
}

impl From<EnterPlanAnswer> for HookOutput {
    fn from(answer: EnterPlanAnswer) -> Self {
        match answer.refused {
            Some(reason) => PreToolUseOutput::deny(reason).into(),
            None => Self::no_opinion(),
        }
    }
}

/// The hook that asks.
pub(crate) fn enter_plan_hook<F, Fut, E>(handler: F) -> Hook
where
    F: Fn(EnterPlanAsk) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<EnterPlanAnswer, E>> + Send + 'static,
    E: Into<HandlerFailure>,
{
    let hook = Hook::new(move |input: PreToolUseInput, context: HookContext| {
        context.asks_a_person();
        let answer = handler(EnterPlanAsk { input, context });
        async move { answer.await.map(HookOutput::from).map_err(Into::into) }
    });
    hook.matcher("EnterPlanMode").timeout(PATIENCE)
}
