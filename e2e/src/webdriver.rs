//! A client of the WebDriver protocol, as far as the tests need it.
//!
//! Commands are JSON over HTTP, see <https://www.w3.org/TR/webdriver2/>.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::{Method, Request, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

/// The key under which WebDriver returns the id of an element.
const ELEMENT_KEY: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A session of a browser.
#[derive(Debug)]
pub(crate) struct WebDriverSession {
    http: Client<HttpConnector, Full<Bytes>>,
    url: String,
}

/// The id of an element on the page.
#[derive(Debug)]
pub(crate) struct ElementId(String);

/// A command that failed.
#[derive(Debug)]
pub(crate) struct WebDriverError {
    /// The error code of the specification, or `transport`.
    code: String,
    message: String,
}

impl WebDriverError {
    fn transport(error: &dyn fmt::Display) -> Self {
        Self { code: "transport".to_owned(), message: error.to_string() }
    }

    /// Whether the element is no longer part of the page.
    pub(crate) fn is_stale_element(&self) -> bool {
        self.code == "stale element reference"
    }

    /// Whether another element would have received the click.
    pub(crate) fn is_click_intercepted(&self) -> bool {
        self.code == "element click intercepted"
    }
}

impl fmt::Display for WebDriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl WebDriverSession {
    /// Starts a browser with these capabilities, through the driver at `address`.
    pub(crate) async fn start(address: &str, capabilities: &Value) -> Result<Self, WebDriverError> {
        let http = Client::builder(TokioExecutor::new()).build_http();
        let mut session = Self { http, url: address.to_owned() };
        let body = json!({ "capabilities": { "alwaysMatch": capabilities } });
        let started = session.post("session", &body).await?;
        let id = string(started.get("sessionId"))?;
        session.url = format!("{address}/session/{id}");
        Ok(session)
    }

    /// Sends a command and returns its value.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value, WebDriverError> {
        self.send(Method::POST, path, body.to_string()).await
    }

    /// Returns the value of a property.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, WebDriverError> {
        self.send(Method::GET, path, String::new()).await
    }

    /// Returns the result of a script. An async script passes it to its last argument.
    pub(crate) async fn execute(&self, kind: &str, script: &str) -> Result<Value, WebDriverError> {
        self.post(&format!("execute/{kind}"), &json!({ "script": script, "args": [] })).await
    }

    /// Finds the first element that matches a CSS selector.
    pub(crate) async fn find(&self, css: &str) -> Result<ElementId, WebDriverError> {
        let found = self.post("element", &json!({ "using": "css selector", "value": css })).await?;
        string(found.get(ELEMENT_KEY)).map(ElementId)
    }

    /// Returns the visible text of an element.
    pub(crate) async fn text(&self, element: &ElementId) -> Result<String, WebDriverError> {
        string(Some(&self.get(&format!("element/{}/text", element.0)).await?))
    }

    /// Clicks the middle of an element.
    pub(crate) async fn click(&self, element: &ElementId) -> Result<(), WebDriverError> {
        self.post(&format!("element/{}/click", element.0), &json!({})).await.map(drop)
    }

    /// Presses and releases keys: pairs of a character and whether it goes down.
    pub(crate) async fn send_keys(
        &self,
        keys: impl Iterator<Item = (char, bool)>,
    ) -> Result<(), WebDriverError> {
        let actions: Vec<_> = keys
            .map(|(key, is_down)| {
                json!({ "type": if is_down { "keyDown" } else { "keyUp" }, "value": key })
            })
            .collect();
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": actions });
        self.post("actions", &json!({ "actions": [keyboard] })).await.map(drop)
    }

    /// Returns a picture of the visible part of the page, as PNG.
    pub(crate) async fn screenshot(&self) -> Result<Vec<u8>, WebDriverError> {
        let text = string(Some(&self.get("screenshot").await?))?;
        BASE64_STANDARD.decode(text).map_err(|error| WebDriverError::transport(&error))
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: String,
    ) -> Result<Value, WebDriverError> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}/{path}", self.url))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::from(body))
            .map_err(|error| WebDriverError::transport(&error))?;
        let response = self.http.request(request).await;
        let response = response.map_err(|error| WebDriverError::transport(&error))?;
        let is_success = response.status().is_success();
        let body = response.into_body().collect().await;
        let body = body.map_err(|error| WebDriverError::transport(&error))?.to_bytes();
        let mut answer: Value =
            serde_json::from_slice(&body).map_err(|error| WebDriverError::transport(&error))?;
        let value = answer.get_mut("value").map(Value::take).unwrap_or_default();
        if is_success {
            return Ok(value);
        }
        let field = |name| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Err(WebDriverError { code: field("error"), message: field("message") })
    }
}

/// Returns a value that has to be a string.
pub(crate) fn string(value: Option<&Value>) -> Result<String, WebDriverError> {
    match value {
        Some(Value::String(text)) => Ok(text.clone()),
        other => Err(WebDriverError::transport(&format!("not a string: {other:?}"))),
    }
}
