//! The faults of the simulated CLI, in the middle of a turn.

use countersign::protocol::request::SetModel;
use countersign::{Session, TurnError};
use libtest_mimic::Trial;

use crate::kit::{Cli, Outcome, V325, builder, close, lab, soon, trial};
use crate::puppet::hasty;

pub(super) fn trials() -> Vec<Trial> {
    let goes_on =
        ["not json", "unknown frame", "unknown request", "flood stderr 10 MB", "long line 10 MB"];
    let ends = ["die mid-line", "exit 3"];
    let mut trials = vec![
        trial("faults::simulated::freeze", freeze),
        trial("faults::simulated::answer twice", answers_twice),
    ];
    trials
        .extend(goes_on.map(|fault| {
            trial(format!("faults::simulated::{fault}"), move || turn_goes_on(fault))
        }));
    trials.extend(
        ends.map(|fault| trial(format!("faults::simulated::{fault}"), move || session_ends(fault))),
    );
    trials
}

/// A session whose first turn has this fault in its middle.
async fn session(fault: &str) -> (Session, countersign_lab::Lab) {
    let script = format!(
        "[[answer]]\nblocks = [ {{ text = \"Before.\" }}, {{ fault = \"{fault}\" }}, \
         {{ text = \"After.\" }} ]\n\n[[answer]]\ntext = \"Next.\"\n"
    );
    let lab = lab(Cli::Simulated(V325), &script).await;
    let builder = builder(&lab).shutdown_times(hasty());
    (soon("the start", builder.connect()).await.unwrap(), lab)
}

async fn turn_goes_on(fault: &str) -> Outcome {
    let (mut session, lab) = session(fault).await;
    let outcome = soon("the turn", session.send("Go.").await?.finish()).await?;
    assert!(outcome.text.starts_with("Before.") && outcome.text.ends_with("After."));
    let outcome = soon("the turn", session.send("More.").await?.finish()).await?;
    assert_eq!(outcome.answer(), "Next.");
    let stats = session.stats();
    let counted = match fault {
        "not json" => stats.not_frames == 1,
        "unknown frame" => stats.unknown == 1,
        "unknown request" => stats.unanswerable == 1,
        "flood stderr 10 MB" => stats.stderr_bytes >= 10_000_000,
        _ => stats.most_lag_bytes > 10_000_000,
    };
    assert!(counted, "{stats:?}");
    close(session, lab).await;
    Ok(())
}

async fn session_ends(fault: &str) -> Outcome {
    let (mut session, lab) = session(fault).await;
    let error = soon("the turn", session.send("Go.").await?.finish()).await.unwrap_err();
    let TurnError::SessionEnded(end) = error else { panic!("{error:?}") };
    if fault == "exit 3" {
        assert_eq!(end.exit.and_then(|exit| exit.code()), Some(3));
    }
    close(session, lab).await;
    Ok(())
}

async fn freeze() -> Outcome {
    let (mut session, lab) = session("freeze").await;
    let mut turn = session.send("Go.").await?;
    soon("an event", turn.next()).await.unwrap();
    drop(turn);
    close(session, lab).await;
    Ok(())
}

async fn answers_twice() -> Outcome {
    let script = "[[misbehave]]\non = \"set_model\"\ndo = \"answer twice\"\n";
    let lab = lab(Cli::Simulated(V325), script).await;
    let session = soon("the start", builder(&lab).connect()).await?;
    for _ in 0..2 {
        soon("the answer", session.call(SetModel::new("haiku"))).await?;
    }
    assert!(session.stats().late_answers >= 1);
    close(session, lab).await;
    Ok(())
}
