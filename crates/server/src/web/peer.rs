//! The two ends of a connection.

use std::net::SocketAddr;

/// The two ends of the connection that a request came over.
///
/// It is an extension of every request, put there by whoever accepted the connection. What a request
/// says about where it came from is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The other end.
    pub remote: SocketAddr,
    /// This end.
    pub local: SocketAddr,
    /// Whether it is encrypted from end to end.
    pub tls: bool,
}
