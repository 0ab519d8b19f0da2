//! How calls end that do not end by themselves.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{Wire, call, cancelled, idle, started};
use crate::mcp::{Call, McpServer, Tool, ToolServer};

/// A tool that says when it has begun, and waits until it is cancelled.
fn patient(began: &Arc<Notify>) -> Wire {
    let began = Arc::clone(began);
    Wire::to_tool(move |_: Value, call: Call| {
        let began = Arc::clone(&began);
        async move {
            began.notify_one();
            call.cancelled().await;
            Err::<String, _>(format!("stopped: {}", call.is_cancelled()))
        }
    })
}

/// Tells when it is dropped.
struct Dropped(Arc<Notify>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// A tool that says when it has begun, does not listen, and says when it is dropped.
fn stubborn(began: &Arc<Notify>, dropped: &Arc<Notify>) -> Tool {
    let (began, dropped) = (Arc::clone(began), Arc::clone(dropped));
    Tool::new("t", "Waits.", move |_: Value| {
        let (began, dropped) = (Arc::clone(&began), Dropped(Arc::clone(&dropped)));
        async move {
            began.notify_one();
            std::future::pending::<()>().await;
            drop(dropped);
            Ok::<_, String>("never")
        }
    })
}

fn text(answer: &Value) -> &str {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn a_cancelled_call_is_told_and_no_other() {
    let began = Arc::new(Notify::new());
    let wire = patient(&began);
    let first = started(wire.post(&call(1, &json!({}))));
    began.notified().await;
    let second = started(wire.post(&call(2, &json!({}))));
    began.notified().await;
    assert_eq!(wire.post(&cancelled(1)).await, json!({"jsonrpc": "2.0", "result": {}, "id": 0}));
    assert_eq!(text(&first.await.unwrap()), "stopped: true");
    assert!(!second.is_finished());
    wire.post(&cancelled(2)).await;
    assert_eq!(text(&second.await.unwrap()), "stopped: true");
}

#[tokio::test]
async fn a_cancellation_that_overtakes_its_call_is_not_lost() {
    let wire = patient(&Arc::default());
    let call = wire.post(&call(1, &json!({})));
    wire.post(&cancelled(1)).await;
    assert_eq!(text(&call.await), "stopped: true");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancellation_finds_its_call_wherever_that_is() {
    let wire = patient(&Arc::default());
    for id in 0..500 {
        // The call may be waiting to be polled, in its first poll, or past it.
        let call = started(wire.post(&call(id, &json!({}))));
        wire.post(&cancelled(id)).await;
        let answer = tokio::time::timeout(Duration::from_secs(60), call).await;
        assert_eq!(text(&answer.unwrap().unwrap()), "stopped: true");
    }
}

#[tokio::test]
async fn a_cancellation_that_comes_too_late_is_for_nobody() {
    let began = Arc::new(Notify::new());
    let wire = patient(&began);
    drop(wire.post(&call(1, &json!({}))));
    wire.post(&cancelled(1)).await;
    let same_id = started(wire.post(&call(1, &json!({}))));
    began.notified().await;
    tokio::task::yield_now().await;
    assert!(!same_id.is_finished());
    wire.post(&cancelled(1)).await;
    assert_eq!(text(&same_id.await.unwrap()), "stopped: true");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_whose_tool_does_not_listen_is_given_up() {
    let (began, dropped) = (Arc::default(), Arc::default());
    let wire = Wire::to(ToolServer::new("s").tool(stubborn(&began, &dropped)));
    let call = started(wire.post(&call(1, &json!({}))));
    began.notified().await;
    wire.post(&cancelled(1)).await;
    assert_eq!(text(&call.await.unwrap()), "the tool `t` was cancelled");
    dropped.notified().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_fails() {
    let (began, dropped) = (Arc::default(), Arc::default());
    let server = ToolServer::new("s").tool(stubborn(&began, &dropped));
    let wire = Wire::to(McpServer::from(server).timeout(Duration::from_secs(3)));
    let answer = wire.post(&call(1, &json!({}))).await;
    assert_eq!(text(&answer), "the tool `t` did not finish within 3s");
    dropped.notified().await;
    // The limit of a tool goes before that of its server.
    let tool = stubborn(&began, &dropped).timeout(Duration::from_millis(5));
    let wire =
        Wire::to(McpServer::from(ToolServer::new("s").tool(tool)).timeout(Duration::from_secs(3)));
    let answer = wire.post(&call(1, &json!({}))).await;
    assert_eq!(text(&answer), "the tool `t` did not finish within 5ms");
}

#[tokio::test]
async fn a_second_handshake_withdraws_what_was_asked_before_it() {
    let began = Arc::new(Notify::new());
    let wire = patient(&began);
    let old = started(wire.post(&call(1, &json!({}))));
    began.notified().await;
    let not_begun = wire.post(&call(2, &json!({})));
    wire.post(&cancelled(3)).await;
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
    assert_eq!(wire.post(hello).await["result"]["serverInfo"]["name"], "s");
    assert_eq!(text(&old.await.unwrap()), "stopped: true");
    assert_eq!(text(&not_begun.await), "stopped: true");
    // The numbers begin again, and what was said about the old ones does not count.
    began.notified().await;
    let new = started(wire.post(&call(3, &json!({}))));
    began.notified().await;
    assert!(!new.is_finished());
    wire.post(&cancelled(3)).await;
    assert_eq!(text(&new.await.unwrap()), "stopped: true");
}

#[tokio::test]
async fn the_end_of_the_session_ends_its_calls() {
    let (began, dropped) = (Arc::default(), Arc::default());
    let server = ToolServer::new("s").tool(stubborn(&began, &dropped)).tool(idle("u"));
    let wire = Wire::to(server.clone());
    let running = started(wire.post(&call(1, &json!({}))));
    began.notified().await;
    let not_begun = wire.post(&call(2, &json!({})));
    drop(wire);
    for (id, answer) in [(1, running.await.unwrap()), (2, not_begun.await)] {
        let error = json!({"code": -32000, "message": "the session is over"});
        assert_eq!(answer, json!({"jsonrpc": "2.0", "id": id, "error": error}));
    }
    dropped.notified().await;
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_withdrawn() {
    let (send, mut receive) = tokio::sync::mpsc::channel(1);
    let wire = Wire::to_tool(move |_: Value, call: Call| {
        let send = send.clone();
        async move {
            send.send(call.cancellation()).await.unwrap();
            std::future::pending::<Result<String, String>>().await
        }
    });
    let call = started(wire.post(&call(1, &json!({}))));
    let token = receive.recv().await.unwrap();
    assert!(!token.is_cancelled());
    call.abort();
    token.cancelled().await;
}
