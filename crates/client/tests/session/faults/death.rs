//! The CLI dies.

use countersign::permission::PermissionAsk;
use countersign::process::HowEnded;
use countersign::protocol::permission::PermissionMode;
use countersign::{ConnectError, ControlError, Saying, SendError};
use serde_json::json;
use tokio::sync::mpsc;

use crate::kit::{Outcome, soon};
use crate::puppet::{Fault, Puppet, Stage, connect, fault, hasty, report};

pub(super) fn faults() -> Vec<Fault> {
    vec![
        fault("dies_before_initialize", dies_before_initialize, told_in_the_error),
        fault("dies_in_mid_line", dies_in_mid_line, rest_is_a_message),
        fault("dies_with_a_permission_open", dies_when_told, handler_learns_of_it),
        fault("reads_no_more", reads_no_more, what_it_says_counts),
    ]
}

fn dies_before_initialize(puppet: &mut Puppet) {
    puppet.say_err("error: no such model\n");
    puppet.exit = 7;
}

async fn told_in_the_error(stage: Stage) -> Outcome {
    let error = soon("the error", stage.builder().connect()).await.unwrap_err();
    let ConnectError::Ended(end) = &error else { panic!("{error:?}") };
    assert_eq!(end.exit.and_then(|exit| exit.code()), Some(7));
    assert_eq!(end.how, HowEnded::Exited);
    assert_eq!(end.stderr, "error: no such model\n");
    let text = error.to_string();
    assert!(text.contains('7') && text.contains("no such model"), "{text}");
    Ok(())
}

const HALF: &str = r#"{"type":"assistant","mess"#;

fn dies_in_mid_line(puppet: &mut Puppet) {
    puppet.open();
    puppet.message("whole");
    puppet.write(HALF);
    puppet.exit = 3;
}

async fn rest_is_a_message(stage: Stage) -> Outcome {
    let mut session = stage.session().await;
    let whole = soon("a message", session.next_message()).await.unwrap();
    assert!(whole.frame().is_some());
    let half = soon("a message", session.next_message()).await.unwrap();
    assert_eq!(half.line(), HALF);
    assert!(matches!(half.saying(), Saying::Malformed(_) | Saying::NotAFrame(_)), "{half:?}");
    assert!(soon("the end", session.next_message()).await.is_none());
    let end = soon("the end", session.ended()).await;
    assert_eq!(end.exit.and_then(|exit| exit.code()), Some(3));
    Ok(())
}

fn dies_when_told(puppet: &mut Puppet) {
    puppet.open();
    puppet.ask("r1", "Write", &json!({}));
    puppet.wait_for("asked");
    puppet.exit = 9;
}

async fn handler_learns_of_it(stage: Stage) -> Outcome {
    let (cancelled, mut was_cancelled) = mpsc::channel(1);
    let asked = stage.clone();
    let handler = move |ask: PermissionAsk| {
        let cancelled = cancelled.clone();
        asked.sign("asked");
        async move {
            ask.cancelled().await;
            // It has the time to tell others.
            cancelled.send(ask.is_cancelled()).await.unwrap();
            ask.allow()
        }
    };
    let session = connect(stage.builder().on_permission(handler)).await;
    let end = soon("the end", session.ended()).await;
    assert_eq!(end.exit.and_then(|exit| exit.code()), Some(9));
    assert_eq!(soon("the handler", was_cancelled.recv()).await, Some(true));
    assert!(session.open_permissions().is_empty());
    Ok(())
}

fn reads_no_more(puppet: &mut Puppet) {
    puppet.open();
    puppet.close_stdin();
    puppet.report(&json!("closed"));
    puppet.wait_for("go on");
    puppet.report(&json!("still here"));
    puppet.freeze();
}

async fn what_it_says_counts(stage: Stage) -> Outcome {
    let mut session = connect(stage.builder().shutdown_times(hasty())).await;
    assert_eq!(report(&mut session).await, "closed");
    let sent = soon("sending", session.post("Hello.")).await;
    assert!(matches!(sent, Err(SendError::SessionEnded)), "{sent:?}");
    assert!(!session.snapshot().is_running);
    let asked = soon("asking", session.set_permission_mode(PermissionMode::Plan)).await;
    assert!(matches!(asked, Err(ControlError::SessionEnded { .. })), "{asked:?}");
    stage.sign("go on");
    assert_eq!(report(&mut session).await, "still here");
    let end = soon("the end", session.close()).await;
    assert_ne!(end.how, HowEnded::Exited);
    Ok(())
}
