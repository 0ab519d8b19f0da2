//! How connections come in, and how they end.

use std::time::Duration;

use countersign_server::access::Scope;
use countersign_server::client::{Client, Followed};
use countersign_server::config::Config;
use countersign_server::web::serve::{BindError, Ended, Server};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::house::{House, request};
use crate::running::Running;

fn config(file: &str) -> Config {
    toml::from_str(file).unwrap()
}

#[tokio::test]
async fn an_address_that_others_reach_is_not_listened_on_without_tls_or_a_word() {
    for listen in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let error = Server::bind(&config(&format!("listen = \"{listen}\""))).await.unwrap_err();
        assert!(matches!(error, BindError::NonLoopback { .. }), "{listen}: {error}");
    }
    let word = "listen = \"0.0.0.0:0\"\nallow_non_loopback_without_tls = true";
    assert!(Server::bind(&config(word)).await.is_ok());
}

#[tokio::test]
async fn tls_that_cannot_be_had_is_not_gone_without() {
    let file = "listen = \"127.0.0.1:0\"\ntls = { certificate = \"/no/such\", key = \"/no/such\" }";
    assert!(matches!(Server::bind(&config(file)).await, Err(BindError::Tls(_))));
}

#[tokio::test]
async fn an_address_that_is_taken_is_said() {
    let house = House::new().await;
    let error =
        Server::bind(&config(&format!("listen = \"{}\"", house.address))).await.unwrap_err();
    assert_eq!(error.to_string(), format!("cannot listen on {}", house.address));
    let BindError::Bind { source, .. } = error else { panic!("{error:?}") };
    assert_eq!(source.kind(), std::io::ErrorKind::AddrInUse);
}

#[tokio::test(start_paused = true)]
async fn who_says_nothing_or_stops_in_the_middle_is_let_go() {
    let house = House::new().await;
    for text in ["", "GET / HT", "GET / HTTP/1.1\r\nHost: a\r\nX-Slow: "] {
        let mut stream = TcpStream::connect(house.address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut bytes = Vec::new();
        // Time flies while everybody waits.
        drop(stream.read_to_end(&mut bytes).await);
        let said = String::from_utf8_lossy(&bytes);
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 408"), "{said}");
    }
}

#[tokio::test]
async fn beyond_the_limit_a_connection_is_told_so_and_ends() {
    let house = House::with("[limits]\nconnections = 1\n").await;
    let first = TcpStream::connect(house.address).await.unwrap();
    let mut first = BufReader::new(first);
    let ask = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", house.address);
    first.write_all(ask.as_bytes()).await.unwrap();
    let mut line = String::new();
    first.read_line(&mut line).await.unwrap();
    assert_eq!(line, "HTTP/1.1 200 OK\r\n");

    let second = house.ask("GET /healthz", &[], "").await;
    assert_eq!((second.status, second.header("retry-after")), (503, Some("5")), "{second:?}");
    drop(first);
    // The server notices a moment later.
    while house.ask("GET /healthz", &[], "").await.status != 200 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn who_is_not_let_in_yet_may_not_say_much() {
    let house = House::new().await;
    let long = format!("{{\"code\":\"{}\"}}", "x".repeat(4 << 10));
    for line in ["POST /login", "POST /api/v1/login-links", "POST /api/v1/logout", "GET /healthz"] {
        let answer = house.ask(line, &["Content-Type: application/json"], &long).await;
        assert_eq!((answer.status, &*answer.problem()), (413, "too-large"), "{line}: {answer:?}");
    }
    let answer = house.ask("POST /login", &["Content-Type: application/json"], "{}").await;
    assert_eq!(answer.status, 422, "{answer:?}");
}

#[tokio::test]
async fn a_token_has_so_many_streams_and_no_more() {
    let server = Running::with(|config| config.limits.streams = 2).await;
    let bearer = server.bearer(Scope::Read).await;
    let path = "/api/v1/stream";
    let (_, one) = server.stream(path, &bearer).await;
    let (_, two) = server.stream(path, &bearer).await;
    let (third, _) = server.stream(path, &bearer).await;
    assert!(third.starts_with("HTTP/1.1 429") && third.contains("too-many-streams"), "{third}");
    // Others have theirs.
    let (other, _) = server.stream(path, &server.admin).await;
    assert!(other.starts_with("HTTP/1.1 200"), "{other}");
    drop((one, two));
    while !server.stream(path, &bearer).await.0.starts_with("HTTP/1.1 200") {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    server.end().await;
}

/// A connection on which events are listened to, after the first of them.
async fn listening(house: &House) -> BufReader<TcpStream> {
    let bearer = house.bearer(Scope::Read).await;
    let host = format!("Host: {}", house.address);
    let mut stream = BufReader::new(TcpStream::connect(house.address).await.unwrap());
    let ask = request("GET /api/v1/events", &[&host, &bearer], "");
    stream.write_all(ask.as_bytes()).await.unwrap();
    until(&mut stream, "data: b").await;
    stream
}

/// Reads until a line begins like this; fails when there is none.
async fn until(stream: &mut BufReader<TcpStream>, begins: &str) {
    let mut line = String::new();
    while !line.starts_with(begins) {
        line.clear();
        assert_ne!(stream.read_line(&mut line).await.unwrap(), 0, "it ended before {begins}");
    }
}

#[tokio::test(start_paused = true)]
async fn events_go_on_beyond_the_time_of_a_request() {
    let house = House::with("[limits]\nrequest = \"1s\"\n").await;
    let mut stream = listening(&house).await;
    // Each comes after fifteen seconds of silence.
    for _ in 0..10 {
        until(&mut stream, ": still here").await;
    }
}

#[tokio::test]
async fn on_the_way_out_requests_are_finished_and_events_end() {
    // Less than a connection is kept on which nothing is said.
    let house = House::with("[limits]\nshutdown_within = \"5s\"\n").await;
    let mut events = listening(&house).await;
    let mut idle = TcpStream::connect(house.address).await.unwrap();
    let ask = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", house.address);
    idle.write_all(ask.as_bytes()).await.unwrap();
    let mut some = [0; 1];
    idle.read_exact(&mut some).await.unwrap();

    house.stop.cancel();
    let mut rest = String::new();
    events.read_to_string(&mut rest).await.unwrap();
    assert!(rest.ends_with("0\r\n\r\n"), "it ends as it should, and is not cut: {rest:?}");
    idle.read_to_string(&mut rest).await.unwrap();
    assert_eq!(house.ended.await.unwrap(), Ended { cut: 0 });
    assert!(TcpStream::connect(house.address).await.is_err(), "nobody listens any more");
}

#[tokio::test(start_paused = true)]
async fn what_does_not_end_is_cut_when_the_time_is_over() {
    let house = House::with("[limits]\nrequest = \"1d\"\nshutdown_within = \"5s\"\n").await;
    let bearer = house.bearer(Scope::Read).await;
    let host = format!("Host: {}", house.address);
    let mut stuck = TcpStream::connect(house.address).await.unwrap();
    let ask = request("GET /api/v1/never", &[&host, &bearer], "");
    stuck.write_all(ask.as_bytes()).await.unwrap();
    // The next one is answered after the first one has begun.
    house.ask("GET /healthz", &[], "").await;
    house.stop.cancel();
    assert_eq!(house.ended.await.unwrap(), Ended { cut: 1 });
    let mut rest = Vec::new();
    drop(stuck.read_to_end(&mut rest).await);
    assert!(rest.is_empty());
}

/// A copy from before was put back, and somebody knows what is not in the log.
#[tokio::test]
async fn whoever_knows_more_than_the_log_begins_anew() {
    let server = Running::new().await;
    let session = server.session(&serde_json::json!({})).await;
    let (mut text, mut stream) = server.stream("/api/v1/stream?after=1000000", &server.admin).await;
    let mut part = [0; 4096];
    while !text.contains("data: ") {
        let read = stream.read(&mut part).await.unwrap();
        assert!(read > 0, "{text}");
        text.push_str(&String::from_utf8_lossy(part.get(..read).unwrap()));
    }
    assert!(text.contains("event: reset") && text.contains(r#"data: {"after":1}"#), "{text}");
    let token = server.admin.rsplit_once(' ').unwrap().1;
    let client = Client::builder(&format!("http://{}", server.address), token).build().unwrap();
    let session = session.parse().unwrap();
    for mut following in [
        client.follow(session, Some(7)).await.unwrap(),
        client.follow_all(Some(7)).await.unwrap(),
        client.follow_inbox(Some(7)).await.unwrap(),
    ] {
        let first = following.next().await.unwrap().unwrap();
        assert!(matches!(first, Followed::Reset { after: 1 }), "{first:?}");
        assert_eq!(following.last(), Some(1));
    }
    // What happens then is heard.
    let mut following = client.follow(session, Some(7)).await.unwrap();
    client.rename(session, "later").await.unwrap();
    while let Some(followed) = following.next().await {
        if let Followed::Event(event) = followed.unwrap() {
            assert_eq!((event.seq, &*event.kind), (2, "session.renamed"));
            break;
        }
    }
    server.end().await;
}
