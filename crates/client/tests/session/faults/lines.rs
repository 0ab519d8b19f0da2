//! Lines that are too long, broken, or of no known kind.

use countersign::protocol::permission::PermissionMode;
use countersign::protocol::{FromCli, RawJson};
use countersign::{ControlError, Message, Saying, Session};
use serde_json::json;

use crate::kit::{Outcome, soon};
use crate::puppet::{Fault, Puppet, Stage, connect, fault, report, report_at_the_end};

pub(super) fn faults() -> Vec<Fault> {
    vec![
        fault("writes_a_line_of_50_megabytes", long_line, delivered),
        fault("writes_a_line_that_is_too_long", too_long_line, passed_over),
        fault("writes_odd_lines", odd_lines, carried_and_counted),
        fault("makes_odd_requests", odd_requests, each_refused_once),
        fault("answers_badly", answers_badly, each_call_has_its_own_outcome),
    ]
}

async fn next(session: &mut Session) -> Message {
    soon("a message", session.next_message()).await.unwrap()
}

const LONG: usize = 50_000_000;

fn long_line(puppet: &mut Puppet) {
    puppet.open();
    puppet.message(&"x".repeat(LONG));
    puppet.message("after it");
    puppet.read_all();
}

async fn delivered(stage: Stage) -> Outcome {
    let mut session = stage.session().await;
    let long = next(&mut session).await;
    assert!(long.line().len() > LONG);
    assert!(matches!(long.frame(), Some(FromCli::Assistant(_))));
    assert!(next(&mut session).await.frame().is_some());
    soon("the end", session.close()).await;
    Ok(())
}

fn too_long_line(puppet: &mut Puppet) {
    puppet.open();
    puppet.message("before");
    puppet.ask("long", "Write", &json!({ "text": "x".repeat(2_000_000) }));
    puppet.message("after");
    // In an order in which the CLI does not write it.
    let input = json!({ "text": "x".repeat(2_000_000) });
    puppet.write(format!(
        r#"{{"request":{{"input":{input},"subtype":"can_use_tool"}},"request_id":"turned","#
    ));
    puppet.write("\"type\":\"control_request\"}\n");
    puppet.report_answers();
}

async fn passed_over(stage: Stage) -> Outcome {
    let mut session = connect(stage.builder().max_line(1_000_000)).await;
    assert!(next(&mut session).await.frame().is_some());
    let passed = next(&mut session).await;
    let Saying::TooLong { length, kind: Some(kind) } = passed.saying() else {
        panic!("{passed:?}")
    };
    assert_eq!(kind.to_string(), "control_request/can_use_tool");
    assert!((2_000_000..2_001_000).contains(length), "{length}");
    assert!(next(&mut session).await.frame().is_some());
    assert!(matches!(next(&mut session).await.saying(), Saying::TooLong { .. }));
    assert_eq!(session.stats().too_long, 2);
    let report = report_at_the_end(&mut session).await;
    for id in ["long", "turned"] {
        assert_eq!(report[id].as_array().unwrap().len(), 1, "{report}");
        assert_eq!(report[id][0]["subtype"], "error", "{report}");
    }
    Ok(())
}

fn odd_lines(puppet: &mut Puppet) {
    puppet.open();
    puppet.write("{\"type\":\"keep_alive\"}\r\n");
    puppet.write("\n   \n\r\n");
    puppet.write("Warning: this is no JSON\n");
    puppet.write("[1,2,3]\n");
    puppet.write(b"\xff\xfe not even text\n");
    puppet.write("{\"type\":\"brand_new\",\"some\":[\"thing\"]}\n");
    puppet.write("{\"type\":\"assistant\",\"message\":5}\r\n");
    puppet.report(&json!("done"));
    puppet.read_all();
}

async fn carried_and_counted(stage: Stage) -> Outcome {
    let mut session = stage.session().await;
    for expected in [&b"Warning: this is no JSON"[..], b"[1,2,3]", b"\xff\xfe not even text"] {
        let message = next(&mut session).await;
        assert_eq!(message.line(), expected);
        assert!(matches!(message.saying(), Saying::NotAFrame(_)), "{message:?}");
    }
    let new = next(&mut session).await;
    assert_eq!(new.line(), &br#"{"type":"brand_new","some":["thing"]}"#[..]);
    assert!(new.frame().is_some());
    let broken = next(&mut session).await;
    assert_eq!(broken.line(), &br#"{"type":"assistant","message":5}"#[..]);
    assert!(matches!(broken.saying(), Saying::Malformed(_)), "{broken:?}");
    assert_eq!(report(&mut session).await, "done");
    let stats = session.stats();
    // The report is of no known kind either.
    assert_eq!((stats.not_frames, stats.unknown), (3, 2), "{stats:?}");
    soon("the end", session.close()).await;
    Ok(())
}

fn odd_requests(puppet: &mut Puppet) {
    puppet.open();
    let requests = [
        json!({ "request_id": "unknown", "request": { "subtype": "brand_new", "some": 1 } }),
        json!({ "request_id": "malformed", "request": { "subtype": "can_use_tool", "input": 5 } }),
        json!({ "request_id": "empty" }),
        json!({ "request": { "subtype": "can_use_tool" } }),
        json!({ "request_id": "hook", "request": {
            "subtype": "hook_callback", "callback_id": "hook_77", "input": {
                "hook_event_name": "Stop", "session_id": "s", "transcript_path": "", "cwd": "",
                "stop_hook_active": false,
            },
        } }),
        json!({ "request_id": "mcp", "request": {
            "subtype": "mcp_message", "server_name": "nowhere",
            "message": { "jsonrpc": "2.0", "id": 1, "method": "tools/list" },
        } }),
    ];
    for mut request in requests {
        request["type"] = json!("control_request");
        puppet.say(&request);
    }
    puppet.report(&json!("asked"));
    puppet.report_answers();
}

async fn each_refused_once(stage: Stage) -> Outcome {
    let mut session = stage.session().await;
    assert_eq!(report(&mut session).await, "asked");
    let report = report_at_the_end(&mut session).await;
    let answers = report.as_object().unwrap();
    let refused: Vec<_> = answers.keys().collect();
    assert_eq!(refused, ["empty", "hook", "malformed", "mcp", "unknown"], "{report}");
    for (id, answers) in answers {
        assert_eq!(answers.as_array().unwrap().len(), 1, "{id}: {answers}");
        assert_eq!(answers[0]["subtype"], "error", "{id}: {answers}");
    }
    let stats = session.stats();
    assert_eq!((stats.unanswerable, stats.malformed), (1, 3), "{stats:?}");
    Ok(())
}

fn answers_badly(puppet: &mut Puppet) {
    puppet.open();
    // Without an end of its own: what the answer is about is there, and what it says is not.
    let request = puppet.read_type("control_request");
    let id = request["request_id"].clone();
    puppet.say(&json!({ "type": "control_response", "response": { "request_id": id } }));
    // An answer of another shape.
    let request = puppet.read_type("control_request");
    puppet.answer(&request, &json!("yes"));
    // An answer to nothing, one to something else, the right one, and that once more.
    let request = puppet.read_type("control_request");
    puppet.say(&json!({ "type": "control_response" }));
    puppet.answer(&json!({ "request_id": "never asked" }), &json!({ "mode": "plan" }));
    puppet.answer(&request, &json!({ "mode": "plan" }));
    puppet.answer(&request, &json!({ "mode": "default" }));
    let request = puppet.read_type("control_request");
    puppet.answer(&request, &json!({ "n": 4 }));
    // An answer that is longer than allowed.
    let request = puppet.read_type("control_request");
    puppet.answer(&request, &json!({ "text": "x".repeat(2_000_000) }));
    puppet.read_all();
}

async fn each_call_has_its_own_outcome(stage: Stage) -> Outcome {
    let session = connect(stage.builder().max_line(1_000_000)).await;
    let mode = || soon("an answer", session.set_permission_mode(PermissionMode::Plan));
    for _ in 0..2 {
        let error = mode().await.unwrap_err();
        assert!(matches!(error, ControlError::Unreadable { .. }), "{error:?}");
    }
    mode().await?;
    let fields = RawJson::from_value(&json!({}))?;
    let answer = soon("an answer", session.call_raw("puppet", &fields)).await?.unwrap();
    assert_eq!(answer.decode::<serde_json::Value>()?, json!({ "n": 4 }));
    let error = soon("an answer", session.call_raw("puppet", &fields)).await.unwrap_err();
    assert!(matches!(&error, ControlError::Unreadable { .. }), "{error:?}");
    assert!(error.to_string().contains("max_line"), "{error}");
    // The one that came once more; what answers nothing of ours is no late answer.
    assert_eq!(session.stats().late_answers, 1);
    soon("the end", session.close()).await;
    Ok(())
}
