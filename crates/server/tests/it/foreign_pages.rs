//! What a page of somebody else can make a browser do: nothing.

use countersign_server::access::Scope;

use crate::house::{Answer, House};

/// A request that a browser sends for a page, signed in.
async fn send(house: &House, line: &str, cookie: &str, said: &[&str]) -> Answer {
    let mut headers = vec![cookie];
    headers.extend(said);
    house.ask(line, &headers, "").await
}

#[tokio::test]
async fn a_request_that_names_another_host_is_refused_whatever_it_brings() {
    let house = House::new().await;
    let bearer = house.bearer(Scope::Admin).await;
    let cookie = house.cookie(Scope::Admin).await;
    let port = house.address.port();
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("localhost:{}", port.wrapping_add(1)),
        "127.0.0.1".into(),
        format!("localhost:{port}@evil.example"),
        String::new(),
    ] {
        let host = format!("Host: {host}");
        for line in
            ["GET /api/v1/see", "GET /login", "GET /healthz", "POST /api/v1/decide", "GET /nothing"]
        {
            for credential in [&bearer, &cookie] {
                let answer = house.ask_exactly(line, &[&host, credential], "").await;
                assert_eq!(
                    (answer.status, &*answer.problem()),
                    (421, "foreign-host"),
                    "{line} {host}"
                );
            }
        }
    }
    let own = format!("Host: localhost:{port}");
    assert_eq!(house.ask_exactly("GET /api/v1/see", &[&own, &bearer], "").await.status, 200);
}

#[tokio::test]
async fn a_request_names_its_host_exactly_once() {
    let house = House::new().await;
    let bearer = house.bearer(Scope::Admin).await;
    let own = format!("Host: {}", house.address);
    let none = house.ask_exactly("GET /api/v1/see", &[&bearer], "").await;
    assert!(matches!(none.status, 400 | 421), "{none:?}");
    for (line, hosts) in [
        ("GET /api/v1/see".to_owned(), vec![&*own, "Host: evil.example"]),
        ("GET /api/v1/see".to_owned(), vec!["Host: evil.example", &own]),
        ("GET http://evil.example/api/v1/see".to_owned(), vec![&*own]),
        (format!("GET http://{}/api/v1/see", house.address), vec!["Host: evil.example"]),
    ] {
        let mut headers = hosts;
        headers.push(&bearer);
        let answer = house.ask_exactly(&line, &headers, "").await;
        assert!(matches!(answer.status, 400 | 421), "{line} {headers:?} {answer:?}");
    }
    let line = format!("GET http://{}/api/v1/see", house.address);
    assert_eq!(house.ask_exactly(&line, &[&own, &bearer], "").await.status, 200);
}

/// The page is at `evil.example`, whose name now points at this machine: to the browser everything is
/// same-origin, and cookies of that name would be sent.
#[tokio::test]
async fn a_page_that_points_its_name_at_this_machine_is_refused() {
    let house = House::new().await;
    let cookie = house.cookie(Scope::Admin).await;
    let port = house.address.port();
    let host = format!("Host: evil.example:{port}");
    let origin = format!("Origin: http://evil.example:{port}");
    let said = [&*host, &origin, &cookie, "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors"];
    for line in ["GET /api/v1/see", "POST /api/v1/decide", "GET /login", "GET /login.js"] {
        let answer = house.ask_exactly(line, &said, "").await;
        assert_eq!((answer.status, &*answer.problem()), (421, "foreign-host"), "{line}");
    }
}

#[tokio::test]
async fn a_page_of_another_origin_can_do_nothing_with_our_cookie() {
    let house = House::new().await;
    let cookie = house.cookie(Scope::Admin).await;
    let another_port = format!("Origin: http://{}:3000", house.address.ip());
    let another_name = format!("Origin: http://localhost:{}", house.address.port());
    let another_scheme = format!("Origin: https://{}", house.address);
    for said in [
        &["Origin: https://evil.example"][..],
        &["Origin: null"],
        &[&another_port],
        &[&another_name],
        &[&another_scheme],
        &["Sec-Fetch-Site: cross-site"],
        &["Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"],
        &["Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"],
        &[&house.own_origin(), "Sec-Fetch-Site: cross-site"],
    ] {
        for line in
            ["GET /api/v1/see", "POST /api/v1/decide", "DELETE /api/v1/tokens/x", "POST /login"]
        {
            let answer = send(&house, line, &cookie, said).await;
            assert_eq!(
                (answer.status, &*answer.problem()),
                (403, "foreign-origin"),
                "{line} {said:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_change_with_a_cookie_that_does_not_say_where_it_comes_from_is_refused() {
    let house = House::new().await;
    let cookie = house.cookie(Scope::Admin).await;
    for said in [&[][..], &["Sec-Fetch-Site: none"], &["Referer: http://127.0.0.1/"]] {
        let answer = send(&house, "POST /api/v1/decide", &cookie, said).await;
        assert_eq!((answer.status, &*answer.problem()), (403, "foreign-origin"), "{said:?}");
    }
}

#[tokio::test]
async fn our_own_page_can_do_what_its_cookie_allows() {
    let house = House::new().await;
    let cookie = house.cookie(Scope::Decide).await;
    let own = house.own_origin();
    for said in [
        &[&*own][..],
        &["Sec-Fetch-Site: same-origin"],
        &[&own, "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors"],
    ] {
        for line in ["GET /api/v1/see", "POST /api/v1/decide"] {
            assert_eq!(send(&house, line, &cookie, said).await.status, 200, "{line} {said:?}");
        }
        assert_eq!(send(&house, "POST /api/v1/manage", &cookie, said).await.status, 403);
    }
}

#[tokio::test]
async fn a_foreign_page_cannot_sign_a_browser_in_as_somebody_else() {
    let house = House::new().await;
    let bearer = house.bearer(Scope::Read).await;
    let code = house.code(&bearer).await;
    let body = serde_json::json!({ "code": code }).to_string();
    let headers = ["Content-Type: application/json", "Origin: https://evil.example"];
    let answer = house.ask("POST /login", &headers, &body).await;
    assert_eq!((answer.status, &*answer.problem()), (403, "foreign-origin"));
    assert_eq!(house.sign_in(&code).await.status, 204, "the link was not used up");
}

#[tokio::test]
async fn who_follows_a_link_from_elsewhere_comes_back_by_the_page_to_sign_in() {
    let house = House::new().await;
    let cookie = house.cookie(Scope::Read).await;
    for site in ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"] {
        let said =
            [site, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Accept: text/html"];
        let answer = send(&house, "GET /", &cookie, &said).await;
        assert_eq!((answer.status, answer.header("location")), (303, Some("/login?next=%2F")));
        assert_eq!(answer.header("set-cookie"), None, "the cookie stays");
    }
    let said = ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: navigate", "Accept: text/html"];
    assert_eq!(send(&house, "GET /", &cookie, &said).await.status, 200);
}

#[tokio::test]
async fn no_page_of_another_origin_is_told_that_it_may() {
    let house = House::new().await;
    let bearer = house.bearer(Scope::Admin).await;
    let asked = [
        "Origin: https://evil.example",
        "Access-Control-Request-Method: POST",
        "Access-Control-Request-Headers: authorization",
    ];
    let mut answers = vec![house.ask("OPTIONS /api/v1/decide", &asked, "").await];
    for line in ["GET /api/v1/see", "GET /login", "GET /nothing"] {
        answers.push(house.ask(line, &[&bearer, "Origin: https://evil.example"], "").await);
    }
    for answer in answers {
        let allows = answer.headers.iter().any(|(name, _)| name.starts_with("access-control-"));
        assert!(!allows, "{answer:?}");
    }
}

#[tokio::test]
async fn every_answer_keeps_foreign_pages_off_it() {
    let house = House::with("[limits]\nbody = \"1KiB\"\n").await;
    let bearer = house.bearer(Scope::Admin).await;
    let long = "x".repeat(2000);
    for (line, body, status) in [
        ("GET /login", "", 200),
        ("GET /login.js", "", 200),
        ("GET /healthz", "", 200),
        ("GET /api/v1/see", "", 200),
        ("GET /api/v1/nothing", "", 404),
        ("PUT /api/v1/see", "", 405),
        ("POST /api/v1/echo", &*long, 413),
        ("GET /api/v1/panic", "", 500),
    ] {
        let answer = house.ask(line, &[&bearer, "Content-Type: application/json"], body).await;
        assert_eq!(answer.status, status, "{line}");
        let policy = answer.header("content-security-policy").unwrap();
        for part in [
            "default-src 'none'",
            "script-src 'self';",
            "frame-ancestors 'none'",
            "base-uri 'none'",
        ] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains('*'), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{line}");
        }
        assert_eq!(answer.header("strict-transport-security"), None);
    }
    // Also one that names another host.
    let answer = house.ask_exactly("GET /", &["Host: evil.example"], "").await;
    assert_eq!(answer.header("x-frame-options"), Some("DENY"));
}

#[tokio::test]
async fn a_server_behind_tls_knows_its_public_name() {
    let house = House::with("public_url = \"https://agents.example.org\"\n").await;
    let bearer = house.bearer(Scope::Decide).await;
    assert!(house.link(&bearer).await.starts_with("https://agents.example.org/login#csl_"));
    let host = "Host: agents.example.org";
    let cookie = house.cookie(Scope::Decide).await;
    assert!(cookie.starts_with("Cookie: __Host-countersign-"), "{cookie}");
    let ask = async |origin| {
        house.ask_exactly("POST /api/v1/decide", &[host, &cookie, origin], "").await.status
    };
    assert_eq!(ask("Origin: https://agents.example.org").await, 200);
    assert_eq!(ask("Origin: http://agents.example.org").await, 403);
    let answer = house.ask_exactly("GET /healthz", &[host], "").await;
    assert_eq!(answer.header("strict-transport-security"), Some("max-age=31536000"));
}
