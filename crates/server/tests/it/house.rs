//! A server on a real listener, and a client that writes its requests by hand.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::response::Html;
use axum::routing::{get, post};
use countersign_server::access::{
    Access, Admin, Cookies, Decide, ManualClock, MemoryAccess, NewToken, Read, Scope, api, login,
};
use countersign_server::config::{Config, Secret};
use countersign_server::id::TokenId;
use countersign_server::web::Shell;
use countersign_server::web::extract::{Json, Path, Query};
use countersign_server::web::guard::Hosts;
use countersign_server::web::health::{self, Readiness};
use countersign_server::web::idempotency::Command;
use countersign_server::web::metrics::{self, Metrics};
use countersign_server::web::serve::{Ended, Server};
use countersign_server::web::sse::{self, Frame};
use futures_util::stream::{self, StreamExt as _};
use http::StatusCode;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// A server that runs until the test ends.
pub(crate) struct House {
    pub(crate) address: SocketAddr,
    pub(crate) access: Arc<Access>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) stop: CancellationToken,
    pub(crate) ended: JoinHandle<Ended>,
}

impl House {
    /// A server with the default configuration, on a port that is free.
    pub(crate) async fn new() -> Self {
        Self::with("").await
    }

    /// A server with this configuration, on a port that is free.
    pub(crate) async fn with(file: &str) -> Self {
        let config: Config = toml::from_str(&format!("listen = \"127.0.0.1:0\"\n{file}")).unwrap();
        let server = Server::bind(&config).await.unwrap();
        let address = server.address();
        let clock = Arc::new(ManualClock::new("2026-11-18T08:00:00Z".parse().unwrap()));
        let access = Arc::new(Access::new(
            Arc::new(MemoryAccess::default()),
            clock.clone(),
            Cookies::of(&config, address),
            config.url(address),
        ));
        let metrics = Arc::new(Metrics::default());
        let stop = CancellationToken::new();
        let shell = Shell {
            hosts: Arc::new(Hosts::new(&config, address)),
            access: access.clone(),
            metrics: metrics.clone(),
            body: config.limits.body,
            request: config.limits.request,
        };
        let open: Router = login::open_routes()
            .with_state(access.clone())
            .merge(health::routes().with_state(Arc::new(NeverReady)));
        let closed = api::routes()
            .with_state(access.clone())
            .merge(metrics::routes().with_state(metrics.clone()))
            .merge(rooms(&stop));
        let running =
            server.count_in(metrics.connections()).run(shell.around(open, closed), stop.clone());
        let ended = TaskTracker::new().spawn(running);
        Self { address, access, clock, stop, ended }
    }

    /// A new token.
    pub(crate) async fn token(&self, scope: Scope) -> (Secret, TokenId) {
        let new = NewToken { name: "test".into(), scope, expires_at: None };
        let (text, token) = self.access.create_token(new).await.unwrap();
        (text, token.id)
    }

    /// A header with a new token.
    pub(crate) async fn bearer(&self, scope: Scope) -> String {
        format!("Authorization: Bearer {}", self.token(scope).await.0.expose())
    }

    /// The link for a browser of whoever has this header.
    pub(crate) async fn link(&self, bearer: &str) -> String {
        let answer = self.ask("POST /api/v1/login-links", &[bearer], "").await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json().get("url").and_then(Value::as_str).unwrap().to_owned()
    }

    /// The code of such a link.
    pub(crate) async fn code(&self, bearer: &str) -> String {
        self.link(bearer).await.split_once('#').unwrap().1.to_owned()
    }

    /// What signing in with this code is answered with.
    pub(crate) async fn sign_in(&self, code: &str) -> Answer {
        let body = serde_json::json!({ "code": code }).to_string();
        self.ask("POST /login", &["Content-Type: application/json"], &body).await
    }

    /// The `Cookie` header of a browser that is signed in with a new token.
    pub(crate) async fn cookie(&self, scope: Scope) -> String {
        let bearer = self.bearer(scope).await;
        let answer = self.sign_in(&self.code(&bearer).await).await;
        let set = answer.header("set-cookie").unwrap();
        format!("Cookie: {}", set.split(';').next().unwrap())
    }

    /// The `Origin` header of a page of this server.
    pub(crate) fn own_origin(&self) -> String {
        format!("Origin: http://{}", self.address)
    }

    /// Sends a request, with the right host, and reads the whole answer.
    pub(crate) async fn ask(&self, line: &str, headers: &[&str], body: &str) -> Answer {
        let host = format!("Host: {}", self.address);
        let mut all = vec![&*host];
        all.extend(headers);
        self.ask_exactly(line, &all, body).await
    }

    /// Sends a request with exactly these headers and the length of the body.
    pub(crate) async fn ask_exactly(&self, line: &str, headers: &[&str], body: &str) -> Answer {
        let stream = TcpStream::connect(self.address).await.unwrap();
        exchange(stream, &request(line, headers, body)).await
    }
}

/// Looks at the server and says why it cannot work.
#[derive(Debug)]
struct NeverReady;

impl Readiness for NeverReady {
    fn look(
        &self,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<(), &'static str>> + Send + '_>> {
        Box::pin(async { Err("the store is gone") })
    }
}

#[derive(serde::Deserialize)]
struct Number {
    number: u32,
}

#[expect(clippy::panic, reason = "it is what is tested")]
async fn fails(_: Read) -> StatusCode {
    panic!("the secret is hunter2")
}

/// Routes that stand for those of the API.
fn rooms(stop: &CancellationToken) -> Router {
    let stop = stop.clone();
    Router::new()
        .route("/", get(async || Html("<p>the page</p>")))
        .route("/api/v1/see", get(async |Read(identity): Read| Json(identity)))
        .route("/api/v1/decide", post(async |Decide(identity): Decide| Json(identity)))
        .route("/api/v1/manage", post(async |Admin(identity): Admin| Json(identity)))
        .route("/api/v1/forgotten", get(async || "seen").post(async || "done"))
        .route(
            "/api/v1/number/{number}",
            get(async |_: Read, Path(number): Path<u32>| Json(number)),
        )
        .route("/api/v1/number", get(async |_: Read, Query(Number { number })| Json(number)))
        .route("/api/v1/echo", post(async |_: Decide, Json(value): Json<Value>| Json(value)))
        .route(
            "/api/v1/command",
            post(async |_: Decide, command: Command<Value>| Json(command.body)),
        )
        .route("/api/v1/ignore", post(async |_: Decide| StatusCode::NO_CONTENT))
        .route("/api/v1/panic", get(fails))
        .route("/api/v1/teapot", get(async |_: Read| (StatusCode::IM_A_TEAPOT, "what was said")))
        .route("/api/v1/never", get(async |_: Read| std::future::pending::<StatusCode>().await))
        .route(
            "/api/v1/events",
            get(async move |_: Read| {
                let events = stream::iter([Frame::with_id(1, "a", "b")]).chain(stream::pending());
                sse::response(events, stop.clone())
            }),
        )
}

/// A request, with the length of its body.
pub(crate) fn request(line: &str, headers: &[&str], body: &str) -> String {
    let length = format!("Content-Length: {}", body.len());
    let first = format!("{line} HTTP/1.1");
    let mut lines = vec![&*first, "Connection: close"];
    lines.extend(headers);
    lines.extend((!body.is_empty()).then_some(&*length));
    format!("{}\r\n\r\n{body}", lines.join("\r\n"))
}

/// Sends a request and reads until the connection ends.
pub(crate) async fn exchange(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    text: &str,
) -> Answer {
    // A server that refuses early may not read all of it.
    drop(stream.write_all(text.as_bytes()).await);
    let mut bytes = Vec::new();
    drop(stream.read_to_end(&mut bytes).await);
    Answer::parse(&String::from_utf8_lossy(&bytes))
}

/// What a request was answered with.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    /// What these bytes are.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self::parse(&String::from_utf8_lossy(bytes))
    }

    fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let headers = lines.filter_map(|line| line.split_once(": "));
        Self {
            status: status.unwrap_or(0),
            headers: headers.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| Value::String(self.body.clone()))
    }

    /// The kind of problem that it is; fails if it is not one with the right status.
    pub(crate) fn problem(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let body = self.json();
        assert_eq!(body.get("status"), Some(&self.status.into()), "{self:?}");
        let kind = body.get("type").and_then(Value::as_str).unwrap();
        kind.strip_prefix("/problems/").unwrap().to_owned()
    }
}
