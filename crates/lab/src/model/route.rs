//! From a request to its response.

use std::convert::Infallible;
use std::future;
use std::sync::Arc;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};

use super::events::{self, Events};
use super::exchange::{Exchange, Shared};
use super::log::{End, LoggedRequest};
use super::reply::{Reply, Stream};
use super::wire::Fate;
use crate::script::{self, Answer, ApiError, Ending};

/// Answers one request.
pub(super) async fn handle(
    shared: Arc<Shared>,
    fate: Fate,
    request: Request<Incoming>,
) -> Result<Response<Reply>, Infallible> {
    let (parts, body) = request.into_parts();
    let read = read(body, shared.body_limit).await;
    let length = read.as_ref().map_or_else(|refused| refused.length, Vec::len);
    let logged = LoggedRequest::new(shared.now(), &parts, length);
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(refused) => {
            let (exchange, ()) = Exchange::begin(&shared, logged, |_, _| ());
            return Ok(refuse(&refused, shared.body_limit, exchange));
        }
    };
    let path = parts.uri.path();
    match (&parts.method, path.strip_prefix("/v1/")) {
        (&Method::POST, Some("messages")) => Ok(messages(&shared, fate, logged, &bytes).await),
        (&Method::POST, Some("messages/count_tokens")) => {
            // As good a guess as any: about four bytes a token.
            Ok(plain(&shared, logged, &bytes, |_| json!({"input_tokens": length / 4})))
        }
        (&Method::GET, Some("models")) => Ok(plain(&shared, logged, &bytes, |asked| {
            let models: Vec<_> = asked.iter().map(|id| model(id)).collect();
            let (first, last) = (asked.first(), asked.last());
            json!({"data": models, "has_more": false, "first_id": first, "last_id": last})
        })),
        (&Method::GET, Some(other)) if other.starts_with("models/") => {
            let id = other.trim_start_matches("models/");
            Ok(plain(&shared, logged, &bytes, |_| model(id)))
        }
        (&Method::HEAD, _) => {
            let (exchange, ()) = Exchange::begin(&shared, logged, |_, _| ());
            Ok(response(StatusCode::OK, Vec::new(), End::Complete, exchange))
        }
        _ => Ok(plain(&shared, logged, &bytes, |_| json!({}))),
    }
}

/// The length of a body that is not taken, and why it is not.
struct Refused {
    length: usize,
    reason: Refusal,
}

enum Refusal {
    TooLong,
    /// The client went away before the end of it.
    BrokenOff,
}

/// What is read of a body that is too long. Whoever sends even more does not hear why it is refused.
const PATIENCE: usize = 1_000_000_000;

/// Reads a body. One that is too long is read to its end, so that the client hears why it is
/// refused, but it is not kept.
async fn read(mut body: Incoming, limit: usize) -> Result<Vec<u8>, Refused> {
    let mut bytes = Vec::new();
    let mut length = 0_usize;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            return Err(Refused { length, reason: Refusal::BrokenOff });
        };
        let Some(data) = frame.data_ref() else { continue };
        length = length.saturating_add(data.len());
        if length <= limit {
            bytes.extend_from_slice(data);
        } else {
            bytes = Vec::new();
        }
        if length > limit.saturating_add(PATIENCE) {
            break;
        }
    }
    if length <= limit { Ok(bytes) } else { Err(Refused { length, reason: Refusal::TooLong }) }
}

/// Says why a body is not taken.
fn refuse(refused: &Refused, limit: usize, mut exchange: Exchange) -> Response<Reply> {
    let length = refused.length;
    match refused.reason {
        Refusal::TooLong => {
            let message = format!("the body has {length} bytes; this server takes at most {limit}");
            error(&ApiError::new(413).message(message), exchange)
        }
        Refusal::BrokenOff => {
            exchange.end(End::ClientGone);
            let message = format!("the body of the request breaks off after {length} bytes");
            error(&ApiError::new(400).message(message), exchange)
        }
    }
}

/// Answers the model's part.
async fn messages(
    shared: &Arc<Shared>,
    fate: Fate,
    logged: LoggedRequest,
    bytes: &[u8],
) -> Response<Reply> {
    let body: Value = match serde_json::from_slice(bytes) {
        Ok(body) => body,
        Err(problem) => {
            let (exchange, ()) = Exchange::begin(shared, logged, |_, _| ());
            let message = format!("the body of the request is not JSON: {problem}");
            return error(&ApiError::new(400).message(message), exchange);
        }
    };
    let asked = script::Request::new(&body);
    let wants_stream = asked.wants_stream();
    let model = asked.model().to_owned();
    let (exchange, answer) = Exchange::begin(shared, logged, |logged, state| {
        let played = state.player.play(&body);
        logged.kind = Some(played.kind);
        logged.by = Some(played.by);
        logged.body = body;
        played.answer
    });
    if !answer.delay.is_zero() {
        tokio::time::sleep(answer.delay).await;
    }
    let id = format!("msg_{}{:04}", shared.nonce, exchange.number());
    match &answer.ending {
        Ending::Error(refusal) => error(refusal, exchange),
        Ending::Reset => {
            fate.reset();
            broken_off(exchange, End::Reset).await
        }
        _ if wants_stream => stream(answer, &id, &model, fate, exchange),
        Ending::StreamError { error: refusal, .. } => error(refusal, exchange),
        Ending::Cut { .. } => {
            fate.close();
            broken_off(exchange, End::Cut).await
        }
        // Held until the client leaves, or the server stops.
        Ending::Hang { .. } => silence(exchange).await,
        Ending::Complete => {
            let message = events::whole(&answer, &id, &model);
            response(StatusCode::OK, message.to_string().into_bytes(), End::Complete, exchange)
        }
    }
}

/// No response: the connection is about to end.
async fn broken_off(mut exchange: Exchange, end: End) -> Response<Reply> {
    exchange.end(end);
    silence(exchange).await
}

/// No response, as long as somebody waits for one.
async fn silence(exchange: Exchange) -> Response<Reply> {
    let _exchange = exchange;
    future::pending().await
}

fn stream(
    answer: Answer,
    id: &str,
    model: &str,
    fate: Fate,
    exchange: Exchange,
) -> Response<Reply> {
    let request_id = request_id(&exchange);
    let (pace, ending) = (answer.pace, answer.ending.clone());
    let stream = Stream::new(Events::new(answer, id, model), pace, ending, fate, exchange);
    let mut response = Response::new(Reply::Stream(Box::new(stream)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.extend(request_id.map(|id| (REQUEST_ID, id)));
    response
}

/// Something beside the model: `answer` makes JSON of the models that were asked for so far.
fn plain(
    shared: &Arc<Shared>,
    logged: LoggedRequest,
    bytes: &[u8],
    answer: impl FnOnce(&[String]) -> Value,
) -> Response<Reply> {
    let (exchange, answer) = Exchange::begin(shared, logged, |logged, state| {
        logged.body = serde_json::from_slice(bytes).unwrap_or_default();
        answer(&state.log.models())
    });
    response(StatusCode::OK, answer.to_string().into_bytes(), End::Complete, exchange)
}

fn model(id: &str) -> Value {
    json!({"type": "model", "id": id, "display_name": id, "created_at": "2025-01-01T00:00:00Z"})
}

/// An error in the order of the real API, because the CLI shows it to people as it stands.
#[derive(Serialize)]
struct ErrorBody<'a> {
    r#type: &'static str,
    error: ErrorDetails<'a>,
    request_id: Option<&'a str>,
}

#[derive(Serialize)]
struct ErrorDetails<'a> {
    r#type: &'a str,
    message: &'a str,
}

fn error(refusal: &ApiError, exchange: Exchange) -> Response<Reply> {
    let request_id = request_id(&exchange);
    let body = ErrorBody {
        r#type: "error",
        error: ErrorDetails { r#type: &refusal.kind, message: &refusal.message },
        request_id: request_id.as_ref().and_then(|id| id.to_str().ok()),
    };
    // Strings can always be written.
    let body = serde_json::to_vec(&body).unwrap_or_default();
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let end = End::Error(status.as_u16());
    let mut response = response(status, body, end, exchange);
    if let Some(seconds) = refusal.retry_after {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

const REQUEST_ID: hyper::header::HeaderName = hyper::header::HeaderName::from_static("request-id");

fn request_id(exchange: &Exchange) -> Option<HeaderValue> {
    HeaderValue::from_str(&format!("req_lab{:016}", exchange.number())).ok()
}

fn response(status: StatusCode, body: Vec<u8>, end: End, exchange: Exchange) -> Response<Reply> {
    let request_id = request_id(&exchange);
    let mut response = Response::new(Reply::whole(body, end, exchange));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.extend(request_id.map(|id| (REQUEST_ID, id)));
    response
}
