//! What the server is told.
//!
//! A value is a default, unless the file says otherwise, unless the environment says otherwise,
//! unless a flag does. [`Config::load`] puts the four together and [`Loaded::check`] says all that is
//! wrong with the result; every message names the key, where it was set, and what to do. A key that
//! is not known is an error, because a limit that is misspelt is a limit that does not hold.
//!
//! The page for people is `docs/server-config.md`; its example and its table of defaults are tested.

mod check;
mod error;
mod flags;
mod keys;
mod load;
mod roots;
mod sections;
mod text;
mod values;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use check::{Checked, Fault};
pub use error::{ConfigError, Origin};
pub use flags::Flags;
pub use load::{Loaded, Source};
pub use roots::{FolderError, FolderMoved, Roots, RootsError};
pub use sections::{
    Cli, Limits, Log, LogFormat, LogLevel, Restarts, Retention, Tls, TlsFiles, Webhook,
    WebhookEvent, WebhookSecretError, WebhookUrl,
};
pub use values::{
    HostPattern, HostPatternError, PublicUrl, PublicUrlError, Secret, Store, StoreError,
};

/// The port when none is said.
pub const DEFAULT_PORT: u16 = 7787;

/// Everything that the server is told.
///
/// It can be serialised to be shown: secrets are left out of that, so it cannot be read back.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The address to listen on, as `127.0.0.1:7787` or `[::1]:7787`. Port 0 takes one that is free.
    #[serde(deserialize_with = "values::listen")]
    pub listen: SocketAddr,
    /// Lets the server listen on an address that other machines reach although it has no
    /// certificate. Everything, tokens too, then goes over the network in the clear, unless something
    /// in front of the server speaks TLS.
    pub allow_non_loopback_without_tls: bool,
    /// Where people find the server, as `https://agents.example.org`: for links, and as one more
    /// host that requests may name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_url: Option<PublicUrl>,
    /// Further hosts that requests may name, with or without a port. A request that names any other
    /// is refused: that is how a foreign page that points its name at this machine is kept out.
    pub allowed_hosts: Vec<HostPattern>,
    /// The certificate and its key.
    pub tls: Tls,
    /// The folder for everything that the server keeps. Only its owner can read it.
    pub data: PathBuf,
    /// Where sessions, events and approvals are kept: `sqlite`, `sqlite:FILE` (within the data folder
    /// when it is relative), or the URL of a PostgreSQL database.
    pub store: Store,
    /// The folders that sessions may use, each with all that is in it. With none, no session can be
    /// created. [`Roots`] has the rules.
    pub roots: Vec<PathBuf>,
    /// The CLI that sessions run.
    pub cli: Cli,
    /// What sessions and requests may take.
    pub limits: Limits,
    /// Whether sessions may be created in the mode that asks nobody (`bypassPermissions`).
    pub allow_bypass: bool,
    /// Who is told when something happens.
    pub webhooks: Vec<Webhook>,
    /// What the server writes about itself.
    pub log: Log,
    /// How long things are kept.
    pub retention: Retention,
}

impl Default for Config {
    /// The defaults, without the data folder: that one depends on whose server it is.
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT)),
            allow_non_loopback_without_tls: false,
            public_url: None,
            allowed_hosts: Vec::new(),
            tls: Tls::default(),
            data: PathBuf::new(),
            store: Store::default(),
            roots: Vec::new(),
            cli: Cli::default(),
            limits: Limits::default(),
            allow_bypass: false,
            webhooks: Vec::new(),
            log: Log::default(),
            retention: Retention::default(),
        }
    }
}

impl Config {
    /// Puts defaults, file, environment and flags together.
    ///
    /// # Errors
    ///
    /// The first thing that cannot be understood. What can be understood and is wrong all the same is
    /// found by [`Loaded::check`].
    pub fn load(source: &Source) -> Result<Loaded, ConfigError> {
        load::load(source)
    }

    /// The address at which people find the server, given the one it listens on.
    ///
    /// An address that stands for all of this machine's is none that a browser could go to, so it
    /// becomes the loopback address.
    #[must_use]
    pub fn url(&self, listening: SocketAddr) -> String {
        if let Some(url) = &self.public_url {
            return url.origin().to_owned();
        }
        self.url_of(reachable(listening))
    }

    /// What the server is called by whoever is on its machine, and where that one finds it, given the
    /// address it listens on.
    ///
    /// It has its public name if it speaks for itself under that; where something in front of it speaks
    /// TLS in its place, that is somebody else, who may be on another machine.
    #[must_use]
    pub fn local_url(&self, listening: SocketAddr) -> (String, SocketAddr) {
        let at = reachable(listening);
        let is_secure = self.tls.files().is_some();
        let own = self.public_url.as_ref().filter(|url| url.is_https() == is_secure);
        (own.map_or_else(|| self.url_of(at), |url| url.origin().to_owned()), at)
    }

    fn url_of(&self, at: SocketAddr) -> String {
        let scheme = if self.tls.files().is_some() { "https" } else { "http" };
        format!("{scheme}://{at}")
    }
}

/// An address that somebody on this machine can connect to.
fn reachable(mut listening: SocketAddr) -> SocketAddr {
    if listening.ip().is_unspecified() {
        listening.set_ip(match listening {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    listening
}
