//! The connection under HTTP, which a script can cut.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// What is to become of a connection, once everything written so far is sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Fate(Arc<AtomicU8>);

const LIVE: u8 = 0;
const CLOSE: u8 = 1;
const RESET: u8 = 2;

impl Fate {
    /// The connection is to be closed, whatever HTTP thinks of it.
    pub(super) fn close(&self) {
        self.0.store(CLOSE, Ordering::SeqCst);
    }

    /// The connection is to be reset.
    pub(super) fn reset(&self) {
        self.0.store(RESET, Ordering::SeqCst);
    }
}

/// A TCP connection that meets its [`Fate`] when it is flushed.
///
/// HTTP flushes when it has nothing more to send for now, so all that was sent before has left.
#[derive(Debug)]
pub(super) struct Wire {
    stream: TcpStream,
    fate: Fate,
}

impl Wire {
    pub(super) fn new(stream: TcpStream, fate: Fate) -> Self {
        Self { stream, fate }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let fate = self.fate.0.load(Ordering::SeqCst);
        if fate == LIVE {
            return Pin::new(&mut self.stream).poll_flush(cx);
        }
        if fate == RESET {
            self.stream.set_zero_linger()?;
        }
        Poll::Ready(Err(io::Error::new(io::ErrorKind::ConnectionAborted, "as the script says")))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
