//! A client of the [API](crate::api), with its types.
//!
//! Every command carries a key that is made for it. When the connection is lost, or the server says that
//! it cannot do it now, the command is sent again *with the same key*, and the server carries it out
//! once: whoever calls [`Client::answer`] knows when it returns that the answer counts, or why not.
//!
//! ```no_run
//! use countersign_server::api::view::Part;
//! use countersign_server::client::Client;
//! use countersign_server::session::Answer;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::from_environment()?;
//! for approval in client.inbox(&Part::default()).await?.items {
//!     println!("{} wants to use {}", approval.session, approval.tool);
//!     client.answer(approval.id, Answer::deny("not today")).await?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! What happens is followed with [`Client::follow`] and its siblings, which reconnect by themselves.

mod approvals;
mod audit;
mod call;
mod environment;
mod error;
mod follow;
mod server;
mod sessions;
mod sse;

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use url::Url;

pub use self::audit::AuditExport;
pub use self::error::{ClientError, Problem, SetupError};
pub use self::follow::{Followed, Following};
pub use self::server::LoginLink;
use crate::outgoing::{Limits, Outgoing, is_this_machine};

/// A client of a server. Copies share their connections.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    base: Url,
    token: HeaderValue,
    outgoing: Outgoing,
    limits: Limits,
    retries: u32,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("server", &self.address()).finish_non_exhaustive()
    }
}

/// A client that is set up.
#[derive(Clone)]
#[must_use = "build it"]
pub struct Builder {
    server: String,
    token: String,
    limits: Limits,
    retries: u32,
    in_the_clear: bool,
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Client {
    /// A client of the server at this address, such as `http://127.0.0.1:7787`, with this token.
    ///
    /// # Errors
    ///
    /// The address or the token is none, or the token would go over the network in the clear.
    pub fn new(server: &str, token: &str) -> Result<Self, SetupError> {
        Self::builder(server, token).build()
    }

    /// A client that is set up first.
    pub fn builder(server: &str, token: &str) -> Builder {
        // Streams say something every 15 seconds.
        let limits = Limits { silence: Duration::from_secs(45), ..Limits::default() };
        let (server, token) = (server.to_owned(), token.to_owned());
        Builder { server, token, limits, retries: 8, in_the_clear: false }
    }

    /// Where the server is.
    #[must_use]
    pub fn address(&self) -> String {
        self.0.base.origin().ascii_serialization()
    }
}

impl Builder {
    /// A PEM file with certificates that are trusted besides those that the system trusts: of an
    /// authority of one's own, or that of the server itself if it has signed it itself.
    pub fn ca_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.limits.ca_file = Some(file.into());
        self
    }

    /// Where the server is, whatever its name is looked up as: the name is only what the server is
    /// called, and what its certificate has to be for.
    pub const fn connect_to(mut self, address: SocketAddr) -> Self {
        self.limits.connect_to = Some(address);
        self
    }

    /// How long it may take to be connected: 10 seconds unless it is said.
    pub const fn connect_within(mut self, time: Duration) -> Self {
        self.limits.connect = time;
        self
    }

    /// How long the server may take for an answer: a minute unless it is said.
    pub const fn answer_within(mut self, time: Duration) -> Self {
        self.limits.answer = time;
        self
    }

    /// After which time a stream in which nothing comes is opened again: 45 seconds unless it is
    /// said. The server says something every 15 seconds.
    pub const fn silence_within(mut self, time: Duration) -> Self {
        self.limits.silence = time;
        self
    }

    /// How long an answer may be, and an event of a stream, in bytes: 64 MiB unless it is said.
    pub const fn longest(mut self, bytes: usize) -> Self {
        self.limits.body = bytes;
        self
    }

    /// How often a request is made again whose answer was lost or that the server could not do then:
    /// 8 times unless it is said, which takes about 20 seconds.
    pub const fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// Sends the token to another machine without TLS. Everybody on the way can read it, unless the
    /// way is secured by something else.
    pub const fn plain_http_anywhere(mut self) -> Self {
        self.in_the_clear = true;
        self
    }

    /// The client.
    ///
    /// # Errors
    ///
    /// The address or the token is none, the certificates cannot be read, or the token would go over
    /// the network in the clear.
    pub fn build(self) -> Result<Client, SetupError> {
        let base = address(&self.server)?;
        let connect_to = self.limits.connect_to;
        let stays_here = connect_to.map_or_else(|| is_here(&base), |at| at.ip().is_loopback());
        if base.scheme() == "http" && !stays_here && !self.in_the_clear {
            return Err(SetupError::InTheClear(base.origin().ascii_serialization()));
        }
        let token = self.token.trim();
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(SetupError::Token);
        }
        let token = HeaderValue::try_from(format!("Bearer {token}"));
        let mut token = token.map_err(|_| SetupError::Token)?;
        token.set_sensitive(true);
        let outgoing = Outgoing::new(self.limits.clone())?;
        let Self { limits, retries, .. } = self;
        Ok(Client(Arc::new(Inner { base, token, outgoing, limits, retries })))
    }
}

/// The address of a server: scheme, host and port, and nothing more.
fn address(text: &str) -> Result<Url, SetupError> {
    let wrong = || SetupError::Address(text.to_owned());
    let url = Url::parse(text.trim()).map_err(|_| wrong())?;
    let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    let has_user = !url.username().is_empty() || url.password().is_some();
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() || !is_bare || has_user {
        return Err(wrong());
    }
    Ok(url)
}

/// Whether an address is on this machine.
fn is_here(url: &Url) -> bool {
    url.host().is_some_and(|host| is_this_machine(&host))
}

#[cfg(test)]
mod tests {
    use super::{Client, SetupError};

    #[test]
    fn only_the_address_of_a_server_is_one() {
        for good in ["http://127.0.0.1:7787", "https://agents.example.org/", " http://[::1]:1 "] {
            assert!(Client::new(good, "cst_x").is_ok(), "{good}");
        }
        for bad in [
            "",
            "127.0.0.1:7787",
            "ftp://a",
            "http://a/b",
            "http://a/?b",
            "http://a:b@c",
            "unix:/a",
        ] {
            let error = Client::new(bad, "cst_x").unwrap_err();
            assert!(matches!(error, SetupError::Address(_)), "{bad}: {error}");
        }
    }

    #[test]
    fn a_token_does_not_leave_the_machine_in_the_clear() {
        for here in ["http://127.1.2.3", "http://localhost:1", "http://a.localhost", "http://[::1]"]
        {
            assert!(Client::new(here, "cst_x").is_ok(), "{here}");
        }
        for there in ["http://10.0.0.1", "http://localhost.example.org", "http://[::2]"] {
            let error = Client::new(there, "cst_x").unwrap_err();
            assert!(matches!(error, SetupError::InTheClear(_)), "{there}");
            assert!(Client::builder(there, "cst_x").plain_http_anywhere().build().is_ok());
        }
    }

    #[test]
    fn a_token_is_one_word_and_is_never_shown() {
        for bad in ["", " ", "a b", "a\nb", "é"] {
            let error = Client::new("http://localhost", bad).unwrap_err();
            assert!(matches!(error, SetupError::Token), "{bad:?}");
        }
        let builder = Client::builder("http://localhost", "cst_secret\n");
        let shown = format!("{builder:?} {:?}", builder.clone().build().unwrap());
        assert!(!shown.contains("secret"), "{shown}");
    }
}
