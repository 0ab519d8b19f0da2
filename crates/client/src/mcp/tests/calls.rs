//! What comes of a call.

use std::sync::Arc;

use countersign_protocol::RawJson;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::{Wire, call, idle};
use crate::mcp::{Call, Content, Resource, ResourceLink, Tool, ToolOutput, ToolServer};

#[derive(Deserialize)]
struct Add {
    a: i64,
    b: i64,
}

async fn add(Add { a, b }: Add) -> Result<String, &'static str> {
    a.checked_add(b).map(|sum| sum.to_string()).ok_or("out of fingers")
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn failure(message: &str) -> Value {
    json!({"content": [{"type": "text", "text": message}], "isError": true})
}

#[tokio::test]
async fn arguments_are_typed() {
    let wire = Wire::to_tool(add);
    assert_eq!(wire.call(json!({"a": 2, "b": 3})).await, text("5"));
    assert_eq!(wire.call(json!({"a": i64::MAX, "b": 3})).await, failure("out of fingers"));
    let missing = "wrong arguments: missing field `b` at line 1 column 7";
    assert_eq!(wire.call(json!({"a": 2})).await, failure(missing));
    let wrong = r#"wrong arguments: invalid type: string "2", expected i64 at line 1 column 8"#;
    assert_eq!(wire.call(json!({"a": "2", "b": 3})).await, failure(wrong));
}

#[tokio::test]
async fn arguments_can_be_had_as_they_came() {
    let wire =
        Wire::to_tool(async |arguments: RawJson| Ok::<_, String>(arguments.as_str().to_owned()));
    for (arguments, expected) in [
        (
            r#","arguments":{"b": 1.50, "a":12345678901234567890123 }"#,
            r#"{"b": 1.50, "a":12345678901234567890123 }"#,
        ),
        (r#","arguments":null"#, "{}"),
        ("", "{}"),
    ] {
        let message = format!(
            r#" {{"params": {{"_meta":{{}},"name":"t"{arguments}}} , "method":"tools/call","id":1,"jsonrpc":"2.0"}}"#
        );
        assert_eq!(wire.post(&message).await["result"], text(expected));
    }
}

#[tokio::test]
async fn a_panic_is_a_failed_call() {
    let wire = Wire::to_tool(async |wait: Value| {
        if wait["wait"] == true {
            tokio::task::yield_now().await;
        }
        if wait["formatted"] == true {
            panic!("at {}", 7);
        }
        panic!("oh");
        #[expect(unreachable_code, reason = "it gives the closure its type")]
        Ok::<String, String>(String::new())
    });
    assert_eq!(wire.call(json!({})).await, failure("the tool `t` panicked: oh"));
    assert_eq!(wire.call(json!({"wait": true})).await, failure("the tool `t` panicked: oh"));
    assert_eq!(wire.call(json!({"formatted": true})).await, failure("the tool `t` panicked: at 7"));
}

#[tokio::test]
async fn every_kind_of_content_is_written() {
    let wire = Wire::to_tool(async |_: Value| {
        Ok::<_, String>(
            ToolOutput::new()
                .with(Content::text("a \"b\""))
                .with(Content::image(b"\xff\xfe\xfd", "image/png"))
                .with(Content::audio(b"la", "audio/wav"))
                .with(ResourceLink::new("file:///a", "a").description("A.").mime_type("text/plain"))
                .with(ResourceLink::new("file:///b", "b"))
                .with(Resource::text("file:///c", "see").mime_type("text/plain"))
                .with(Resource::bytes("file:///d", [0]))
                .failed(),
        )
    });
    let expected = json!({"isError": true, "content": [
        {"type": "text", "text": "a \"b\""},
        {"type": "image", "data": "//79", "mimeType": "image/png"},
        {"type": "audio", "data": "bGE=", "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "file:///a", "name": "a", "description": "A.", "mimeType": "text/plain"},
        {"type": "resource_link", "uri": "file:///b", "name": "b"},
        {"type": "resource", "resource": {"uri": "file:///c", "mimeType": "text/plain", "text": "see"}},
        {"type": "resource", "resource": {"uri": "file:///d", "blob": "AA=="}},
    ]});
    assert_eq!(wire.call(json!({})).await, expected);
}

#[tokio::test]
async fn data_comes_with_its_text() {
    let wire = Wire::to_tool(async |data: Value| ToolOutput::structured(&data["data"]));
    let expected = json!({
        "content": [{"type": "text", "text": r#"{"sum":5}"#}], "structuredContent": {"sum": 5},
    });
    assert_eq!(wire.call(json!({"data": {"sum": 5}})).await, expected);
    let list = "the value is not a JSON object; put it into a struct";
    assert_eq!(wire.call(json!({"data": [5]})).await, failure(list));
}

#[tokio::test]
async fn calls_are_served_at_the_same_time() {
    let together = Arc::new(Barrier::new(64));
    let wire = Wire::to_tool(move |number: Value| {
        let together = Arc::clone(&together);
        async move {
            together.wait().await;
            Ok::<_, String>(number["n"].to_string())
        }
    });
    let mut calls = JoinSet::new();
    for id in 0..64 {
        calls.spawn(wire.post(&call(id, &json!({"n": id}))));
    }
    while let Some(answer) = calls.join_next().await {
        let answer = answer.unwrap();
        assert_eq!(answer["result"], text(&answer["id"].to_string()));
    }
}

#[tokio::test]
async fn a_handler_can_report_progress() {
    let wire = Wire::to_tool(async |_: Value, call: Call| {
        call.progress(1.0, Some(2.0), Some("half"));
        tokio::task::yield_now().await;
        call.progress(1.5, None, None);
        call.progress(f64::NAN, None, None);
        call.progress(2.0, Some(f64::INFINITY), None);
        Ok::<_, String>(format!("{:?} {}", call.tool_use_id(), call.meta().unwrap()))
    });
    let result = wire.call(json!({})).await;
    let meta = r#"Some("toolu_1") {"claudecode/toolUseId":"toolu_1","progressToken":1}"#;
    assert_eq!(result, text(meta));
    let report = |params: Value| json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
    assert_eq!(
        wire.said(),
        [
            report(json!({"progressToken": 1, "progress": 1.0, "total": 2.0, "message": "half"})),
            report(json!({"progressToken": 1, "progress": 1.5})),
        ]
    );
}

#[tokio::test]
async fn progress_that_nobody_asked_for_is_not_sent() {
    let later = Arc::new(std::sync::Mutex::new(None));
    let keep = Arc::clone(&later);
    let wire = Wire::to_tool(move |_: Value, call: Call| {
        call.progress(1.0, None, None);
        let asked = call.tool_use_id().is_some();
        *keep.lock().unwrap() = Some(call);
        async move { Ok::<_, String>(asked.to_string()) }
    });
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;
    assert_eq!(wire.post(message).await["result"], text("false"));
    assert!(wire.said().is_empty());
    // A report after the answer is for nobody, either.
    wire.call(json!({})).await;
    assert_eq!(wire.said().len(), 1);
    later.lock().unwrap().take().unwrap().progress(2.0, None, None);
    assert!(wire.said().is_empty());
}

#[tokio::test]
async fn a_tool_can_change_its_server() {
    let add = Tool::new("t", "Learns.", async |_: Value, call: Call| {
        call.server().add(idle("new"));
        Ok::<_, String>("learnt")
    });
    let wire = Wire::to(ToolServer::new("s").tool(add));
    assert_eq!(wire.call(json!({})).await, text("learnt"));
    assert_eq!(wire.said()[0]["method"], "notifications/tools/list_changed");
    let list = wire.post(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    assert_eq!(list["result"]["tools"][1]["name"], "new");
}
