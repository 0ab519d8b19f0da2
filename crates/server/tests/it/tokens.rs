//! Who is let in, over the network.

use std::time::Duration;

use countersign_server::access::{NewToken, Scope};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::house::House;
use crate::running::Running;

#[tokio::test]
async fn without_a_token_nothing_is_to_be_had() {
    let house = House::new().await;
    for line in [
        "GET /api/v1/see",
        "GET /api/v1/events",
        "GET /api/v1/forgotten",
        "POST /api/v1/forgotten",
        "POST /api/v1/decide",
        "GET /api/v1/tokens",
        "POST /api/v1/tokens",
        "DELETE /api/v1/tokens/0192f0c1-2345-7000-8000-000000000000",
        "GET /api/v1/browsers",
        "GET /api/v1/me",
        "POST /api/v1/login-links",
        "POST /api/v1/logout",
        "GET /metrics",
    ] {
        let answer = house.ask(line, &[], "").await;
        assert_eq!((answer.status, &*answer.problem()), (401, "not-signed-in"), "{line}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer realm=\"countersign\""));
    }
}

#[tokio::test]
async fn a_wrong_token_is_refused() {
    let house = House::new().await;
    let (text, id) = house.token(Scope::Admin).await;
    let (other, _) = house.token(Scope::Admin).await;
    let secret = other.expose().rsplit_once('_').unwrap().1;
    for wrong in [
        format!("Authorization: Bearer cst_{}_{secret}", id.uuid().simple()),
        format!("Authorization: Bearer {}x", text.expose()),
        format!("Authorization: Basic {}", text.expose()),
        format!("Authorization: {}", text.expose()),
        "Authorization: Bearer".into(),
    ] {
        let answer = house.ask("GET /api/v1/see", &[&wrong], "").await;
        assert_eq!((answer.status, &*answer.problem()), (401, "not-signed-in"), "{wrong}");
        assert!(!answer.body.contains(secret), "what was sent is not sent back");
    }
}

#[tokio::test]
async fn a_token_counts_only_in_its_header() {
    let house = House::new().await;
    let (text, _) = house.token(Scope::Admin).await;
    let text = text.expose();
    let cookie = format!("Cookie: countersign-{}={text}", house.address.port());
    for (line, header) in [
        (format!("GET /api/v1/see?token={text}"), "X-A: b"),
        (format!("GET /api/v1/see?access_token={text}"), "X-A: b"),
        ("GET /api/v1/see".into(), &*format!("X-Api-Key: {text}")),
        ("GET /api/v1/see".into(), &*cookie),
    ] {
        assert_eq!(house.ask(&line, &[header], "").await.status, 401, "{line} {header}");
    }
}

#[tokio::test]
async fn a_revoked_token_is_refused_at_once_and_its_browsers_with_it() {
    let house = House::new().await;
    let admin = house.bearer(Scope::Admin).await;
    let (text, id) = house.token(Scope::Decide).await;
    let bearer = format!("Authorization: Bearer {}", text.expose());
    let signed_in = house.sign_in(&house.code(&bearer).await).await;
    let cookie = signed_in.header("set-cookie").unwrap().split(';').next().unwrap();
    let cookie = format!("Cookie: {cookie}");
    for header in [&bearer, &cookie] {
        assert_eq!(house.ask("GET /api/v1/see", &[header], "").await.status, 200);
    }
    let line = format!("DELETE /api/v1/tokens/{id}");
    assert_eq!(house.ask(&line, &[&admin], "").await.status, 204);
    let answer = house.ask("GET /api/v1/see", &[&bearer], "").await;
    assert_eq!((answer.status, &*answer.problem()), (401, "not-signed-in"));
    assert!(answer.body.contains("revoked"), "{}", answer.body);
    assert_eq!(house.ask("GET /api/v1/see", &[&cookie], "").await.status, 401);
}

#[tokio::test]
async fn an_expired_token_is_refused() {
    let house = House::new().await;
    let expires_at = Some(house.access.now() + SignedDuration::from_mins(5));
    let new = NewToken { name: "short".into(), scope: Scope::Admin, expires_at };
    let (text, _) = house.access.create_token(new).await.unwrap();
    let bearer = format!("Authorization: Bearer {}", text.expose());
    assert_eq!(house.ask("GET /api/v1/see", &[&bearer], "").await.status, 200);
    house.clock.pass(SignedDuration::from_mins(5));
    let answer = house.ask("GET /api/v1/see", &[&bearer], "").await;
    assert_eq!((answer.status, &*answer.problem()), (401, "not-signed-in"));
    assert!(answer.body.contains("expired"), "{}", answer.body);
}

#[tokio::test]
async fn a_token_may_do_what_its_scope_says_and_no_more() {
    let house = House::new().await;
    for scope in Scope::ALL {
        let bearer = house.bearer(scope).await;
        for (line, needed) in [
            ("GET /api/v1/see", Scope::Read),
            ("GET /metrics", Scope::Read),
            ("GET /api/v1/forgotten", Scope::Read),
            ("POST /api/v1/login-links", Scope::Read),
            ("POST /api/v1/decide", Scope::Decide),
            ("POST /api/v1/forgotten", Scope::Decide),
            ("POST /api/v1/manage", Scope::Admin),
            ("GET /api/v1/tokens", Scope::Admin),
            ("GET /api/v1/browsers", Scope::Admin),
        ] {
            let answer = house.ask(line, &[&bearer], "").await;
            if scope.includes(needed) {
                assert!(matches!(answer.status, 200 | 201), "{scope} {line}: {answer:?}");
            } else {
                assert_eq!(
                    (answer.status, &*answer.problem()),
                    (403, "scope-too-low"),
                    "{scope} {line}"
                );
                let asked: Scope = answer.json()["needed"].as_str().unwrap().parse().unwrap();
                assert!(!scope.includes(asked), "{scope} {line} {asked}");
            }
        }
    }
}

#[tokio::test]
async fn a_handler_knows_who_asks_and_from_where() {
    let house = House::new().await;
    let (text, id) = house.token(Scope::Decide).await;
    let bearer = format!("Authorization: Bearer {}", text.expose());
    let answer = house.ask("GET /api/v1/see", &[&bearer, "X-Forwarded-For: 192.0.2.7"], "").await;
    let expected = json!({
        "who": { "kind": "token", "id": id, "name": "test" },
        "scope": "decide",
        "from": "127.0.0.1",
    });
    assert_eq!(answer.json(), expected);
}

#[tokio::test]
async fn tokens_are_made_listed_and_revoked_over_the_network() {
    let house = House::new().await;
    let admin = house.bearer(Scope::Admin).await;
    let kind = "Content-Type: application/json";
    let body = r#"{"name":"ci","scope":"read"}"#;
    let made = house.ask("POST /api/v1/tokens", &[&admin, kind], body).await;
    assert_eq!(made.status, 201, "{made:?}");
    let made = made.json();
    let bearer = format!("Authorization: Bearer {}", made["secret"].as_str().unwrap());
    assert_eq!(house.ask("GET /api/v1/see", &[&bearer], "").await.status, 200);

    let list = house.ask("GET /api/v1/tokens", &[&admin], "").await;
    let tokens = list.json()["tokens"].as_array().unwrap().clone();
    assert_eq!(tokens.len(), 2);
    assert_eq!(tokens[1]["id"], made["token"]["id"]);
    assert!(!list.body.contains(made["secret"].as_str().unwrap()));
    assert!(tokens.iter().all(|token| token.get("hash").is_none()));

    let line = format!("DELETE /api/v1/tokens/{}", made["token"]["id"].as_str().unwrap());
    assert_eq!(house.ask(&line, &[&admin], "").await.status, 204);
    assert_eq!(house.ask("GET /api/v1/see", &[&bearer], "").await.status, 401);
    for (id, status) in [("0192f0c1-2345-7000-8000-000000000000", 404), ("seven", 400)] {
        let line = format!("DELETE /api/v1/tokens/{id}");
        assert_eq!(house.ask(&line, &[&admin], "").await.status, status);
    }
    for (body, status) in [
        (r#"{"name":"","scope":"read"}"#, 422),
        (r#"{"name":"a","scope":"root"}"#, 422),
        (r#"{"name":"a","scope":"read","expires_at":"2020-01-01T00:00:00Z"}"#, 422),
        (r#"{"name":"a","scope":"read","admin":true}"#, 422),
    ] {
        let answer = house.ask("POST /api/v1/tokens", &[&admin, kind], body).await;
        assert_eq!((answer.status, &*answer.problem()), (status, "bad-body"), "{body}");
    }
}

#[tokio::test]
async fn who_fails_again_and_again_is_told_to_wait_and_others_are_let_in() {
    let house = House::new().await;
    let good = house.bearer(Scope::Read).await;
    let mut last = None;
    for _ in 0..25 {
        last = Some(house.ask("GET /api/v1/see", &["Authorization: Bearer cst_x"], "").await);
    }
    let last = last.unwrap();
    assert_eq!((last.status, &*last.problem()), (429, "too-many-failures"));
    assert!(last.header("retry-after").unwrap().parse::<u32>().unwrap() > 0);
    assert_eq!(house.ask("GET /api/v1/see", &[&good], "").await.status, 200);
}

#[tokio::test]
async fn health_is_for_everybody_and_metrics_are_for_those_who_may_read() {
    let house = House::new().await;
    let answer = house.ask("GET /healthz", &[], "").await;
    assert_eq!((answer.status, answer.json()), (200, json!({"status": "ok"})));
    let answer = house.ask("GET /readyz", &[], "").await;
    assert_eq!((answer.status, &*answer.problem()), (503, "not-ready"));
    assert_eq!(answer.json()["detail"], Value::from("the store is gone"));
    let bearer = house.bearer(Scope::Read).await;
    house.ask("GET /api/v1/number/7", &[&bearer], "").await;
    let answer = house.ask("GET /metrics", &[&bearer], "").await;
    assert!(answer.header("content-type").unwrap().starts_with("application/openmetrics-text"));
    let counted = r#"countersign_http_requests_total{method="GET",route="/api/v1/number/{number}",status="200"} 1"#;
    assert!(answer.body.contains(counted), "{}", answer.body);
    assert!(answer.body.contains("countersign_http_connections 1\n"), "{}", answer.body);
}

/// Who may come in is decided, too.
#[tokio::test]
async fn what_is_done_with_tokens_and_browsers_is_in_the_audit() {
    let server = Running::new().await;
    let body = json!({"name": "robot", "scope": "read"}).to_string();
    let made = server.json("POST /api/v1/tokens", &body).await.json();
    let secret = made["secret"].as_str().unwrap();
    let bearer = format!("Authorization: Bearer {secret}");
    let link = server.ask("POST /api/v1/login-links", &[&bearer], "").await.json();
    let code = link["url"].as_str().unwrap().split_once('#').unwrap().1.to_owned();
    let body = json!({"code": code}).to_string();
    let signed_in = server.ask("POST /login", &["Content-Type: application/json"], &body).await;
    assert_eq!(signed_in.status, 204, "{signed_in:?}");
    let browsers = server.json("GET /api/v1/browsers", "").await.json();
    let browser = browsers["browsers"][0]["id"].as_str().unwrap().to_owned();
    server.json(&format!("DELETE /api/v1/browsers/{browser}"), "").await;
    let id = made["token"]["id"].as_str().unwrap();
    server.json(&format!("DELETE /api/v1/tokens/{id}"), "").await;
    let export = server.json("GET /api/v1/audit/export", "").await.body;
    let mut told = Vec::new();
    // Between them are the lengths of pieces.
    for line in export.lines().filter(|line| line.starts_with('{')) {
        let line: Value = serde_json::from_str(line).unwrap();
        let who = line["by"]["name"].as_str().unwrap_or("-").to_owned();
        told.push(format!("{} {who}", line["kind"].as_str().unwrap()));
    }
    told.reverse();
    assert_eq!(
        told,
        [
            "token.created -",
            "token.created first start",
            "login_link.created robot",
            "browser.signed_in robot",
            "browser.signed_out first start",
            "token.revoked first start",
        ]
    );
    assert!(!export.contains(secret) && !export.contains(&code), "{export}");
    server.end().await;
}

/// Waits until a stream has ended.
async fn ended(mut stream: tokio::net::TcpStream) {
    let mut rest = Vec::new();
    let read = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut rest);
    tokio::time::timeout(Duration::from_secs(240), read).await.unwrap().unwrap();
}

#[tokio::test]
async fn whoever_is_not_let_in_any_more_hears_nothing_more() {
    let server = Running::new().await;
    let session = server.session(&json!({})).await;
    let paths = [
        format!("/api/v1/sessions/{session}/stream"),
        "/api/v1/stream".to_owned(),
        "/api/v1/inbox/stream".to_owned(),
    ];
    let new = || NewToken { name: "short".into(), scope: Scope::Read, expires_at: None };
    // Revoked.
    let (secret, token) = server.access.create_token(new()).await.unwrap();
    let bearer = format!("Authorization: Bearer {}", secret.expose());
    let mut streams = Vec::new();
    for path in &paths {
        streams.push(server.stream(path, &bearer).await.1);
    }
    let (_, stays) = server.stream(&paths[0], &server.admin).await;
    server.json(&format!("DELETE /api/v1/tokens/{}", token.id), "").await;
    for stream in streams {
        ended(stream).await;
    }
    // Expired.
    let expires_at = Timestamp::now().checked_add(SignedDuration::from_secs(2)).ok();
    let new = NewToken { expires_at, ..new() };
    let (secret, _) = server.access.create_token(new).await.unwrap();
    let bearer = format!("Authorization: Bearer {}", secret.expose());
    ended(server.stream(&paths[1], &bearer).await.1).await;
    // Signed out.
    let link = server.ask("POST /api/v1/login-links", &[&server.admin], "").await.json();
    let code = link["url"].as_str().unwrap().split_once('#').unwrap().1.to_owned();
    let body = json!({"code": code}).to_string();
    let signed_in = server.ask("POST /login", &["Content-Type: application/json"], &body).await;
    let cookie = signed_in.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let cookie = format!("Cookie: {cookie}");
    let (_, stream) = server.stream(&paths[2], &cookie).await;
    let origin = format!("Origin: http://{}", server.address);
    let out = server.ask("POST /api/v1/logout", &[&cookie, &origin], "").await;
    assert_eq!(out.status, 204, "{out:?}");
    ended(stream).await;
    // Whoever may stay does.
    let mut stays = stays;
    let mut some = [0; 1];
    let read = tokio::io::AsyncReadExt::read(&mut stays, &mut some);
    assert!(!matches!(tokio::time::timeout(Duration::from_millis(50), read).await, Ok(Ok(0))));
    server.end().await;
}

#[tokio::test]
async fn every_command_that_comes_again_is_carried_out_once() {
    let server = Running::new().await;
    let again = async |line: &str, key: &str, body: &str| {
        let key = format!("Idempotency-Key: {key}");
        server.ask(line, &[&server.admin, &key, "Content-Type: application/json"], body).await
    };
    // A session whose folder vanished since.
    let folder = server.root().join("gone");
    std::fs::create_dir(&folder).unwrap();
    let body = json!({"folder": folder}).to_string();
    let first = again("POST /api/v1/sessions", "a", &body).await;
    assert_eq!(first.status, 201, "{first:?}");
    std::fs::remove_dir(&folder).unwrap();
    let second = again("POST /api/v1/sessions", "a", &body).await;
    assert_eq!((second.status, &second.body), (201, &first.body), "{second:?}");
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
    // What is gone is gone once.
    let session = first.json()["session"].as_str().unwrap().to_owned();
    let (_, browser) = {
        let link = server.json("POST /api/v1/login-links", "").await.json();
        let code = link["url"].as_str().unwrap().split_once('#').unwrap().1.to_owned();
        let body = json!({"code": code}).to_string();
        server.ask("POST /login", &["Content-Type: application/json"], &body).await;
        let all = server.json("GET /api/v1/browsers", "").await.json();
        (code, all["browsers"][0]["id"].as_str().unwrap().to_owned())
    };
    let new = NewToken { name: "other".into(), scope: Scope::Read, expires_at: None };
    let (_, token) = server.access.create_token(new).await.unwrap();
    for (line, key) in [
        (format!("DELETE /api/v1/sessions/{session}"), "b"),
        (format!("DELETE /api/v1/browsers/{browser}"), "c"),
        (format!("DELETE /api/v1/tokens/{}", token.id), "d"),
    ] {
        let (first, second) = (again(&line, key, "").await, again(&line, key, "").await);
        assert_eq!((first.status, second.status), (204, 204), "{line}: {first:?} {second:?}");
        assert_eq!(second.header("idempotent-replayed"), Some("true"), "{line}");
        assert_eq!((&*first.body, &*second.body), ("", ""), "{line}");
    }
    // A secret is shown once, and made once.
    let body = json!({"name": "robot", "scope": "read"}).to_string();
    for (line, key, body) in
        [("POST /api/v1/tokens", "e", &*body), ("POST /api/v1/login-links", "f", "")]
    {
        let (first, second) = (again(line, key, body).await, again(line, key, body).await);
        assert_eq!((first.status, second.status), (201, 409), "{line}: {second:?}");
        assert_eq!(second.problem(), "made-before");
    }
    let tokens = server.json("GET /api/v1/tokens", "").await.json();
    let robots = tokens["tokens"].as_array().unwrap().iter().filter(|t| t["name"] == "robot");
    assert_eq!(robots.count(), 1);
    let (first, second) =
        (again("POST /api/v1/backup", "g", "").await, again("POST /api/v1/backup", "g", "").await);
    assert_eq!((second.status, &second.body), (201, &first.body), "{second:?}");
    // Another command under the same key is a mistake.
    let reused = again("POST /api/v1/tokens", "g", &body).await;
    assert_eq!((reused.status, &*reused.problem()), (422, "key-reused"), "{reused:?}");
    server.end().await;
}
