//! Connections: how they come in, and how they end.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use prometheus_client::metrics::gauge::Gauge;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service as _;

use super::patience::Patient;
use super::peer::Peer;
use super::tls::{Tls, TlsError};
use crate::config::Config;

/// How long a client may take to say what it wants, and how long a connection is kept on which it
/// says nothing more.
const HEAD: Duration = Duration::from_secs(15);
/// How long a client may take to agree on TLS.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long a client may take no more of what is sent to it.
const STALLED: Duration = Duration::from_secs(60);
/// How long to wait when there is nothing left to accept a connection with.
const EXHAUSTED: Duration = Duration::from_millis(100);

/// How long is waited for an address that somebody else has: a server that was killed while it started
/// a process leaves its socket to that process, until it has become another program.
const TAKEN: Duration = Duration::from_secs(2);
/// How often is tried meanwhile.
const AGAIN: Duration = Duration::from_millis(50);
/// How many are told at once that there is no room; others only see their connection end.
const TURNED_AWAY: usize = 64;
/// How long it may take to tell them.
const TELLING: Duration = Duration::from_secs(2);

/// Why the server does not listen.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BindError {
    /// Everybody on the way would read the tokens.
    #[error(
        "{address} is reached by other machines, and there is no TLS; set `tls`, or listen on \
         127.0.0.1, or set `allow_non_loopback_without_tls` if something in front of the server \
         speaks TLS"
    )]
    NonLoopback {
        /// The address.
        address: SocketAddr,
    },
    /// There is no TLS.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The address is not to be had.
    #[error("cannot listen on {address}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
}

/// A server that listens, and does not answer yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<Arc<Tls>>,
    connections: usize,
    shutdown_within: Duration,
    gauge: Gauge,
}

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How many connections were cut, because they did not end in time.
    pub cut: usize,
}

/// Listens, if need be after a moment.
async fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let until = Instant::now() + TAKEN;
    loop {
        match TcpListener::bind(address).await {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && Instant::now() < until => {
                sleep(AGAIN).await;
            }
            other => return other,
        }
    }
}

impl Server {
    /// Listens as the configuration says.
    ///
    /// # Errors
    ///
    /// The address is not to be had, or must not be listened on without TLS.
    pub async fn bind(config: &Config) -> Result<Self, BindError> {
        let address = config.listen;
        let tls = config.tls.files().map(Tls::load).transpose()?.map(Arc::new);
        // Also when a mistake elsewhere has let it come so far.
        if !address.ip().is_loopback() && tls.is_none() && !config.allow_non_loopback_without_tls {
            return Err(BindError::NonLoopback { address });
        }
        let failed = |source| BindError::Bind { address, source };
        let listener = listen(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let limits = &config.limits;
        Ok(Self {
            listener,
            address,
            tls,
            connections: limits.connections,
            shutdown_within: limits.shutdown_within,
            gauge: Gauge::default(),
        })
    }

    /// Where it listens. The port is there also when any was asked for.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its certificate, to take up a new one.
    #[must_use]
    pub fn tls(&self) -> Option<Arc<Tls>> {
        self.tls.clone()
    }

    /// Counts open connections here.
    #[must_use]
    pub fn count_in(mut self, gauge: Gauge) -> Self {
        self.gauge = gauge;
        self
    }

    /// Answers requests until it is told to stop. Then it takes no more connections, lets requests end
    /// that have begun, and cuts what is left when its time is over.
    ///
    /// A stream of events does not end by itself: end it with the same token.
    pub async fn run(self, routes: Router, stop: CancellationToken) -> Ended {
        let tasks = TaskTracker::new();
        let cut = CancellationToken::new();
        let room = Arc::new(Semaphore::new(self.connections.min(Semaphore::MAX_PERMITS)));
        if let Some(tls) = self.tls.clone() {
            let stop = stop.clone();
            tasks.spawn(async move { stop.run_until_cancelled(tls.watch()).await });
        }
        let turned_away = Arc::new(Semaphore::new(TURNED_AWAY));
        while let Some((stream, remote)) = self.accept(&stop).await {
            let Ok(permit) = room.clone().try_acquire_owned() else {
                tracing::warn!(from = %remote, "a connection is turned away: there are too many");
                // With TLS there is no room to say so either.
                if let (None, Ok(telling)) = (&self.tls, turned_away.clone().try_acquire_owned()) {
                    tasks.spawn(async move {
                        drop(timeout(TELLING, turn_away(stream)).await);
                        drop(telling);
                    });
                }
                continue;
            };
            let connection = Connection {
                routes: routes.clone(),
                remote,
                permit,
                stop: stop.clone(),
                gauge: self.gauge.clone(),
            };
            let (tls, cut) = (self.tls.clone(), cut.clone());
            tasks.spawn(async move {
                cut.run_until_cancelled(connection.answer(stream, tls)).await;
            });
        }
        // Who asks now is refused, and does not wait.
        drop(self.listener);
        tasks.close();
        if timeout(self.shutdown_within, tasks.wait()).await.is_ok() {
            return Ended { cut: 0 };
        }
        let left = tasks.len();
        tracing::warn!(connections = left, "cut connections that did not end in time");
        cut.cancel();
        tasks.wait().await;
        Ended { cut: left }
    }

    /// The next connection; nothing when it is time to stop.
    async fn accept(&self, stop: &CancellationToken) -> Option<(TcpStream, SocketAddr)> {
        let next = async {
            loop {
                match self.listener.accept().await {
                    Ok(accepted) => return Some(accepted),
                    // The client is gone already, which is its own affair.
                    Err(error) if is_of_connection(&error) => {}
                    Err(error) => {
                        tracing::error!(%error, "cannot take a connection");
                        sleep(EXHAUSTED).await;
                    }
                }
            }
        };
        stop.run_until_cancelled(next).await.flatten()
    }
}

/// Says that there is no room, and ends the connection.
async fn turn_away(mut stream: TcpStream) -> io::Result<()> {
    const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\n\
        Content-Length: 0\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n";
    stream.write_all(FULL).await?;
    stream.shutdown().await?;
    // What was sent is lost if it is not read: the other end may be told of that alone then.
    let mut waste = [0; 1024];
    while stream.read(&mut waste).await? > 0 {}
    Ok(())
}

fn is_of_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// A connection, with what goes along with it.
struct Connection {
    routes: Router,
    remote: SocketAddr,
    /// Given back with the connection.
    permit: OwnedSemaphorePermit,
    stop: CancellationToken,
    gauge: Gauge,
}

/// Counts a connection for as long as there is one, however it ends.
struct Counted(Gauge);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Connection {
    async fn answer(self, stream: TcpStream, tls: Option<Arc<Tls>>) {
        self.gauge.inc();
        let _counted = Counted(self.gauge.clone());
        let Ok(local) = stream.local_addr() else { return };
        // Events are small, and wanted at once.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection is slower than it could be");
        }
        let peer = Peer { remote: self.remote, local, tls: tls.is_some() };
        let stream = Patient::new(stream, STALLED);
        match tls {
            None => self.talk(stream, peer).await,
            Some(tls) => match timeout(HANDSHAKE, tls.acceptor().accept(stream)).await {
                Ok(Ok(stream)) => self.talk(stream, peer).await,
                // Whoever does not speak TLS gets nothing but the end of the connection.
                Ok(Err(error)) => tracing::debug!(%error, from = %peer.remote, "no TLS"),
                Err(_) => tracing::debug!(from = %peer.remote, "TLS took too long"),
            },
        }
    }

    async fn talk(self, stream: impl AsyncRead + AsyncWrite + Unpin, peer: Peer) {
        let Self { routes, permit: _permit, stop, .. } = self;
        let service = service_fn(move |request: Request<Incoming>| {
            let mut routes = routes.clone();
            async move { respond(&mut routes, request, peer).await }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, from = %peer.remote, "a connection ended early");
        }
    }
}

async fn respond(
    routes: &mut Router,
    request: Request<Incoming>,
    peer: Peer,
) -> Result<Response, Infallible> {
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(peer);
    routes.call(request).await
}
