//! Hooks, and a call that comes back.

use std::sync::{Arc, Mutex};

use countersign::hook::Hook;
use countersign::park::{Raised, Resumed};
use countersign::protocol::hook::PreToolUseInput;
use libtest_mimic::Trial;

use super::{parked, resume};
use crate::kit::{Cli, Outcome, V197, WRITE, builder, close, lab, on_all, soon};

pub(super) fn trials() -> Vec<Trial> {
    [on_all("parking::hooks_are_asked_first", V197, hooked)].into_iter().flatten().collect()
}

/// A gate that sees every call sees this one, too, before it is asked for.
async fn hooked(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let gate = {
        let seen = Arc::clone(&seen);
        move || {
            let seen = Arc::clone(&seen);
            Hook::new(move |input: PreToolUseInput, _| {
                seen.lock().unwrap().push(input.tool_use_id.to_string());
                async {}
            })
        }
    };
    let token = parked(builder(&lab).hook(gate())).await;
    assert_eq!(seen.lock().unwrap().len(), 1);
    let Resumed { mut session, raised, .. } =
        resume(builder(&lab).hook(gate()), &token, |ask| Ok(ask.allow())).await;
    assert_eq!(raised, Raised::SameCall);
    let outcome = soon("the turn", session.current_turn().finish()).await?;
    assert_eq!(outcome.answer(), "That was it.");
    let call = token.tool_use_id()?.to_string();
    assert_eq!(*seen.lock().unwrap(), [call.clone(), call]);
    close(session, lab).await;
    Ok(())
}
