//! A connection whose other end does not take what is sent, and is given up then.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A connection that fails when nothing could be written to it for too long.
///
/// Somebody who listens to events and does not read them would hold their connection for ever
/// otherwise, with all that waits to be sent.
#[derive(Debug)]
pub(super) struct Patient<T> {
    inner: T,
    patience: Duration,
    /// There while something waits to be written.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<T> Patient<T> {
    pub(super) const fn new(inner: T, patience: Duration) -> Self {
        Self { inner, patience, stalled: None }
    }

    /// What became of a try to write, or that there were too many.
    fn judge<R>(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<io::Result<R>>,
    ) -> Poll<io::Result<R>> {
        if outcome.is_ready() {
            self.stalled = None;
            return outcome;
        }
        let patience = self.patience;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the other end does not read")))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Patient<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Patient<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.judge(context, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.inner).poll_write_vectored(context, pieces);
        self.judge(context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.inner).poll_flush(context);
        self.judge(context, outcome)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.inner).poll_shutdown(context);
        self.judge(context, outcome)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::Patient;

    #[tokio::test(start_paused = true)]
    async fn who_does_not_read_is_given_up_and_who_reads_slowly_is_not() {
        let (near, mut far) = duplex(4);
        let mut near = Patient::new(near, Duration::from_secs(60));
        let writing = async {
            near.write_all(b"0123456789").await.unwrap();
            near.write_all(b"0123456789").await
        };
        let reading = async {
            let mut some = [0; 1];
            for _ in 0..12 {
                tokio::time::sleep(Duration::from_secs(59)).await;
                far.read_exact(&mut some).await.unwrap();
            }
        };
        let (written, ()) = tokio::join!(writing, reading);
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
