//! Handlers fail: what they were asked about does not happen, and the reason is said.

use std::sync::Mutex;
use std::time::Duration;

use countersign::hook::Hook;
use countersign::permission::{PermissionAnswer, PermissionAsk};
use countersign::protocol::hook::PreToolUseInput;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::kit::{Outcome, soon};
use crate::puppet::{Fault, Puppet, Stage, connect, fault, report_at_the_end, until};

pub(super) fn faults() -> Vec<Fault> {
    vec![
        fault("asks_a_handler_that_fails", asks_for_each_tool, each_is_denied_with_the_reason),
        fault("asks_a_handler_that_hangs", asks_one, denied_when_its_time_is_over),
        fault("asks_and_the_session_is_closed", asks_one, denied_while_it_is_closed),
        fault("asks_a_hook_that_panics", calls_a_hook, tool_is_denied),
        fault("tells_somebody_who_panics", says_much_on_stderr, stderr_is_still_read),
    ]
}

/// The answer to a request, of which there is one, and which denies; its reason.
fn denial(report: &Value, id: &str) -> String {
    let [answer] = &report[id].as_array().unwrap()[..] else { panic!("{id}: {report}") };
    assert_eq!(answer["subtype"], "success", "{id}: {report}");
    assert_eq!(answer["response"]["behavior"], "deny", "{id}: {report}");
    answer["response"]["message"].as_str().unwrap().to_owned()
}

fn asks_for_each_tool(puppet: &mut Puppet) {
    puppet.open();
    for tool in ["panic", "panic at once", "error", "other"] {
        puppet.ask(tool, tool, &json!({}));
    }
    puppet.report_answers();
}

async fn each_is_denied_with_the_reason(stage: Stage) -> Outcome {
    // An answer to another call than was asked about.
    let (give, given) = oneshot::channel::<PermissionAnswer>();
    let (give, given) = (Mutex::new(Some(give)), Mutex::new(Some(given)));
    let handler = move |ask: PermissionAsk| {
        let tool = ask.tool_name().to_owned();
        assert!(tool != "panic at once", "at once");
        let give = give.lock().unwrap().take_if(|_| tool == "error");
        let given = given.lock().unwrap().take_if(|_| tool == "other");
        async move {
            tokio::task::yield_now().await;
            match &*tool {
                "panic" => panic!("in the handler"),
                "other" => Ok(given.unwrap().await.unwrap()),
                _ => {
                    give.unwrap().send(ask.allow()).unwrap();
                    Err("the database is gone")
                }
            }
        }
    };
    let mut session = connect(stage.builder().on_permission(handler)).await;
    until("all asks", || session.stats().frames >= 5).await;
    until("all answers", || session.open_permissions().is_empty()).await;
    let report = report_at_the_end(&mut session).await;
    assert!(denial(&report, "panic").contains("panicked"), "{report}");
    assert!(denial(&report, "panic at once").contains("panicked"), "{report}");
    assert!(denial(&report, "error").contains("the database is gone"), "{report}");
    assert!(denial(&report, "other").contains("another call"), "{report}");
    Ok(())
}

fn asks_one(puppet: &mut Puppet) {
    puppet.open();
    puppet.ask("r1", "Write", &json!({}));
    puppet.report_answers();
}

/// Tells whoever looks at a question when it is wanted no more, and never answers.
fn hangs(
    gone: mpsc::Sender<()>,
) -> impl Fn(PermissionAsk) -> std::future::Pending<PermissionAnswer> + Send + Sync + 'static {
    move |ask| {
        let (gone, cancelled) = (gone.clone(), ask.cancelled());
        tokio::runtime::Handle::current().spawn(async move {
            cancelled.await;
            gone.send(()).await.ok();
        });
        std::future::pending()
    }
}

async fn denied_when_its_time_is_over(stage: Stage) -> Outcome {
    let (gone, mut is_gone) = mpsc::channel(1);
    let builder = stage.builder().on_permission(hangs(gone));
    let mut session = connect(builder.permission_timeout(Duration::from_millis(50))).await;
    assert_eq!(soon("the end of the question", is_gone.recv()).await, Some(()));
    let report = report_at_the_end(&mut session).await;
    assert!(denial(&report, "r1").contains("in time"), "{report}");
    Ok(())
}

async fn denied_while_it_is_closed(stage: Stage) -> Outcome {
    let (gone, mut is_gone) = mpsc::channel(1);
    let mut session = connect(stage.builder().on_permission(hangs(gone))).await;
    until("the ask", || !session.open_permissions().is_empty()).await;
    let report = report_at_the_end(&mut session).await;
    assert!(denial(&report, "r1").contains("ending"), "{report}");
    assert_eq!(soon("the end of the question", is_gone.recv()).await, Some(()));
    Ok(())
}

fn calls_a_hook(puppet: &mut Puppet) {
    puppet.open();
    let input = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "", "cwd": "",
        "permission_mode": "default", "tool_name": "Write", "tool_input": {}, "tool_use_id": "t1",
    });
    let request = json!({ "subtype": "hook_callback", "callback_id": "hook_0", "input": input });
    puppet.say(&json!({ "type": "control_request", "request_id": "r1", "request": request }));
    let answer = puppet.read_type("control_response");
    puppet.sign("answered");
    let more = puppet.read_all();
    puppet.report(&json!({ "answer": answer["response"], "more": more }));
}

async fn tool_is_denied(stage: Stage) -> Outcome {
    let hook = Hook::new(|input: PreToolUseInput, _| async move {
        assert!(input.tool_name != "Write", "in the hook");
    });
    let mut session = connect(stage.builder().hook(hook)).await;
    stage.signed("answered").await;
    let report = report_at_the_end(&mut session).await;
    let output = &report["answer"]["response"]["hookSpecificOutput"];
    assert_eq!(output["permissionDecision"], "deny", "{report}");
    let reason = output["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.contains("panicked"), "{report}");
    assert_eq!(report["more"], json!([]));
    Ok(())
}

const MUCH: usize = 1_000_000;

fn says_much_on_stderr(puppet: &mut Puppet) {
    puppet.say_err("first words\n");
    puppet.open();
    puppet.say_err("x".repeat(MUCH));
    puppet.say_err("last words");
}

async fn stderr_is_still_read(stage: Stage) -> Outcome {
    let session = connect(stage.builder().on_stderr(|_| panic!("who is told"))).await;
    let end = soon("the end", session.ended()).await;
    assert!(end.exit.is_some_and(|exit| exit.success()), "{end}");
    assert!(end.stderr.ends_with("last words"));
    assert_eq!(session.stats().stderr_bytes, MUCH as u64 + 22);
    Ok(())
}
