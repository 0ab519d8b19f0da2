//! A browser, as a test sees it.

use std::fs;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fantoccini::actions::{InputSource as _, KeyAction, KeyActions};
use fantoccini::wd::{Capabilities, WebDriverCompatibleCommand, WindowHandle};
use fantoccini::{Client, ClientBuilder, Locator};
use futures_util::FutureExt as _;
use http::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use url::{ParseError, Url};

use crate::driver::Driver;

/// How long something on a page may take before the test has failed. It is only ever waited for in
/// full when it has.
const PATIENCE_MS: u32 = 20_000;

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
    client: Client,
    name: String,
    // The last, so that it ends after what talks to it.
    _driver: Driver,
}

/// A tab of a browser.
#[derive(Clone, Debug)]
pub struct Tab(WindowHandle);

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
        let mut capabilities = Capabilities::new();
        capabilities.insert(
            "goog:chromeOptions".to_owned(),
            json!({
                "args": [
                    "--headless",
                    // Where everything is root, as in a container, there is no other way.
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
            }),
        );
        capabilities.insert(
            "goog:loggingPrefs".to_owned(),
            json!({ "browser": "ALL", "performance": "ALL" }),
        );
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&driver.address())
            .await
            .expect("no browser");
        let browser = Self { client, name: name.to_owned(), _driver: driver };
        browser.resize(1280, 1000).await;
        // The page for a new tab asks for this and that; a test is told of its own pages only.
        browser.open("about:blank").await;
        browser.requests().await;
        browser.console().await;
        browser
    }

    /// Opens a page, and waits until it has loaded.
    pub async fn open(&self, address: &str) {
        self.client.goto(address).await.expect("the page does not open");
    }

    /// The tab that it is at.
    pub async fn tab(&self) -> Tab {
        Tab(self.client.window().await.expect("no tab"))
    }

    /// Opens another tab in front of the others, and goes to it.
    pub async fn open_tab(&self) -> Tab {
        let made = self.client.new_window(true).await.expect("no other tab");
        let tab = Tab(made.handle);
        self.go_to_tab(&tab).await;
        tab
    }

    /// Goes to a tab. It stays behind the others, if it is.
    pub async fn go_to_tab(&self, tab: &Tab) {
        self.client.switch_to_window(tab.0.clone()).await.expect("the tab is gone");
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
        match self.client.execute(script, Vec::new()).await {
            Ok(value) => value,
            Err(error) => panic!("{script}: {error}"),
        }
    }

    /// What a script on the page gives to its last argument, a function.
    pub async fn run_async(&self, script: &str) -> Value {
        match self.client.execute_async(script, Vec::new()).await {
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
            match self.client.execute_async(&script, Vec::new()).await {
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
            match self.find(css).await.text().await {
                Ok(text) => return text,
                Err(error) if error.is_stale_element_reference() && Instant::now() < end => {}
                Err(error) => panic!("{css}: {error}"),
            }
        }
    }

    /// How many elements of that kind there are.
    pub async fn count(&self, css: &str) -> usize {
        self.client.find_all(Locator::Css(css)).await.expect("not a selector").len()
    }

    /// Clicks the first element of that kind with the mouse, as somebody does who looks for it: again
    /// where it has just become another one, and in the middle of the page where something is before it.
    pub async fn click(&self, css: &str) {
        let end = Instant::now() + Duration::from_millis(PATIENCE_MS.into());
        loop {
            let Err(error) = self.find(css).await.click().await else { return };
            let (is_gone, is_behind) = (
                error.is_stale_element_reference(),
                error.to_string().contains("click intercepted"),
            );
            if Instant::now() > end || !(is_gone || is_behind) {
                panic!("{css}: {error}");
            }
            let css = Value::from(css);
            self.run(&format!(
                "document.querySelector({css})?.scrollIntoView({{ block: 'center' }})"
            ))
            .await;
        }
    }

    /// Types into what has the focus. Keys without a letter have characters of their own: see
    /// [`fantoccini::key::Key`].
    pub async fn press(&self, keys: &str) {
        let mut actions = KeyActions::new("keyboard".to_owned());
        for key in keys.chars() {
            actions =
                actions.then(KeyAction::Down { value: key }).then(KeyAction::Up { value: key });
        }
        self.client.perform_actions(actions).await.expect("the keys cannot be pressed");
    }

    /// Presses keys together: each is held until the last is pressed.
    pub async fn chord(&self, keys: &str) {
        let mut actions = KeyActions::new("keyboard".to_owned());
        for key in keys.chars() {
            actions = actions.then(KeyAction::Down { value: key });
        }
        for key in keys.chars().rev() {
            actions = actions.then(KeyAction::Up { value: key });
        }
        self.client.perform_actions(actions).await.expect("the keys cannot be pressed");
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
        let picture = self.client.screenshot().await.expect("no screenshot");
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&file, picture))
            .expect("the screenshot cannot be written");
        file
    }

    /// Asks the browser for something that WebDriver has no word for.
    pub async fn devtools(&self, method: &str, params: Value) -> Value {
        self.issue("goog/cdp/execute", json!({ "cmd": method, "params": params })).await
    }

    async fn find(&self, css: &str) -> fantoccini::elements::Element {
        let found = self.client.find(Locator::Css(css)).await;
        found.unwrap_or_else(|error| panic!("{css}: {error}"))
    }

    async fn log(&self, kind: &str) -> Vec<Value> {
        match self.issue("se/log", json!({ "type": kind })).await {
            Value::Array(entries) => entries,
            other => panic!("no log: {other}"),
        }
    }

    async fn issue(&self, path: &'static str, body: Value) -> Value {
        let told = self.client.issue_cmd(Special { path, body }).await;
        told.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Never fails: the test already has.
    async fn keep_evidence(&self) {
        let folder = self.folder();
        let mut written = fs::create_dir_all(&folder);
        if let Ok(picture) = self.client.screenshot().await {
            written = written.and_then(|()| fs::write(folder.join("failed.png"), picture));
        }
        let log = Special { path: "se/log", body: json!({ "type": "browser" }) };
        if let Ok(log) = self.client.issue_cmd(log).await {
            written =
                written.and_then(|()| fs::write(folder.join("console.json"), log.to_string()));
        }
        drop(written);
    }

    fn folder(&self) -> PathBuf {
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/e2e")).join(&self.name)
    }
}

/// A command of Chromium's driver that is not in the standard.
#[derive(Debug)]
struct Special {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Special {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}
