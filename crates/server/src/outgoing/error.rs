//! Why a request to somebody else came to nothing.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;
use tokio_rustls::rustls;
use tokio_rustls::rustls::pki_types::pem;

/// Why a request came to nothing.
///
/// The other end is named by its host and port. The rest of an address is not repeated: with many
/// services, whoever knows it may use it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OutgoingError {
    /// It is no address that could be called.
    #[error("this is no address that could be called: {why}")]
    Address {
        /// Why, and what to write.
        why: &'static str,
    },
    /// Nobody listens there.
    #[error("{at} refuses the connection: is the server running, and is that its address?")]
    Refused {
        /// The other end.
        at: String,
        /// What the system says.
        source: io::Error,
    },
    /// There is no way there.
    #[error("{at} cannot be reached: {source}; check the address and the network")]
    Unreachable {
        /// The other end.
        at: String,
        /// What the system says.
        source: io::Error,
    },
    /// There was no connection in time.
    #[error(
        "{at} did not take the connection within {within:?}; check the address and the network"
    )]
    NoConnection {
        /// The other end.
        at: String,
        /// How long was waited.
        within: Duration,
    },
    /// The connection could not be secured, so nothing was sent.
    #[error("the connection to {at} cannot be secured: {source}; {instead}")]
    Tls {
        /// The other end.
        at: String,
        /// What to do.
        instead: &'static str,
        /// What is wrong.
        source: io::Error,
    },
    /// It is not known whom to trust, so nothing was sent.
    #[error(transparent)]
    Roots(#[from] RootsError),
    /// The connection ended before the answer did.
    #[error("the connection to {at} was lost before the whole answer was there: {source}")]
    Lost {
        /// The other end.
        at: String,
        /// How.
        source: hyper::Error,
    },
    /// The answer was not there in time.
    #[error("{at} did not answer within {within:?}")]
    TooSlow {
        /// The other end.
        at: String,
        /// How long was waited.
        within: Duration,
    },
    /// The other end fell silent in the middle of an answer.
    #[error("{at} has said nothing for {within:?}")]
    Silent {
        /// The other end.
        at: String,
        /// How long was waited.
        within: Duration,
    },
    /// The answer is longer than anybody wants to read.
    #[error("the answer of {at} is longer than {most} bytes; ask for less at once")]
    TooLarge {
        /// The other end.
        at: String,
        /// How long it may be.
        most: usize,
    },
}

impl OutgoingError {
    /// Whether the other end may have done what it was asked to do, although nobody knows what it
    /// answered.
    #[must_use]
    pub const fn may_have_arrived(&self) -> bool {
        matches!(
            self,
            Self::Lost { .. } | Self::TooSlow { .. } | Self::Silent { .. } | Self::TooLarge { .. }
        )
    }

    /// Whether the same request may come to something later: it is not the request, nor how this end
    /// is set up.
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        match self {
            Self::Refused { .. }
            | Self::Unreachable { .. }
            | Self::NoConnection { .. }
            | Self::Lost { .. }
            | Self::TooSlow { .. }
            | Self::Silent { .. } => true,
            Self::Address { .. } | Self::Tls { .. } | Self::Roots(_) | Self::TooLarge { .. } => {
                false
            }
        }
    }

    /// A connection that was not made.
    pub(super) fn not_connected(at: String, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::ConnectionRefused => Self::Refused { at, source },
            _ => Self::Unreachable { at, source },
        }
    }

    /// A connection that was made and could not be secured.
    pub(super) fn not_secured(at: String, source: io::Error) -> Self {
        use rustls::CertificateError as Wrong;
        use rustls::Error as Tls;

        let said = source.get_ref().and_then(|inner| inner.downcast_ref::<Tls>());
        let instead = match said {
            // The other end went away: that is no fault of its certificate.
            None => return Self::Unreachable { at, source },
            // The signature is wrong where a server has signed its certificate itself and then made
            // another one.
            Some(Tls::InvalidCertificate(Wrong::UnknownIssuer | Wrong::BadSignature)) => {
                "nobody who is known here vouches for its certificate: name the file with its \
                 certificate authority, or with the certificate itself if it has none"
            }
            Some(Tls::InvalidCertificate(
                Wrong::NotValidForName | Wrong::NotValidForNameContext { .. },
            )) => "use a name that is in its certificate",
            Some(Tls::InvalidCertificate(Wrong::Expired | Wrong::ExpiredContext { .. })) => {
                "its certificate has to be renewed"
            }
            Some(Tls::InvalidCertificate(
                Wrong::NotValidYet | Wrong::NotValidYetContext { .. },
            )) => "look whether the clock of this machine is right",
            Some(Tls::InvalidCertificate(Wrong::Other(other)))
                if other.to_string().contains("CaUsedAsEndEntity") =>
            {
                "its certificate is that of an authority: make one for a server, with openssl by \
                 adding `-addext basicConstraints=critical,CA:FALSE`"
            }
            Some(Tls::InvalidCertificate(_)) => "look at its certificate",
            Some(Tls::InvalidMessage(_)) => "does it speak TLS at all? If not, write http://",
            Some(_) => "look at how it is set up",
        };
        Self::Tls { at, instead, source }
    }
}

/// Why it is not known whose certificates are good.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RootsError {
    /// The file with further certificates cannot be read.
    #[error("no certificate can be read from {file}: {source}; it has to be a PEM file")]
    Read {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: pem::Error,
    },
    /// There are none in it.
    #[error("there is no certificate in {file}; it has to be a PEM file")]
    Empty {
        /// The file.
        file: PathBuf,
    },
    /// Something in the file is no certificate.
    #[error("a certificate in {file} cannot be used: {source}")]
    Unusable {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: rustls::Error,
    },
    /// The system has none.
    #[error(
        "this machine has no certificates of authorities: install its package ca-certificates, or \
         name a file with SSL_CERT_FILE"
    )]
    NoneHere,
    /// TLS cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Setup(#[from] rustls::Error),
    /// The certificates were not looked for: the program ends.
    #[error("the certificates of this machine were not read: the program is about to end")]
    NotRead,
}
