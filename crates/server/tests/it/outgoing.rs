//! Requests to somebody else, over real connections.

use std::error::Error as _;
use std::path::Path;
use std::time::Duration;

use axum::Router;
use axum::routing::{get, post};
use countersign_server::outgoing::{Ask, Limits, Outgoing, OutgoingError, RootsError};
use http::{HeaderMap, Method};
use rcgen::{CertificateParams, CertifiedKey, KeyPair};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::wire::{Stage, answer, certificate};

fn outgoing() -> Outgoing {
    Outgoing::new(Limits::default()).unwrap()
}

fn with(change: impl FnOnce(&mut Limits)) -> Outgoing {
    let mut limits = Limits::default();
    change(&mut limits);
    Outgoing::new(limits).unwrap()
}

fn get_of(url: &str) -> Ask {
    let (headers, body) = (HeaderMap::new(), Default::default());
    Ask { method: Method::GET, url: url.parse().unwrap(), headers, body }
}

/// A real server, for as long as the set of tasks is there.
async fn serve(router: Router) -> (String, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
    (url, tasks)
}

#[tokio::test]
async fn a_request_arrives_as_it_was_made() {
    let stage = Stage::new().await;
    let mut ask = get_of(&format!("{}/a%20b/c?d=e&f", stage.url()));
    ask.method = Method::POST;
    ask.headers.insert("x-one", "two".parse().unwrap());
    ask.headers.insert("host", "somewhere.else".parse().unwrap());
    ask.body = "{}".into();
    let outgoing = outgoing();
    let ok = answer("200 OK", "text/plain", "good");
    let (came, answered) = tokio::join!(stage.answer(&ok), outgoing.send(ask));
    assert_eq!(came.line, "POST /a%20b/c?d=e&f HTTP/1.1");
    assert_eq!(came.header("host"), Some(&*stage.address().to_string()));
    assert_eq!(came.header("x-one"), Some("two"));
    assert!(came.header("user-agent").unwrap().starts_with("countersign/"));
    assert_eq!(came.body, "{}");
    let answered = answered.unwrap();
    assert_eq!((answered.status().as_u16(), &answered.body()[..]), (200, &b"good"[..]));
}

#[tokio::test]
async fn the_names_of_this_machine_are_looked_up_nowhere() {
    let stage = Stage::new().await;
    let port = stage.address().port();
    let ok = answer("200 OK", "text/plain", "here");
    for name in ["localhost", "agents.localhost", "a.b.localhost"] {
        let (outgoing, url) = (outgoing(), format!("http://{name}:{port}/"));
        let (came, answered) = tokio::join!(stage.answer(&ok), outgoing.send(get_of(&url)));
        assert_eq!(came.header("host"), Some(&*format!("{name}:{port}")));
        assert_eq!(answered.unwrap().into_body(), "here");
    }
    // Also where only the other loopback address is listened on.
    let Ok(listener) = TcpListener::bind("[::1]:0").await else { return };
    let url = format!("http://agents.localhost:{}/", listener.local_addr().unwrap().port());
    let outgoing = with(|limits| limits.answer = Duration::from_secs(20));
    let mut tasks = JoinSet::new();
    let router = Router::new().route("/", get(|| async { "here" }));
    tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
    assert_eq!(outgoing.send(get_of(&url)).await.unwrap().into_body(), "here");
}

#[tokio::test]
async fn a_connection_can_go_elsewhere_than_its_name_says() {
    let stage = Stage::new().await;
    let outgoing = with(|limits| limits.connect_to = Some(stage.address()));
    let ok = answer("200 OK", "text/plain", "");
    let ask = get_of("http://agents.invalid:7787/");
    let (came, answered) = tokio::join!(stage.answer(&ok), outgoing.send(ask));
    answered.unwrap();
    assert_eq!(came.header("host"), Some("agents.invalid:7787"));
}

#[tokio::test]
async fn connections_are_used_again_unless_they_end() {
    let stage = Stage::new().await;
    let outgoing = outgoing();
    let url = stage.url();
    let ok = answer("200 OK", "text/plain", "");
    let last = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let server = async {
        let mut first = stage.accept().await;
        for said in [&ok, &ok, last] {
            first.request().await.unwrap();
            first.say(said).await;
        }
        let mut second = stage.accept().await;
        second.request().await.unwrap();
        second.say(&ok).await;
    };
    let client = async {
        for _ in 0..4 {
            outgoing.send(get_of(&url)).await.unwrap();
        }
    };
    tokio::join!(server, client);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let router = Router::new()
        .route("/old", get(|| async { axum::response::Redirect::temporary("/new") }))
        .route("/new", get(|| async { "it was followed" }));
    let (url, _tasks) = serve(router).await;
    let answered = outgoing().send(get_of(&format!("{url}/old"))).await.unwrap();
    assert_eq!(answered.status(), 307);
    assert!(answered.body().is_empty());
}

#[tokio::test]
async fn nobody_there_is_said_with_what_to_do() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = gone.local_addr().unwrap();
    drop(gone);
    let error = outgoing().send(get_of(&format!("http://{address}/secret"))).await.unwrap_err();
    assert!(matches!(error, OutgoingError::Refused { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        format!(
            "{address} refuses the connection: is the server running, and is that its address?"
        )
    );
    assert!(error.source().is_some() && error.may_pass() && !error.may_have_arrived());
}

#[tokio::test]
async fn addresses_that_cannot_be_called_are_refused() {
    for (url, why) in [
        ("ftp://example.org/", "http://"),
        ("https://user:password@example.org/", "names and passwords"),
    ] {
        let error = outgoing().send(get_of(url)).await.unwrap_err();
        assert!(error.to_string().contains(why) && !error.may_pass(), "{error}");
        assert!(!error.to_string().contains("password@"));
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_off_is_lost_and_may_have_been_carried_out() {
    let stage = Stage::new().await;
    let outgoing = outgoing();
    for cut in ["", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"] {
        let ask = get_of(&stage.url());
        let (_, error) = tokio::join!(stage.answer(cut), outgoing.send(ask));
        let error = error.unwrap_err();
        assert!(matches!(error, OutgoingError::Lost { .. }), "{error}");
        assert!(error.may_have_arrived() && error.may_pass());
    }
}

#[tokio::test]
async fn an_answer_is_only_waited_for_so_long() {
    let stage = Stage::new().await;
    let outgoing = with(|limits| limits.answer = Duration::from_millis(50));
    let ask = get_of(&stage.url());
    let server = async {
        let mut connection = stage.accept().await;
        connection.request().await.unwrap();
        connection.gone().await;
    };
    let ((), error) = tokio::join!(server, outgoing.send(ask));
    let error = error.unwrap_err();
    assert!(matches!(error, OutgoingError::TooSlow { .. }) && error.may_have_arrived(), "{error}");
}

#[tokio::test]
async fn an_answer_may_only_be_so_long_whether_it_says_how_long_or_not() {
    let stage = Stage::new().await;
    let outgoing = with(|limits| limits.body = 8);
    let said = answer("200 OK", "text/plain", "123456789");
    let unsaid =
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n12345\r\n5\r\n12345\r\n";
    for long in [&*said, unsaid] {
        let (_, error) = tokio::join!(stage.answer(long), outgoing.send(get_of(&stage.url())));
        let error = error.unwrap_err();
        assert!(matches!(error, OutgoingError::TooLarge { most: 8, .. }), "{error}");
    }
    let fits = answer("200 OK", "text/plain", "12345678");
    let (_, fits) = tokio::join!(stage.answer(&fits), outgoing.send(get_of(&stage.url())));
    assert_eq!(fits.unwrap().body().len(), 8);
}

#[tokio::test]
async fn an_answer_can_be_read_piece_by_piece_and_silence_ends_it() {
    let stage = Stage::new().await;
    let outgoing = with(|limits| limits.silence = Duration::from_millis(100));
    let url = stage.url();
    let (told, heard) = tokio::sync::oneshot::channel();
    let server = async {
        let mut connection = stage.accept().await;
        connection.request().await.unwrap();
        connection.say("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n").await;
        heard.await.unwrap();
        connection.say("3\r\ntwo\r\n").await;
        // Whoever does not want to read any more ends the connection.
        connection.gone().await;
    };
    let client = async {
        let mut pieces = outgoing.open(get_of(&url)).await.unwrap().into_body();
        assert_eq!(pieces.next().await.unwrap().unwrap(), "one");
        told.send(()).unwrap();
        assert_eq!(pieces.next().await.unwrap().unwrap(), "two");
        let error = pieces.next().await.unwrap_err();
        assert!(matches!(error, OutgoingError::Silent { .. }), "{error}");
    };
    tokio::join!(server, client);
}

#[tokio::test]
async fn many_requests_at_once_are_all_answered() {
    let router = Router::new().route("/", post(|body: String| async move { body }));
    let (url, _tasks) = serve(router).await;
    let outgoing = outgoing();
    let mut all = JoinSet::new();
    for number in 0..50 {
        let (outgoing, url) = (outgoing.clone(), url.clone());
        all.spawn(async move {
            let mut ask = get_of(&url);
            ask.method = Method::POST;
            ask.body = format!("{number}").into();
            assert_eq!(outgoing.send(ask).await.unwrap().into_body(), format!("{number}"));
        });
    }
    while let Some(done) = all.join_next().await {
        done.unwrap();
    }
}

fn write(folder: &Path, name: &str, text: &str) -> std::path::PathBuf {
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    file
}

#[tokio::test]
async fn only_a_certificate_that_is_vouched_for_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::new().await;
    let url = format!("https://localhost:{}/", stage.address().port());
    let said = answer("200 OK", "text/plain", "secured");
    let own = certificate(&["localhost"]);
    let trusting = |pem: &str| {
        let file = write(folder.path(), "ca.pem", pem);
        with(move |limits| limits.ca_file = Some(file))
    };

    let client = trusting(&own.cert.pem());
    let (served, answered) =
        tokio::join!(stage.answer_secured(&own, &said), client.send(get_of(&url)));
    served.unwrap();
    assert_eq!(answered.unwrap().into_body(), "secured");

    let authority = {
        let signing_key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.distinguished_name.push(rcgen::DnType::CommonName, "an authority");
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        CertifiedKey { cert: params.self_signed(&signing_key).unwrap(), signing_key }
    };
    let (renewed, elsewhere) = (certificate(&["localhost"]), certificate(&["example.org"]));
    for (client, served, instead) in [
        (trusting(&authority.cert.pem()), &own, "nobody who is known here"),
        (trusting(&own.cert.pem()), &renewed, "nobody who is known here"),
        (trusting(&elsewhere.cert.pem()), &elsewhere, "use a name that is in its certificate"),
        (trusting(&authority.cert.pem()), &authority, "CA:FALSE"),
    ] {
        let (_, error) =
            tokio::join!(stage.answer_secured(served, &said), client.send(get_of(&url)));
        let error = error.unwrap_err();
        assert!(matches!(error, OutgoingError::Tls { .. }), "{error:?}");
        assert!(error.to_string().contains(instead), "{error}");
        assert!(!error.may_have_arrived() && !error.may_pass());
    }
}

#[tokio::test]
async fn a_server_without_tls_is_told_from_one_with_a_bad_certificate() {
    let stage = Stage::new().await;
    let own = certificate(&["localhost"]);
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "ca.pem", &own.cert.pem());
    let client = with(move |limits| limits.ca_file = Some(file));
    let url = format!("https://{}/", stage.address());
    let server = async {
        let mut connection = stage.accept().await;
        connection.say("HTTP/1.1 400 Bad Request\r\n\r\n").await;
        connection.gone().await;
    };
    let ((), error) = tokio::join!(server, client.send(get_of(&url)));
    let error = error.unwrap_err();
    assert!(error.to_string().contains("write http://"), "{error}");
}

#[test]
fn a_file_without_certificates_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |file: std::path::PathBuf| {
        let mut limits = Limits::default();
        limits.ca_file = Some(file);
        Outgoing::new(limits).unwrap_err()
    };
    assert!(matches!(refused(folder.path().join("none")), RootsError::Read { .. }));
    let empty = write(folder.path(), "empty", "\n");
    assert!(matches!(refused(empty), RootsError::Empty { .. }));
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let broken = write(folder.path(), "broken", broken);
    assert!(matches!(refused(broken), RootsError::Unusable { .. }));
}
