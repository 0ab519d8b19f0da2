//! Where the call does not come back, and the model is told what was decided.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use std::time::Duration;

use countersign::Session;
use countersign::park::{ParkingToken, Raised, ResumeError, Resumed};
use countersign::permission::{AskKind, PermissionAsk, PlanChoice};
use countersign::protocol::content::TextBlock;
use countersign_lab::Lab;
use libtest_mimic::Trial;

use super::answers::{PLAN, planning, shows_its_plan};
use super::{asking, last_request, new_file, nobody, resume, wait_for_call};
use crate::asking::requests;
use crate::kit::{Cli, Outcome, V62, WRITE, builder, close, lab, on_all, soon};

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
    [
        on_all("parking::the_model_is_told_where_the_call_does_not_come_back", V62, told),
        on_all("parking::nothing_is_told_where_an_answer_ends_the_turn", V62, stopped),
        on_all("parking::a_plan_begins_anew_where_the_call_does_not_come_back", V62, begun_anew),
        on_all("parking::feedback_with_more_than_words_is_told", V62, feedback),
        on_all("parking::the_handler_has_its_limit_where_the_call_does_not_come_back", V62, late),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Ends the process of a session that asks, and gives a token of a version that cannot bring the
/// call back.
async fn lost(lab: &Lab, session: Session) -> ParkingToken {
    let token = session.parking_tokens().unwrap().remove(0);
    wait_for_call(lab, &token).await;
    soon("the end", session.kill()).await;
    let mut kept = serde_json::to_value(&token).unwrap();
    kept["version"] = "2.1.62".into();
    serde_json::from_value(kept).unwrap()
}

/// Without its transcript, and on versions that do not ask again, the model is told; the same call
/// then runs once without asking, and another one does not.
async fn told(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE_AGAIN).await;
    let token = lost(&lab, asking(builder(&lab), 1).await).await;
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

async fn stopped(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let token = lost(&lab, asking(builder(&lab), 1).await).await;
    let asked = requests(cli, &lab).map(|requests| requests.len());
    let resumed = resume(builder(&lab), &token, |ask| Ok(ask.deny_and_stop("enough"))).await;
    assert!(matches!(resumed.raised, Raised::Stopped { .. }), "{:?}", resumed.raised);
    let mut session = resumed.session;
    assert!(!session.snapshot().is_running);
    assert_eq!(requests(cli, &lab).map(|requests| requests.len()), asked);
    // The first turn is that of the next message.
    let outcome = soon("the turn", session.send("Go on.").await?.finish()).await?;
    assert_eq!(outcome.answer(), "That was it.");
    assert_eq!(new_file(&lab), None);
    close(session, lab).await;
    Ok(())
}

async fn begun_anew(cli: Cli) -> Outcome {
    let lab = lab(cli, PLAN).await;
    let token = lost(&lab, shows_its_plan(&lab).await?).await;
    let resumed = resume(planning(&lab), &token, |ask| match ask.into_kind() {
        AskKind::Plan(ask) => ask.approve(PlanChoice::ClearContextAndAcceptEdits),
        other => panic!("{other:?}"),
    });
    let Resumed { mut session, raised, fresh_start, .. } = resumed.await;
    assert!(matches!(raised, Raised::Stopped { .. }), "{raised:?}");
    let fresh = fresh_start.unwrap();
    assert_eq!(fresh.plan, "# Plan\n1. Write it.\n");
    let outcome = soon("the turn", session.begin_fresh(&fresh).await?.finish()).await?;
    assert_eq!(outcome.answer(), "That was it.");
    assert_eq!(new_file(&lab).as_deref(), Some("new\n"));
    close(session, lab).await;
    Ok(())
}

async fn feedback(cli: Cli) -> Outcome {
    let lab = lab(cli, PLAN).await;
    let token = lost(&lab, shows_its_plan(&lab).await?).await;
    let resumed = resume(planning(&lab), &token, |ask| match ask.into_kind() {
        AskKind::Plan(ask) => {
            let more = TextBlock::new("see the second picture");
            Ok(ask.keep_planning_with("test it as well", vec![more.into()]))
        }
        other => panic!("{other:?}"),
    });
    let Resumed { mut session, raised, .. } = resumed.await;
    assert!(matches!(raised, Raised::Told { .. }), "{raised:?}");
    soon("the turn", session.current_turn().finish()).await?;
    if matches!(cli, Cli::Real(_)) {
        let told = last_request(&lab);
        assert!(told.contains("test it as well") && told.contains("see the second picture"));
    }
    close(session, lab).await;
    Ok(())
}

async fn late(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let token = lost(&lab, asking(builder(&lab), 1).await).await;
    let unparked = builder(&lab).on_permission(nobody).permission_timeout(Duration::from_millis(1));
    let unparked = soon("the resume", Box::pin(unparked.unpark(&token))).await?;
    assert!(matches!(unparked.raised, Raised::Told { .. }), "{:?}", unparked.raised);
    let mut session = unparked.session;
    let outcome = soon("the turn", session.current_turn().finish()).await?;
    assert_eq!(outcome.answer(), "That was it.");
    assert_eq!(new_file(&lab), None);
    if matches!(cli, Cli::Real(_)) {
        assert!(last_request(&lab).contains("nobody answered in time"));
    }
    close(session, lab).await;
    Ok(())
}
