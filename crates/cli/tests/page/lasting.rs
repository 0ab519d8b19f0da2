//! What happens to others and to the server while a page is open.

use countersign_e2e::Browser;

use crate::flows::{SCRIPT, answered_while_parked};
use crate::kit::{Page, test, test_on};
use crate::served::Served;

/// What the browser says about a server that is not there is what it should say.
async fn forget_what_was_said(browser: &Browser) {
    browser.console().await;
}

#[tokio::test]
async fn a_session_that_is_parked_goes_on_with_an_answer() {
    let variables = [("COUNTERSIGN_LIMITS_PARK_AFTER", "1s")];
    let served = Served::with(SCRIPT, &variables, &[]);
    test_on("a_session_that_is_parked_goes_on_with_an_answer", served, async |page| {
        page.begin("Write one file.").await;
        page.card("tool").await;
        answered_while_parked(page).await;
        assert_eq!(page.file("one.txt").as_deref(), Some("one line\n"));
        page.is_the_same_when_loaded().await;
    })
    .await;
}

#[tokio::test]
async fn whoever_is_signed_out_is_sent_to_where_they_can_sign_in() {
    test("whoever_is_signed_out_is_sent_to_where_they_can_sign_in", SCRIPT, async |page| {
        let session = page.begin("Just say hello.").await;
        let browsers = page.served.borrow().json(&["browsers", "list"]);
        let id = browsers[0]["id"].as_str().unwrap();
        page.served.borrow().ok(&["browsers", "sign-out", id]);
        page.until("location.pathname === '/login'").await;
        page.has("main", "Countersign").await;
        forget_what_was_said(page.browser).await;
        // A link brings them back in.
        page.sign_in().await;
        page.open_session(&session).await;
        page.says("Hello, whoever you are.").await;
    })
    .await;
}

#[tokio::test]
async fn a_session_that_is_deleted_says_so() {
    test("a_session_that_is_deleted_says_so", SCRIPT, async |page| {
        let session = page.begin("Just say hello.").await;
        page.says("Hello, whoever you are.").await;
        page.served.borrow().ok(&["sessions", "stop", &session]);
        page.has("#standing", "It has ended. A message lets it go on.").await;
        page.served.borrow().ok(&["sessions", "delete", &session, "--yes"]);
        page.has("h1", "There is no such").await;
        page.has("main", "What was decided in a session stays in the audit.").await;
        page.browser.click("a.primary").await;
        page.until("location.pathname === '/'").await;
        forget_what_was_said(page.browser).await;
    })
    .await;
}

#[tokio::test]
async fn a_cli_that_is_missing_is_no_dead_end() {
    let served = Served::new(SCRIPT);
    std::fs::rename(served.path("claude"), served.path("elsewhere")).unwrap();
    test_on("a_cli_that_is_missing_is_no_dead_end", served, async |page: &Page<'_>| {
        page.open("/new").await;
        page.has(".problem.box", "Claude Code was not found").await;
        page.begin("Just say hello.").await;
        page.has("#standing .problem", "claude").await;
        let path = |name| page.served.borrow().path(name);
        std::fs::rename(path("elsewhere"), path("claude")).unwrap();
        page.browser.click("#standing [data-session-do=resume]").await;
        page.says("Hello, whoever you are.").await;
    })
    .await;
}
