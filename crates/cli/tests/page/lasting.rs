//! What happens to others and to the server while a page is open.

use serde_json::json;

use crate::flows::{SCRIPT, answered_while_parked};
use crate::kit::{MISSING, NOT_LET_IN, Page, REFUSED, UNREACHABLE, test, test_on};
use crate::served::Served;

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
        page.heard_no_more_than(&[UNREACHABLE, NOT_LET_IN]).await;
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
        page.heard_no_more_than(&[UNREACHABLE, MISSING]).await;
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

/// Somebody writes why not, and another one allows it. What they have written is not lost, and what they go
/// on to write means nothing: not to the card that is next, and not to a field that is near.
#[tokio::test]
async fn answered_while_somebody_writes() {
    test("answered_while_somebody_writes", SCRIPT, async |page| {
        let browser = page.browser;
        let first = page.two_wait().await;
        page.card("tool").await;
        page.decide("deny").await;
        browser.press("Not h").await;
        // They type on in the moment in which it happens, with the other card open and no longer new.
        browser
            .run(
                "const place = document.querySelector('#cards');
                 const typesOn = new MutationObserver(() => {
                   if (!place.querySelector('.closed')) return;
                   typesOn.disconnect();
                   const card = place.querySelector('.card');
                   card.open = true;
                   card.dataset.since = -1000;
                   window.typed = [];
                   for (const key of 'jaxdc/') {
                     const press = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
                     document.activeElement.dispatchEvent(press);
                     window.typed.push(document.activeElement.matches('.closed'));
                   }
                   window.typed.push(card.querySelectorAll('button:disabled').length);
                   window.typed.push(card.querySelector('.refuse').hidden);
                 });
                 typesOn.observe(place, { childList: true, subtree: true });",
            )
            .await;
        page.served.borrow().ok(&["approve", &first]);
        page.until("window.typed").await;
        let nothing = json!([true, true, true, true, true, true, 0, true]);
        assert_eq!(browser.run("return window.typed").await, nothing);
        page.reads(".closed", "Allowed once").await;
        page.reads(".closed pre", "Not h").await;
        page.has(".card h2", "another.txt").await;
        // It stays until they have seen it.
        browser.click(".closed button").await;
        page.until("!document.querySelector('.closed')").await;
        assert_eq!(browser.count(".card").await, 1);
        assert_eq!(page.file("another.txt"), None);
    })
    .await;
}

/// A choice says what is in force, and not what somebody wished for.
#[tokio::test]
async fn a_mode_that_is_refused_is_not_shown() {
    test("a_mode_that_is_refused_is_not_shown", SCRIPT, async |page| {
        let session = page.begin("Just say hello.").await;
        page.says("Hello, whoever you are.").await;
        let choose = |mode: &str| {
            format!(
                "const select = document.querySelector('#mode');
                 select.value = '{mode}';
                 select.dispatchEvent(new Event('change', {{ bubbles: true }}));
                 return select.value"
            )
        };
        page.browser.run(&choose("acceptEdits")).await;
        page.until("document.querySelector('#mode option[selected]').value === 'acceptEdits'")
            .await;
        // The page offers no mode that is forbidden; a server that is set up anew may forbid another.
        let offer =
            "document.querySelector('#mode').add(new Option('Ask nothing', 'bypassPermissions'));";
        let chosen = page.browser.run(&format!("{offer} {}", choose("bypassPermissions"))).await;
        assert_eq!(chosen, "bypassPermissions");
        page.reads(".toast", "may not bypass permissions").await;
        assert_eq!(
            page.browser.run("return document.querySelector('#mode').value").await,
            "acceptEdits"
        );
        assert_eq!(page.served.borrow().head(&session)["mode"], "acceptEdits");
        page.heard_no_more_than(&[REFUSED]).await;
    })
    .await;
}

/// A browser opens only a few connections to one server. Pages that nobody sees share one, and know all
/// the same what waits.
#[tokio::test]
async fn hidden_pages_share_one_connection() {
    test("hidden_pages_share_one_connection", SCRIPT, async |page| {
        let browser = page.browser;
        // Without a window nothing is ever hidden, so the pages are told.
        let hide = async |hidden: bool| {
            browser
                .run(&format!(
                    "Object.defineProperty(document, 'hidden', {{ value: {hidden}, configurable: true }});
                     document.dispatchEvent(new Event('visibilitychange'))"
                ))
                .await;
        };
        let mut hidden = vec![browser.tab().await];
        hide(true).await;
        for _ in 0..2 {
            hidden.push(browser.open_tab().await);
            page.open("/").await;
            page.live().await;
            hide(true).await;
        }
        // The first that was hidden goes on for all of them.
        for tab in &hidden[1..] {
            browser.go_to_tab(tab).await;
            page.until("document.body.dataset.live === undefined").await;
        }
        browser.go_to_tab(&hidden[0]).await;
        page.live().await;
        page.served.borrow().session("Write one file.");
        for tab in &hidden {
            browser.go_to_tab(tab).await;
            page.until("document.title.startsWith('(1) ')").await;
        }

        // Whichever is looked at is live again, and has what came meanwhile. When it is the one that went
        // on, the next does, though nobody looks at it.
        browser.go_to_tab(&hidden[0]).await;
        hide(false).await;
        page.live().await;
        page.card("tool").await;
        browser.go_to_tab(&hidden[1]).await;
        page.live().await;
        browser.go_to_tab(&hidden[2]).await;
        assert_eq!(browser.run("return document.body.dataset.live ?? null").await, json!(null));
        hide(false).await;
        page.live().await;
        page.card("tool").await;
    })
    .await;
}
