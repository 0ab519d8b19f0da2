//! Requests to somebody else: the small HTTP client that the client of the API and the webhooks share.
//!
//! HTTP/1.1, in the clear or over TLS. Connections are used again; everything has a limit: how long a
//! connection and an answer may take, how long an answer may be. Redirects are not followed and
//! proxies are not used, so a request goes to the address it was made for and to no other.

mod connect;
mod error;
mod pool;

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Incoming};
use tokio::time::Instant;
use url::Url;

use self::connect::{Dialer, Origin, Sender};
pub(crate) use self::connect::{certificates, is_this_machine, roots_of_the_system};
pub use self::error::{OutgoingError, RootsError};
use self::pool::Pool;

/// What this program calls itself.
const AGENT: &str = concat!("countersign/", env!("CARGO_PKG_VERSION"));

/// What requests may take, and who is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// How long it may take to be connected.
    pub connect: Duration,
    /// How long an answer may take: all of it, or the beginning of one that is read piece by piece.
    pub answer: Duration,
    /// How long there may be nothing new in an answer that is read piece by piece.
    pub silence: Duration,
    /// How long an answer may be that is read at once, in bytes.
    pub body: usize,
    /// How long a connection is kept that nobody uses.
    pub keep: Duration,
    /// A PEM file with certificates that are trusted besides those that the system trusts: of an
    /// authority of one's own, or of a server that has signed its certificate itself.
    pub ca_file: Option<PathBuf>,
    /// Where every connection goes, whatever host is named: that one is then only what the
    /// certificate has to be for, and is looked up nowhere.
    pub connect_to: Option<SocketAddr>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            answer: Duration::from_secs(60),
            silence: Duration::from_secs(60),
            body: 64 << 20,
            keep: Duration::from_secs(20),
            ca_file: None,
            connect_to: None,
        }
    }
}

/// A request.
#[derive(Clone)]
pub struct Ask {
    /// What is done.
    pub method: Method,
    /// Where.
    pub url: Url,
    /// The headers; `Host` and what describes the body are added.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl fmt::Debug for Ask {
    /// Without what may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Ask");
        shown.field("method", &self.method).field("host", &self.url.host_str());
        shown.finish_non_exhaustive()
    }
}

/// Sends requests. Copies share their connections.
#[derive(Clone)]
pub struct Outgoing(Arc<Inner>);

struct Inner {
    dialer: Dialer,
    pool: Pool,
    limits: Limits,
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing").field("limits", &self.0.limits).finish_non_exhaustive()
    }
}

impl Outgoing {
    /// Somebody who sends requests within these limits.
    ///
    /// # Errors
    ///
    /// The file with certificates cannot be used.
    pub fn new(limits: Limits) -> Result<Self, RootsError> {
        let dialer = Dialer::new(&limits)?;
        let pool = Pool::new(limits.keep);
        Ok(Self(Arc::new(Inner { dialer, pool, limits })))
    }

    /// Looks whether an address is one that could be called, without calling it.
    ///
    /// # Errors
    ///
    /// It is not.
    pub fn check(url: &Url) -> Result<(), OutgoingError> {
        Origin::of(url).map(drop)
    }

    /// Sends a request and reads the whole answer, whatever its status.
    ///
    /// # Errors
    ///
    /// There is no answer, or none that was read in time and to its end.
    pub async fn send(&self, ask: Ask) -> Result<Response<Bytes>, OutgoingError> {
        let to = Origin::of(&ask.url)?;
        let at = to.to_string();
        let within = self.0.limits.answer;
        let read = async {
            let (response, sender) = self.0.begin(&to, &ask).await?;
            let (parts, body) = response.into_parts();
            let body = read(body, &at, self.0.limits.body).await?;
            self.0.pool.put(to.clone(), sender);
            Ok(Response::from_parts(parts, body))
        };
        let read = tokio::time::timeout(within, read).await;
        read.unwrap_or_else(|_| Err(OutgoingError::TooSlow { at, within }))
    }

    /// Sends a request and gives the answer piece by piece.
    ///
    /// # Errors
    ///
    /// There is no answer, or its beginning was not there in time.
    pub async fn open(&self, ask: Ask) -> Result<Response<Pieces>, OutgoingError> {
        let to = Origin::of(&ask.url)?;
        let at = to.to_string();
        let within = self.0.limits.answer;
        let begun = tokio::time::timeout(within, self.0.begin(&to, &ask)).await;
        let Ok(begun) = begun else { return Err(OutgoingError::TooSlow { at, within }) };
        let (response, sender) = begun?;
        let silence = self.0.limits.silence;
        let until = Instant::now() + silence;
        Ok(response.map(|body| Pieces { body, at, silence, until, within, _sender: sender }))
    }
}

impl Inner {
    /// Sends a request and gives the answer, with the connection that it comes over.
    async fn begin(
        &self,
        to: &Origin,
        ask: &Ask,
    ) -> Result<(Response<Incoming>, Sender), OutgoingError> {
        let lost = |source| OutgoingError::Lost { at: to.to_string(), source };
        let mut request = request(ask)?;
        while let Some(mut sender) = self.pool.take(to).await {
            match sender.try_send_request(request).await {
                Ok(response) => return Ok((response, sender)),
                // The connection had ended, and nothing of the request was sent: another one will do.
                Err(mut error) => match error.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(lost(error.into_error())),
                },
            }
        }
        let mut sender = self.dialer.dial(to).await?;
        let response = sender.send_request(request).await.map_err(lost)?;
        Ok((response, sender))
    }
}

/// The request as it is written.
fn request(ask: &Ask) -> Result<Request<Full<Bytes>>, OutgoingError> {
    let wrong = |why| OutgoingError::Address { why };
    let mut path = ask.url.path().to_owned();
    if let Some(query) = ask.url.query() {
        path.push('?');
        path.push_str(query);
    }
    let name = ask.url.host_str().unwrap_or_default();
    // A port that the scheme has anyway is not named.
    let host = ask.url.port().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"));
    let host = HeaderValue::try_from(host).map_err(|_| wrong("its host cannot be written"))?;
    let mut request = Request::new(Full::new(ask.body.clone()));
    *request.method_mut() = ask.method.clone();
    *request.uri_mut() = path.parse().map_err(|_| wrong("its path cannot be written"))?;
    let headers = request.headers_mut();
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    headers.extend(ask.headers.clone());
    headers.insert(HOST, host);
    Ok(request)
}

/// Reads an answer to its end.
async fn read(mut body: Incoming, at: &str, most: usize) -> Result<Bytes, OutgoingError> {
    let too_large = || OutgoingError::TooLarge { at: at.to_owned(), most };
    if body.size_hint().lower() > u64::try_from(most).unwrap_or(u64::MAX) {
        return Err(too_large());
    }
    let mut whole = BytesMut::new();
    while let Some(piece) = next(&mut body, at).await? {
        if whole.len() + piece.len() > most {
            return Err(too_large());
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.freeze())
}

/// The next piece of an answer; none at its end.
async fn next(body: &mut Incoming, at: &str) -> Result<Option<Bytes>, OutgoingError> {
    loop {
        let Some(frame) = body.frame().await else { return Ok(None) };
        let frame = frame.map_err(|source| OutgoingError::Lost { at: at.to_owned(), source })?;
        // What is no data is a trailer, which nobody asked for.
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
}

/// An answer that is read piece by piece. Its connection ends when this is dropped.
pub struct Pieces {
    body: Incoming,
    at: String,
    silence: Duration,
    /// When it has been silent for too long. It is kept here, so that a reader who looks again and
    /// again notices it as well.
    until: Instant,
    within: Duration,
    _sender: Sender,
}

impl Pieces {
    /// The next piece; none at the end. It can be dropped while it waits, and nothing is lost.
    ///
    /// # Errors
    ///
    /// The connection was lost, or nothing new came for too long.
    pub async fn next(&mut self) -> Result<Option<Bytes>, OutgoingError> {
        let within = self.silence;
        let piece = tokio::time::timeout_at(self.until, next(&mut self.body, &self.at)).await;
        let Ok(piece) = piece else {
            return Err(OutgoingError::Silent { at: self.at.clone(), within });
        };
        self.until = Instant::now() + within;
        piece
    }

    /// Reads what is left, if it is not more than this and does not take longer than an answer may.
    ///
    /// # Errors
    ///
    /// It is more, or takes longer, or the connection was lost.
    pub async fn rest(self, most: usize) -> Result<Bytes, OutgoingError> {
        let Self { body, at, within, .. } = self;
        match tokio::time::timeout(within, read(body, &at, most)).await {
            Ok(whole) => whole,
            Err(_) => Err(OutgoingError::TooSlow { at, within }),
        }
    }
}

impl fmt::Debug for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pieces").field("at", &self.at).finish_non_exhaustive()
    }
}
