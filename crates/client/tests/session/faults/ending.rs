//! Ends of all kinds: of the session, of its owner, of what it runs in.

use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use countersign::process::{HowEnded, Leftovers, ShutdownTimes};
use countersign::protocol::message::UserMessage;
use countersign::{SendError, SessionHandle};
use futures_util::FutureExt as _;
use serde_json::json;

use crate::kit::{Outcome, soon};
use crate::puppet::{Fault, Puppet, Stage, connect, fault, hasty, report, until};

pub(super) fn faults() -> Vec<Fault> {
    vec![
        fault("closes_its_output", closes_its_output, session_ends),
        fault("leaves_a_holder_of_its_output", leaves_a_holder, left_is_ended),
        fault("leaves_a_writer_to_its_output", leaves_a_writer, writer_is_ended),
        fault("is_dropped_in_a_turn", begins_a_turn, dropping_ends_it),
        fault("is_dropped_while_it_starts", |puppet| puppet.freeze(), dropping_the_start_ends_it),
        fault("is_dropped_while_it_is_parked", asks_and_freezes, dropping_the_parking_ends_it),
        fault("is_killed_while_it_is_closed", ignores_its_end, kill_overtakes_the_close),
        fault("loses_its_runtime", begins_a_turn, everybody_is_told),
        fault("loses_its_owner", begins_a_turn, nothing_outlives_it).client(holds_a_session),
        fault("loses_its_owner_when_it_goes_on", goes_on, nothing_outlives_it)
            .client(goes_on_with_a_session),
        fault("loses_its_owner_while_it_starts", never_starts, nothing_outlives_it)
            .client(waits_for_a_session),
        fault("runs_beside_another", echoes, they_do_not_mix),
    ]
}

fn closes_its_output(puppet: &mut Puppet) {
    puppet.open();
    puppet.close_stdout();
    puppet.freeze();
}

async fn session_ends(stage: Stage) -> Outcome {
    let mut session = connect(stage.builder().shutdown_times(hasty())).await;
    assert!(soon("the end of messages", session.next_message()).await.is_none());
    let end = soon("the end", session.ended()).await;
    assert_ne!(end.how, HowEnded::Exited);
    Ok(())
}

fn leaves_a_holder(puppet: &mut Puppet) {
    puppet.open();
    puppet.message("last");
    puppet.leave_behind("sleep", "1000");
    puppet.exit = 5;
}

async fn left_is_ended(stage: Stage) -> Outcome {
    let mut session = connect(stage.builder().shutdown_times(hasty())).await;
    let end = soon("the end", session.ended()).await;
    assert_eq!(end.exit.and_then(|exit| exit.code()), Some(5));
    assert_eq!(end.how, HowEnded::Exited);
    let left: Vec<_> = end.left_running.iter().map(|left| left.command.as_str()).collect();
    assert_eq!(left, ["sleep 1000"]);
    assert!(session.next_message().await.is_some());
    assert!(session.next_message().await.is_none());
    let mark = session.mark().unwrap();
    assert_eq!(Leftovers::of_mark(mark).find(), []);
    Ok(())
}

fn leaves_a_writer(puppet: &mut Puppet) {
    puppet.open();
    puppet.leave_behind("yes", "still here");
    puppet.wait_for("much was read");
    puppet.exit = 5;
}

async fn writer_is_ended(stage: Stage) -> Outcome {
    let session = connect(stage.builder().shutdown_times(hasty())).await;
    until("much to be read", || session.stats().frames > 10_000).await;
    stage.sign("much was read");
    let end = soon("the end", session.ended()).await;
    assert_eq!(end.exit.and_then(|exit| exit.code()), Some(5));
    let left: Vec<_> = end.left_running.iter().map(|left| left.command.as_str()).collect();
    assert_eq!(left, ["yes still here"]);
    Ok(())
}

/// Starts a tool and waits, whatever becomes of its input.
fn begins_a_turn(puppet: &mut Puppet) {
    puppet.open();
    puppet.read_type("user");
    puppet.leave_behind("sleep", "1000");
    puppet.report(&json!("running"));
    puppet.freeze();
}

async fn dropping_ends_it(stage: Stage) -> Outcome {
    let session = stage.session().await;
    let handle = session.handle();
    let mut turn = session.into_turn("Hello.").await?;
    soon("an event", turn.next()).await.unwrap();
    // A process that was started a moment ago may not show what it carries yet.
    until("the CLI and its tool", || stage.running() == 2).await;
    drop(turn);
    soon("the end", handle.ended()).await;
    assert_eq!(stage.running(), 0);
    Ok(())
}

async fn dropping_the_start_ends_it(stage: Stage) -> Outcome {
    let builder = stage.builder();
    tokio::select! {
        opened = builder.connect() => panic!("{opened:?}"),
        () = until("a process", || stage.running() > 0) => {}
    }
    // What is left then is looked for after each test.
    Ok(())
}

/// Runs on when its input has ended, and so does its tool.
fn ignores_its_end(puppet: &mut Puppet) {
    puppet.open();
    puppet.leave_behind("sleep", "1000");
    puppet.read_all();
    puppet.sign("closed");
    puppet.freeze();
}

async fn kill_overtakes_the_close(stage: Stage) -> Outcome {
    let long = Duration::MAX;
    let patient = ShutdownTimes::default().exit(long).terminate(long).sweep(long);
    let folder = tempfile::tempdir()?;
    let tape = folder.path().join("session.tape");
    let session = connect(stage.builder().shutdown_times(patient).record(&tape)).await;
    let handle = session.handle();
    let close = session.close();
    tokio::pin!(close);
    tokio::select! {
        end = &mut close => panic!("{end:?}"),
        () = stage.signed("closed") => {}
    }
    let end = soon("the end", handle.kill()).await;
    assert_eq!(stage.running(), 0);
    assert_eq!(end.exit.and_then(|exit| exit.signal()), Some(9), "{end:?}");
    assert_eq!(end.how, HowEnded::Killed);
    let left: Vec<_> = end.left_running.iter().map(|left| left.command.as_str()).collect();
    assert_eq!(left, ["sleep 1000"]);
    assert_eq!(soon("the end", close).await.exit, end.exit);
    let last = std::fs::read_to_string(&tape)?.lines().last().unwrap().to_owned();
    assert!(last.contains("\"end\""), "{last}");
    Ok(())
}

fn asks_and_freezes(puppet: &mut Puppet) {
    puppet.open();
    puppet.ask("r1", "Write", &json!({}));
    puppet.freeze();
}

async fn dropping_the_parking_ends_it(stage: Stage) -> Outcome {
    let home = tempfile::tempdir()?;
    let never = |_| std::future::pending::<countersign::permission::PermissionAnswer>();
    let builder = stage.builder().env("CLAUDE_CONFIG_DIR", home.path()).on_permission(never);
    let session = builder.session_id("5f0c8d4e-3f53-4a44-9d0c-6d1a0b8f7f11");
    let session = connect(session).await;
    until("the ask", || !session.open_permissions().is_empty()).await;
    let handle = session.handle();
    // There is no transcript, so it would be waited for.
    assert!(session.park().now_or_never().is_none());
    soon("the end", handle.ended()).await;
    Ok(())
}

async fn everybody_is_told(stage: Stage) -> Outcome {
    let there = stage.clone();
    let (runtime, session) = tokio::task::spawn_blocking(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let session = runtime.block_on(async {
            let mut session = there.session().await;
            session.post("Hello.").await.unwrap();
            assert_eq!(report(&mut session).await, "running");
            session
        });
        (runtime, session)
    })
    .await?;
    let handle: SessionHandle = session.handle();
    let waiting = handle.clone();
    let waits = async move { waiting.call(countersign::protocol::request::Interrupt::new()).await };
    tokio::pin!(waits);
    assert!((&mut waits).now_or_never().is_none());
    tokio::task::spawn_blocking(move || drop(runtime)).await?;
    let end = soon("the end", handle.ended()).await;
    assert_eq!(end.how, HowEnded::Killed);
    soon("the answer", waits).await.unwrap_err();
    let sent = handle.post(UserMessage::prompt("Hello.")).await;
    assert!(matches!(sent, Err(SendError::SessionEnded)), "{sent:?}");
    drop(session);
    Ok(())
}

async fn holds_a_session(stage: Stage) -> Outcome {
    let mut session = stage.session().await;
    session.post("Hello.").await?;
    assert_eq!(report(&mut session).await, "running");
    stage.sign("running");
    std::future::pending().await
}

/// Goes on with a call that was put off, without a message.
fn goes_on(puppet: &mut Puppet) {
    puppet.open();
    puppet.leave_behind("sleep", "1000");
    puppet.report(&json!("running"));
    puppet.freeze();
}

async fn goes_on_with_a_session(stage: Stage) -> Outcome {
    let builder = stage.builder().resume("5f0c8d4e-3f53-4a44-9d0c-6d1a0b8f7f11");
    let mut session = connect(builder).await;
    assert_eq!(report(&mut session).await, "running");
    stage.sign("running");
    std::future::pending().await
}

/// Has started something, and answers nothing.
fn never_starts(puppet: &mut Puppet) {
    puppet.leave_behind("sleep", "1000");
    puppet.sign("running");
    puppet.freeze();
}

async fn waits_for_a_session(stage: Stage) -> Outcome {
    stage.builder().connect().await?;
    Ok(())
}

async fn nothing_outlives_it(stage: Stage) -> Outcome {
    let mut owner = stage.start_client();
    stage.signed("running").await;
    assert_eq!(stage.running(), 2);
    owner.kill().unwrap();
    owner.wait().unwrap();
    // What is left then is looked for after each test.
    Ok(())
}

fn echoes(puppet: &mut Puppet) {
    puppet.open();
    while let Some(frame) = puppet.read() {
        if frame["type"] == "user" {
            puppet.report(&frame["message"]["content"]);
        }
    }
}

async fn they_do_not_mix(stage: Stage) -> Outcome {
    let (mut one, mut other) = tokio::join!(stage.session(), stage.session());
    assert_ne!(one.mark(), other.mark());
    for number in 0..100 {
        let (to_one, to_other) = (format!("one {number}"), format!("other {number}"));
        let (sent, also_sent) = tokio::join!(one.post(&*to_one), other.post(&*to_other));
        sent.and(also_sent)?;
        let (from_one, from_other) = tokio::join!(report(&mut one), report(&mut other));
        assert_eq!((from_one, from_other), (json!(to_one), json!(to_other)));
    }
    let mark = one.mark().unwrap();
    soon("the end", one.handle().kill()).await;
    assert_eq!(Leftovers::of_mark(mark).find(), []);
    other.post("still there").await?;
    assert_eq!(report(&mut other).await, "still there");
    soon("the end", other.handle().kill()).await;
    Ok(())
}
