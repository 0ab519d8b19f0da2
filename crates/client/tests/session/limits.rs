//! Limits that act.

use std::time::Duration;

use countersign::hook::Hook;
use countersign::permission::PermissionAsk;
use countersign::protocol::hook::{HookOutput, PreToolUseInput};
use countersign::{LimitReached, Limits, SendError, Session, TurnError};
use libtest_mimic::Trial;

use crate::kit::{Cli, Outcome, V62, V325, builder, close, lab, on_all, soon, trial};

/// The model stops in the middle, and then goes on as if nothing had been.
const HANGS: &str = r#"
[[answer]]
text = "one two three four"
hang = 4

[[answer]]
text = "Here I am again."

[[answer]]
text = "And again."
"#;

const FREEZES: &str = r#"
[[answer]]
text = "I do not feel well."
fault = "freeze"
"#;

const WRITE: &str = r#"
[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "That was it."
"#;

const SHORT: Duration = Duration::from_millis(300);

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = on_all("limits::a_turn_that_takes_too_long_is_interrupted", V62, turn_time);
    trials.extend([
        trial("limits::a_silent_turn_is_interrupted_and_the_session_goes_on", silence),
        trial("limits::a_cli_that_does_not_heed_the_interrupt_is_stopped", stopped),
        trial("limits::a_session_ends_when_its_time_is_up", session_time),
        trial("limits::a_session_ends_when_it_costs_too_much", cost),
        trial("limits::a_session_ends_after_its_turns", turns),
        trial("limits::the_time_of_a_person_does_not_count", person),
        trial("limits::the_time_of_a_hook_counts", hook),
    ]);
    trials
}

const SIMULATED: Cli = Cli::Simulated(V325);

/// A session ends by itself because of a limit, and says so everywhere.
async fn ends_by(session: Session, limit: LimitReached) {
    let end = soon("the end", session.ended()).await;
    assert_eq!(end.limit, Some(limit), "{end:?}");
    assert!(end.still_running.is_empty(), "{end:?}");
    assert!(end.to_string().contains(&limit.to_string()), "{end}");
    assert_eq!(session.snapshot().limit_reached, Some(limit));
    assert!(matches!(session.post("More?").await, Err(SendError::SessionEnded)));
}

async fn turn_time(cli: Cli) -> Outcome {
    let lab = lab(cli, HANGS).await;
    let limit = Duration::from_secs(5);
    let limited = builder(&lab).limits(Limits::new().turn_time(limit));
    let mut session = soon("the start", limited.connect()).await?;
    let outcome = soon("the turn", session.send("Count.").await?.finish()).await?;
    assert!(!outcome.succeeded(), "{outcome:?}");
    assert_eq!(session.snapshot().limit_reached, Some(LimitReached::TurnTime(limit)));
    let outcome = soon("the turn", session.send("And now?").await?.finish()).await?;
    assert_eq!(outcome.error(), None);
    let end = session.close().await;
    // It was the turn that was ended, and not the session.
    assert_eq!(end.limit, None);
    assert!(end.still_running.is_empty(), "{end:?}");
    lab.close().await?;
    Ok(())
}

async fn silence() -> Outcome {
    let lab = lab(SIMULATED, HANGS).await;
    let limited = builder(&lab).limits(Limits::new().silence(SHORT));
    let mut session = soon("the start", limited.connect()).await?;
    let outcome = soon("the turn", session.send("Count.").await?.finish()).await?;
    assert!(!outcome.succeeded(), "{outcome:?}");
    assert_eq!(session.snapshot().limit_reached, Some(LimitReached::Silence(SHORT)));
    assert!(session.snapshot().ended.is_none());
    close(session, lab).await;
    Ok(())
}

async fn stopped() -> Outcome {
    let lab = lab(SIMULATED, FREEZES).await;
    let limited = builder(&lab).limits(Limits::new().silence(SHORT).grace(SHORT));
    let mut session = soon("the start", limited.connect()).await?;
    let error = soon("the turn", session.send("How are you?").await?.finish()).await.err().unwrap();
    let TurnError::SessionEnded(end) = &error else { panic!("{error:?}") };
    assert_eq!(end.limit, Some(LimitReached::Silence(SHORT)));
    assert!(error.to_string().contains("said nothing"), "{error}");
    ends_by(session, LimitReached::Silence(SHORT)).await;
    lab.close().await?;
    Ok(())
}

async fn session_time() -> Outcome {
    let lab = lab(SIMULATED, HANGS).await;
    let limited = builder(&lab).limits(Limits::new().session_time(SHORT));
    let mut session = soon("the start", limited.connect()).await?;
    // The turn is interrupted, or does not begin any more.
    if let Ok(turn) = session.send("Count.").await {
        let outcome = soon("the turn", turn.finish()).await;
        assert!(!outcome.is_ok_and(|outcome| outcome.succeeded()));
    }
    ends_by(session, LimitReached::SessionTime(SHORT)).await;
    lab.close().await?;
    Ok(())
}

async fn cost() -> Outcome {
    let lab = lab(SIMULATED, WRITE).await;
    let limited = builder(&lab).limits(Limits::new().session_cost_usd(0.000_001));
    let mut session = soon("the start", limited.connect()).await?;
    let outcome = soon("the turn", session.send("Write it.").await?.finish()).await?;
    assert_eq!(outcome.answer(), "That was it.", "a turn that is done is done");
    ends_by(session, LimitReached::SessionCostUsd(0.000_001)).await;
    lab.close().await?;
    Ok(())
}

async fn turns() -> Outcome {
    let lab = lab(SIMULATED, "otherwise = 'Yes.'").await;
    let limited = builder(&lab).limits(Limits::new().session_turns(2));
    let mut session = soon("the start", limited.connect()).await?;
    for _ in 0..2 {
        let outcome = soon("the turn", session.send("Well?").await?.finish()).await?;
        assert_eq!(outcome.answer(), "Yes.");
    }
    ends_by(session, LimitReached::SessionTurns(2)).await;
    lab.close().await?;
    Ok(())
}

async fn person() -> Outcome {
    let lab = lab(SIMULATED, WRITE).await;
    let limit = Duration::from_secs(2);
    let limits = Limits::new().silence(limit).turn_time(limit);
    let slowly = move |ask: PermissionAsk| async move {
        tokio::time::sleep(2 * limit).await;
        ask.allow()
    };
    let limited = builder(&lab).limits(limits).on_permission(slowly);
    let mut session = soon("the start", limited.connect()).await?;
    let outcome = soon("the turn", session.send("Write it.").await?.finish()).await?;
    assert_eq!(outcome.answer(), "That was it.");
    assert_eq!(session.snapshot().limit_reached, None);
    close(session, lab).await;
    Ok(())
}

async fn hook() -> Outcome {
    let lab = lab(SIMULATED, WRITE).await;
    let never = Hook::new(|_: PreToolUseInput, context| async move {
        context.cancelled().await;
        HookOutput::no_opinion()
    });
    let limited = builder(&lab).limits(Limits::new().turn_time(SHORT).grace(SHORT)).hook(never);
    let mut session = soon("the start", limited.connect()).await?;
    let outcome = soon("the turn", session.send("Write it.").await?.finish()).await;
    assert!(!outcome.is_ok_and(|outcome| outcome.succeeded()));
    assert_eq!(session.snapshot().limit_reached, Some(LimitReached::TurnTime(SHORT)));
    assert!(!lab.work().join("new.txt").exists());
    session.close().await;
    lab.close().await?;
    Ok(())
}
