//! Commands that can be sent again.
//!
//! A client that does not know whether a command arrived sends it again, with the same
//! `Idempotency-Key`. The server does it once and gives the same answer. The same key with another
//! command is a mistake, which the [`Fingerprint`] shows. Keys belong to whoever sent them: keep them
//! together with the token.

use std::fmt;

use axum::extract::{FromRequest, FromRequestParts, OptionalFromRequestParts, Request};
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderName, Method, StatusCode, Uri};
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use super::extract::{Object, of_body};
use super::problem::{self, Kind, Problem};

/// The header.
pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The longest key.
pub const LONGEST_KEY: usize = 255;

/// A key that was used for another command.
pub const KEY_REUSED: Kind = Kind::new(
    "key-reused",
    "The idempotency key was used for another command",
    StatusCode::UNPROCESSABLE_ENTITY,
);

/// A name that a client gives to a command: 1 to 255 visible characters of ASCII.
///
/// As an extractor it is needed; as an `Option` it is not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// The key, if the text can be one.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        ((1..=LONGEST_KEY).contains(&text.len()) && visible).then(|| Self(text.to_owned()))
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<S: Send + Sync> OptionalFromRequestParts<S> for IdempotencyKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>, Problem> {
        let mut all = parts.headers.get_all(IDEMPOTENCY_KEY).iter();
        let Some(first) = all.next() else { return Ok(None) };
        let key = first.to_str().ok().and_then(Self::new).filter(|_| all.next().is_none());
        let wrong = || {
            Problem::new(problem::BAD_PARAMETER).detail(
                "an Idempotency-Key has 1 to 255 visible characters, and there is one of it",
            )
        };
        key.map(Some).ok_or_else(wrong)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let key = <Self as OptionalFromRequestParts<S>>::from_request_parts(parts, state).await?;
        key.ok_or_else(|| {
            Problem::new(problem::BAD_PARAMETER)
                .detail("this command needs an Idempotency-Key, so that it can be sent again")
        })
    }
}

/// Tells a command from others: the SHA-256 of its method, its address and its body.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The fingerprint of a command.
    #[must_use]
    pub fn of(method: &Method, uri: &Uri, body: &[u8]) -> Self {
        let mut hash = Sha256::new();
        let address = uri.path_and_query().map_or("", |address| address.as_str());
        for part in [method.as_str().as_bytes(), address.as_bytes(), body] {
            // With their lengths, so that no part can look like the end of another.
            hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    /// The fingerprint, to be kept.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// A fingerprint that was kept.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fingerprint(")?;
        self.0.iter().take(4).try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str("…)")
    }
}

/// A command: a body of JSON, with its key and its fingerprint.
///
/// An empty body is read as `{}`, so that a command without parameters needs none.
#[derive(Clone, Debug)]
pub struct Command<T> {
    /// What is to be done.
    pub body: T,
    /// What the client calls it, if it wants to be able to send it again.
    pub key: Option<IdempotencyKey>,
    /// What it is told from others by.
    pub fingerprint: Fingerprint,
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Command<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let key =
            <IdempotencyKey as OptionalFromRequestParts<S>>::from_request_parts(&mut parts, state)
                .await?;
        let (method, uri) = (parts.method.clone(), parts.uri.clone());
        let headers = parts.headers.clone();
        let bytes = Bytes::from_request(Request::from_parts(parts, body), state).await;
        let bytes = bytes.map_err(|rejection| {
            Problem::new(of_body(rejection.status())).detail(rejection.body_text())
        })?;
        let fingerprint = Fingerprint::of(&method, &uri, &bytes);
        let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        // What a form of a foreign page could send is not JSON by its type.
        if !bytes.is_empty() && !is_json(&headers) {
            return Err(Problem::new(problem::UNSUPPORTED_MEDIA_TYPE)
                .detail("send it with `Content-Type: application/json`"));
        }
        let Object(body) = serde_json::from_slice(text).map_err(|error| {
            let kind = if error.is_data() { problem::BAD_BODY } else { problem::NOT_JSON };
            Problem::new(kind).detail(error.to_string())
        })?;
        Ok(Self { body, key, fingerprint })
    }
}

fn is_json(headers: &http::HeaderMap) -> bool {
    let said = headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    said.is_some_and(|said| {
        let kind = said.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
    })
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::extract::{FromRequest as _, Request};
    use http::{Method, Uri};
    use serde::Deserialize;

    use super::{Command, Fingerprint, IdempotencyKey};

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(default, deny_unknown_fields)]
    struct Rename {
        title: String,
    }

    async fn read(keys: &[&str], kind: &str, body: &str) -> Result<Command<Rename>, u16> {
        let mut request = Request::post("/rename");
        for key in keys {
            request = request.header("idempotency-key", *key);
        }
        if !kind.is_empty() {
            request = request.header("content-type", kind);
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        Command::from_request(request, &()).await.map_err(|problem| problem.kind().status.as_u16())
    }

    const JSON: &str = "application/json";

    #[tokio::test]
    async fn a_command_may_have_a_key() {
        let command = read(&["a-1"], JSON, r#"{"title":"b"}"#).await.unwrap();
        assert_eq!(command.body, Rename { title: "b".into() });
        assert_eq!(command.key.unwrap().as_str(), "a-1");
        assert_eq!(read(&[], JSON, "{}").await.unwrap().key, None);
    }

    #[tokio::test]
    async fn a_command_without_a_body_has_no_parameters() {
        assert_eq!(read(&[], "", "").await.unwrap().body, Rename::default());
    }

    #[tokio::test]
    async fn what_is_not_a_key_or_not_json_is_refused() {
        let long = "a".repeat(256);
        for keys in [&[""][..], &["a b"], &["ä"], &[&long], &["a", "a"]] {
            assert_eq!(read(keys, JSON, "{}").await.unwrap_err(), 400, "{keys:?}");
        }
        assert!(read(&[&long[1..]], JSON, "{}").await.is_ok());
        assert_eq!(read(&[], "", "{}").await.unwrap_err(), 415);
        assert_eq!(read(&[], "text/plain", "{}").await.unwrap_err(), 415);
        assert_eq!(read(&[], JSON, "{").await.unwrap_err(), 400);
        assert_eq!(read(&[], JSON, r#"{"titel":"b"}"#).await.unwrap_err(), 422);
        assert!(read(&[], "Application/JSON; charset=utf-8", "{}").await.is_ok());
    }

    #[test]
    fn a_fingerprint_is_of_method_address_and_body() {
        let of = |method: Method, uri: &str, body: &str| {
            Fingerprint::of(&method, &uri.parse::<Uri>().unwrap(), body.as_bytes())
        };
        let one = of(Method::POST, "/a?b=c", "{}");
        assert_eq!(one, of(Method::POST, "/a?b=c", "{}"));
        assert_eq!(one, Fingerprint::from_bytes(*one.as_bytes()));
        for other in [
            of(Method::PUT, "/a?b=c", "{}"),
            of(Method::POST, "/a?b=d", "{}"),
            of(Method::POST, "/a", "?b=c{}"),
            of(Method::POST, "/a?b=c", "{ }"),
        ] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn a_key_is_visible() {
        assert!(IdempotencyKey::new("!~").is_some());
        assert!(IdempotencyKey::new("a\u{7f}").is_none());
        assert!(IdempotencyKey::new("a\n").is_none());
    }
}
