//! Streams that break off, repeat themselves and leave things out: each event is given once.

use std::time::Duration;

use countersign_server::client::{Client, ClientError, Followed, Following};
use countersign_server::id::SessionId;
use countersign_server::outgoing::OutgoingError;
use countersign_server::session::Happening;
use futures_util::StreamExt as _;
use serde_json::json;
use tokio::net::TcpStream;

use crate::client::{client, view};
use crate::wire::{Came, Played, Stage, answer, problem};

/// The beginning of a stream. It ends with its connection.
const OPEN: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

fn event_of(session: SessionId, seq: u64, kind: &str, body: &serde_json::Value) -> String {
    let position = seq + 100;
    let event = json!({"session": session, "seq": seq, "position": position,
        "at": "2026-11-18T08:00:00Z", "kind": kind, "body": body});
    format!("id: {seq}\nevent: {kind}\ndata: {event}\n\n")
}

fn event(session: SessionId, seq: u64) -> String {
    event_of(session, seq, "session.noted", &json!({"text": format!("é {seq}")}))
}

/// A connection of which the request was read, after what it goes on, and what was asked for.
async fn opened(stage: &Stage) -> (Played<TcpStream>, Came) {
    let mut connection = stage.accept().await;
    let came = connection.request().await.unwrap();
    (connection, came)
}

/// Plays a stream that ends after this text, and gives what it went on after.
async fn play(stage: &Stage, text: &str) -> Option<String> {
    let (mut connection, came) = opened(stage).await;
    connection.say(&format!("{OPEN}{text}")).await;
    came.header("last-event-id").map(str::to_owned)
}

/// The numbers of all events until the end, and the error that it ends with.
async fn all(mut following: Following) -> (Vec<u64>, Option<ClientError>) {
    let mut numbers = Vec::new();
    while let Some(next) = following.next().await {
        match next {
            Ok(Followed::Event(event)) => numbers.push(event.seq),
            Ok(_) => {}
            Err(error) => {
                assert!(following.next().await.is_none(), "it is over");
                return (numbers, Some(error));
            }
        }
    }
    (numbers, None)
}

#[tokio::test]
async fn everything_that_is_told_has_its_type() {
    let stage = Stage::new().await;
    let session = SessionId::new();
    let client = client(&stage);
    let now = view(session);
    let head = serde_json::to_string(&now).unwrap();
    let text = format!(
        ": open\nid: 1\n\nevent: head\ndata: {head}\n\n{}event: delta\ndata: {{\"b\": 1.0}}\n\n\
         event: lagged\ndata: {{\"missed\":3}}\n\n: alive\n\n{}",
        event(session, 2),
        event_of(session, 3, "something.new", &json!({})),
    );
    let (after, following) = tokio::join!(play(&stage, &text), client.follow(session, None));
    assert_eq!(after, None);
    let mut following = following.unwrap();
    let mut next = async || following.next().await.unwrap().unwrap();
    assert!(matches!(next().await, Followed::Head(head) if *head == now));
    let Followed::Event(noted) = next().await else { panic!() };
    assert!(matches!(noted.happening().unwrap(), Happening::Noted(noted) if noted.text == "é 2"));
    assert!(matches!(next().await, Followed::Delta(delta) if delta.as_str() == r#"{"b": 1.0}"#));
    assert!(matches!(next().await, Followed::Lagged { missed: 3 }));
    let Followed::Event(unknown) = next().await else { panic!() };
    assert_eq!(unknown.kind, "something.new");
    assert!(unknown.happening().is_err());
    assert!(matches!(
        next().await,
        Followed::Reconnecting { because: ClientError::StreamEnded, .. }
    ));
    assert_eq!(following.last(), Some(3));
}

#[tokio::test]
async fn a_stream_that_breaks_off_goes_on_without_doubles_and_gaps() {
    let stage = Stage::new().await;
    let session = SessionId::new();
    let client = client(&stage);
    let of = |numbers: &[u64]| numbers.iter().map(|seq| event(session, *seq)).collect::<String>();
    let half = {
        let whole = event(session, 6);
        // Inside of a character.
        whole[..whole.find('é').unwrap()].to_owned() + "\u{fffd}"
    };
    let deleted = event_of(session, 9, "session.deleted", &json!({"by": {"kind": "server"}}));
    let server = async {
        vec![
            // Twice the same, and one that is cut off.
            play(&stage, &format!(": open\nid: 4\n\n{}{half}", of(&[5, 5]))).await,
            // One that we have had, and then one is missing.
            play(&stage, &of(&[5, 6, 8])).await,
            // Nothing, and again nothing.
            play(&stage, "").await,
            play(&stage, ": open\nid: 6\n\n").await,
            play(&stage, &(of(&[7, 8]) + &deleted + &of(&[10]))).await,
        ]
    };
    let client = async { all(client.follow(session, None).await.unwrap()).await };
    let (after, (numbers, error)) = tokio::join!(server, client);
    assert_eq!(numbers, [5, 6, 7, 8, 9]);
    assert!(error.is_none(), "nothing comes after a session was deleted");
    let after: Vec<_> = after.iter().map(Option::as_deref).collect();
    assert_eq!(after, [None, Some("5"), Some("6"), Some("6"), Some("6")]);
}

#[tokio::test]
async fn what_stays_missing_is_an_error_and_not_passed_over() {
    let stage = Stage::new().await;
    let session = SessionId::new();
    let client = client(&stage);
    let server = async {
        play(&stage, &event(session, 3)).await;
        play(&stage, &(event(session, 2) + &event(session, 5))).await;
        play(&stage, &event(session, 5)).await
    };
    let client = async { all(client.follow(session, Some(1)).await.unwrap()).await };
    let (after, (numbers, error)) = tokio::join!(server, client);
    assert_eq!((after.as_deref(), numbers), (Some("2"), vec![2]));
    let error = error.unwrap();
    assert!(matches!(error, ClientError::Gap { expected: 3, found: 5, .. }), "{error}");
}

#[tokio::test]
async fn streams_of_all_sessions_go_by_position() {
    let stage = Stage::new().await;
    let client = client(&stage);
    let [one, two] = [SessionId::new(), SessionId::new()];
    let server = async {
        let (mut connection, came) = opened(&stage).await;
        assert_eq!(came.line, "GET /api/v1/inbox/stream HTTP/1.1");
        assert_eq!(came.header("accept"), Some("text/event-stream"));
        // Nothing happened yet: all the same it is known where to go on.
        connection.say(&format!("{OPEN}: open\nid: 103\n\n")).await;
        drop(connection);
        // Positions leave out what is of no interest.
        let second = play(&stage, &(event(one, 5) + &event(two, 9) + &event(one, 9))).await;
        let gone = problem(404, "not-found", &json!({}));
        (second, stage.answer(&gone).await.header("last-event-id").map(str::to_owned))
    };
    let client = async { all(client.follow_inbox(None).await.unwrap()).await };
    let ((second, third), (numbers, error)) = tokio::join!(server, client);
    assert_eq!((second.as_deref(), third.as_deref()), (Some("103"), Some("109")));
    assert_eq!(numbers, [5, 9]);
    assert!(error.unwrap().is_not_found());
}

#[tokio::test]
async fn a_token_that_is_good_no_more_ends_a_stream_and_a_server_that_restarts_does_not() {
    let stage = Stage::new().await;
    let session = SessionId::new();
    let client = client(&stage);
    let server = async {
        play(&stage, &event(session, 1)).await;
        stage.answer(&problem(503, "unavailable", &json!({}))).await;
        stage.answer(&answer("502 Bad Gateway", "text/html", "a proxy")).await;
        stage.answer("").await;
        play(&stage, &event(session, 2)).await;
        stage.answer(&problem(401, "not-signed-in", &json!({}))).await;
    };
    let client = async { all(client.follow(session, Some(0)).await.unwrap()).await };
    let ((), (numbers, error)) = tokio::join!(server, client);
    assert_eq!(numbers, [1, 2]);
    assert!(error.unwrap().is_refused());
}

#[tokio::test]
async fn what_is_wrong_from_the_beginning_is_told_at_once() {
    let stage = Stage::new().await;
    let client = client(&stage);
    for (status, kind) in [(401, "not-signed-in"), (404, "no-session"), (503, "unavailable")] {
        let refused = problem(status, kind, &json!({}));
        let session = SessionId::new();
        let (_, error) = tokio::join!(stage.answer(&refused), client.follow(session, None));
        assert_eq!(error.unwrap_err().problem().unwrap().status(), status);
    }
    drop(stage);
    let error = client.follow_all(None).await.unwrap_err();
    assert!(matches!(error, ClientError::Connection(OutgoingError::Refused { .. })), "{error}");
}

#[tokio::test]
async fn a_stream_that_falls_silent_is_opened_again() {
    let stage = Stage::new().await;
    let session = SessionId::new();
    let client = Client::builder(&stage.url(), "cst_a");
    let client = client.silence_within(Duration::from_millis(100)).build().unwrap();
    let deleted = event_of(session, 2, "session.deleted", &json!({"by": {"kind": "server"}}));
    let server = async {
        let (mut silent, _) = opened(&stage).await;
        silent.say(&format!("{OPEN}{}", event(session, 1))).await;
        let after = play(&stage, &deleted).await;
        silent.gone().await;
        after
    };
    let client = async {
        let following = client.follow(session, Some(0)).await.unwrap();
        let told: Vec<_> = following.into_stream().map(Result::unwrap).collect().await;
        assert!(matches!(
            &told[..],
            [
                Followed::Event(_),
                Followed::Reconnecting {
                    because: ClientError::Connection(OutgoingError::Silent { .. }),
                    ..
                },
                Followed::Event(_)
            ]
        ));
    };
    let (after, ()) = tokio::join!(server, client);
    assert_eq!(after.as_deref(), Some("1"));
}

#[tokio::test]
async fn nothing_is_lost_by_whoever_does_not_wait_for_it() {
    let stage = Stage::new().await;
    let session = SessionId::new();
    let client = client(&stage);
    let server = async {
        for part in [1..=20, 15..=40] {
            let (mut connection, _) = opened(&stage).await;
            connection.say(OPEN).await;
            for seq in part {
                for piece in event(session, seq).as_bytes().chunks(40) {
                    connection.say_bytes(piece).await;
                    tokio::task::yield_now().await;
                }
            }
        }
        stage.answer(&problem(404, "no-session", &json!({}))).await;
    };
    let client = async {
        let mut following = client.follow(session, Some(0)).await.unwrap();
        let mut numbers = Vec::new();
        loop {
            // Almost never is there anything yet.
            let now = tokio::time::timeout(Duration::from_micros(50), following.next());
            match now.await {
                Ok(Some(Ok(Followed::Event(event)))) => numbers.push(event.seq),
                Ok(Some(Err(error))) => {
                    assert!(error.is_not_found(), "{error}");
                    return numbers;
                }
                Ok(Some(Ok(_))) | Err(_) => {}
                Ok(None) => panic!("it ends with an error"),
            }
        }
    };
    let ((), numbers) = tokio::join!(server, client);
    assert_eq!(numbers, (1..=40).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_event_may_only_be_so_long_and_those_before_it_are_given() {
    let stage = Stage::new().await;
    let session = SessionId::new();
    let client = Client::builder(&stage.url(), "cst_a").longest(1000).build().unwrap();
    let long = event_of(session, 2, "session.noted", &json!({"text": "x".repeat(2000)}));
    let text = event(session, 1) + &long;
    let (_, following) = tokio::join!(play(&stage, &text), client.follow(session, Some(0)));
    let (numbers, error) = all(following.unwrap()).await;
    assert_eq!(numbers, [1]);
    assert!(matches!(error.unwrap(), ClientError::TooLong { most: 1000 }));
}

#[tokio::test]
async fn what_cannot_be_read_ends_a_stream() {
    let stage = Stage::new().await;
    let session = SessionId::new();
    let client = client(&stage);
    let text = event(session, 1) + "event: session.noted\ndata: {}\n\n";
    let (_, following) = tokio::join!(play(&stage, &text), client.follow(session, Some(0)));
    let (numbers, error) = all(following.unwrap()).await;
    assert_eq!(numbers, [1]);
    assert!(matches!(error.unwrap(), ClientError::Unreadable { what: "an event", .. }));
}
