//! One request: sent, sent again where that does no harm, and its answer read.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

use super::error::{ClientError, Problem};
use super::{Client, Inner};
use crate::outgoing::{Ask, OutgoingError};

/// The header by which the server knows a command that comes again.
const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// How long is waited before something is tried again: at first, and at most.
pub(super) const BACK_OFF: (Duration, Duration) =
    (Duration::from_millis(250), Duration::from_secs(5));

/// The longest time that the server may tell us to wait. If it is longer, whoever asks is told.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// A request to be made.
pub(super) struct Call {
    method: Method,
    path: String,
    query: Vec<(String, String)>,
    body: Option<Bytes>,
    again: Again,
}

/// What becomes of a request whose answer was lost.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Again {
    /// It is made again: it changes nothing, or the server knows it by its key.
    Yes,
    /// It is made again, and when there is nothing left to be done, it was done before.
    UntilGone,
    /// It is not made again: it would be done twice.
    No,
}

impl Call {
    fn new(method: Method, path: impl Into<String>, again: Again) -> Self {
        Self { method, path: path.into(), query: Vec::new(), body: None, again }
    }

    /// Asks for something.
    pub(super) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path, Again::Yes)
    }

    /// Wants something done, once.
    pub(super) fn command(method: Method, path: impl Into<String>) -> Self {
        Self::new(method, path, Again::Yes)
    }

    /// Wants something gone.
    pub(super) fn delete(path: impl Into<String>) -> Self {
        Self::new(Method::DELETE, path, Again::UntilGone)
    }

    /// Wants something done that the server would do again if it were asked again.
    pub(super) fn only_once(path: impl Into<String>) -> Self {
        Self::new(Method::POST, path, Again::No)
    }

    /// What exactly is asked for: an object whose members are texts, numbers and switches.
    pub(super) fn query(mut self, wanted: &impl Serialize) -> Result<Self, ClientError> {
        let wanted = serde_json::to_value(wanted).map_err(unwritable)?;
        let members = wanted.as_object().into_iter().flatten();
        self.query = members
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| match value {
                Value::String(text) => (name.clone(), text.clone()),
                other => (name.clone(), other.to_string()),
            })
            .collect();
        Ok(self)
    }

    /// Puts what is asked for into a request.
    pub(super) fn put_into(&self, ask: &mut Ask) {
        if !self.query.is_empty() {
            ask.url.query_pairs_mut().extend_pairs(&self.query);
        }
    }

    /// What exactly is wanted.
    pub(super) fn body(mut self, body: &impl Serialize) -> Result<Self, ClientError> {
        self.body = Some(serde_json::to_vec(body).map_err(unwritable)?.into());
        Ok(self)
    }
}

fn unwritable(source: serde_json::Error) -> ClientError {
    ClientError::Unreadable { what: "a question that was to be sent", source }
}

impl Client {
    /// Makes a request, and reads what came of it.
    pub(super) async fn call<T: DeserializeOwned>(&self, call: Call) -> Result<T, ClientError> {
        let (outcome, _) = self.perform(call).await;
        let answer = read(outcome?)?;
        serde_json::from_slice(answer.body())
            .map_err(|source| ClientError::Unreadable { what: "an answer", source })
    }

    /// Makes a request of which nothing more comes than that it was done.
    pub(super) async fn done(&self, call: Call) -> Result<(), ClientError> {
        let until_gone = call.again == Again::UntilGone;
        let (outcome, lost) = self.perform(call).await;
        let answer = outcome?;
        if until_gone && lost && answer.status() == StatusCode::NOT_FOUND {
            // It was us, and the answer that said so was lost.
            return Ok(());
        }
        read(answer).map(drop)
    }

    /// Makes a request until there is an answer that counts, and says whether one was lost before.
    async fn perform(&self, call: Call) -> (Result<Response<Bytes>, OutgoingError>, bool) {
        let inner = &*self.0;
        let mut tries = Tries::new(if call.again == Again::No { 0 } else { inner.retries });
        let ask = inner.ask(call);
        loop {
            let outcome = inner.outgoing.send(ask.clone()).await;
            match tries.wait_after(&outcome) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return (outcome, tries.lost),
            }
        }
    }
}

/// How often something was tried, and whether it is tried again.
struct Tries {
    left: u32,
    wait: Duration,
    /// Whether the server was there.
    was_there: bool,
    /// Whether an answer was lost: what was asked for may have been done.
    lost: bool,
}

impl Tries {
    const fn new(left: u32) -> Self {
        Self { left, wait: BACK_OFF.0, was_there: false, lost: false }
    }

    /// How long to wait before it is tried again; none if it is not.
    fn wait_after(&mut self, outcome: &Result<Response<Bytes>, OutgoingError>) -> Option<Duration> {
        let wait = match outcome {
            Ok(answer) if answer.status() == StatusCode::SERVICE_UNAVAILABLE => {
                self.was_there = true;
                retry_after(answer.headers()).unwrap_or_else(|| jittered(self.wait))
            }
            Ok(_) => return None,
            Err(error) if error.may_pass() && error.may_have_arrived() => {
                (self.was_there, self.lost) = (true, true);
                jittered(self.wait)
            }
            // A server that was there a moment ago comes back. One that was not does not, most
            // likely, and whoever asks wants to know it at once.
            Err(error) if error.may_pass() && self.was_there => jittered(self.wait),
            Err(_) => return None,
        };
        if wait > LONGEST_WAIT {
            return None;
        }
        self.left = self.left.checked_sub(1)?;
        self.wait = (self.wait * 2).min(BACK_OFF.1);
        Some(wait)
    }
}

impl Inner {
    /// The request as it is sent, each time the same.
    fn ask(&self, call: Call) -> Ask {
        let mut ask = self.bare(call.method.clone(), &call.path, "application/json");
        call.put_into(&mut ask);
        if call.method != Method::GET {
            ask.headers.insert(KEY, key());
        }
        if let Some(body) = call.body {
            ask.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            ask.body = body;
        }
        ask
    }

    /// A request with what all requests have.
    pub(super) fn bare(&self, method: Method, path: &str, accept: &'static str) -> Ask {
        let mut url = self.base.clone();
        url.set_path(&format!("/api/v1{path}"));
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, self.token.clone());
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        Ask { method, url, headers, body: Bytes::new() }
    }
}

/// A key that no other command has.
fn key() -> HeaderValue {
    let key = Uuid::new_v4().to_string();
    // Digits and hyphens can stand in a header.
    HeaderValue::try_from(key).unwrap_or_else(|_| HeaderValue::from_static("-"))
}

/// An answer that is good, or why it is not.
fn read(answer: Response<Bytes>) -> Result<Response<Bytes>, ClientError> {
    if answer.status().is_success() {
        return Ok(answer);
    }
    Err(refusal(answer.status(), answer.headers(), answer.body()))
}

/// Why an answer is not good.
pub(super) fn refusal(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ClientError {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let status = status.as_u16();
    if !kind.starts_with("application/problem+json") {
        return ClientError::NotOurs { status, kind: kind.to_owned() };
    }
    match Problem::read(status, retry_after(headers), body) {
        Ok(problem) => ClientError::Problem(Box::new(problem)),
        Err(source) => ClientError::Unreadable { what: "a problem", source },
    }
}

/// How long the server wants us to wait.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// About this long, so that not everybody comes back at the same moment.
pub(super) fn jittered(wait: Duration) -> Duration {
    let [byte, ..] = *Uuid::new_v4().as_bytes();
    wait.mul_f64(0.75 + f64::from(byte) / 512.0)
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::time::Duration;

    use bytes::Bytes;
    use http::Response;

    use super::{BACK_OFF, LONGEST_WAIT, Tries, jittered};
    use crate::outgoing::OutgoingError;

    type Outcome = Result<Response<Bytes>, OutgoingError>;

    fn lost() -> Outcome {
        Err(OutgoingError::TooSlow { at: "a".into(), within: Duration::ZERO })
    }

    fn refused() -> Outcome {
        let source = io::ErrorKind::ConnectionRefused.into();
        Err(OutgoingError::Refused { at: "a".into(), source })
    }

    fn answer(status: u16, wait: Option<u64>) -> Outcome {
        let mut response = Response::builder().status(status);
        if let Some(wait) = wait {
            response = response.header("retry-after", wait);
        }
        Ok(response.body(Bytes::new()).unwrap())
    }

    #[test]
    fn a_server_that_was_there_is_waited_for_while_it_restarts() {
        assert_eq!(Tries::new(5).wait_after(&refused()), None, "nobody was there");
        for before in [lost(), answer(503, Some(1))] {
            let mut tries = Tries::new(5);
            assert!(tries.wait_after(&before).is_some());
            assert!(tries.wait_after(&refused()).is_some());
        }
    }

    #[test]
    fn only_what_may_be_otherwise_the_next_time_is_tried_again() {
        for status in [200, 204, 302, 401, 404, 409, 422, 429, 500] {
            assert_eq!(Tries::new(5).wait_after(&answer(status, Some(1))), None, "{status}");
        }
        let too_large = Err(OutgoingError::TooLarge { at: "a".into(), most: 1 });
        assert_eq!(Tries::new(5).wait_after(&too_large), None);
    }

    #[test]
    fn it_is_tried_so_often_and_waited_for_longer_and_longer_within_bounds() {
        let mut tries = Tries::new(8);
        let waits: Vec<_> = std::iter::from_fn(|| tries.wait_after(&lost())).collect();
        assert_eq!(waits.len(), 8);
        let longest = BACK_OFF.1.mul_f64(1.25);
        assert!(waits.iter().all(|wait| *wait <= longest), "{waits:?}");
        assert!(waits.windows(3).all(|three| three[0] <= three[2].mul_f64(2.0)), "{waits:?}");
    }

    #[test]
    fn the_server_says_how_long_to_wait() {
        assert_eq!(Tries::new(1).wait_after(&answer(503, Some(7))), Some(Duration::from_secs(7)));
        assert!(Tries::new(1).wait_after(&answer(503, None)).is_some());
        let too_long = LONGEST_WAIT.as_secs() + 1;
        assert_eq!(Tries::new(1).wait_after(&answer(503, Some(too_long))), None);
    }

    #[test]
    fn not_everybody_waits_equally_long() {
        let waits: std::collections::HashSet<_> =
            (0..100).map(|_| jittered(Duration::from_secs(1))).collect();
        assert!(waits.len() > 10);
        assert!(waits.iter().all(|wait| (750..=1250).contains(&wait.as_millis())));
    }
}
