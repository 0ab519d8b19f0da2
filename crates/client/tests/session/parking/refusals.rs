//! What is not parked, and what is not resumed.

use countersign::park::{ParkError, ResumeError, Resumed};
use libtest_mimic::Trial;

use super::{asking, new_file, nobody, parked, resume};
use crate::kit::{Cli, Outcome, V62, V197, WRITE, builder, close, lab, on_all, soon};

const TWO: &str = r#"
[[answer]]
tools = [
    { name = "Read", input = { file_path = "/etc/hostname" } },
    { name = "Read", input = { file_path = "/etc/passwd" } },
]

[[answer]]
text = "Both."
"#;

pub(super) fn trials() -> Vec<Trial> {
    [
        on_all("parking::a_token_is_used_once", V197, used),
        on_all("parking::a_session_that_asks_nothing_is_not_parked", V62, nothing),
        on_all("parking::a_session_that_asks_twice_is_not_parked", V62, twice),
        on_all("parking::a_session_that_runs_is_not_resumed", V62, running),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Whoever does not know whether an answer was delivered may try again: a call that has a result is
/// not raised again, and the model is not told to make it.
async fn used(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let token = parked(builder(&lab)).await;
    let Resumed { mut session, .. } = resume(builder(&lab), &token, |ask| Ok(ask.allow())).await;
    soon("the turn", session.current_turn().finish()).await?;
    assert_eq!(new_file(&lab).as_deref(), Some("new\n"));
    soon("the end", session.close()).await;
    let tried = Box::pin(builder(&lab).resume_parked(&token, |ask| Ok(ask.allow())));
    let tried = soon("the resume", tried).await;
    assert!(matches!(tried, Err(ResumeError::AlreadyDone { .. })), "{tried:?}");
    lab.close().await?;
    Ok(())
}

async fn nothing(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let session = builder(&lab).on_permission(nobody);
    let mut session = soon("the start", Box::pin(session.connect())).await?;
    let (back, error) = session.park().await.unwrap_err();
    assert!(matches!(error, ParkError::NoSession | ParkError::NotAsking), "{error}");
    session = back;
    // It is as it was before.
    session.interrupt().await?;
    close(session, lab).await;
    Ok(())
}

async fn twice(cli: Cli) -> Outcome {
    let lab = lab(cli, TWO).await;
    let session = asking(builder(&lab), 2).await;
    let (session, error) = session.park().await.unwrap_err();
    assert!(matches!(error, ParkError::Several { count: 2 }), "{error}");
    assert_eq!(session.open_permissions().len(), 2);
    close(session, lab).await;
    Ok(())
}

async fn running(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let session = asking(builder(&lab), 1).await;
    let token = session.parking_tokens()?.remove(0);
    let resumed = Box::pin(builder(&lab).resume_parked(&token, |ask| Ok(ask.allow()))).await;
    assert!(matches!(resumed, Err(ResumeError::StillRunning)));
    close(session, lab).await;
    Ok(())
}
