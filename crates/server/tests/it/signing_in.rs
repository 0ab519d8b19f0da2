//! Links that work once, and the cookie that comes of them.

use countersign_server::access::Scope;
use jiff::SignedDuration;
use serde_json::json;

use crate::house::House;

#[tokio::test]
async fn a_link_gives_a_cookie_that_no_script_and_no_other_site_gets() {
    let house = House::new().await;
    let bearer = house.bearer(Scope::Decide).await;
    let answer = house.sign_in(&house.code(&bearer).await).await;
    assert_eq!(answer.status, 204, "{answer:?}");
    assert_eq!(answer.body, "", "the secret is in the cookie only");
    let set = answer.header("set-cookie").unwrap();
    let (cookie, flags) = set.split_once("; ").unwrap();
    assert_eq!(flags, "Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict");
    let (name, value) = cookie.split_once('=').unwrap();
    assert_eq!(name, format!("countersign-{}", house.address.port()));
    assert_eq!(value.len(), 4 + 64);

    let me = house.ask("GET /api/v1/me", &[&format!("Cookie: {cookie}")], "").await;
    assert_eq!(
        (me.json()["scope"].clone(), me.json()["who"]["kind"].clone()),
        (json!("decide"), json!("browser"))
    );
}

#[tokio::test]
async fn a_link_works_once() {
    let house = House::new().await;
    let bearer = house.bearer(Scope::Admin).await;
    let code = house.code(&bearer).await;
    assert_eq!(house.sign_in(&code).await.status, 204);
    let again = house.sign_in(&code).await;
    assert_eq!((again.status, &*again.problem()), (401, "link-not-valid"));
    assert_eq!(again.header("set-cookie"), None);
}

#[tokio::test]
async fn a_link_works_for_ten_minutes() {
    let house = House::new().await;
    let bearer = house.bearer(Scope::Admin).await;
    let code = house.code(&bearer).await;
    house.clock.pass(SignedDuration::from_mins(10));
    let late = house.sign_in(&code).await;
    assert_eq!((late.status, &*late.problem()), (401, "link-not-valid"));
}

#[tokio::test]
async fn the_code_is_behind_the_hash_and_nothing_that_follows_the_link_uses_it_up() {
    let house = House::new().await;
    let bearer = house.bearer(Scope::Admin).await;
    let link = house.link(&bearer).await;
    let (address, code) = link.split_once('#').unwrap();
    assert_eq!(address, format!("http://{}/login", house.address));

    // What a chat does with a link, and what a person could do with the code by mistake.
    for line in
        ["GET /login".to_owned(), format!("GET /login?code={code}"), format!("HEAD /login?{code}")]
    {
        let answer = house.ask(&line, &["Accept: text/html"], "").await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("set-cookie"), None);
        assert!(!answer.body.contains(code));
    }
    assert_eq!(house.sign_in(code).await.status, 204);
}

#[tokio::test]
async fn the_page_takes_the_code_out_of_the_address_before_it_sends_it() {
    let house = House::new().await;
    let page = house.ask("GET /login", &[], "").await;
    assert!(page.body.contains(r#"<script type="module" src="/login.js"></script>"#));
    assert_eq!(page.body.matches("<script").count(), 1, "no script in the page itself");
    let script = house.ask("GET /login.js", &[], "").await;
    assert_eq!(script.header("content-type"), Some("text/javascript; charset=utf-8"));
    let [taken_out, sent] =
        ["history.replaceState", "method: \"POST\""].map(|part| script.body.find(part).unwrap());
    assert!(taken_out < sent);
    assert!(!script.body.contains("innerHTML"));
}

#[tokio::test]
async fn only_json_signs_anybody_in() {
    let house = House::new().await;
    let bearer = house.bearer(Scope::Admin).await;
    let code = house.code(&bearer).await;
    let form = "Content-Type: application/x-www-form-urlencoded";
    let answer = house.ask("POST /login", &[form], &format!("code={code}")).await;
    assert_eq!((answer.status, &*answer.problem()), (415, "unsupported-media-type"));
    for wrong in ["", "csl_", "cst_x", &bearer] {
        assert_eq!(house.sign_in(wrong).await.problem(), "link-not-valid");
    }
    assert_eq!(house.sign_in(&code).await.status, 204, "it was not used up");
}

#[tokio::test]
async fn who_signs_out_is_out() {
    let house = House::new().await;
    let cookie = house.cookie(Scope::Read).await;
    let headers = [&*cookie, &house.own_origin()].map(str::to_owned);
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    let out = house.ask("POST /api/v1/logout", &headers, "").await;
    assert_eq!(out.status, 204, "{out:?}");
    assert!(
        out.header("set-cookie")
            .unwrap()
            .contains("=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict")
    );
    assert_eq!(house.ask("GET /api/v1/see", &[&cookie], "").await.status, 401);
}

#[tokio::test]
async fn an_admin_sees_browsers_and_signs_them_out() {
    let house = House::new().await;
    let admin = house.bearer(Scope::Admin).await;
    let cookie = house.cookie(Scope::Decide).await;
    let list = house.ask("GET /api/v1/browsers", &[&admin], "").await.json();
    let id = list["browsers"][0]["id"].as_str().unwrap().to_owned();
    let line = format!("DELETE /api/v1/browsers/{id}");
    assert_eq!(house.ask(&line, &[&admin], "").await.status, 204);
    assert_eq!(house.ask(&line, &[&admin], "").await.status, 404);
    let refused = house.ask("GET /api/v1/see", &[&cookie], "").await;
    assert_eq!(refused.status, 401);
    assert!(
        refused.header("set-cookie").unwrap().contains("Max-Age=0"),
        "a dead cookie is taken away"
    );
}

#[tokio::test]
async fn a_person_who_opens_a_page_is_sent_to_sign_in_and_a_program_is_not() {
    let house = House::new().await;
    let html = "Accept: text/html,application/xhtml+xml";
    let answer = house.ask("GET /?a=b&c=d", &[html], "").await;
    assert_eq!(
        (answer.status, answer.header("location")),
        (303, Some("/login?next=%2F%3Fa%3Db%26c%3Dd"))
    );
    assert_eq!(house.ask("GET /", &[], "").await.status, 401);
    assert_eq!(house.ask("GET /api/v1/see", &[html], "").await.status, 401);
    let cookie = house.cookie(Scope::Read).await;
    let answer = house.ask("GET /", &[html, &cookie], "").await;
    assert_eq!((answer.status, &*answer.body), (200, "<p>the page</p>"));
}

#[tokio::test]
async fn a_browser_that_is_used_keeps_its_cookie() {
    let house = House::new().await;
    let cookie = house.cookie(Scope::Read).await;
    let ask = async || house.ask("GET /api/v1/see", &[&cookie], "").await;
    assert_eq!(ask().await.header("set-cookie"), None);
    house.clock.pass(SignedDuration::from_hours(24 * 29));
    let answer = ask().await;
    let set = answer.header("set-cookie").unwrap();
    assert!(
        set.starts_with(cookie.strip_prefix("Cookie: ").unwrap())
            && set.contains("Max-Age=2592000")
    );
    house.clock.pass(SignedDuration::from_hours(24 * 30));
    assert_eq!(ask().await.status, 401);
}
