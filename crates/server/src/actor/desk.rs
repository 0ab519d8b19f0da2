//! What the CLI asks, on its way to the actor, and the answers on their way back.
//!
//! Everything fails closed: when the actor is gone, or drops what it was asked, the tool is denied.

use std::pin::Pin;
use std::time::Duration;

use countersign::SessionBuilder;
use countersign::hook::{Hook, HookContext};
use countersign::permission::{HandlerFailure, PermissionAnswer, PermissionAsk, PermissionHandler};
use countersign_protocol::ask::{CanUseTool, Elicitation, ElicitationAnswer};
use countersign_protocol::hook::{HookOutput, PreToolUseInput, PreToolUseOutput};
use tokio::sync::{mpsc, oneshot};

use crate::session::Answer;

/// The tool with which the model enters plan mode.
pub(super) const ENTER_PLAN_MODE: &str = "EnterPlanMode";

/// How long a hook waits: people take their time. The client allows no more than this.
const PATIENCE: Duration = Duration::from_secs(24 * 24 * 60 * 60);

/// How many questions may wait for the actor.
const WAITING: usize = 64;

/// Is done when the CLI wants no answer any more.
pub(super) type Withdrawn = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What the CLI asks.
pub(super) enum Ask {
    /// May this run? What is this plan worth? What are the answers?
    Permission(Box<CanUseTool>, Withdrawn, oneshot::Sender<Answer>),
    /// This is about to run, or to be asked for.
    Call(Box<PreToolUseInput>, Withdrawn, oneshot::Sender<Gate>),
    /// An MCP server wants to know something.
    Elicitation(Box<Elicitation>, oneshot::Sender<Answer>),
}

/// What the gate says to a call.
#[derive(Debug)]
pub(super) enum Gate {
    /// It is known of now. Rules, the mode and people decide.
    Passed,
    /// A person has decided about it.
    Decided(Answer),
}

/// Where the CLI's questions go.
#[derive(Clone)]
pub(super) struct Desk {
    asks: mpsc::Sender<Ask>,
}

const GONE: &str = "nobody is there to decide: the session is being ended";

impl Desk {
    pub(super) fn open() -> (Self, mpsc::Receiver<Ask>) {
        let (asks, received) = mpsc::channel(WAITING);
        (Self { asks }, received)
    }

    /// Has a session ask here.
    pub(super) fn serve(&self, builder: SessionBuilder) -> SessionBuilder {
        let (gate, forms) = (self.clone(), self.clone());
        let gate = Hook::new(move |input: PreToolUseInput, context: HookContext| {
            let desk = gate.clone();
            async move { desk.gate(input, &context).await }
        });
        builder.on_permission(self.clone()).hook(gate.timeout(PATIENCE)).on_elicitation(
            move |request| {
                let desk = forms.clone();
                async move { desk.elicit(request).await }
            },
        )
    }

    async fn gate(
        &self,
        input: PreToolUseInput,
        context: &HookContext,
    ) -> Result<HookOutput, HandlerFailure> {
        if input.tool_name == ENTER_PLAN_MODE {
            // The CLI asks nobody for it, so this is where a person is asked.
            context.asks_a_person();
        }
        let (reply, said) = oneshot::channel();
        let ask = Ask::Call(Box::new(input), Box::pin(context.cancelled()), reply);
        self.asks.send(ask).await.map_err(|_| GONE)?;
        match said.await.map_err(|_| GONE)? {
            Gate::Passed => Ok(HookOutput::no_opinion()),
            Gate::Decided(answer) => Ok(match answer.to_enter_plan()? {
                None => HookOutput::no_opinion(),
                Some(deny) if deny.message.is_empty() => {
                    PreToolUseOutput::deny("The user refused.").into()
                }
                Some(deny) => PreToolUseOutput::deny(&*deny.message).into(),
            }),
        }
    }

    async fn elicit(&self, request: Elicitation) -> Result<ElicitationAnswer, HandlerFailure> {
        let (reply, said) = oneshot::channel();
        let ask = Ask::Elicitation(Box::new(request), reply);
        self.asks.send(ask).await.map_err(|_| GONE)?;
        let answer = said.await.map_err(|_| GONE)?;
        Ok(answer.to_elicitation()?)
    }
}

impl PermissionHandler for Desk {
    async fn decide(&self, ask: PermissionAsk) -> Result<PermissionAnswer, HandlerFailure> {
        let (reply, said) = oneshot::channel();
        let request = Box::new(ask.request().clone());
        let asked = Ask::Permission(request, Box::pin(ask.cancelled()), reply);
        self.asks.send(asked).await.map_err(|_| GONE)?;
        let answer = said.await.map_err(|_| GONE)?;
        Ok(answer.to_permission(ask)?)
    }
}
