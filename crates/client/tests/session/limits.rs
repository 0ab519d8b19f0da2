//! Limits that act.

use std::time::Duration;

use countersign::hook::{Hook, HookContext};
use countersign::permission::{AllowAll, PermissionAsk};
use countersign::process::Leftovers;
use countersign::protocol::hook::{HookOutput, PreToolUseInput};
use countersign::{LimitReached, Limits, SendError, Session, TurnError};
use libtest_mimic::Trial;
use rustix::process::{Pid, Signal, kill_process};

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

/// A limit that the real CLI does not reach by being slow.
fn limit(cli: Cli) -> Duration {
    match cli {
        Cli::Simulated(_) => SHORT,
        Cli::Real(_) => Duration::from_secs(4),
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    // The limits are ours, so one version of the real CLI is enough where it does nothing of its
    // own but end.
    [
        on_all("limits::a_turn_that_takes_too_long_is_interrupted", V62, turn_time),
        on_all("limits::a_silent_turn_is_interrupted_and_the_session_goes_on", V325, silence),
        on_all("limits::a_cli_that_does_not_heed_the_interrupt_is_stopped", V325, stopped),
        on_all("limits::a_session_ends_when_its_time_is_up", V325, session_time),
        on_all("limits::a_session_ends_when_it_costs_too_much", V325, cost),
        on_all("limits::a_session_ends_after_its_turns", V325, turns),
    ]
    .into_iter()
    .flatten()
    .chain([
        trial("limits::the_time_of_a_person_does_not_count", person),
        trial("limits::the_time_of_a_hook_counts", hook),
        trial("limits::the_time_of_a_hook_that_asks_a_person_does_not", asking_hook),
    ])
    .collect()
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

async fn silence(cli: Cli) -> Outcome {
    let lab = lab(cli, HANGS).await;
    let limit = limit(cli);
    let limited = builder(&lab).limits(Limits::new().silence(limit));
    let mut session = soon("the start", limited.connect()).await?;
    let outcome = soon("the turn", session.send("Count.").await?.finish()).await?;
    assert!(outcome.interrupted() && !outcome.succeeded(), "{outcome:?}");
    assert_eq!(session.snapshot().limit_reached, Some(LimitReached::Silence(limit)));
    assert!(session.snapshot().ended.is_none());
    let outcome = soon("the turn", session.send("And now?").await?.finish()).await?;
    assert_eq!(outcome.answer(), "Here I am again.");
    close(session, lab).await;
    Ok(())
}

async fn stopped(cli: Cli) -> Outcome {
    // The real CLI never gets as far as to freeze by itself.
    let lab = lab(cli, if matches!(cli, Cli::Real(_)) { HANGS } else { FREEZES }).await;
    let limit = limit(cli);
    let limited = builder(&lab).limits(Limits::new().silence(limit).grace(SHORT));
    let mut session = soon("the start", limited.connect()).await?;
    let mark = session.mark().unwrap();
    let turn = session.send("How are you?").await?;
    if matches!(cli, Cli::Real(_)) {
        for process in Leftovers::of_mark(mark).find() {
            kill_process(Pid::from_raw(process.id.pid()).unwrap(), Signal::STOP)?;
        }
    }
    let error = soon("the turn", turn.finish()).await.err().unwrap();
    let TurnError::SessionEnded(end) = &error else { panic!("{error:?}") };
    assert_eq!(end.limit, Some(LimitReached::Silence(limit)));
    assert!(error.to_string().contains("said nothing"), "{error}");
    ends_by(session, LimitReached::Silence(limit)).await;
    assert_eq!(Leftovers::of_mark(mark).find(), []);
    lab.close().await?;
    Ok(())
}

async fn session_time(cli: Cli) -> Outcome {
    let lab = lab(cli, HANGS).await;
    let limit = limit(cli);
    let limited = builder(&lab).limits(Limits::new().session_time(limit));
    let mut session = soon("the start", limited.connect()).await?;
    // The turn is interrupted, or does not begin any more.
    if let Ok(turn) = session.send("Count.").await {
        let outcome = soon("the turn", turn.finish()).await;
        assert!(!outcome.is_ok_and(|outcome| outcome.succeeded()));
    }
    ends_by(session, LimitReached::SessionTime(limit)).await;
    lab.close().await?;
    Ok(())
}

async fn cost(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let limits = Limits::new().session_cost_usd(0.000_001);
    let limited = builder(&lab).limits(limits).on_permission(AllowAll);
    let mut session = soon("the start", limited.connect()).await?;
    let outcome = soon("the turn", session.send("Write it.").await?.finish()).await?;
    assert_eq!(outcome.answer(), "That was it.", "a turn that is done is done");
    assert!(outcome.total_cost_usd() > 0.000_001);
    ends_by(session, LimitReached::SessionCostUsd(0.000_001)).await;
    lab.close().await?;
    Ok(())
}

async fn turns(cli: Cli) -> Outcome {
    let lab = lab(cli, "otherwise = 'Yes.'").await;
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

/// A hook that asks a person says so, and then it is the person who takes the time.
async fn asking_hook() -> Outcome {
    let lab = lab(SIMULATED, WRITE).await;
    let limit = Duration::from_secs(2);
    let limits = Limits::new().silence(limit).turn_time(limit);
    let slow = Hook::new(move |_: PreToolUseInput, context: HookContext| async move {
        context.asks_a_person();
        tokio::time::sleep(2 * limit).await;
        HookOutput::no_opinion()
    });
    let allow = |ask: PermissionAsk| async move { ask.allow() };
    let limited = builder(&lab).limits(limits).hook(slow).on_permission(allow);
    let mut session = soon("the start", limited.connect()).await?;
    let outcome = soon("the turn", session.send("Write it.").await?.finish()).await?;
    assert_eq!(outcome.answer(), "That was it.");
    let known = session.snapshot();
    assert_eq!((known.limit_reached, known.limits_reached), (None, 0));
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
