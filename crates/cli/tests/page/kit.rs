//! A browser at the page of a server.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, resume_unwind};

use countersign_e2e::Browser;
use futures_util::FutureExt as _;
use serde_json::{Value, json};

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

    /// Has two sessions ask for something, one after the other; gives what the first asks for.
    pub(crate) async fn two_wait(&self) -> String {
        let first = self.served.borrow().session("Write one file.");
        let first = self.served.borrow().ask(&first);
        self.until("document.querySelectorAll('.card').length === 1").await;
        self.served.borrow().session("Write another file.");
        self.until("document.querySelectorAll('.card').length === 2").await;
        first
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

    /// Clicks a button of the card that is open, once it stands still: what has come under somebody's
    /// finger is not what they meant.
    pub(crate) async fn decide(&self, what: &str) {
        let card = "document.querySelector('.card[open]')";
        self.until(&format!(
            "{card} && performance.now() - ({card}.dataset.moved ?? -Infinity) > 500"
        ))
        .await;
        self.browser.click(&format!(".card[open] [data-do='{what}']")).await;
    }

    /// Presses a key on an element right after a script, so that no time passes in between however slow
    /// the machine is. Says whether it did something to a card: whoever decides finds its buttons
    /// disabled at once, or a part of it open.
    pub(crate) async fn key_does(&self, first: &str, css: &str, key: &Value) -> bool {
        let css = Value::from(css);
        let script = format!(
            "const look = () => JSON.stringify([...document.querySelectorAll('.card')].map((card) => [
               card.id,
               card.open,
               card.querySelectorAll('button:disabled').length,
               [...card.querySelectorAll('.edit, .refuse')].map((part) => part.hidden),
             ]));
             {first};
             const before = look();
             const key = {{ bubbles: true, cancelable: true, ...{key} }};
             document.querySelector({css}).dispatchEvent(new KeyboardEvent('keydown', key));
             return look() !== before;"
        );
        self.browser.run(&script).await == true
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

    /// Waits until somebody can read this in an element: it is there, and not hidden.
    pub(crate) async fn reads(&self, css: &str, text: &str) {
        let (css, text) = (Value::from(css), Value::from(text));
        self.until(&format!(
            "[...document.querySelectorAll({css})].some((e) => e.innerText.includes({text}))"
        ))
        .await;
    }

    /// Loads the page anew.
    pub(crate) async fn reload(&self) {
        self.browser.run("location.reload()").await;
        self.live().await;
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
        self.reload().await;
        let loaded = self.browser.run(look).await;
        assert_eq!(lived, loaded);
    }

    /// Nothing is wider than the place that it is in. What is meant to be moved sideways is moved by
    /// itself: a table, or lines of code.
    pub(crate) async fn fits(&self, view: &str) {
        let wide = self
            .browser
            .run(
                "return ['html', 'main', '.scroll', '.dock', '.composer', '.left', '.side', '.tab', 'dialog']
                    .flatMap((css) => [...document.querySelectorAll(css)])
                    .filter((place) => place.scrollWidth > place.clientWidth)
                    .map((place) => `${place.tagName} ${place.className}: ${place.scrollWidth} in ${place.clientWidth}`)",
            )
            .await;
        assert_eq!(wide, json!([]), "{view} is too wide");
    }

    /// What the browser said so far is that something was not answered, or answered with one of these:
    /// parts of what it says then. Whatever else it says is wrong.
    pub(crate) async fn heard_no_more_than(&self, expected: &[&str]) {
        let said = self.browser.console().await;
        let wrong = |entry: &&String| {
            let is_of_network = entry.contains(r#""source":"network""#);
            !(is_of_network && expected.iter().any(|part| entry.contains(part)))
        };
        let wrong: Vec<_> = said.iter().filter(wrong).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    /// The browser has nothing to say against the page, and was sent nowhere else.
    pub(crate) async fn nothing_is_wrong(&self) {
        self.heard_no_more_than(&[]).await;
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

/// What the browser says of a server that is not there.
pub(crate) const UNREACHABLE: &str = "net::ERR_";

/// What it says where it is not let in.
pub(crate) const NOT_LET_IN: &str = "status of 401 ";

/// What it says of something that cannot be done.
pub(crate) const REFUSED: &str = "status of 4";

/// What it says of something that is not there.
pub(crate) const MISSING: &str = "status of 404 ";

fn card(kind: &str) -> String {
    format!("document.querySelector('.card-{kind}[open]')")
}
