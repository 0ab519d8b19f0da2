//! Errors, as RFC 9457 has them.
//!
//! Whatever goes wrong with a request, its answer is `application/problem+json` with a `type` that
//! programs can tell apart and a `detail` that people can read. [`Kind`]s are constants; those here
//! belong to no part of the API in particular.

use std::borrow::Cow;
use std::error::Error;
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
#[cfg(feature = "openapi")]
use utoipa::openapi::{RefOr, Schema};

/// What the type of a problem begins with.
const TYPES: &str = "/problems/";

/// How long a detail may be, in characters.
const LONGEST_DETAIL: usize = 1000;

/// The media type of all errors.
pub(crate) const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// A kind of problem, which programs can tell from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The end of its type, as `already-answered`.
    pub slug: &'static str,
    /// What it is, in a few words, the same every time.
    pub title: &'static str,
    /// The status that goes with it.
    pub status: StatusCode,
}

impl Kind {
    /// A kind. The slug is part of the API: programs depend on it.
    #[must_use]
    pub const fn new(slug: &'static str, title: &'static str, status: StatusCode) -> Self {
        Self { slug, title, status }
    }
}

/// The request cannot be read.
pub const BAD_REQUEST: Kind =
    Kind::new("bad-request", "The request cannot be read", StatusCode::BAD_REQUEST);
/// The body is not JSON.
pub const NOT_JSON: Kind = Kind::new("not-json", "The body is not JSON", StatusCode::BAD_REQUEST);
/// The body is JSON of another shape than the request needs.
pub const BAD_BODY: Kind = Kind::new(
    "bad-body",
    "The body is not what this request needs",
    StatusCode::UNPROCESSABLE_ENTITY,
);
/// A parameter in the path or the query, or a header, is not what it should be.
pub const BAD_PARAMETER: Kind =
    Kind::new("bad-parameter", "A parameter is not what it should be", StatusCode::BAD_REQUEST);
/// The body is not said to be JSON.
pub const UNSUPPORTED_MEDIA_TYPE: Kind = Kind::new(
    "unsupported-media-type",
    "The body has to be JSON",
    StatusCode::UNSUPPORTED_MEDIA_TYPE,
);
/// Nobody has said who they are, or not with anything that is valid.
pub const NOT_SIGNED_IN: Kind =
    Kind::new("not-signed-in", "This needs a valid token", StatusCode::UNAUTHORIZED);
/// The token is valid, and not for this.
pub const SCOPE_TOO_LOW: Kind =
    Kind::new("scope-too-low", "The token is not allowed to do this", StatusCode::FORBIDDEN);
/// The request comes from a page of somebody else.
pub const FOREIGN_ORIGIN: Kind =
    Kind::new("foreign-origin", "The request comes from a foreign page", StatusCode::FORBIDDEN);
/// The request was meant for another server.
pub const FOREIGN_HOST: Kind = Kind::new(
    "foreign-host",
    "The request names a host that is not this server",
    StatusCode::MISDIRECTED_REQUEST,
);
/// There is nothing at this address.
pub const NOT_FOUND: Kind =
    Kind::new("not-found", "There is nothing at this address", StatusCode::NOT_FOUND);
/// What is at this address cannot do that.
pub const METHOD_NOT_ALLOWED: Kind = Kind::new(
    "method-not-allowed",
    "This address does not know the method",
    StatusCode::METHOD_NOT_ALLOWED,
);
/// The body is longer than the server takes.
pub const TOO_LARGE: Kind =
    Kind::new("too-large", "The body is too large", StatusCode::PAYLOAD_TOO_LARGE);
/// Too many tries with what is not valid.
pub const TOO_MANY_FAILURES: Kind = Kind::new(
    "too-many-failures",
    "Too many requests without a valid token",
    StatusCode::TOO_MANY_REQUESTS,
);
/// The answer did not begin in time.
pub const TOOK_TOO_LONG: Kind =
    Kind::new("took-too-long", "The request took too long", StatusCode::SERVICE_UNAVAILABLE);
/// Something that the server needs is not there now.
pub const UNAVAILABLE: Kind = Kind::new(
    "unavailable",
    "The server cannot do this at the moment",
    StatusCode::SERVICE_UNAVAILABLE,
);
/// A fault of the server.
pub const INTERNAL: Kind =
    Kind::new("internal", "The server has failed", StatusCode::INTERNAL_SERVER_ERROR);

/// Why a request was not done.
#[derive(Clone, Debug)]
#[must_use = "return it as the answer"]
pub struct Problem(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    kind: Kind,
    detail: Option<Cow<'static, str>>,
    members: Map<String, Value>,
    headers: HeaderMap,
}

impl Problem {
    /// A problem of this kind.
    pub fn new(kind: Kind) -> Self {
        let mut headers = HeaderMap::new();
        if kind.status == StatusCode::UNAUTHORIZED {
            headers
                .insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"countersign\""));
        }
        Self(Box::new(Inner { kind, detail: None, members: Map::new(), headers }))
    }

    /// A fault of the server. What it was goes to the log and not to whoever asked.
    pub fn internal(error: &(dyn Error + 'static)) -> Self {
        tracing::error!(error = chain(error), "a request failed");
        Self::new(INTERNAL)
    }

    /// Something that the server needs is not there now. What it was goes to the log.
    pub fn unavailable(error: &(dyn Error + 'static)) -> Self {
        tracing::error!(error = chain(error), "a request could not be done");
        Self::new(UNAVAILABLE)
    }

    /// What it is this time, and what to do about it.
    pub fn detail(mut self, detail: impl Into<Cow<'static, str>>) -> Self {
        let mut detail = detail.into();
        // Some say again what was sent, and that may be long.
        if let Some((end, _)) = detail.char_indices().nth(LONGEST_DETAIL) {
            let cut = detail.get(..end).unwrap_or_default();
            detail = format!("{cut}…").into();
        }
        self.0.detail = Some(detail);
        self
    }

    /// One more member of the object. The members that every problem has cannot be replaced, and a
    /// value that cannot be written as JSON is left out.
    pub fn with(mut self, name: &str, value: impl Serialize) -> Self {
        let taken = ["type", "title", "status", "detail", "instance"].contains(&name);
        if let Ok(value) = serde_json::to_value(value)
            && !taken
        {
            self.0.members.insert(name.to_owned(), value);
        }
        self
    }

    /// One more header of the answer.
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers.insert(name, value);
        self
    }

    /// When to try again, to the second and not too early.
    pub fn retry_after(self, time: Duration) -> Self {
        let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
        self.header(RETRY_AFTER, HeaderValue::from(seconds.max(1)))
    }

    /// What kind of problem it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    fn body(&self) -> Body {
        Body {
            kind: format!("{TYPES}{}", self.0.kind.slug),
            title: self.0.kind.title.to_owned(),
            status: self.0.kind.status.as_u16(),
            detail: self.0.detail.as_deref().map(str::to_owned),
            members: self.0.members.clone(),
        }
    }
}

/// An error with all that led to it.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let said = error.to_string();
        // Some errors include the text of their cause.
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        source = error.source();
    }
    text
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        // Only strings, a number and values that are JSON already: it cannot fail.
        let body = serde_json::to_vec(&self.body()).unwrap_or_default();
        let mut response = (self.0.kind.status, self.0.headers, body).into_response();
        response.headers_mut().insert(CONTENT_TYPE, PROBLEM_JSON);
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

/// Why a request was not done. The type tells programs what it was; further members depend on it.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct Body {
    /// The kind of problem, as `/problems/not-found`.
    #[serde(rename = "type")]
    kind: String,
    /// What it is, in a few words, the same every time.
    title: String,
    /// The status of the answer.
    status: u16,
    /// What it is this time, and what to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    detail: Option<String>,
    /// What else there is to say.
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::BTreeMap<String, Value>))]
    members: Map<String, Value>,
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for Problem {
    fn schema() -> RefOr<Schema> {
        <Body as utoipa::PartialSchema>::schema()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for Problem {
    fn name() -> Cow<'static, str> {
        "Problem".into()
    }
}

/// The kind that goes with a status, for answers that were not made as problems.
pub(crate) fn kind_of(status: StatusCode) -> Kind {
    match status {
        StatusCode::UNAUTHORIZED => NOT_SIGNED_IN,
        StatusCode::FORBIDDEN => SCOPE_TOO_LOW,
        StatusCode::NOT_FOUND => NOT_FOUND,
        StatusCode::METHOD_NOT_ALLOWED => METHOD_NOT_ALLOWED,
        StatusCode::PAYLOAD_TOO_LARGE => TOO_LARGE,
        StatusCode::UNSUPPORTED_MEDIA_TYPE => UNSUPPORTED_MEDIA_TYPE,
        StatusCode::UNPROCESSABLE_ENTITY => BAD_BODY,
        StatusCode::SERVICE_UNAVAILABLE => TOOK_TOO_LONG,
        _ if status.is_client_error() => Kind::new(BAD_REQUEST.slug, BAD_REQUEST.title, status),
        _ => Kind::new(INTERNAL.slug, INTERNAL.title, status),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::response::IntoResponse as _;
    use http_body_util::BodyExt as _;
    use serde_json::{Value, json};
    use utoipa::PartialSchema as _;

    use super::{NOT_FOUND, NOT_SIGNED_IN, Problem, TOO_MANY_FAILURES};

    async fn shown(problem: Problem) -> (http::response::Parts, Value) {
        let (parts, body) = problem.into_response().into_parts();
        (parts, serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap())
    }

    #[tokio::test]
    async fn a_problem_is_an_object_that_says_what_is_wrong() {
        let problem = Problem::new(NOT_FOUND)
            .detail("there is no session 7")
            .with("session", 7)
            .with("status", "a member that is taken");
        let (parts, body) = shown(problem).await;
        assert_eq!(parts.status, 404);
        assert_eq!(parts.headers["content-type"], "application/problem+json");
        assert_eq!(
            body,
            json!({
                "type": "/problems/not-found",
                "title": "There is nothing at this address",
                "status": 404,
                "detail": "there is no session 7",
                "session": 7,
            })
        );
    }

    #[tokio::test]
    async fn what_was_sent_is_not_said_again_at_length() {
        let problem = Problem::new(NOT_FOUND).detail("ä".repeat(5000));
        let (_, body) = shown(problem).await;
        assert_eq!(body["detail"], format!("{}…", "ä".repeat(1000)));
    }

    #[tokio::test]
    async fn what_failed_inside_is_not_told() {
        let error = std::io::Error::other("disk /dev/sda1 of hunter2 is full");
        let (parts, body) = shown(Problem::internal(&error)).await;
        assert_eq!(parts.status, 500);
        assert_eq!(
            body,
            json!({"type": "/problems/internal", "title": "The server has failed", "status": 500})
        );
    }

    #[tokio::test]
    async fn headers_say_what_to_do() {
        let (parts, _) = shown(Problem::new(NOT_SIGNED_IN)).await;
        assert_eq!(parts.headers["www-authenticate"], "Bearer realm=\"countersign\"");
        for (time, seconds) in [(0, "1"), (1, "1"), (1001, "2"), (3000, "3")] {
            let problem = Problem::new(TOO_MANY_FAILURES).retry_after(Duration::from_millis(time));
            assert_eq!(shown(problem).await.0.headers["retry-after"], seconds);
        }
    }

    #[test]
    fn its_schema_allows_further_members() {
        let schema = serde_json::to_value(Problem::schema()).unwrap();
        assert_eq!(schema["required"], json!(["type", "title", "status"]), "{schema}");
        assert_ne!(schema["additionalProperties"], json!(false));
    }
}
