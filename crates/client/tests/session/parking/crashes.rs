//! Sessions that nobody had the time to park.

use countersign::park::{Raised, Resumed};
use libtest_mimic::Trial;

use super::{asking, kept, new_file, resume, wait_for_call};
use crate::kit::{Cli, Outcome, V197, WRITE, builder, close, lab, on_all, soon};

pub(super) fn trials() -> Vec<Trial> {
    [on_all("parking::after_the_process_was_killed", V197, killed)].into_iter().flatten().collect()
}

/// The process is killed by somebody else: there was no time to park it, but there is a token.
async fn killed(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let session = asking(builder(&lab), 1).await;
    let token = session.parking_tokens()?.remove(0);
    wait_for_call(&lab, &token).await;
    let end = soon("the end", session.kill()).await;
    assert!(end.still_running.is_empty());
    drop(session);
    let Resumed { mut session, raised, .. } =
        resume(builder(&lab), &kept(&token), |ask| Ok(ask.allow())).await;
    assert_eq!(raised, Raised::SameCall);
    let outcome = soon("the turn", session.current_turn().finish()).await?;
    assert_eq!(outcome.answer(), "That was it.");
    assert_eq!(new_file(&lab).as_deref(), Some("new\n"));
    close(session, lab).await;
    Ok(())
}
