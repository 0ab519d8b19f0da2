//! Hooks that see a call which comes back before the CLI knows of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use countersign_protocol::RawJson;
use countersign_protocol::ask::HookCallback;
use countersign_protocol::hook::{
    HookBase, HookDecision, HookEvent, HookInput, HookOutput, HookPermission, HookSpecificOutput,
    PreToolUseInput,
};
use countersign_protocol::ids::{HookCallbackId, ToolUseId};
use tokio::task::JoinSet;

use crate::hook::{AsksPerson, Hook};
use crate::permission::{PermissionAnswer, PermissionAsk};

/// The hooks that see every call of a tool, for a version that raises a call without waiting for
/// `initialize`, in which they are. If it does, they are asked here.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    hooks: Vec<Arc<Hook>>,
    /// Whether the CLI has asked one of them about the call.
    is_known: Arc<AtomicBool>,
    base: HookBase,
}

/// What a hook says to a call.
enum Word {
    GoOn,
    With(RawJson),
    No(String),
}

impl Gate {
    /// Watches these hooks, to know whether the CLI asks them about this call. None when there is
    /// nothing to watch.
    pub(super) fn watching(
        hooks: &mut [Arc<Hook>],
        call: &ToolUseId,
        base: HookBase,
    ) -> Option<Self> {
        let is_known = Arc::new(AtomicBool::new(false));
        let mut watched = Vec::new();
        for hook in hooks.iter_mut().filter(|hook| *hook.event() == HookEvent::PreToolUse) {
            watched.push(Arc::clone(hook));
            *hook = Arc::new(hook.noting(call.clone(), Arc::clone(&is_known)));
        }
        (!watched.is_empty()).then_some(Self { hooks: watched, is_known, base })
    }

    /// Asks the hooks, if the CLI has not. Gives the ask, with the input that they changed, or their
    /// refusal.
    pub(super) async fn pass(
        &self,
        mut ask: PermissionAsk,
    ) -> Result<PermissionAsk, PermissionAnswer> {
        if self.is_known.load(Ordering::Acquire) {
            return Ok(ask);
        }
        for hook in &self.hooks {
            if !hook.may_match(ask.tool_name()) {
                continue;
            }
            match word(self.ask(hook, &ask).await) {
                Word::GoOn => {}
                Word::With(input) => ask = ask.with_input(input),
                Word::No(reason) => return Err(ask.deny(reason)),
            }
        }
        Ok(ask)
    }

    async fn ask(&self, hook: &Arc<Hook>, ask: &PermissionAsk) -> HookOutput {
        let (tool, input, call) = (ask.tool_name(), ask.input().clone(), ask.tool_use_id());
        let input = PreToolUseInput::new(tool, input, call.clone(), self.base.clone());
        let input = HookInput::PreToolUse(input);
        let mut request = HookCallback::new(HookCallbackId::from("parked"), input);
        request.tool_use_id = Some(call.clone());
        let (reaction, cancelled) = (Arc::clone(hook), ask.cancellation());
        // In a task of its own, so that a hook that panics has failed and no more.
        let mut running = JoinSet::new();
        let asks = AsksPerson::default();
        running.spawn(async move { reaction.call(request, cancelled, asks).await });
        let outcome = match hook.limit() {
            None => running.join_next().await,
            Some(limit) => tokio::time::timeout(limit, running.join_next()).await.ok().flatten(),
        };
        let reason = match outcome {
            Some(Ok(Ok(output))) => return output,
            Some(Ok(Err(failure))) => format!("the hook failed: {failure}"),
            Some(Err(panicked)) => format!("the hook failed: {panicked}"),
            None => "the hook did not answer in time".to_owned(),
        };
        hook.failed(&reason).unwrap_or_else(HookOutput::no_opinion)
    }
}

/// What an answer of a hook means for a call that a person has decided about: it cannot allow more
/// than that.
fn word(output: HookOutput) -> Word {
    if output.is_async == Some(true) {
        return Word::GoOn;
    }
    let reason = output.reason.unwrap_or_else(|| "a hook refuses it".to_owned());
    if output.decision == Some(HookDecision::Block) {
        return Word::No(reason);
    }
    let Some(HookSpecificOutput::PreToolUse(output)) = output.hook_specific_output else {
        return Word::GoOn;
    };
    match output.permission_decision {
        None | Some(HookPermission::Allow | HookPermission::Ask) => {
            output.updated_input.map_or(Word::GoOn, Word::With)
        }
        // Neither can it be put off again, nor is a decision that is not known one that allows.
        Some(_) => Word::No(output.permission_decision_reason.unwrap_or(reason)),
    }
}
