//! Every error is a problem, and says nothing that it should not.

use countersign_server::access::Scope;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::house::{Answer, House, exchange};

const JSON: &str = "Content-Type: application/json";

#[tokio::test]
async fn every_error_is_a_problem() {
    let house = House::new().await;
    let bearer = house.bearer(Scope::Decide).await;
    for (line, kind, body, status, problem) in [
        ("GET /nothing", JSON, "", 404, "not-found"),
        ("GET /api/v1/nothing", JSON, "", 404, "not-found"),
        ("PUT /api/v1/see", JSON, "", 405, "method-not-allowed"),
        ("BREW /api/v1/see", JSON, "", 405, "method-not-allowed"),
        ("POST /api/v1/echo", JSON, "{", 400, "not-json"),
        ("POST /api/v1/echo", JSON, "", 400, "not-json"),
        ("POST /api/v1/echo", "Content-Type: text/plain", "{}", 415, "unsupported-media-type"),
        ("POST /api/v1/echo", "X-A: b", "{}", 415, "unsupported-media-type"),
        ("POST /api/v1/command", JSON, "{", 400, "not-json"),
        ("POST /api/v1/command", JSON, "[]", 422, "bad-body"),
        ("GET /api/v1/number/seven", JSON, "", 400, "bad-parameter"),
        ("GET /api/v1/number/%ff", JSON, "", 400, "bad-parameter"),
        ("GET /api/v1/number?number=x", JSON, "", 400, "bad-parameter"),
        ("GET /api/v1/number", JSON, "", 400, "bad-parameter"),
        ("GET /api/v1/teapot", JSON, "", 418, "bad-request"),
        ("GET /api/v1/panic", JSON, "", 500, "internal"),
    ] {
        let answer = house.ask(line, &[&bearer, kind], body).await;
        assert_eq!((answer.status, &*answer.problem()), (status, problem), "{line}: {answer:?}");
    }
}

#[tokio::test]
async fn a_method_that_is_not_known_is_answered_with_those_that_are() {
    let house = House::new().await;
    let bearer = house.bearer(Scope::Decide).await;
    let answer = house.ask("DELETE /api/v1/forgotten", &[&bearer], "").await;
    assert_eq!((answer.status, answer.header("allow")), (405, Some("GET,HEAD,POST")));
}

#[tokio::test]
async fn a_panic_is_an_answer_without_details_and_the_server_goes_on() {
    let house = House::new().await;
    let bearer = house.bearer(Scope::Read).await;
    let answer = house.ask("GET /api/v1/panic", &[&bearer], "").await;
    assert_eq!(
        answer.body,
        r#"{"type":"/problems/internal","title":"The server has failed","status":500}"#
    );
    assert_eq!(house.ask("GET /api/v1/see", &[&bearer], "").await.status, 200);
}

/// A server that takes a kibibyte.
async fn narrow() -> (House, String) {
    let house = House::with("[limits]\nbody = \"1KiB\"\n").await;
    let bearer = house.bearer(Scope::Decide).await;
    (house, bearer)
}

#[tokio::test]
async fn a_body_may_be_as_long_as_configured_and_no_longer() {
    let (house, bearer) = narrow().await;
    for route in ["echo", "command", "ignore"] {
        let send = async |length: usize| {
            let body = format!("{{\"a\":\"{}\"}}", "x".repeat(length - 8));
            house.ask(&format!("POST /api/v1/{route}"), &[&bearer, JSON], &body).await
        };
        assert!(matches!(send(1024).await.status, 200 | 204));
        let answer = send(1025).await;
        assert_eq!((answer.status, &*answer.problem()), (413, "too-large"), "{route}");
    }
}

#[tokio::test]
async fn a_body_that_does_not_say_its_length_is_cut_off_where_it_is_too_long() {
    let (house, bearer) = narrow().await;
    for route in ["echo", "command"] {
        let mut text = format!(
            "POST /api/v1/{route} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{bearer}\r\n{JSON}\r\n\
             Transfer-Encoding: chunked\r\n\r\n",
            house.address
        );
        text += &[0; 3].map(|_| format!("200\r\n{}\r\n", "1".repeat(0x200))).concat();
        text += "0\r\n\r\n";
        let stream = TcpStream::connect(house.address).await.unwrap();
        let answer = exchange(stream, &text).await;
        assert_eq!((answer.status, &*answer.problem()), (413, "too-large"), "{route}");
    }
}

#[tokio::test]
async fn a_body_that_is_announced_too_long_is_not_waited_for() {
    let (house, bearer) = narrow().await;
    let text = format!(
        "POST /api/v1/echo HTTP/1.1\r\nHost: {}\r\n{bearer}\r\n{JSON}\r\nContent-Length: 99999999999\r\n\r\n",
        house.address
    );
    let stream = TcpStream::connect(house.address).await.unwrap();
    let answer = exchange(stream, &text).await;
    assert_eq!((answer.status, &*answer.problem()), (413, "too-large"));
}

#[tokio::test]
async fn a_default_body_may_be_longer_than_what_frameworks_allow() {
    let house = House::new().await;
    let bearer = house.bearer(Scope::Decide).await;
    let body = format!("{{\"a\":\"{}\"}}", "x".repeat(5 << 20));
    let answer = house.ask("POST /api/v1/echo", &[&bearer, JSON], &body).await;
    assert_eq!((answer.status, answer.body.len()), (200, body.len()));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_takes_too_long_is_given_up() {
    let house = House::new().await;
    let bearer = house.bearer(Scope::Read).await;
    let answer = house.ask("GET /api/v1/never", &[&bearer], "").await;
    // Time flies while everybody waits; which bound is met first does not matter to the client.
    assert_eq!((answer.status, &*answer.problem()), (503, "took-too-long"));
}

#[tokio::test]
async fn what_is_not_http_gets_no_more_than_a_status() {
    let house = House::new().await;
    for text in [
        "\0\0\0\0\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "hello\r\n\r\n",
        "GET / HTTP/1.1\r\nHost\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(house.address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        let Answer { status, body, .. } = exchange(stream, "").await;
        assert!(matches!(status, 0 | 400 | 421 | 505), "{status} {body}");
        assert!(body.is_empty() || status == 421, "{body}");
    }
}

/// Who is told that something took too long is told when to try again.
#[tokio::test(start_paused = true)]
async fn what_took_too_long_may_be_tried_again() {
    let house = House::with("[limits]\nrequest = \"1s\"\n").await;
    let bearer = house.bearer(Scope::Read).await;
    let answer = house.ask("GET /api/v1/never", &[&bearer], "").await;
    assert_eq!((answer.status, &*answer.problem()), (503, "took-too-long"), "{answer:?}");
    assert_eq!(answer.header("retry-after"), Some("5"), "{answer:?}");
}
