//! The tasks of a server: one that accepts, and one for each connection, which it owns.

use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::exchange::Shared;
use super::route;
use super::wire::{Fate, Wire};

/// More connections than this wait until one of them ends.
const CONNECTIONS: usize = 1024;
/// The pause after a connection could not be accepted, which is when files run out.
const AFTER_FAILURE: Duration = Duration::from_millis(50);

/// Accepts connections until `stop` changes or is gone, and then ends all of them.
///
/// The connections are owned by this future: when it is dropped, they end as well.
pub(super) async fn run(
    listener: TcpListener,
    shared: Arc<Shared>,
    mut stop: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = stop.changed() => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if connections.len() < CONNECTIONS => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, Arc::clone(&shared)));
                }
                Err(_) => tokio::time::sleep(AFTER_FAILURE).await,
            },
        }
    }
    drop(listener);
    connections.shutdown().await;
}

/// Serves one connection to its end.
async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    // An event is to leave when it is due, not when there is enough of them.
    // A connection that is gone already says so below.
    drop(stream.set_nodelay(true));
    let fate = Fate::default();
    let io = TokioIo::new(Wire::new(stream, fate.clone()));
    let service = service_fn(|request| route::handle(Arc::clone(&shared), fate.clone(), request));
    // How each request ended is in the log, also when the connection breaks.
    drop(http1::Builder::new().serve_connection(io, service).await);
}
