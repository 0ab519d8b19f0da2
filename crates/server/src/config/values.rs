//! Values that are more than text: checked when they are read, and shown without secrets.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;
use url::{Host, Url};

/// What stands where a secret is.
const HIDDEN: &str = "(hidden)";

/// Text that is never shown: neither by `Debug` nor when it is serialised.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Keeps the text to itself.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text. Whoever asks answers for where it goes.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(HIDDEN)
    }
}

/// Reads the address to listen on.
pub(super) fn listen<'de, D: Deserializer<'de>>(from: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map_err(|_| {
        D::Error::custom(format_args!(
            "`{text}` is not an IP address with a port; write it as \"127.0.0.1:7787\" or \"[::1]:7787\""
        ))
    })
}

/// Where everything is kept.
#[derive(Clone, PartialEq, Eq)]
pub enum Store {
    /// One file, within the data folder when the path is relative. After loading it is absolute.
    Sqlite(PathBuf),
    /// A PostgreSQL database, by its URL, which may have a password in it.
    Postgres(Secret),
}

/// Why a text does not name a store.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreError {
    /// It is neither of the two kinds.
    #[error(
        "this is no store; write \"sqlite\", \"sqlite:FILE\" or \"postgres://USER@HOST/DATABASE\""
    )]
    Unknown,
    /// The URL cannot be read. It is not repeated, because it may have a password in it.
    #[error("the URL of the database cannot be read: {0}; write \"postgres://USER@HOST/DATABASE\"")]
    Url(#[from] url::ParseError),
}

impl Default for Store {
    fn default() -> Self {
        Self::Sqlite(PathBuf::from("countersign.db"))
    }
}

impl Store {
    /// The same store, with a relative file taken to be in this folder.
    #[must_use]
    pub(super) fn within(self, folder: &Path) -> Self {
        match self {
            Self::Sqlite(path) => Self::Sqlite(folder.join(path)),
            Self::Postgres(url) => Self::Postgres(url),
        }
    }
}

impl FromStr for Store {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        match text.split_once(':') {
            None if text == "sqlite" => Ok(Self::default()),
            Some(("sqlite", path)) if !path.is_empty() => Ok(Self::Sqlite(PathBuf::from(path))),
            Some(("postgres" | "postgresql", _)) => {
                Url::parse(text)?;
                Ok(Self::Postgres(Secret::new(text)))
            }
            _ => Err(StoreError::Unknown),
        }
    }
}

impl fmt::Display for Store {
    /// Without a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = match self {
            Self::Sqlite(path) => return write!(f, "sqlite:{}", path.display()),
            Self::Postgres(url) => Url::parse(url.expose()),
        };
        // Only what is known to be harmless is shown: options can carry a password as well.
        match url {
            Ok(url) => {
                write!(f, "{}://", url.scheme())?;
                if !url.username().is_empty() {
                    write!(f, "{}@", url.username())?;
                }
                write!(f, "{}", url.host_str().unwrap_or_default())?;
                if let Some(port) = url.port() {
                    write!(f, ":{port}")?;
                }
                write!(f, "{}", url.path())
            }
            Err(_) => f.write_str(HIDDEN),
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Store {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Store {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// A host that requests may name, with a port or with any.
///
/// It is compared as it is: `example.org` is not `www.example.org`, and there are no wildcards,
/// since a wildcard lets in every name that somebody may point at this machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostPattern {
    host: Host<String>,
    port: Option<u16>,
}

/// Why a text is no host.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{0}` is not a host; write it as \"agents.example.org\" or \"agents.example.org:8443\"")]
pub struct HostPatternError(String);

impl HostPattern {
    /// A host with a port, or with any.
    #[must_use]
    pub const fn new(host: Host<String>, port: Option<u16>) -> Self {
        Self { host, port }
    }

    /// An address with a port.
    #[must_use]
    pub fn address(address: IpAddr, port: u16) -> Self {
        let host = match address {
            IpAddr::V4(address) => Host::Ipv4(address),
            IpAddr::V6(address) => Host::Ipv6(address),
        };
        Self::new(host, Some(port))
    }

    /// The host.
    #[must_use]
    pub const fn host(&self) -> &Host<String> {
        &self.host
    }

    /// The port; any when there is none.
    #[must_use]
    pub const fn port(&self) -> Option<u16> {
        self.port
    }

    /// Whether a request that names this host and this port is meant.
    #[must_use]
    pub fn matches(&self, host: &Host<String>, port: u16) -> bool {
        self.host == *host && self.port.is_none_or(|own| own == port)
    }
}

impl FromStr for HostPattern {
    type Err = HostPatternError;

    fn from_str(text: &str) -> Result<Self, HostPatternError> {
        let wrong = || HostPatternError(text.to_owned());
        // The last colon parts the port, but for one inside the brackets of an IPv6 address.
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => {
                if port.is_empty() || !port.bytes().all(|byte| byte.is_ascii_digit()) {
                    return Err(wrong());
                }
                (host, Some(port.parse().map_err(|_| wrong())?))
            }
            _ => (text, None),
        };
        let host = Host::parse(host).map_err(|_| wrong())?;
        // A final dot names the same host; one spelling is enough.
        let host = match host {
            Host::Domain(name) => {
                let name = name.strip_suffix('.').unwrap_or(&name);
                if name.is_empty() || name.contains('*') {
                    return Err(wrong());
                }
                Host::Domain(name.to_owned())
            }
            address => address,
        };
        Ok(Self { host, port })
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.host)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl Serialize for HostPattern {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HostPattern {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// Where people find the server: scheme, host and port, and nothing more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    origin: String,
    https: bool,
    host: HostPattern,
    standard_port: bool,
}

/// Why a text is not where a server could be found.
#[derive(Debug, Error, PartialEq, Eq)]
#[error(
    "`{0}` is not where people could find the server; write it as \"https://agents.example.org\""
)]
pub struct PublicUrlError(String);

impl PublicUrl {
    /// The URL without a path, as a browser writes an origin.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Whether people come over TLS, whoever speaks it.
    #[must_use]
    pub const fn is_https(&self) -> bool {
        self.https
    }

    /// The host and the port that browsers name.
    #[must_use]
    pub const fn host(&self) -> &HostPattern {
        &self.host
    }

    /// Whether the port is the one that the scheme has anyway.
    #[must_use]
    pub const fn has_standard_port(&self) -> bool {
        self.standard_port
    }
}

impl FromStr for PublicUrl {
    type Err = PublicUrlError;

    fn from_str(text: &str) -> Result<Self, PublicUrlError> {
        let wrong = || PublicUrlError(text.to_owned());
        let url = Url::parse(text).map_err(|_| wrong())?;
        let https = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(wrong()),
        };
        let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        if !bare || !url.username().is_empty() || url.password().is_some() {
            return Err(wrong());
        }
        let host = url.host().ok_or_else(wrong)?.to_owned();
        let port = url.port_or_known_default().ok_or_else(wrong)?;
        Ok(Self {
            origin: url.origin().ascii_serialization(),
            https,
            host: HostPattern::new(host, Some(port)),
            standard_port: url.port().is_none(),
        })
    }
}

impl Serialize for PublicUrl {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.origin)
    }
}

impl<'de> Deserialize<'de> for PublicUrl {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{HostPattern, PublicUrl, Secret, Store};

    #[test]
    fn a_secret_is_not_shown() {
        let secret = Secret::new("hunter2");
        assert_eq!(format!("{secret:?}"), "(hidden)");
        assert_eq!(serde_json::to_string(&secret).unwrap(), "\"(hidden)\"");
    }

    #[test]
    fn a_relative_store_is_within_the_data_folder() {
        let at = |text: &str| text.parse::<Store>().unwrap().within(Path::new("/data"));
        assert_eq!(at("sqlite"), Store::Sqlite(PathBuf::from("/data/countersign.db")));
        assert_eq!(at("sqlite:other.db"), Store::Sqlite(PathBuf::from("/data/other.db")));
        assert_eq!(at("sqlite:/srv/all.db"), Store::Sqlite(PathBuf::from("/srv/all.db")));
    }

    #[test]
    fn the_url_of_a_database_is_shown_without_anything_secret() {
        let text =
            "postgres://me:hunter2@db.example.org:5433/agents?password=hunter2&sslmode=require";
        let store: Store = text.parse().unwrap();
        assert!(matches!(&store, Store::Postgres(url) if url.expose() == text));
        assert_eq!(store.to_string(), "postgres://me@db.example.org:5433/agents");
        assert_eq!(format!("{store:?}"), store.to_string());
    }

    #[test]
    fn what_is_not_a_store_is_refused_without_being_repeated() {
        for text in ["", "mysql://me:hunter2@host/db", "/var/lib/x.db", "sqlite:", "postgres://a b"]
        {
            let error = text.parse::<Store>().unwrap_err().to_string();
            assert!(!error.contains("hunter2") && error.contains("write"), "{error}");
        }
    }

    #[test]
    fn hosts_are_read_with_and_without_a_port() {
        for (text, shown) in [
            ("Example.ORG", "example.org"),
            ("example.org.", "example.org"),
            ("example.org:8443", "example.org:8443"),
            ("[::1]:7787", "[::1]:7787"),
            ("[::1]", "[::1]"),
            ("127.0.0.1:1", "127.0.0.1:1"),
        ] {
            assert_eq!(text.parse::<HostPattern>().unwrap().to_string(), shown);
        }
        for text in [
            "",
            ":80",
            "a:b",
            "a:",
            "a:99999",
            "a:+80",
            "http://a",
            "a/b",
            "*.example.org",
            "a b",
            ".",
        ] {
            assert!(text.parse::<HostPattern>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_public_url_is_an_origin() {
        let url: PublicUrl = "https://Agents.example.org/".parse().unwrap();
        assert_eq!(url.origin(), "https://agents.example.org");
        assert_eq!(url.host().to_string(), "agents.example.org:443");
        assert!(url.is_https() && url.has_standard_port());
        let url: PublicUrl = "http://box:8080".parse().unwrap();
        assert_eq!((url.origin(), url.is_https()), ("http://box:8080", false));
        for text in [
            "box",
            "ftp://box",
            "https://box/agents",
            "https://me@box",
            "https://box?a=b",
            "https://",
        ] {
            assert!(text.parse::<PublicUrl>().is_err(), "{text}");
        }
    }
}
