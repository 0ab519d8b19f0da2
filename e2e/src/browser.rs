//! A browser, as a test sees it.

use std::fs;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use serde_json::{Value, json};

use crate::driver::Driver;
use crate::webdriver::{ElementId, WebDriverSession, string};

/// How long something on a page may take before the test has failed. It is only ever waited for in
/// full when it has.
const PATIENCE_MS: u32 = 120_000;

/// What the person prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// A browser, at one of its pages.
#[derive(Debug)]
pub struct Browser {
    session: WebDriverSession,
    name: String,
    // The last, so that it ends after what talks to it.
    _driver: Driver,
}

/// A tab of a browser.
#[derive(Clone, Debug)]
pub struct Tab(String);

/// Runs a test with a browser of its own, which is gone afterwards in any case. When the test fails, a
/// screenshot and what the page said are in `target/e2e`, under its name.
pub async fn test(name: &str, test: impl AsyncFnOnce(&Browser)) {
    let browser = Browser::start(name).await;
    let outcome = AssertUnwindSafe(test(&browser)).catch_unwind().await;
    if let Err(panic) = outcome {
        browser.keep_evidence().await;
        drop(browser);
        resume_unwind(panic);
    }
}

impl Browser {
    async fn start(name: &str) -> Self {
        let driver = Driver::start();
        let profile = driver.scratch().join("profile");
        let capabilities = json!({
            "goog:chromeOptions": {
                "args": [
                    "--headless",
                    // Chromium refuses its own sandbox to root, which is who tests run as in containers.
                    "--no-sandbox",
                    "--disable-gpu",
                    "--disable-quic",
                    "--disable-dev-shm-usage",
                    "--no-first-run",
                    "--disable-background-networking",
                    "--disable-component-update",
                    "--disable-sync",
                    "--hide-scrollbars",
                    format!("--user-data-dir={}", profile.display()),
                ],
            },
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
            // In milliseconds: longer than any test, so that only its own limits end it.
            "timeouts": { "script": 600_000, "pageLoad": 600_000 },
        });
        let session = WebDriverSession::start(&driver.address(), &capabilities).await;
        let session = session.unwrap_or_else(|error| panic!("no browser: {error}"));
        let browser = Self { session, name: name.to_owned(), _driver: driver };
        browser.resize(1280, 1000).await;
        // The page for a new tab asks for this and that; a test is told of its own pages only.
        browser.open("about:blank").await;
        browser.requests().await;
        browser.console().await;
        browser
    }

    /// Opens a page, and waits until it has loaded.
    pub async fn open(&self, address: &str) {
        self.command("url", json!({ "url": address })).await;
    }

    /// The tab that it is at.
    pub async fn tab(&self) -> Tab {
        let tab = self.session.get("window").await.and_then(|handle| string(Some(&handle)));
        Tab(tab.unwrap_or_else(|error| panic!("no tab: {error}")))
    }

    /// Opens another tab in front of the others, and goes to it.
    pub async fn open_tab(&self) -> Tab {
        let made = self.command("window/new", json!({ "type": "tab" })).await;
        let tab = Tab(string(made.get("handle")).unwrap_or_else(|error| panic!("no tab: {error}")));
        self.go_to_tab(&tab).await;
        tab
    }

    /// Goes to a tab. It stays behind the others, if it is.
    pub async fn go_to_tab(&self, tab: &Tab) {
        self.command("window", json!({ "handle": tab.0 })).await;
    }

    /// Makes the page as large as this, on a machine with a mouse.
    pub async fn resize(&self, width: u32, height: u32) {
        self.be(width, height, false).await;
    }

    /// Makes the page as large as this, on a phone: it is drawn as a phone draws it, and touched. A page
    /// that asks for that once learns of it when it is loaded anew.
    pub async fn be_a_phone(&self, width: u32, height: u32) {
        self.be(width, height, true).await;
    }

    async fn be(&self, width: u32, height: u32, phone: bool) {
        let size = json!({
            "width": width,
            "height": height,
            "deviceScaleFactor": 1,
            "mobile": phone,
        });
        self.devtools("Emulation.setDeviceMetricsOverride", size).await;
        let touched = json!({ "enabled": phone, "maxTouchPoints": 5 });
        self.devtools("Emulation.setTouchEmulationEnabled", touched).await;
    }

    /// Lets the page know what the person prefers.
    pub async fn prefer(&self, scheme: Scheme) {
        let value = match scheme {
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        };
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] });
        self.devtools("Emulation.setEmulatedMedia", features).await;
    }

    /// What a script on the page returns.
    pub async fn run(&self, script: &str) -> Value {
        match self.session.execute("sync", script).await {
            Ok(value) => value,
            Err(error) => panic!("{script}: {error}"),
        }
    }

    /// What a script on the page gives to its last argument, a function.
    pub async fn run_async(&self, script: &str) -> Value {
        match self.session.execute("async", script).await {
            Ok(value) => value,
            Err(error) => panic!("{error}"),
        }
    }

    /// Waits until an expression on the page is true, and looks again with every frame.
    pub async fn until(&self, expression: &str) {
        let script = format!(
            "const done = arguments[arguments.length - 1];
             const end = performance.now() + {PATIENCE_MS};
             const look = () => {{
               if ({expression}) done(true);
               else if (performance.now() > end) done(false);
               else requestAnimationFrame(look);
             }};
             look();"
        );
        let end = Instant::now() + Duration::from_millis(PATIENCE_MS.into());
        loop {
            match self.session.execute("async", &script).await {
                Ok(Value::Bool(true)) => return,
                Ok(_) => panic!("never came true: {expression}"),
                // A page that goes takes its scripts with it; the next one is asked then.
                Err(_) if Instant::now() < end => {}
                Err(error) => panic!("{expression}: {error}"),
            }
        }
    }

    /// The text of the first element of that kind, which must be there; of the one that takes its place,
    /// where the page is just drawn anew.
    pub async fn text(&self, css: &str) -> String {
        let end = Instant::now() + Duration::from_millis(PATIENCE_MS.into());
        loop {
            match self.session.text(&self.find(css).await).await {
                Ok(text) => return text,
                Err(error) if error.is_stale_element() && Instant::now() < end => {}
                Err(error) => panic!("{css}: {error}"),
            }
        }
    }

    /// How many elements of that kind there are.
    pub async fn count(&self, css: &str) -> usize {
        let found =
            self.command("elements", json!({ "using": "css selector", "value": css })).await;
        found.as_array().map_or(0, Vec::len)
    }

    /// Clicks the first element of that kind with the mouse, as somebody does who looks for it: again
    /// where it has just become another one, and in the middle of the page where something is before it.
    pub async fn click(&self, css: &str) {
        let end = Instant::now() + Duration::from_millis(PATIENCE_MS.into());
        loop {
            let element = self.find(css).await;
            let Err(error) = self.session.click(&element).await else { return };
            let can_retry = error.is_stale_element() || error.is_click_intercepted();
            if Instant::now() > end || !can_retry {
                panic!("{css}: {error}");
            }
            let css = Value::from(css);
            self.run(&format!(
                "document.querySelector({css})?.scrollIntoView({{ block: 'center' }})"
            ))
            .await;
        }
    }

    /// Types into the focused element. Keys that type no character are those of [`Key`](crate::Key).
    pub async fn press(&self, keys: &str) {
        let strokes = keys.chars().flat_map(|key| [(key, true), (key, false)]);
        self.send_keys(strokes).await;
    }

    /// Presses keys together: each is held until the last is pressed.
    pub async fn chord(&self, keys: &str) {
        let down = keys.chars().map(|key| (key, true));
        self.send_keys(down.chain(keys.chars().rev().map(|key| (key, false)))).await;
    }

    async fn send_keys(&self, keys: impl Iterator<Item = (char, bool)>) {
        let sent = self.session.send_keys(keys).await;
        sent.unwrap_or_else(|error| panic!("cannot press keys: {error}"));
    }

    /// What the page wrote to its console, and what the browser has to say about the page. Each is
    /// told once.
    pub async fn console(&self) -> Vec<String> {
        let entries = self.log("browser").await;
        entries.iter().map(Value::to_string).collect()
    }

    /// The addresses of everything that the page asked for, itself included. Each is told once.
    pub async fn requests(&self) -> Vec<String> {
        let mut addresses = Vec::new();
        for entry in self.log("performance").await {
            let text = entry.get("message").and_then(Value::as_str).unwrap_or_default();
            let event: Value = serde_json::from_str(text).expect("an event that is no JSON");
            let field = |path| event.pointer(path).and_then(Value::as_str);
            if field("/message/method") == Some("Network.requestWillBeSent") {
                let address = field("/message/params/request/url");
                addresses.push(address.expect("a request without an address").to_owned());
            }
        }
        addresses
    }

    /// Keeps a picture of what can be seen in `target/e2e`, and gives back where.
    pub async fn screenshot(&self, name: &str) -> PathBuf {
        let folder = self.folder();
        let file = folder.join(format!("{name}.png"));
        let picture = self.session.screenshot().await;
        let picture = picture.unwrap_or_else(|error| panic!("no screenshot: {error}"));
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&file, picture))
            .expect("the screenshot cannot be written");
        file
    }

    /// Asks the browser for something that WebDriver has no word for.
    pub async fn devtools(&self, method: &str, params: Value) -> Value {
        self.command("goog/cdp/execute", json!({ "cmd": method, "params": params })).await
    }

    async fn find(&self, css: &str) -> ElementId {
        let found = self.session.find(css).await;
        found.unwrap_or_else(|error| panic!("{css}: {error}"))
    }

    async fn log(&self, kind: &str) -> Vec<Value> {
        match self.command("se/log", json!({ "type": kind })).await {
            Value::Array(entries) => entries,
            other => panic!("no log: {other}"),
        }
    }

    async fn command(&self, path: &str, body: Value) -> Value {
        let done = self.session.post(path, &body).await;
        done.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Never fails: the test already has.
    async fn keep_evidence(&self) {
        let folder = self.folder();
        let mut written = fs::create_dir_all(&folder);
        if let Ok(picture) = self.session.screenshot().await {
            written = written.and_then(|()| fs::write(folder.join("failed.png"), picture));
        }
        if let Ok(log) = self.session.post("se/log", &json!({ "type": "browser" })).await {
            written =
                written.and_then(|()| fs::write(folder.join("console.json"), log.to_string()));
        }
        drop(written);
    }

    fn folder(&self) -> PathBuf {
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/e2e")).join(&self.name)
    }
}
