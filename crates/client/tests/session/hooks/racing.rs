//! Hooks beside another that decides, and hooks that are withdrawn.

use std::sync::Arc;

use countersign::hook::{Hook, HookContext};
use countersign::permission::PermissionAsk;
use countersign::protocol::hook::{
    HookOutput, PermissionRequestInput, PermissionRequestOutput, PreToolUseInput, PreToolUseOutput,
};
use countersign::turn::Decision;
use libtest_mimic::Trial;
use tokio::sync::Notify;

use super::{lab_files_are_missing, one_write};
use crate::asking::{on_real, say, start};
use crate::kit::{Cli, Outcome, V62, builder, close, lab, on_all, soon};

pub(super) fn trials() -> Vec<Trial> {
    [
        on_all("hooks::the_first_to_give_a_permission_has_given_it", V62, race),
        on_real("hooks::an_interrupt_withdraws_a_hook", V62, interrupted),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The hook and the handler are asked at once, and one of them answers too late.
async fn race(cli: Cli) -> Outcome {
    for hook_answers in [true, false] {
        let lab = lab(cli, &one_write("I read: ${result}")).await;
        let (late, is_late) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let hook_is_late = Arc::clone(&is_late);
        let hook = Hook::new(move |_: PermissionRequestInput, _| {
            let late = Arc::clone(&hook_is_late);
            async move {
                // It is not told that it is not needed any more.
                if !hook_answers {
                    late.notified().await;
                }
                HookOutput::from(PermissionRequestOutput::allow())
            }
        });
        let handler_is_late = Arc::clone(&late);
        let handler = move |ask: PermissionAsk| {
            let late = Arc::clone(&handler_is_late);
            async move {
                if hook_answers {
                    ask.cancelled().await;
                    late.notify_one();
                }
                ask.deny("the handler was first")
            }
        };
        let mut session = start(builder(&lab).hook(hook).on_permission(handler)).await?;
        let outcome = say(&mut session, "Write it.").await?;
        if hook_answers {
            soon("the end of the ask", late.notified()).await;
        } else {
            is_late.notify_one();
        }
        let denied = outcome.answer().contains("the handler was first");
        assert_eq!(denied, !hook_answers, "{}", outcome.answer());
        let decided = matches!(outcome.tool_calls[0].decision, Decision::Denied { .. });
        assert_eq!(decided, !hook_answers);
        // After another turn, whatever came too late has come.
        say(&mut session, "Go on.").await?;
        assert_eq!(lab.work().join("new.txt").exists(), hook_answers);
        close(session, lab).await;
    }
    Ok(())
}

async fn interrupted(cli: Cli) -> Outcome {
    let lab = lab(cli, &one_write("Next.")).await;
    let (called, withdrawn) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (came, went) = (Arc::clone(&called), Arc::clone(&withdrawn));
    let hook = Hook::new(move |_: PreToolUseInput, context: HookContext| {
        came.notify_one();
        let gone = Arc::clone(&went);
        async move {
            context.cancelled().await;
            gone.notify_one();
            HookOutput::from(PreToolUseOutput::allow())
        }
    });
    let mut session = start(builder(&lab).hook(hook)).await?;
    let handle = session.handle();
    let turn = session.send("Write it.").await?;
    soon("the hook", called.notified()).await;
    soon("the interrupt", handle.interrupt()).await?;
    soon("the end of the hook", withdrawn.notified()).await;
    let outcome = soon("the turn", turn.finish()).await?;
    assert!(!outcome.succeeded(), "{outcome:?}");
    assert_eq!(say(&mut session, "And now?").await?.answer(), "Next.");
    close(session, lab_files_are_missing(lab)).await;
    Ok(())
}
