//! How answers of the scripted model end, when they do not end well.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use countersign_lab::model::{End, LoggedRequest, ScriptedModel};
use countersign_lab::script::{Answer, ApiError, Script};
use serde_json::json;

use crate::http::{Client, says, says_without_stream};

/// So long that it does not pass.
const FOREVER: Duration = Duration::from_secs(24 * 60 * 60);

async fn start(script: Script) -> (ScriptedModel, Client) {
    let model = ScriptedModel::start(script).await.unwrap();
    let client = Client::connect(model.port());
    (model, client)
}

/// Waits until a request has ended.
async fn ended(model: &ScriptedModel, number: usize) -> Arc<LoggedRequest> {
    model
        .wait_until(|model| {
            let request = model.requests().get(number - 1).cloned()?;
            request.end().is_some().then_some(request)
        })
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_has_its_status_and_its_headers() {
    let script = Script::new()
        .then(Answer::error(ApiError::new(429).retry_after(3).message("slow down")))
        .then(Answer::error(ApiError::new(529)))
        .then(Answer::text("at last"));
    let (model, mut client) = start(script).await;
    client.ask(&says("hi"));
    let (head, body) = client.json();
    assert_eq!((head.status, head.header("retry-after")), (429, Some("3")));
    assert_eq!(head.header("request-id"), Some("req_lab0000000000000001"));
    assert_eq!(
        body,
        json!({
            "type": "error",
            "error": {"type": "rate_limit_error", "message": "slow down"},
            "request_id": "req_lab0000000000000001",
        })
    );
    client.ask(&says("hi"));
    let (head, body) = client.json();
    assert_eq!((head.status, head.header("retry-after")), (529, None));
    assert_eq!(body["error"]["type"], "overloaded_error");
    client.ask(&says("hi"));
    assert_eq!(client.head().status, 200);
    client.events();
    assert_eq!(ended(&model, 1).await.end(), Some(End::Error(429)));
    assert_eq!(ended(&model, 3).await.end(), Some(End::Complete));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_status_has_a_kind_of_its_own() {
    let kinds = [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (413, "request_too_large"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (529, "overloaded_error"),
        (599, "api_error"),
    ];
    let script = kinds.iter().fold(Script::new(), |script, (status, _)| {
        script.then(Answer::error(ApiError::new(*status)))
    });
    let (_model, mut client) = start(script).await;
    for (status, kind) in kinds {
        client.ask(&says("hi"));
        let (head, body) = client.json();
        assert_eq!((head.status, body["error"]["type"].as_str()), (status, Some(kind)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_is_cut_after_exactly_the_events_of_the_script() {
    for after in 0..=7 {
        let (model, mut client) =
            start(Script::new().then(Answer::text("a b").cut_after(after))).await;
        client.ask(&says("hi"));
        assert_eq!(client.head().status, 200);
        let (events, end) = client.events_until_it_breaks();
        assert_eq!((events.len(), end), (after, ErrorKind::UnexpectedEof));
        let request = ended(&model, 1).await;
        let sent = u64::try_from(after).unwrap();
        assert_eq!((request.end(), request.events_sent()), (Some(End::Cut), Some(sent)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_client_gets_everything_before_the_cut() {
    // More than the buffers of both sides hold.
    let text = format!("{} ", "x".repeat(200)).repeat(60_000);
    let (model, mut client) = start(Script::new().then(Answer::text(text).cut_after(50_002))).await;
    client.ask(&says("hi"));
    model.wait_for_requests(1).await;
    client.head();
    let (events, end) = client.events_until_it_breaks();
    assert_eq!((events.len(), end), (50_002, ErrorKind::UnexpectedEof));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_stream_a_cut_is_no_response() {
    let (model, mut client) = start(Script::new().then(Answer::text("a").cut_after(3))).await;
    client.ask(&says_without_stream("hi"));
    assert_eq!(client.try_head().unwrap_err().kind(), ErrorKind::UnexpectedEof);
    assert_eq!(ended(&model, 1).await.end(), Some(End::Cut));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_is_reset() {
    let (model, mut client) = start(Script::new().then(Answer::reset())).await;
    client.ask(&says("hi"));
    assert_eq!(client.try_head().unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(ended(&model, 1).await.end(), Some(End::Reset));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_hangs_is_there_until_the_client_leaves() {
    let script = Script::new().then(Answer::text("a b c").hang_after(3).times(2));
    let (model, mut client) = start(script).await;
    client.ask(&says("hi"));
    client.head();
    for name in ["message_start", "content_block_start", "content_block_delta"] {
        assert_eq!(client.event().unwrap().unwrap().name, name);
    }
    // Another request is answered meanwhile, and without a stream there is nothing at all.
    let mut other = Client::connect(model.port());
    other.ask(&says_without_stream("hi"));
    model.wait_for_requests(2).await;
    assert!(model.requests().iter().all(|request| request.end().is_none()));
    drop(other);
    assert_eq!(ended(&model, 2).await.end(), Some(End::ClientGone));
    drop(client);
    let request = ended(&model, 1).await;
    assert_eq!((request.end(), request.events_sent()), (Some(End::ClientGone), Some(3)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_in_the_middle_is_noticed() {
    let script = Script::new()
        .then(Answer::text("a b c").pace(FOREVER))
        .then(Answer::text("a b c").delay(FOREVER));
    let (model, mut client) = start(script).await;
    // Between two deltas.
    client.ask(&says("hi"));
    client.head();
    for name in ["message_start", "content_block_start", "content_block_delta"] {
        assert_eq!(client.event().unwrap().unwrap().name, name);
    }
    drop(client);
    let request = ended(&model, 1).await;
    assert_eq!((request.end(), request.events_sent()), (Some(End::ClientGone), Some(3)));
    // Before anything is said.
    let mut client = Client::connect(model.port());
    client.ask(&says("hi"));
    model.wait_for_requests(2).await;
    drop(client);
    let request = ended(&model, 2).await;
    assert_eq!((request.end(), request.events_sent()), (Some(End::ClientGone), Some(0)));
    // Before the end of its own request.
    let mut client = Client::connect(model.port());
    client.write(
        b"POST /v1/messages HTTP/1.1\r\nhost: lab\r\ncontent-length: 1000\r\n\r\n{\"model\"",
    );
    drop(client);
    let request = ended(&model, 3).await;
    assert_eq!((request.end(), request.bytes, request.kind), (Some(End::ClientGone), 8, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn delays_and_pauses_are_kept_and_end() {
    let answer =
        Answer::text("a b c").delay(Duration::from_millis(20)).pace(Duration::from_millis(20));
    let (model, mut client) = start(Script::new().then(answer)).await;
    client.ask(&says("hi"));
    client.head();
    assert_eq!(client.events().len(), 8);
    assert_eq!(ended(&model, 1).await.end(), Some(End::Complete));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_comes_in_the_middle_of_a_stream() {
    let error = ApiError::new(529).message("Overloaded");
    let script = (0..4).chain([9]).fold(Script::new(), |script, after| {
        script.then(Answer::text("a b c").stream_error_after(after, error.clone()))
    });
    let (_model, mut client) = start(script).await;
    for deltas in [0, 1, 2, 3, 3] {
        client.ask(&says("hi"));
        assert_eq!(client.head().status, 200);
        let mut events = client.events();
        let last = events.pop().unwrap();
        assert_eq!(
            last.data,
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
        );
        let said = events.iter().filter(|event| event.name == "content_block_delta").count();
        assert_eq!(said, deltas);
        assert!(events.iter().all(|event| event.name != "message_delta"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_stream_an_error_of_the_stream_is_a_status() {
    let error = ApiError::new(529).message("Overloaded");
    let (_model, mut client) =
        start(Script::new().then(Answer::text("a").stream_error_after(1, error))).await;
    client.ask(&says_without_stream("hi"));
    let (head, body) = client.json();
    assert_eq!((head.status, body["error"]["message"].as_str()), (529, Some("Overloaded")));
}
