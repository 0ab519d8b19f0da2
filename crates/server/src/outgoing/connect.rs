//! Connections to somebody else: found by name, made, and secured.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tokio_util::task::TaskTracker;
use url::{Host, Url};

use super::Limits;
use super::error::{OutgoingError, RootsError};

/// One end of a connection that is used for one request after the other.
pub(super) type Sender = SendRequest<Full<Bytes>>;

/// Whom a connection goes to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Origin {
    secure: bool,
    host: Host<String>,
    port: u16,
}

impl Origin {
    pub(super) fn of(url: &Url) -> Result<Self, OutgoingError> {
        let wrong = |why| OutgoingError::Address { why };
        let secure = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(wrong("it has to begin with http:// or https://")),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("names and passwords in an address are not sent: leave them out"));
        }
        let host = url.host().ok_or_else(|| wrong("it has no host"))?.to_owned();
        let port = url.port_or_known_default().ok_or_else(|| wrong("it has no port"))?;
        Ok(Self { secure, host, port })
    }

    async fn open(&self) -> io::Result<TcpStream> {
        match &self.host {
            // Whoever answers for the name elsewhere is not asked: what is meant for this machine
            // goes to this machine.
            host if is_this_name(host) => {
                let (four, six) = (Ipv4Addr::LOCALHOST, Ipv6Addr::LOCALHOST);
                let both = [SocketAddr::from((four, self.port)), (six, self.port).into()];
                TcpStream::connect(&both[..]).await
            }
            Host::Domain(name) => TcpStream::connect((&**name, self.port)).await,
            Host::Ipv4(address) => TcpStream::connect((*address, self.port)).await,
            Host::Ipv6(address) => TcpStream::connect((*address, self.port)).await,
        }
    }

    fn server_name(&self) -> Result<ServerName<'static>, OutgoingError> {
        match &self.host {
            Host::Domain(name) => ServerName::try_from(name.clone())
                .map_err(|_| OutgoingError::Address { why: "no certificate can be for its host" }),
            Host::Ipv4(address) => Ok(ServerName::from(std::net::IpAddr::from(*address))),
            Host::Ipv6(address) => Ok(ServerName::from(std::net::IpAddr::from(*address))),
        }
    }
}

/// Whether a host is this machine, wherever it is looked up.
pub(crate) fn is_this_machine<S: AsRef<str>>(host: &Host<S>) -> bool {
    match host {
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
        Host::Domain(_) => is_this_name(host),
    }
}

/// Whether a host is a name that is kept for this machine, as RFC 6761 has it.
fn is_this_name<S: AsRef<str>>(host: &Host<S>) -> bool {
    let Host::Domain(name) = host else { return false };
    name.as_ref() == "localhost" || name.as_ref().ends_with(".localhost")
}

/// The host and the port, which is all of an address that may be shown.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// Makes connections.
pub(super) struct Dialer {
    within: Duration,
    always_to: Option<SocketAddr>,
    extra: Vec<CertificateDer<'static>>,
    /// Read when it is needed: a client of a server on this machine does without.
    tls: OnceCell<TlsConnector>,
    connections: TaskTracker,
}

impl Dialer {
    /// A dialer that trusts whom the system trusts, and besides the certificates in the file.
    pub(super) fn new(limits: &Limits) -> Result<Self, RootsError> {
        let extra = limits.ca_file.as_deref().map(certificates).transpose()?.unwrap_or_default();
        let (within, always_to) = (limits.connect, limits.connect_to);
        let (tls, connections) = (OnceCell::new(), TaskTracker::new());
        Ok(Self { within, always_to, extra, tls, connections })
    }

    /// Makes a connection. It ends when its sender and the answer that it gave are dropped.
    pub(super) async fn dial(&self, to: &Origin) -> Result<Sender, OutgoingError> {
        let made = tokio::time::timeout(self.within, self.connect(to)).await;
        made.unwrap_or_else(|_| {
            Err(OutgoingError::NoConnection { at: to.to_string(), within: self.within })
        })
    }

    async fn connect(&self, to: &Origin) -> Result<Sender, OutgoingError> {
        let failed = |source| OutgoingError::not_connected(to.to_string(), source);
        let stream = match self.always_to {
            Some(address) => TcpStream::connect(address).await,
            None => to.open().await,
        };
        let stream = stream.map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        if !to.secure {
            return self.speak(to, stream).await;
        }
        let tls = self.tls.get_or_try_init(|| self.trust()).await?;
        let secured = tls.connect(to.server_name()?, stream).await;
        let secured =
            secured.map_err(|source| OutgoingError::not_secured(to.to_string(), source))?;
        self.speak(to, secured).await
    }

    async fn speak<T>(&self, to: &Origin, stream: T) -> Result<Sender, OutgoingError>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let made = http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) =
            made.map_err(|source| OutgoingError::Lost { at: to.to_string(), source })?;
        self.connections.spawn(async move {
            // Whoever waits for an answer is told why there is none.
            drop(connection.await);
        });
        Ok(sender)
    }

    async fn trust(&self) -> Result<TlsConnector, RootsError> {
        let roots = roots_of_the_system(self.extra.iter().cloned()).await?;
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsConnector::from(Arc::new(config)))
    }
}

/// Whom the system trusts, and these besides, which were tried when they were read.
pub(crate) async fn roots_of_the_system(
    extra: impl IntoIterator<Item = CertificateDer<'static>>,
) -> Result<RootCertStore, RootsError> {
    // The files of the system are some hundred, and are read at once.
    let own = tokio::task::spawn_blocking(rustls_native_certs::load_native_certs).await;
    let own = own.map_err(|_| RootsError::NotRead)?;
    for error in &own.errors {
        tracing::debug!(%error, "a certificate of the system cannot be read");
    }
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(own.certs);
    roots.add_parsable_certificates(extra);
    if roots.is_empty() {
        return Err(RootsError::NoneHere);
    }
    Ok(roots)
}

/// The certificates in a file, each of which can be used.
pub(crate) fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, RootsError> {
    let failed = |source| RootsError::Read { file: file.to_owned(), source };
    let all: Vec<_> = CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect::<Result<_, _>>)
        .map_err(failed)?;
    if all.is_empty() {
        return Err(RootsError::Empty { file: file.to_owned() });
    }
    let mut tried = RootCertStore::empty();
    for certificate in &all {
        tried
            .add(certificate.clone())
            .map_err(|source| RootsError::Unusable { file: file.to_owned(), source })?;
    }
    Ok(all)
}
