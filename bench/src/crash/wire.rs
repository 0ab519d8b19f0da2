//! Requests to a server that may be gone: made until there is an answer.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_server::client::{Client, ClientError};
use countersign_server::outgoing::{Ask, Limits, Outgoing, OutgoingError, Pieces};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};
use serde::Serialize;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::Failure;
use super::ledger::Ledger;

/// How long is waited for a server that is not there.
const AGAIN: Duration = Duration::from_millis(15);

/// A way to the server.
///
/// What only reads goes by the typed client. Commands are made here, because their keys have to be
/// known: the same command is sent again under the same key, also when it was answered.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    pub(super) client: Client,
    pub(super) ledger: Arc<Ledger>,
    outgoing: Outgoing,
    base: Url,
    token: HeaderValue,
    over: CancellationToken,
}

/// What the server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

impl Wire {
    /// A way to the server at this address, until it is `over`.
    pub(super) fn new(
        address: &str,
        token: &str,
        ledger: Arc<Ledger>,
        over: CancellationToken,
    ) -> Result<Self, Failure> {
        let client = Client::builder(address, token).retries(0).build()?;
        let mut limits = Limits::default();
        limits.answer = Duration::from_secs(20);
        limits.silence = Duration::from_secs(45);
        let outgoing = Outgoing::new(limits)?;
        let token = HeaderValue::try_from(format!("Bearer {token}"))?;
        Ok(Self { client, ledger, outgoing, base: address.parse()?, token, over })
    }

    fn ask(&self, method: Method, path: &str, kind: &'static str) -> Result<Ask, Failure> {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, self.token.clone());
        headers.insert(ACCEPT, HeaderValue::from_static(kind));
        let url = self.base.join(&format!("/api/v1{path}"))?;
        Ok(Ask { method, url, headers, body: Bytes::new() })
    }

    /// Has something done under this key, however often it has to be said. None when it is over.
    pub(super) async fn command(
        &self,
        path: &str,
        key: &str,
        body: &impl Serialize,
    ) -> Result<Option<Told>, Failure> {
        let mut ask = self.ask(Method::POST, path, "application/json")?;
        ask.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        ask.headers.insert("idempotency-key", HeaderValue::try_from(key)?);
        ask.body = serde_json::to_vec(body)?.into();
        let mut lost = false;
        while !self.over.is_cancelled() {
            match self.outgoing.send(ask.clone()).await {
                Ok(answer) if answer.status() != StatusCode::SERVICE_UNAVAILABLE => {
                    if lost {
                        self.ledger.noted().sent_again += 1;
                    }
                    return Ok(Some(told(answer)));
                }
                Ok(_) => {}
                Err(OutgoingError::Refused { .. }) => {}
                Err(_) => lost = true,
            }
            tokio::time::sleep(AGAIN).await;
        }
        Ok(None)
    }

    /// Asks for something with the typed client until there is an answer. None when it is over, or
    /// when the server refuses.
    pub(super) async fn read<T, F: Future<Output = Result<T, ClientError>>>(
        &self,
        what: impl Fn(Client) -> F,
    ) -> Option<T> {
        while !self.over.is_cancelled() {
            match what(self.client.clone()).await {
                Ok(read) => return Some(read),
                Err(ClientError::Problem(problem)) if problem.status() < 500 => return None,
                Err(ClientError::Problem(problem)) if problem.status() != 503 => {
                    self.ledger.noted().complaints.push(problem.to_string());
                    return None;
                }
                Err(_) => tokio::time::sleep(AGAIN).await,
            }
        }
        None
    }

    /// Reads the body of an answer, letter for letter.
    pub(super) async fn text(&self, path: &str) -> Result<Bytes, Failure> {
        let ask = self.ask(Method::GET, path, "application/json")?;
        let answer = self.outgoing.send(ask).await?;
        if !answer.status().is_success() {
            return Err(format!("GET {path}: {}", answer.status()).into());
        }
        Ok(answer.into_body())
    }

    /// Opens a stream, after this event.
    pub(super) async fn open(
        &self,
        path: &str,
        after: Option<u64>,
    ) -> Result<Response<Pieces>, Failure> {
        let mut ask = self.ask(Method::GET, path, "text/event-stream")?;
        if let Some(after) = after {
            ask.headers.insert(HeaderName::from_static("last-event-id"), HeaderValue::from(after));
        }
        Ok(self.outgoing.open(ask).await?)
    }

    pub(super) const fn over(&self) -> &CancellationToken {
        &self.over
    }
}

fn told(answer: Response<Bytes>) -> Told {
    Told { status: answer.status(), body: answer.into_body() }
}
