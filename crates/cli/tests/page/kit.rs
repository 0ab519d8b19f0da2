//! A browser at the page of a server.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, resume_unwind};

use countersign_e2e::Browser;
use futures_util::FutureExt as _;
use serde_json::Value;

use crate::served::Served;

/// A browser at the page of a server.
pub(crate) struct Page<'a> {
    pub(crate) browser: &'a Browser,
    pub(crate) served: &'a RefCell<Served>,
}

/// Runs a test on a server whose model follows this script, signed in.
pub(crate) async fn test(name: &str, script: &str, test: impl AsyncFnOnce(&Page<'_>)) {
    test_on(name, Served::new(script), test).await;
}

/// Runs a test on this server, signed in. Nothing may be wrong with the page afterwards, as the browser
/// sees it.
pub(crate) async fn test_on(name: &str, served: Served, test: impl AsyncFnOnce(&Page<'_>)) {
    let served = RefCell::new(served);
    countersign_e2e::test(name, async |browser| {
        let page = Page { browser, served: &served };
        page.sign_in().await;
        let outcome = AssertUnwindSafe(test(&page)).catch_unwind().await;
        if let Err(panic) = outcome {
            evidence("the server says", &served.borrow().log());
            resume_unwind(panic);
        }
        page.nothing_is_wrong().await;
    })
    .await;
}

impl<'a> Page<'a> {
    /// Opens a link that lets this browser in.
    pub(crate) async fn sign_in(&self) {
        let made = self.served.borrow().object(&["login-link"]);
        self.browser.open(made["url"].as_str().unwrap()).await;
        self.browser.until("location.pathname === '/' && document.body.dataset.live").await;
    }

    /// The same server in another browser.
    pub(crate) async fn second(&self, name: &str, test: impl AsyncFnOnce(&Page<'_>)) {
        countersign_e2e::test(name, async |browser| {
            let page = Page { browser, served: self.served };
            page.sign_in().await;
            test(&page).await;
            page.nothing_is_wrong().await;
        })
        .await;
    }

    /// Opens an address of the server.
    pub(crate) async fn open(&self, path: &str) {
        let url = self.served.borrow().url.clone();
        self.browser.open(&format!("{url}{path}")).await;
    }

    /// Opens the page of a session, and waits until it is live.
    pub(crate) async fn open_session(&self, session: &str) {
        self.open(&format!("/sessions/{session}")).await;
        self.live().await;
    }

    /// Waits until the page follows what happens.
    pub(crate) async fn live(&self) {
        self.browser.until("document.body.dataset.live === 'yes'").await;
    }

    /// Has a session begin with this prompt, and opens its page.
    pub(crate) async fn begin(&self, prompt: &str) -> String {
        self.begin_with(prompt, &[]).await
    }

    pub(crate) async fn begin_with(&self, prompt: &str, arguments: &[&str]) -> String {
        let session = self.served.borrow().session_with(prompt, arguments);
        self.open_session(&session).await;
        session
    }

    /// Waits for a card of this kind, and past the time in which keys do nothing.
    pub(crate) async fn card(&self, kind: &str) {
        self.browser.until(&card(kind)).await;
        self.browser
            .until(&format!("performance.now() - {}.dataset.since > 500", card(kind)))
            .await;
    }

    /// Waits until no card is open.
    pub(crate) async fn no_card(&self) {
        self.browser.until("!document.querySelector('.card')").await;
    }

    /// Clicks a button of the card that is open.
    pub(crate) async fn decide(&self, what: &str) {
        self.browser.click(&format!(".card[open] [data-do='{what}']")).await;
    }

    /// Waits until the transcript says this.
    pub(crate) async fn says(&self, text: &str) {
        let text = Value::from(text);
        self.until(&format!("document.querySelector('#transcript').textContent.includes({text})"))
            .await;
    }

    /// Waits until an element is there whose text has this.
    pub(crate) async fn has(&self, css: &str, text: &str) {
        let (css, text) = (Value::from(css), Value::from(text));
        self.until(&format!(
            "[...document.querySelectorAll({css})].some((e) => e.textContent.includes({text}))"
        ))
        .await;
    }

    /// Waits until an expression is true, and says what is on the page if it never is.
    pub(crate) async fn until(&self, expression: &str) {
        let waiting = AssertUnwindSafe(self.browser.until(expression)).catch_unwind().await;
        if let Err(panic) = waiting {
            let text = self.browser.run("return document.querySelector('main').innerText").await;
            evidence("on the page", text.as_str().unwrap_or_default());
            resume_unwind(panic);
        }
    }

    /// Writes into a field that is empty.
    pub(crate) async fn write(&self, css: &str, text: &str) {
        self.browser.click(css).await;
        self.browser.press(text).await;
    }

    /// Puts something else into a field, as somebody who marks all of it and writes.
    pub(crate) async fn rewrite(&self, css: &str, text: &str) {
        self.browser.click(css).await;
        self.browser.run(&format!("document.querySelector({}).select()", Value::from(css))).await;
        self.browser.press(text).await;
    }

    /// What is in a file of the working folder; nothing if there is none.
    pub(crate) fn file(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.served.borrow().work().join(name)).ok()
    }

    /// A page that was open all the time shows what a page shows that is opened now.
    pub(crate) async fn is_the_same_when_loaded(&self) {
        self.until("document.querySelector('#state :is(.ready, .idle, .ended)')").await;
        // Times are relative, and what is open or closed is up to who looks.
        let look = "const copy = document.querySelector('#transcript').cloneNode(true);
            copy.querySelectorAll('time').forEach((time) => time.replaceChildren());
            copy.querySelectorAll('[open]').forEach((open) => open.removeAttribute('open'));
            copy.querySelectorAll('time[title]').forEach((time) => time.removeAttribute('title'));
            copy.normalize();
            return copy.innerHTML.replace(/>\\s+</g, '><');";
        let lived = self.browser.run(look).await;
        self.browser.run("location.reload()").await;
        self.live().await;
        let loaded = self.browser.run(look).await;
        assert_eq!(lived, loaded);
    }

    /// The browser has nothing to say against the page, and was sent nowhere else.
    pub(crate) async fn nothing_is_wrong(&self) {
        let said = self.browser.console().await;
        assert!(said.is_empty(), "{said:?}");
        let url = self.served.borrow().url.clone();
        for address in self.browser.requests().await {
            assert!(address.starts_with(&url) || address.starts_with("data:"), "{address}");
        }
    }
}

/// Says more about a test that has failed.
#[expect(clippy::print_stderr, reason = "it is for who reads what the test said")]
fn evidence(what: &str, text: &str) {
    eprintln!("{what}: {text}");
}

fn card(kind: &str) -> String {
    format!("document.querySelector('.card-{kind}[open]')")
}
