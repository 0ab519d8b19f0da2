//! Secrets are in no log and in no address.

use std::cell::RefCell;
use std::io;

use countersign_server::access::first::{first_token, read_token};
use countersign_server::session::By;
use tracing::level_filters::LevelFilter;

use crate::house::House;

thread_local! {
    /// Everything that was logged on this thread.
    static LOG: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Writes to the log of the thread. It is there for the whole process, since what is listened to is
/// noted once for all threads; and all of a server runs on the thread of its test.
struct ThreadLog;

impl io::Write for ThreadLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.with_borrow_mut(|log| log.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn no_secret_is_logged_at_any_level_or_stands_in_an_address() {
    tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE).with_writer(|| ThreadLog).init();

    let house = House::new().await;
    let folder = tempfile::tempdir().unwrap();
    first_token(&house.access, folder.path()).await.unwrap().unwrap();
    let first = read_token(folder.path()).unwrap();
    let bearer = format!("Authorization: Bearer {}", first.expose());
    let mut secrets = vec![first.expose().to_owned()];
    let mut locations = Vec::new();

    let json = "Content-Type: application/json";
    let body = r#"{"name":"ci","scope":"decide"}"#;
    let made = house.ask("POST /api/v1/tokens", &[&bearer, json], body).await.json();
    secrets.push(made["secret"].as_str().unwrap().to_owned());

    let code = house.code(&bearer).await;
    secrets.push(code.clone());
    let signed_in = house.sign_in(&code).await;
    let cookie = signed_in.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    secrets.push(cookie.split_once('=').unwrap().1.to_owned());
    let cookie = format!("Cookie: {cookie}");

    let html = "Accept: text/html";
    let wrong = format!("{bearer}0");
    let odd_line = format!("GET /api/v1/see?token={}", first.expose());
    let own = house.own_origin();
    for (line, headers, body) in [
        ("GET /api/v1/see", vec![&*bearer], ""),
        ("GET /api/v1/see", vec![&cookie], ""),
        ("GET /api/v1/see", vec![&wrong], ""),
        ("GET /api/v1/panic", vec![&bearer], ""),
        ("GET /", vec![&wrong, html], ""),
        ("GET /", vec![&cookie, html], ""),
        ("POST /login", vec![json], &*format!("{{\"code\":\"{code}\"}}")),
        ("POST /login", vec![json], &*format!("{{\"code\":\"{code}\"")),
        ("POST /login", vec![json], &*format!("\"{code}\"")),
        (&odd_line, vec!["X-A: b"], ""),
        (&*format!("GET /login?{code}"), vec![html], ""),
        ("POST /api/v1/logout", vec![&cookie, &own], ""),
    ] {
        let answer = house.ask(line, &headers, body).await;
        locations.extend(answer.header("location").map(str::to_owned));
    }
    house
        .access
        .revoke_token(By::Server, made["token"]["id"].as_str().unwrap().parse().unwrap())
        .await
        .unwrap();
    house.ask("GET /api/v1/see", &[&format!("Authorization: Bearer {}", secrets[1])], "").await;
    house.stop.cancel();
    house.ended.await.unwrap();

    let said = LOG.with_borrow(|log| String::from_utf8(log.clone()).unwrap());
    for expected in
        ["made a token", "signed in", "let nobody in", "answered a request", "revoked a token"]
    {
        assert!(said.contains(expected), "{expected} is not in the log:\n{said}");
    }
    assert!(!locations.is_empty());
    for secret in secrets {
        let (_, secret) = secret.rsplit_once('_').unwrap();
        assert!(!said.contains(secret), "a secret is in the log:\n{said}");
        assert!(locations.iter().all(|address| !address.contains(secret)), "{locations:?}");
    }
    assert!(!said.contains("hunter2"), "what a handler panicked with is in the log");
}
