//! Settings, notifications, and the page as an app.

use serde_json::json;

use crate::flows::SCRIPT;
use crate::kit::{NOT_LET_IN, test};

#[tokio::test]
async fn tokens_links_and_themes() {
    test("tokens_links_and_themes", SCRIPT, async |page| {
        let browser = page.browser;
        page.open("/settings").await;
        page.live().await;
        page.write("#new-token [name=name]", "a robot").await;
        browser.click("#new-token button").await;
        page.has("#made-token code", "cst_").await;
        // It is good for something, and after it is revoked for nothing.
        let secret = browser.text("#made-token code").await;
        let with_it = |served: &crate::served::Served| {
            let mut list = served.command(&["sessions", "list"]);
            crate::support::ran(list.env("COUNTERSIGN_TOKEN", &secret)).code
        };
        assert_eq!(with_it(&page.served.borrow()), Some(0));
        page.has("#tokens", "a robot").await;
        browser.run("window.confirm = () => true").await;
        browser.click("[data-confirm*='a robot']").await;
        page.until(
            "![...document.querySelectorAll('td')].some((e) => e.textContent === 'a robot')",
        )
        .await;
        assert_ne!(with_it(&page.served.borrow()), Some(0));
        // A link for another browser.
        browser.click("#login-link").await;
        page.has("#made-link code", "/login#csl_").await;
        // A theme that stays.
        let background = "return getComputedStyle(document.body).backgroundColor";
        let light = browser.run(background).await;
        browser
            .run(
                "const theme = document.querySelector('#theme'); theme.value = 'dark';
                  theme.dispatchEvent(new Event('change'))",
            )
            .await;
        let dark = browser.run(background).await;
        assert_ne!(light, dark);
        page.open("/").await;
        assert_eq!(browser.run(background).await, dark);
        // Out, and not in again without a link.
        page.open("/settings").await;
        browser.click("#logout").await;
        page.until("location.pathname === '/login'").await;
        page.open("/").await;
        page.until("location.pathname === '/login'").await;
        page.heard_no_more_than(&[NOT_LET_IN]).await;
    })
    .await;
}

#[tokio::test]
async fn notifications_when_something_waits() {
    test("notifications_when_something_waits", SCRIPT, async |page| {
        let browser = page.browser;
        let origin = page.served.borrow().url.clone();
        let allowed = json!({ "origin": origin, "permissions": ["notifications"] });
        browser.devtools("Browser.grantPermissions", allowed).await;
        page.open("/settings").await;
        page.live().await;
        browser.click("#notify").await;
        page.until("document.querySelector('#notify').checked && localStorage.getItem('countersign-notify') === 'on'").await;
        // The sound is heard when it is switched on, so that one knows it.
        browser
            .run(
                "window.heard = 0;
                 const start = OscillatorNode.prototype.start;
                 OscillatorNode.prototype.start = function (...at) {
                   window.heard += 1;
                   return start.apply(this, at);
                 };",
            )
            .await;
        browser.click("#sound").await;
        page.until("window.heard === 1 && localStorage.getItem('countersign-sound') === 'on'").await;
        // While another page of this browser looks up what is shown, nothing begins to be: the browser would
        // forget it.
        browser
            .run(
                "window.early = false;
                 let isLooking = true;
                 const show = ServiceWorkerRegistration.prototype.showNotification;
                 ServiceWorkerRegistration.prototype.showNotification = function (...what) {
                   window.early ||= isLooking;
                   return show.apply(this, what);
                 };
                 window.shown = [];
                 const look = () => navigator.locks.request('announcing', async () => {
                   const registration = await navigator.serviceWorker.getRegistration();
                   const shown = await registration.getNotifications();
                   window.shown = shown.map(({ title, body, data }) => [title, body, data]);
                 }).then(look);
                 navigator.locks.request('announcing', () => new Promise((end) => {
                   window.goOn = () => {
                     isLooking = false;
                     end();
                     look();
                   };
                 }));",
            )
            .await;
        let session = page.served.borrow().session("Write one file.");
        page.has("title", "(1)").await;
        page.until("window.heard === 2").await;
        page.has("#said", "Write one file. asks: Write one.txt").await;
        browser
            .run_async(
                "const done = arguments[arguments.length - 1];
                 const look = async () => {
                   const { pending } = await navigator.locks.query();
                   if (pending.length === 0) return setTimeout(look, 50);
                   done(null);
                 };
                 look();",
            )
            .await;
        assert_eq!(browser.run("window.goOn(); return window.early").await, false);
        page.until("window.shown.length === 1").await;
        let shown = browser.run("return window.shown").await;
        let to = format!("/sessions/{session}");
        assert_eq!(shown, json!([["Write one file.", "asks: Write one.txt", to]]));
        // What somebody has answered is announced no more.
        let asked = page.served.borrow().ask(&session);
        page.served.borrow().ok(&["approve", &asked]);
        page.until("window.shown.length === 0").await;
        // Nothing is kept by the worker: the page is always the server's.
        let kept = browser
            .run_async("const done = arguments[arguments.length - 1]; caches.keys().then(done)")
            .await;
        assert_eq!(kept, json!([]));
        browser.run("localStorage.clear()").await;
    })
    .await;
}

#[tokio::test]
async fn the_page_can_be_installed() {
    test("the_page_can_be_installed", SCRIPT, async |page| {
        let told = page.browser.devtools("Page.getAppManifest", json!({})).await;
        assert_eq!(told["errors"], json!([]), "{told}");
        let manifest: serde_json::Value =
            serde_json::from_str(told["data"].as_str().unwrap()).unwrap();
        assert_eq!(manifest["name"], "Countersign");
        let problems = page.browser.devtools("Page.getInstallabilityErrors", json!({})).await;
        assert_eq!(problems["installabilityErrors"], json!([]), "{problems}");
    })
    .await;
}
