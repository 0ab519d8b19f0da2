//! Where the call does not come back, and the model is told what was decided.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use countersign::park::{ParkingToken, Raised, ResumeError, Resumed};
use countersign::permission::PermissionAsk;
use libtest_mimic::Trial;

use super::{asking, new_file, resume, wait_for_call};
use crate::kit::{Cli, Outcome, V62, builder, lab, on_all, soon};

const WRITE_AGAIN: &str = r#"
[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
tool = { name = "Write", input = { content = "new\n", file_path = "${cwd}/new.txt" } }

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/other.txt", content = "new\n" } }

[[answer]]
text = "That was it."
"#;

pub(super) fn trials() -> Vec<Trial> {
    [on_all("parking::the_model_is_told_where_the_call_does_not_come_back", V62, told)]
        .into_iter()
        .flatten()
        .collect()
}

/// Without its transcript, and on versions that do not ask again, the model is told; the same call
/// then runs once without asking, and another one does not.
async fn told(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE_AGAIN).await;
    let session = asking(builder(&lab), 1).await;
    let token = session.parking_tokens()?.remove(0);
    wait_for_call(&lab, &token).await;
    soon("the end", session.kill()).await;
    drop(session);
    // A token of a version that cannot do it.
    let mut kept: serde_json::Value = serde_json::to_value(&token)?;
    kept["version"] = "2.1.62".into();
    let token: ParkingToken = serde_json::from_value(kept)?;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let builder = builder(&lab).on_permission(move |ask: PermissionAsk| {
        count.fetch_add(1, Ordering::Relaxed);
        async move { ask.deny("asked again") }
    });
    let Resumed { mut session, raised, .. } = resume(builder, &token, |ask| Ok(ask.allow())).await;
    assert!(matches!(raised, Raised::Told { .. }), "{raised:?}");
    let outcome = soon("the turn", session.current_turn().finish()).await?;
    assert_eq!(outcome.answer(), "That was it.");
    assert_eq!(new_file(&lab).as_deref(), Some("new\n"));
    assert!(!lab.work().join("other.txt").exists());
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    soon("the end", session.close()).await;
    // It is told once.
    let tried = Box::pin(self::builder(&lab).resume_parked(&token, |ask| Ok(ask.allow())));
    let tried = soon("the resume", tried).await;
    assert!(matches!(tried, Err(ResumeError::AlreadyDone { .. })), "{tried:?}");
    lab.close().await?;
    Ok(())
}
