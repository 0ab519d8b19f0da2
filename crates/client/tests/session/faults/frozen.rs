//! The CLI does nothing, or does not read.

use std::time::Duration;

use countersign::permission::PermissionAsk;
use countersign::process::HowEnded;
use countersign::protocol::message::UserMessage;
use countersign::protocol::permission::PermissionMode;
use countersign::{ConnectError, ControlError, LimitReached, Limits, TurnError};
use futures_util::FutureExt as _;
use serde_json::{Value, json};

use crate::kit::{Outcome, soon};
use crate::puppet::{
    Fault, Puppet, Stage, answers, connect, fault, hasty, in_one_thread, report, until,
};

pub(super) fn faults() -> Vec<Fault> {
    vec![
        fault("never_answers_initialize", |puppet| puppet.freeze(), start_times_out),
        fault("never_answers_a_request", opens_and_freezes, request_times_out),
        fault("says_nothing_in_a_turn", opens_and_freezes, limit_acts),
        fault("is_dropped_while_frozen", opens_and_freezes, drop_ends_it),
        fault("does_not_read", does_not_read, nothing_waits_for_it),
    ]
}

const MOMENT: Duration = Duration::from_millis(50);

async fn start_times_out(stage: Stage) -> Outcome {
    let builder = stage.builder().initialize_timeout(MOMENT);
    let error = soon("the error", builder.connect()).await.unwrap_err();
    assert!(matches!(error, ConnectError::Initialize(ControlError::Timeout { .. })), "{error:?}");
    assert_eq!(stage.running(), 0);
    Ok(())
}

fn opens_and_freezes(puppet: &mut Puppet) {
    puppet.open();
    puppet.freeze();
}

async fn request_times_out(stage: Stage) -> Outcome {
    let builder = stage.builder().request_timeout(MOMENT).shutdown_times(hasty());
    let session = connect(builder).await;
    let error = soon("the error", session.set_permission_mode(PermissionMode::Plan)).await;
    assert!(matches!(error, Err(ControlError::Timeout { .. })), "{error:?}");
    let end = soon("the end", session.close()).await;
    assert_ne!(end.how, HowEnded::Exited);
    assert_eq!(stage.running(), 0);
    Ok(())
}

async fn limit_acts(stage: Stage) -> Outcome {
    // In one thread, so that the session is at rest when the message is sent.
    let part = async move || {
        let limits = Limits::new().silence(MOMENT).grace(MOMENT);
        let mut session = connect(stage.builder().limits(limits).shutdown_times(hasty())).await;
        let handle = session.handle();
        let turn = session.send("Hello.").await?;
        let error = soon("the end of the turn", turn.finish()).await.unwrap_err();
        assert!(matches!(error, TurnError::SessionEnded(_)), "{error:?}");
        assert_eq!(handle.snapshot().limit_reached, Some(LimitReached::Silence(MOMENT)));
        assert_eq!(stage.running(), 0);
        Ok(())
    };
    in_one_thread(part).await
}

async fn drop_ends_it(stage: Stage) -> Outcome {
    let session = stage.session().await;
    let handle = session.handle();
    session.post("Hello.").await?;
    drop(session);
    let end = soon("the end", handle.ended()).await;
    assert_eq!(end.how, HowEnded::Killed);
    Ok(())
}

/// How many permissions it asks for, and how long their inputs are, which go back with the answers.
const ASKS: usize = 100;
const INPUT: usize = 50_000;

fn does_not_read(puppet: &mut Puppet) {
    puppet.open();
    let input = json!({ "text": "x".repeat(INPUT) });
    for number in 0..ASKS {
        puppet.ask(&format!("r{number}"), "Write", &input);
    }
    puppet.report(&json!("not reading"));
    puppet.wait_for("read");
    // Until the last message.
    let mut frames = Vec::new();
    while frames.last().is_none_or(|frame: &Value| frame["message"]["content"] != "last") {
        frames.push(puppet.read().unwrap());
    }
    let said: Vec<_> = frames
        .iter()
        .filter(|frame| frame["type"] == "user")
        .map(|frame| frame["uuid"].clone())
        .collect();
    let requests = frames.iter().filter(|frame| frame["type"] == "control_request").count();
    let withdrawn = frames.iter().filter(|frame| frame["type"] == "control_cancel_request").count();
    let answers = answers(&frames);
    let whole = |answer: &Value| answer["response"]["updatedInput"] == input;
    let once = answers.values().filter(|all| all.len() == 1 && whole(&all[0])).count();
    puppet.report(&json!({
        "said": said, "once": once, "requests": requests, "withdrawn": withdrawn,
    }));
}

async fn nothing_waits_for_it(stage: Stage) -> Outcome {
    let allow = |ask: PermissionAsk| async move { ask.allow() };
    let mut session = connect(stage.builder().on_permission(allow)).await;
    assert_eq!(report(&mut session).await, "not reading");
    // Five megabytes of answers are on their way, and nobody waits for that.
    until("all answers", || session.open_permissions().is_empty()).await;
    // Messages wait for room, and there is none.
    let handle = session.handle();
    assert!(handle.post(UserMessage::prompt("given up")).now_or_never().is_none());
    assert!(!session.snapshot().is_running, "what was given up begins no turn");
    // And so do requests, of which nothing is left when they are given up.
    assert!(handle.set_permission_mode(PermissionMode::Plan).now_or_never().is_none());
    stage.sign("read");
    let mut sent = Vec::new();
    for text in ["first", "second", "last"] {
        let message = UserMessage::prompt(text);
        sent.push(soon("room", handle.post(message)).await?.to_string());
    }
    let report = report(&mut session).await;
    let expected = json!({ "said": sent, "once": ASKS, "requests": 0, "withdrawn": 0 });
    assert_eq!(report, expected);
    Ok(())
}
