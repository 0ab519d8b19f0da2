//! The scripted model, as a client sees it.

use std::net::{TcpListener, TcpStream};

use countersign_lab::model::{End, ModelOptions, ScriptedModel, StartError};
use countersign_lab::script::{Answer, Fault, RequestKind, Script, Source, ToolUse, Usage, When};
use serde_json::{Value, json};

use crate::http::{Client, Event, says, says_without_stream};

async fn start(script: Script) -> (ScriptedModel, Client) {
    let model = ScriptedModel::start(script).await.unwrap();
    let client = Client::connect(model.port());
    (model, client)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_has_the_events_of_the_api() {
    let answer = Answer::thinking("Let me see.")
        .and_text("Two words")
        .and_fault(Fault::NotJson)
        .and_tool(ToolUse::new("Bash", json!({"command": "ls"})).id("toolu_1"))
        .usage(Usage::new(100, 7).cached(3, 4));
    let (_model, mut client) = start(Script::new().then(answer)).await;
    client.ask(&says("hi"));
    let head = client.head();
    assert_eq!(head.status, 200);
    assert_eq!(head.header("content-type"), Some("text/event-stream; charset=utf-8"));
    assert_eq!(head.header("request-id"), Some("req_lab0000000000000001"));
    let mut events = client.events();
    let id = events[0].data["message"]["id"].take();
    assert!(id.as_str().unwrap().starts_with("msg_"));
    let expected = [
        json!({"type": "message_start", "message": {
            "id": null, "type": "message", "role": "assistant", "model": "model-1", "content": [],
            "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 100, "output_tokens": 1, "cache_creation_input_tokens": 4, "cache_read_input_tokens": 3},
        }}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Let "}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "me "}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "see."}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "c2NyaXB0ZWQ="}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Two "}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "words"}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "{\"comman"}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "d\":\"ls\"}"}}),
        json!({"type": "content_block_stop", "index": 2}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null}, "usage": {"output_tokens": 7}}),
        json!({"type": "message_stop"}),
    ];
    let data: Vec<Value> = events.into_iter().map(|event| event.data).collect();
    assert_eq!(data, expected);
}

/// The pieces of a kind, put together again.
fn together(events: &[Event], kind: &str, key: &str) -> String {
    let deltas = events.iter().map(|event| &event.data["delta"]);
    deltas.filter(|delta| delta["type"] == kind).map(|delta| delta[key].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pieces_of_a_stream_are_the_whole() {
    let texts = ["", " ", "  two  spaces ", "no-space", "ä ö\n😀 \u{2028} end ", "line\r\nline"];
    let mut script = Script::new();
    for text in texts {
        let call = ToolUse::new("Bash", json!({"command": text, "n": [1.5, null]}));
        script = script.then(Answer::thinking(text).and_text(text).and_tool(call));
    }
    let (_model, mut client) = start(script).await;
    for text in texts {
        client.ask(&says("hi"));
        assert_eq!(client.head().status, 200);
        let events = client.events();
        assert_eq!(together(&events, "thinking_delta", "thinking"), text);
        assert_eq!(together(&events, "text_delta", "text"), text);
        let input: Value =
            serde_json::from_str(&together(&events, "input_json_delta", "partial_json")).unwrap();
        assert_eq!(input, json!({"command": text, "n": [1.5, null]}));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_stream_the_answer_is_one_message() {
    let answer = Answer::thinking("Hm.")
        .and_text("Hello.")
        .and_tool(ToolUse::new("Bash", json!({"command": "ls"})).id("toolu_1"))
        .model("another")
        .stop_reason("max_tokens");
    let (_model, mut client) = start(Script::new().then(answer)).await;
    client.ask(&says_without_stream("hi"));
    let (head, mut message) = client.json();
    assert_eq!((head.status, head.header("content-type")), (200, Some("application/json")));
    message["id"].take();
    assert_eq!(
        message,
        json!({
            "id": null, "type": "message", "role": "assistant", "model": "another",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2NyaXB0ZWQ="},
                {"type": "text", "text": "Hello."},
                {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}},
            ],
            "stop_reason": "max_tokens", "stop_sequence": null,
            "usage": {"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
        })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_serves_one_request_after_another() {
    let (model, mut client) = start(Script::new().otherwise("turn ${turn}")).await;
    for turn in 1..=3 {
        client.ask(&says("hi"));
        assert_eq!(client.head().status, 200);
        assert_eq!(together(&client.events(), "text_delta", "text"), format!("turn {turn}"));
    }
    // A body in chunks, cut in the middle of a character.
    let body = says_without_stream("ö").to_string().into_bytes();
    let middle = body.iter().position(|byte| *byte > 127).unwrap() + 1;
    client.write(b"POST /v1/messages HTTP/1.1\r\nhost: lab\r\ntransfer-encoding: chunked\r\n\r\n");
    for chunk in [&body[..middle], &body[middle..]] {
        client.write(format!("{:x}\r\n", chunk.len()).as_bytes());
        client.write(chunk);
        client.write(b"\r\n");
    }
    client.write(b"0\r\n\r\n");
    assert_eq!(client.json().1["content"][0]["text"], "turn 4");
    assert_eq!(model.requests()[3].last_text().as_deref(), Some("ö"));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_connections_are_served_at_once() {
    let script = Script::new()
        .when(When::text("wait"), Answer::text("a b").hang_after(1))
        .otherwise("turn ${turn}");
    let (model, mut waiting) = start(script).await;
    waiting.ask(&says("wait"));
    assert_eq!(waiting.head().status, 200);
    assert_eq!(waiting.event().unwrap().unwrap().name, "message_start");
    // All of them ask before any of them reads, and each has an answer of its own.
    let mut clients: Vec<_> = (0..50).map(|_| Client::connect(model.port())).collect();
    for client in &mut clients {
        client.ask(&says_without_stream("hi"));
    }
    let texts = clients.iter_mut().map(|client| client.json().1["content"][0]["text"].to_string());
    let mut turns: Vec<_> = texts.collect();
    turns.sort();
    let mut expected: Vec<_> = (2..=51).map(|turn| format!("\"turn {turn}\"")).collect();
    expected.sort();
    assert_eq!(turns, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn long_bodies_are_read_and_too_long_ones_refused() {
    let script = Script::new().otherwise("fine");
    let model = ModelOptions::new().body_limit(20_000_000).start(script).await.unwrap();
    let mut client = Client::connect(model.port());
    let body = says_without_stream(&"x".repeat(19_000_000));
    client.ask(&body);
    assert_eq!(client.json().1["content"][0]["text"], "fine");
    let body = says_without_stream(&"x".repeat(20_000_000)).to_string();
    client.send("POST", "/v1/messages", body.as_bytes());
    let (head, refusal) = client.json();
    assert_eq!(head.status, 413);
    let message = format!("the body has {} bytes; this server takes at most 20000000", body.len());
    assert_eq!(refusal["error"], json!({"type": "request_too_large", "message": message}));
    // The connection is as good as before, and the script has not moved.
    client.ask(&says_without_stream("hi"));
    assert_eq!(client.json().1["content"][0]["text"], "fine");
    let log = model.requests();
    assert_eq!((log[1].end(), log[1].kind), (Some(End::Error(413)), None));
    assert_eq!(log[1].body, Value::Null);
    assert_eq!(model.model_requests().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_not_json_is_refused() {
    let (model, mut client) = start(Script::new().then(Answer::text("a"))).await;
    client.send("POST", "/v1/messages", b"{\"model\":");
    let (head, refusal) = client.json();
    assert_eq!(head.status, 400);
    let message =
        "the body of the request is not JSON: EOF while parsing a value at line 1 column 9";
    assert_eq!(refusal["error"], json!({"type": "invalid_request_error", "message": message}));
    assert_eq!(model.unused().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_else_the_cli_asks_for_is_answered() {
    let (model, mut client) = start(Script::new()).await;
    let mut ask = |method: &str, path: &str, body: &[u8]| {
        client.send(method, path, body);
        let (head, answer) = client.json();
        assert_eq!(head.status, 200, "{method} {path}");
        answer
    };
    let body = says("count me").to_string();
    let tokens = ask("POST", "/v1/messages/count_tokens?beta=true", body.as_bytes());
    assert_eq!(tokens, json!({"input_tokens": body.len() / 4}));
    let none = json!({"data": [], "has_more": false, "first_id": null, "last_id": null});
    assert_eq!(ask("GET", "/v1/models", b""), none);
    ask("POST", "/v1/messages", says_without_stream("hi").to_string().as_bytes());
    ask("POST", "/v1/messages", says_without_stream("hi").to_string().as_bytes());
    let model_1 = json!({"type": "model", "id": "model-1", "display_name": "model-1", "created_at": "2025-01-01T00:00:00Z"});
    let one =
        json!({"data": [model_1], "has_more": false, "first_id": "model-1", "last_id": "model-1"});
    assert_eq!(ask("GET", "/v1/models?limit=1000", b""), one);
    assert_eq!(ask("GET", "/v1/models/model-1", b""), model_1);
    assert_eq!(ask("GET", "/api/hello", b""), json!({}));
    assert_eq!(ask("POST", "/api/event_logging/batch", b"[1]"), json!({}));
    client.send("HEAD", "/", b"");
    assert_eq!(client.head().status, 200);
    let asked: Vec<_> =
        model.requests().iter().map(|request| (request.to_string(), request.kind)).collect();
    let count = body.len();
    let main = Some(RequestKind::Main);
    let length = says_without_stream("hi").to_string().len();
    assert_eq!(
        asked,
        [
            (format!("#1 POST /v1/messages/count_tokens, {count} bytes"), None),
            ("#2 GET /v1/models, 0 bytes".to_owned(), None),
            (format!("#3 POST /v1/messages, {length} bytes, main: otherwise"), main),
            (format!("#4 POST /v1/messages, {length} bytes, main: otherwise"), main),
            ("#5 GET /v1/models, 0 bytes".to_owned(), None),
            ("#6 GET /v1/models/model-1, 0 bytes".to_owned(), None),
            ("#7 GET /api/hello, 0 bytes".to_owned(), None),
            ("#8 POST /api/event_logging/batch, 3 bytes".to_owned(), None),
            ("#9 HEAD /, 0 bytes".to_owned(), None),
        ]
    );
    assert_eq!(model.requests()[7].body, json!([1]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_tells_what_the_model_was_told() {
    let script = Script::new().then(Answer::text("a"));
    let (model, mut client) = start(script).await;
    let body = json!({
        "model": "m",
        "system": [{"type": "text", "text": "Be kind."}],
        "tools": [{"name": "Bash"}, {"name": "Read"}],
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": true}]},
        ],
    });
    client.ask(&body);
    client.json();
    let requests = model.wait_for_requests(1).await;
    let request = &requests[0];
    assert_eq!((request.number, request.method.as_str()), (1, "POST"));
    assert_eq!(
        (request.path.as_str(), request.query.as_deref()),
        ("/v1/messages", Some("beta=true"))
    );
    assert_eq!(request.header("Host"), Some("lab"));
    assert_eq!(request.body, body);
    assert_eq!(request.kind, Some(RequestKind::Main));
    assert_eq!(request.by, Some(Source::Entry { number: 1, line: None }));
    assert_eq!(request.system_text(), "Be kind.");
    assert_eq!(request.tool_names(), ["Bash", "Read"]);
    assert_eq!(request.messages().len(), 3);
    assert_eq!(request.last_text().as_deref(), Some("go"));
    let results = request.tool_results();
    assert_eq!(
        (results[0].id.as_str(), results[0].text.as_str(), results[0].is_error),
        ("t1", "no", true)
    );
    assert_eq!(request.end(), Some(End::Complete));
    assert!(model.unused().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_never_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let model = ModelOptions::new().log_file(&path).start(Script::new()).await.unwrap();
    let mut client = Client::connect(model.port());
    let body = says_without_stream("hi").to_string();
    let length = body.len();
    client.write(
        format!(
            "POST /v1/messages HTTP/1.1\r\nHost: lab\r\nX-Api-Key: sk-secret\r\nAuthorization: Bearer \
             secret\r\nCookie: a=secret\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .as_bytes(),
    );
    client.json();
    let request = &model.requests()[0];
    assert_eq!(request.header("x-api-key"), Some("(not kept)"));
    assert_eq!(request.header("authorization"), Some("(not kept)"));
    assert!(!format!("{request:?}").contains("secret"));
    drop(client);
    model.stop().await.unwrap();
    let log = std::fs::read_to_string(&path).unwrap();
    assert!(log.contains("x-api-key") && !log.contains("secret"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_file_has_two_lines_for_each_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    std::fs::write(&path, "what was there before").unwrap();
    let script = Script::new().then(Answer::text("one two"));
    let model = ModelOptions::new().log_file(&path).start(script).await.unwrap();
    let mut client = Client::connect(model.port());
    client.ask(&says("hi"));
    client.head();
    client.events();
    client.send("GET", "/other", b"");
    client.json();
    model.stop().await.unwrap();
    let log = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &mut lines {
        assert!(line["us"].take().is_u64());
    }
    let length = says("hi").to_string().len();
    assert_eq!(
        lines,
        [
            json!({
                "request": 1, "us": null, "method": "POST", "path": "/v1/messages",
                "query": "beta=true", "headers": {"host": "lab", "content-length": length.to_string()},
                "bytes": length, "body": says("hi"), "kind": "main", "by": "answer 1",
            }),
            json!({"request": 1, "us": null, "end": "complete", "events": 7}),
            json!({
                "request": 2, "us": null, "method": "GET", "path": "/other", "query": null,
                "headers": {"host": "lab", "content-length": "0"}, "bytes": 0, "body": null,
                "kind": null, "by": null,
            }),
            json!({"request": 2, "us": null, "end": "complete", "events": 0}),
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_can_be_changed_while_it_runs() {
    let (model, mut client) = start(Script::new().needs("name").otherwise("Hello, ${name}.")).await;
    model.set("name", "Ada");
    client.ask(&says_without_stream("hi"));
    assert_eq!(client.json().1["content"][0]["text"], "Hello, Ada.");
    model.set("name", "Grace");
    model.push(Answer::text("Bye, ${name}."));
    client.ask(&says_without_stream("hi"));
    assert_eq!(client.json().1["content"][0]["text"], "Bye, Grace.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_runs_on_a_listener_that_it_is_given() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let model = ScriptedModel::serve(listener, Script::new().otherwise("here")).unwrap();
    assert_eq!((model.port(), model.url()), (port, format!("http://127.0.0.1:{port}")));
    let mut client = Client::connect(port);
    client.ask(&says_without_stream("hi"));
    assert_eq!(client.json().1["content"][0]["text"], "here");
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_ends_every_connection() {
    let script = Script::new().then(Answer::text("a b c").hang_after(3));
    let (model, mut client) = start(script).await;
    client.ask(&says("hi"));
    client.head();
    for _ in 0..3 {
        client.event().unwrap().unwrap();
    }
    let request = model.requests().remove(0);
    assert_eq!(request.end(), None);
    let port = model.port();
    model.stop().await.unwrap();
    assert_eq!((request.end(), request.events_sent()), (Some(End::ServerStopped), Some(3)));
    assert!(client.event().is_err());
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_dropped_ends_as_well() {
    let script = Script::new().then(Answer::text("a b c").hang_after(3));
    let (model, mut client) = start(script).await;
    client.ask(&says("hi"));
    client.head();
    drop(model);
    let (events, _) = client.events_until_it_breaks();
    assert!(events.len() <= 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_cannot_start_says_why() {
    let broken = Script::new().then(Answer::text("${nobody}"));
    let error = ScriptedModel::start(broken).await.unwrap_err();
    assert!(error.to_string().starts_with("script: answer 1: unknown variable"));

    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let error = ModelOptions::new().port(port).start(Script::new()).await.unwrap_err();
    assert_eq!(error.to_string(), format!("cannot listen on 127.0.0.1, port {port}"));

    let folder = tempfile::tempdir().unwrap();
    let options = ModelOptions::new().log_file(folder.path());
    let error = options.start(Script::new()).await.unwrap_err();
    assert!(matches!(error, StartError::LogFile { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_file_that_cannot_be_written_does_not_stop_the_server_but_is_told() {
    let model = ModelOptions::new().log_file("/dev/full").start(Script::new()).await.unwrap();
    let mut client = Client::connect(model.port());
    client.ask(&says_without_stream("hi"));
    assert_eq!(client.json().0.status, 200);
    assert_eq!(model.stop().await.unwrap_err().to_string(), "the log file is incomplete");
}
