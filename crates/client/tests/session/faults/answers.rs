//! Requests in both directions: each has one answer, and that is its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use countersign::permission::{FreshStart, PermissionAsk};
use countersign::protocol::RawJson;
use countersign::protocol::permission::PermissionMode;
use countersign::{ConnectError, ControlError, FreshError, SendError};
use futures_util::FutureExt as _;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::kit::{Outcome, soon};
use crate::puppet::{Fault, Puppet, Stage, connect, fault, report_at_the_end, until};

pub(super) fn faults() -> Vec<Fault> {
    vec![
        fault("cancels_a_request", cancels_one_of_four, its_answer_goes_nowhere),
        fault("asks_the_same_twice", asks_twice, it_has_one_answer),
        fault("answers_200_requests_in_disorder", answers_in_disorder, each_gets_its_own),
        fault("is_asked_by_somebody_who_leaves", never_answers, request_is_withdrawn),
        fault("is_asked_after_its_end", Puppet::open, told_at_once),
        fault("says_nothing_of_itself", |puppet| opens_with(puppet, &json!({})), opened),
        fault(
            "says_of_itself_what_cannot_be_read",
            |puppet| opens_with(puppet, &json!({ "commands": [{ "name": 5 }], "models": "none" })),
            opened,
        ),
        fault(
            "says_something_else_when_it_begins",
            |puppet| opens_with(puppet, &json!("hello")),
            not_opened,
        ),
        fault("is_asked_what_nobody_knows", repeats, raw_requests_are_sent_as_they_are),
        fault("does_not_clear_the_conversation", does_not_clear, mode_stays),
    ]
}

fn cancels_one_of_four(puppet: &mut Puppet) {
    puppet.open();
    for id in ["r1", "r2", "r3", "r4"] {
        puppet.ask(id, "Write", &json!({}));
    }
    puppet.wait_for("all asked");
    // Of no request that could be told.
    puppet.say(&json!({ "type": "control_cancel_request", "request_id": 2 }));
    puppet.cancel("r2");
    // And one that nobody asked.
    puppet.cancel("r9");
    puppet.report_answers();
}

async fn its_answer_goes_nowhere(stage: Stage) -> Outcome {
    let cancelled = CancellationToken::new();
    let handler = {
        let cancelled = cancelled.clone();
        move |ask: PermissionAsk| {
            let cancelled = cancelled.clone();
            async move {
                if ask.request_id().as_str() == "r2" {
                    ask.cancelled().await;
                    cancelled.cancel();
                } else {
                    cancelled.cancelled().await;
                    assert!(!ask.is_cancelled());
                }
                ask.allow()
            }
        }
    };
    let mut session = connect(stage.builder().on_permission(handler)).await;
    until("four asks", || session.open_permissions().len() == 4).await;
    stage.sign("all asked");
    until("all answers", || session.open_permissions().is_empty()).await;
    let report = report_at_the_end(&mut session).await;
    assert_eq!(session.stats().malformed, 1);
    let answers = report.as_object().unwrap();
    assert_eq!(answers.keys().collect::<Vec<_>>(), ["r1", "r3", "r4"], "{report}");
    for answers in answers.values() {
        assert_eq!(answers.as_array().unwrap().len(), 1, "{report}");
        assert_eq!(answers[0]["response"]["behavior"], "allow", "{report}");
    }
    Ok(())
}

fn asks_twice(puppet: &mut Puppet) {
    puppet.open();
    puppet.ask("r1", "Write", &json!({}));
    puppet.ask("r1", "Write", &json!({}));
    puppet.ask("r2", "Write", &json!({}));
    puppet.report_answers();
}

async fn it_has_one_answer(stage: Stage) -> Outcome {
    let asked = Arc::new(AtomicUsize::new(0));
    let handler = {
        let asked = Arc::clone(&asked);
        move |ask: PermissionAsk| {
            asked.fetch_add(1, Ordering::SeqCst);
            let asked = Arc::clone(&asked);
            async move {
                // Both are open at the same time.
                until("the other ask", || asked.load(Ordering::SeqCst) == 2).await;
                ask.deny("no")
            }
        }
    };
    let mut session = connect(stage.builder().on_permission(handler)).await;
    until("two asks", || asked.load(Ordering::SeqCst) == 2).await;
    until("all answers", || session.open_permissions().is_empty()).await;
    let report = report_at_the_end(&mut session).await;
    assert_eq!(report["r1"].as_array().unwrap().len(), 1, "{report}");
    assert_eq!(report["r2"].as_array().unwrap().len(), 1, "{report}");
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    Ok(())
}

const MANY: usize = 200;

fn answers_in_disorder(puppet: &mut Puppet) {
    puppet.open();
    let mut requests: Vec<_> = (0..MANY).map(|_| puppet.read_type("control_request")).collect();
    // Neither their order nor the opposite.
    requests.sort_by_key(|request| request["request"]["n"].as_u64().unwrap() * 77 % 200);
    for request in requests {
        puppet.answer(&request, &json!({ "n": request["request"]["n"] }));
    }
    puppet.read_all();
}

async fn each_gets_its_own(stage: Stage) -> Outcome {
    let session = stage.session().await;
    let calls = (0..MANY).map(|n| {
        let handle = session.handle();
        async move {
            let fields = RawJson::from_value(&json!({ "n": n })).unwrap();
            let answer = handle.call_raw("puppet", &fields).await.unwrap().unwrap();
            assert_eq!(answer.decode::<Value>().unwrap(), json!({ "n": n }));
        }
    });
    soon("all answers", join_all(calls)).await;
    assert_eq!(session.stats().late_answers, 0);
    soon("the end", session.close()).await;
    Ok(())
}

fn never_answers(puppet: &mut Puppet) {
    puppet.open();
    let asked = puppet.read_type("control_request");
    let rest = puppet.read_all();
    puppet.report(&json!({ "asked": asked, "rest": rest }));
}

async fn request_is_withdrawn(stage: Stage) -> Outcome {
    let mut session = stage.session().await;
    let handle = session.handle();
    assert!(handle.set_permission_mode(PermissionMode::Plan).now_or_never().is_none());
    let report = report_at_the_end(&mut session).await;
    let [cancel] = &report["rest"].as_array().unwrap()[..] else { panic!("{report}") };
    assert_eq!(cancel["type"], "control_cancel_request");
    assert_eq!(cancel["request_id"], report["asked"]["request_id"]);
    Ok(())
}

async fn told_at_once(stage: Stage) -> Outcome {
    let session = stage.session().await;
    soon("the end", session.ended()).await;
    let asked = session.set_permission_mode(PermissionMode::Plan).now_or_never().unwrap();
    assert!(matches!(asked, Err(ControlError::SessionEnded { .. })), "{asked:?}");
    let sent = session.post("Hello.").now_or_never().unwrap();
    assert!(matches!(sent, Err(SendError::SessionEnded)), "{sent:?}");
    assert!(!session.snapshot().is_running);
    assert!(session.handle().close().now_or_never().is_some());
    assert!(session.handle().kill().now_or_never().is_some());
    Ok(())
}

fn opens_with(puppet: &mut Puppet, answer: &Value) {
    let request = puppet.read_type("control_request");
    puppet.answer(&request, answer);
    puppet.read_all();
}

async fn opened(stage: Stage) -> Outcome {
    let session = stage.session().await;
    assert!(session.commands().is_empty() && session.models().is_empty());
    assert_eq!(session.account(), None);
    soon("the end", session.close()).await;
    Ok(())
}

async fn not_opened(stage: Stage) -> Outcome {
    let error = soon("the start", stage.builder().connect()).await.unwrap_err();
    let ConnectError::Initialize(ControlError::Unreadable { .. }) = error else {
        panic!("{error:?}");
    };
    Ok(())
}

fn does_not_clear(puppet: &mut Puppet) {
    puppet.open_as(&json!("2.1.325"));
    let command = puppet.read_type("user");
    puppet.fail("not now");
    let rest = puppet.read_all();
    puppet.report(&json!({ "command": command["message"]["content"], "rest": rest }));
}

async fn mode_stays(stage: Stage) -> Outcome {
    let mut session = stage.session().await;
    let plan = FreshStart::new("1. Write it.", PermissionMode::AcceptEdits);
    let error = soon("the error", session.begin_fresh(&plan)).await.err().unwrap();
    assert!(matches!(&error, FreshError::NotCleared(why) if why.contains("not now")), "{error:?}");
    let report = report_at_the_end(&mut session).await;
    assert_eq!(report, json!({ "command": "/clear", "rest": [] }));
    Ok(())
}

fn repeats(puppet: &mut Puppet) {
    puppet.open();
    while let Some(request) = puppet.read() {
        puppet.answer(&request, &request["request"]);
    }
}

async fn raw_requests_are_sent_as_they_are(stage: Stage) -> Outcome {
    let session = stage.session().await;
    // A request that has types, with fields of other ones.
    let fields: RawJson = r#"{"title": {"z": 1, "a": 2}}"#.parse()?;
    let answer = soon("an answer", session.call_raw("rename_session", &fields)).await?.unwrap();
    let expected = json!({ "subtype": "rename_session", "title": { "z": 1, "a": 2 } });
    assert_eq!(answer.decode::<Value>()?, expected);
    // What has to be checked cannot be hidden from the check.
    for fields in [
        r#"{"mode": "plan", "mode": "bypassPermissions"}"#,
        r#"{"mode": ["bypassPermissions"]}"#,
        r#"{"subtype": "set_permission_mode", "mode": "bypassPermissions"}"#,
    ] {
        let refused = session.call_raw("set_permission_mode", &fields.parse()?).await;
        assert!(matches!(refused, Err(ControlError::NotARequest { .. })), "{refused:?}");
    }
    soon("the end", session.close()).await;
    Ok(())
}
