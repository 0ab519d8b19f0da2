//! How a connection to the database is secured: what its URL says about that, and TLS by it.
//!
//! The words are those of PostgreSQL. What is stricter here: a database on another machine is not
//! spoken to in the clear unless the URL says so, and nothing falls back to that by itself.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::config::{Config, Host, SslMode};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::client::verify_server_cert_signed_by_trust_anchor;
use tokio_rustls::rustls::crypto::{
    CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{
    ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme,
};

use crate::outgoing::{RootsError, certificates, roots_of_the_system};
use crate::store::StoreError;

/// What `sslmode` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// In the clear.
    Disable,
    /// With TLS if the database can.
    Prefer,
    /// With TLS.
    Require,
    /// With TLS, to somebody whom an authority vouches for.
    VerifyCa,
    /// With TLS, to the one of that name whom an authority vouches for.
    VerifyFull,
}

/// How a connection is to be secured, as its URL says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Security {
    mode: Mode,
    /// The file with the authorities that are trusted; without it those that the system trusts.
    roots: Option<PathBuf>,
}

/// Takes out of a URL what says how the connection is secured, and gives the rest.
pub(super) fn take_out(url: &str) -> Result<(String, Asked), StoreError> {
    let mut asked = Asked::default();
    if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
        return Ok((url.to_owned(), asked));
    }
    // What stands before belongs to the password, whatever it is.
    let after_user = url.find('@').unwrap_or_default();
    let Some(at) = url.get(after_user..).and_then(|rest| rest.find('?')) else {
        return Ok((url.to_owned(), asked));
    };
    let (front, query) = url.split_at(after_user + at);
    let mut rest: Vec<&str> = Vec::new();
    for part in query.trim_start_matches('?').split('&').filter(|part| !part.is_empty()) {
        match part.split_once('=') {
            Some(("sslmode", mode)) => asked.mode = Some(read_mode(&decoded(mode))?),
            Some(("sslrootcert", file)) => asked.roots = read_roots(&decoded(file))?,
            _ => rest.push(part),
        }
    }
    let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
    Ok((format!("{front}{query}"), asked))
}

/// What a URL says about security.
#[derive(Debug, Default)]
pub(super) struct Asked {
    mode: Option<Mode>,
    roots: Option<PathBuf>,
}

fn decoded(text: &str) -> String {
    // In a URL of PostgreSQL a plus sign is one.
    let pair = format!("a={}", text.replace('+', "%2B"));
    let decoded = url::form_urlencoded::parse(pair.as_bytes()).next();
    decoded.map(|(_, value)| value.into_owned()).unwrap_or_default()
}

fn read_mode(word: &str) -> Result<Mode, StoreError> {
    Ok(match word {
        "disable" => Mode::Disable,
        "prefer" => Mode::Prefer,
        "require" => Mode::Require,
        "verify-ca" => Mode::VerifyCa,
        "verify-full" => Mode::VerifyFull,
        _ => {
            return Err(unsupported(
                "the `sslmode` of the database is none of disable, prefer, require, verify-ca and \
                 verify-full",
            ));
        }
    })
}

fn read_roots(file: &str) -> Result<Option<PathBuf>, StoreError> {
    if file == "system" {
        return Ok(None);
    }
    let file = PathBuf::from(file);
    if !file.is_absolute() {
        return Err(unsupported(
            "the `sslrootcert` of the database is neither `system` nor a path with a `/` at its \
             front",
        ));
    }
    Ok(Some(file))
}

fn unsupported(why: impl Into<String>) -> StoreError {
    StoreError::Unsupported(why.into())
}

fn unusable(error: &RootsError) -> StoreError {
    unsupported(format!("the `sslrootcert` of the database cannot be used: {error}"))
}

impl Security {
    /// How the connection to this database is to be secured, and whether it may be so.
    pub(super) fn of(config: &Config, asked: Asked) -> Result<Self, StoreError> {
        let Asked { mode, roots } = asked;
        // What is not a URL was read by somebody who does not say whether it was there.
        let mode = mode.or(match config.get_ssl_mode() {
            SslMode::Disable => Some(Mode::Disable),
            SslMode::Require => Some(Mode::Require),
            _ => None,
        });
        if is_remote(config) && matches!(mode, None | Some(Mode::Prefer)) {
            return Err(unsupported(
                "the database is on another machine, and everybody on the way could read what is \
                 kept: add ?sslmode=verify-full to its URL (with &sslrootcert=FILE for an authority \
                 of your own), or ?sslmode=disable if the way is secured by something else",
            ));
        }
        let mode = mode.unwrap_or(Mode::Disable);
        let encrypts = !matches!(mode, Mode::Disable | Mode::Prefer);
        let is_socket = |host: &Host| matches!(host, Host::Unix(_));
        if encrypts && config.get_hosts().iter().any(is_socket) {
            return Err(unsupported(
                "a socket of this machine is not encrypted: leave `sslmode` out of the URL of the \
                 database",
            ));
        }
        if roots.is_some() && !encrypts {
            return Err(unsupported(
                "the URL of the database has an `sslrootcert`, and its `sslmode` does not look at \
                 it: write sslmode=verify-full",
            ));
        }
        if let Some(file) = &roots {
            certificates(file).map_err(|error| unusable(&error))?;
        }
        Ok(Self { mode, roots })
    }

    /// What the database is told first.
    pub(super) const fn ssl_mode(&self) -> SslMode {
        match self.mode {
            Mode::Disable => SslMode::Disable,
            Mode::Prefer => SslMode::Prefer,
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => SslMode::Require,
        }
    }

    /// Makes ready what secures connections.
    pub(super) async fn make(&self) -> Result<Tls, StoreError> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(super::connect::unavailable)?;
        let roots = match self.mode {
            Mode::Disable | Mode::Prefer => None,
            // As PostgreSQL has it: with authorities they are looked at, and else nobody is.
            Mode::Require => self.roots.as_deref().map(roots_in).transpose()?,
            Mode::VerifyCa | Mode::VerifyFull => Some(match &self.roots {
                Some(file) => roots_in(file)?,
                None => {
                    roots_of_the_system([]).await.map_err(|error| unsupported(error.to_string()))?
                }
            }),
        };
        let builder = match roots {
            Some(roots) if self.mode == Mode::VerifyFull => builder.with_root_certificates(roots),
            roots => {
                let verifier = Nameless { roots, provider };
                builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
            }
        };
        let mut config = builder.with_no_client_auth();
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(Tls(TlsConnector::from(Arc::new(config))))
    }
}

fn roots_in(file: &Path) -> Result<RootCertStore, StoreError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates(file).map_err(|error| unusable(&error))?);
    Ok(roots)
}

/// Whether a connection could leave this machine.
fn is_remote(config: &Config) -> bool {
    let is_elsewhere = |host: &Host| match host {
        Host::Tcp(name) => {
            let address = name.parse::<IpAddr>();
            name != "localhost" && !address.is_ok_and(|address| address.is_loopback())
        }
        Host::Unix(_) => false,
    };
    // Where an address stands beside a name, the connection goes there.
    let addresses = config.get_hostaddrs();
    if addresses.is_empty() {
        return config.get_hosts().iter().any(is_elsewhere);
    }
    !addresses.iter().all(IpAddr::is_loopback)
}

/// Takes a certificate whatever name it is for: as far as an authority vouches for it, or, without
/// authorities, in any case. Then nobody can listen, and nobody knows to whom one speaks.
#[derive(Debug)]
struct Nameless {
    roots: Option<RootCertStore>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Nameless {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        if let Some(roots) = &self.roots {
            let certificate = ParsedCertificate::try_from(end_entity)?;
            let algorithms = self.provider.signature_verification_algorithms.all;
            verify_server_cert_signed_by_trust_anchor(
                &certificate,
                roots,
                intermediates,
                now,
                algorithms,
            )?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Secures connections.
#[derive(Clone)]
pub(super) struct Tls(TlsConnector);

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Secured;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        // A socket has no name, and is not secured either.
        let name = ServerName::try_from(host.to_owned()).ok();
        Ok(Handshake { connector: self.0.clone(), name })
    }
}

/// Secures one connection.
pub(super) struct Handshake {
    connector: TlsConnector,
    name: Option<ServerName<'static>>,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = Secured;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Secured>>;

    fn connect(self, stream: Socket) -> Self::Future {
        Box::pin(async move {
            let name = self.name.ok_or_else(|| {
                io::Error::other("no certificate can be for the host of the database")
            })?;
            Ok(Secured(self.connector.connect(name, stream).await?))
        })
    }
}

/// A connection that is secured.
pub(super) struct Secured(tokio_rustls::client::TlsStream<Socket>);

impl TlsStream for Secured {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Secured {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Secured {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
