//! Keys that decide, and people who may not.

use serde_json::json;

use crate::flows::{PICTURE, SCRIPT};
use crate::kit::test;

#[tokio::test]
async fn requests_are_decided_with_keys_one_by_one() {
    test("requests_are_decided_with_keys_one_by_one", SCRIPT, async |page| {
        let browser = page.browser;
        page.two_wait().await;
        page.card("tool").await;
        // The second one, by moving there.
        browser.press("jj").await;
        page.until("document.querySelectorAll('.card')[1].classList.contains('current')").await;
        page.until("performance.now() - document.querySelectorAll('.card')[1].dataset.since > 500")
            .await;
        browser.press("a").await;
        page.until("document.querySelectorAll('.card').length === 1").await;
        page.has(".card h2", "one.txt").await;
        // The first one is new to the keys for a moment.
        page.until("document.querySelector('.card.current')").await;
        let appears = "document.querySelector('.card').dataset.since = performance.now()";
        assert!(!page.key_does(appears, "body", &json!({ "key": "a" })).await);
        page.until("performance.now() - document.querySelector('.card').dataset.since > 500").await;
        // With the lock on, a letter is not the one that was meant.
        assert!(!page.key_does("", "body", &json!({ "key": "A" })).await);
        browser.press("x").await;
        page.no_card().await;
        page.has(".closed", "Denied and stopped").await;
    })
    .await;
}

#[tokio::test]
async fn keys_that_come_at_once_or_are_held_decide_nothing() {
    test("keys_that_come_at_once_or_are_held_decide_nothing", SCRIPT, async |page| {
        page.begin("Write one file.").await;
        page.card("tool").await;
        let appears = "document.querySelector('.card').dataset.since = performance.now()";
        let has_been_there =
            "document.querySelector('.card').dataset.since = performance.now() - 600";
        let chord = json!({ "key": "Enter", "ctrlKey": true });
        let keys = ["a", "e", "d", "x"].map(|key| json!({ "key": key }));
        for key in keys.iter().chain([&json!({ "key": "A", "shiftKey": true }), &chord]) {
            let mut held = key.clone();
            held["repeat"] = true.into();
            assert!(!page.key_does(appears, ".card summary", key).await, "{key}");
            assert!(!page.key_does(has_been_there, ".card summary", &held).await, "{held}");
        }
        // The same key, pressed once and in time.
        assert!(page.key_does(has_been_there, ".card summary", &chord).await);
        page.no_card().await;
        page.says("The file is written.").await;
    })
    .await;
}

#[tokio::test]
async fn somebody_who_may_only_look_can_do_nothing() {
    test("somebody_who_may_only_look_can_do_nothing", SCRIPT, async |page| {
        let session = page.served.borrow().session("Write one file.");
        page.served.borrow().ask(&session);
        let token = page.served.borrow().object(&["token", "create", "looker", "--scope", "read"]);
        let secret = token["secret"].as_str().unwrap();
        let mut link = page.served.borrow().command(&["login-link", "--json"]);
        let made = crate::support::ran(link.env("COUNTERSIGN_TOKEN", secret));
        let made: serde_json::Value = serde_json::from_str(&made.out).unwrap();
        page.browser.open(made["url"].as_str().unwrap()).await;
        page.until("location.pathname === '/' && document.body.dataset.live").await;
        page.card("tool").await;
        page.has(".card .problem", "You may look at this, but not answer it").await;
        let open =
            "return [...document.querySelectorAll('.card button, .card input, .card select')]
            .filter((button) => !button.matches(':disabled')).length";
        assert_eq!(page.browser.run(open).await, 0);
        page.browser.press("a").await;
        page.open_session(&session).await;
        page.card("tool").await;
        page.browser.press("a").await;
        assert_eq!(page.browser.count("#composer").await, 0);
        assert_eq!(
            page.browser.run("return document.querySelector('#mode').matches(':disabled')").await,
            true
        );
        assert_eq!(
            page.browser.run("return document.querySelector('#title').readOnly").await,
            true
        );
        assert_eq!(page.browser.count(".card").await, 1);
        assert_eq!(page.file("one.txt"), None);
    })
    .await;
}

/// When somebody else answers what is open, the next one opens, and is new to the keys.
#[tokio::test]
async fn the_next_request_opens_when_another_is_answered_elsewhere() {
    let name = "the_next_request_opens_when_another_is_answered_elsewhere";
    test(name, SCRIPT, async |page| {
        let browser = page.browser;
        let first = page.two_wait().await;
        assert_eq!(browser.count(".card[open]").await, 1);
        browser.run("window.before = performance.now()").await;
        page.served.borrow().ok(&["deny", &first]);
        page.has(".closed", "Write one.txt").await;
        page.until("document.querySelector('.card.current[open]')").await;
        page.reads(".card h2", "another.txt").await;
        let is_new = "return document.querySelector('.card').dataset.since > window.before";
        assert_eq!(browser.run(is_new).await, true);
    })
    .await;
}

/// What was begun on the form for a new session is there when somebody comes back; pictures can be
/// pasted and dropped.
#[tokio::test]
async fn a_session_that_is_begun_and_not_started_is_kept() {
    test("a_session_that_is_begun_and_not_started_is_kept", SCRIPT, async |page| {
        let browser = page.browser;
        page.open("/new").await;
        page.live().await;
        page.write("[name=prompt]", "Just say hello.").await;
        page.reload().await;
        page.until("document.querySelector('[name=prompt]').value === 'Just say hello.'").await;
        let come = |kind: &str, data: &str| {
            format!(
                "const bytes = Uint8Array.from(atob('{PICTURE}'), (c) => c.charCodeAt(0));
                 const {data} = new DataTransfer();
                 {data}.items.add(new File([bytes], 'one.png', {{ type: 'image/png' }}));
                 const event = new {kind}({{ bubbles: true, cancelable: true, {data} }});
                 document.querySelector('[name=prompt]').dispatchEvent(event);
                 return [document.querySelector('[name=images]').files.length, event.defaultPrevented]"
            )
        };
        let paste = come("(class extends ClipboardEvent { constructor(init) { super('paste', init); } })", "clipboardData");
        assert_eq!(browser.run(&paste).await[0], 1);
        let drop = come("(class extends DragEvent { constructor(init) { super('drop', init); } })", "dataTransfer");
        assert_eq!(browser.run(&drop).await, json!([2, true]));
        browser.click("#new-session button.primary").await;
        page.says("Hello, whoever you are.").await;
        page.until("document.querySelectorAll('.said img').length === 2").await;
        page.open("/new").await;
        page.until("document.querySelector('[name=prompt]').value === ''").await;
    })
    .await;
}
