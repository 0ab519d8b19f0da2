//! The end of a mailbox that is read from.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use memchr::{memchr, memrchr};

use super::{Mailbox, RELIEF, State};
use crate::link::spool::Spool;

/// How much is read back from the file at once. Tests have lines that are longer.
const READ_BACK: usize = if cfg!(test) { 64 } else { 256 * 1024 };

/// Reads lines out of a mailbox.
#[derive(Debug)]
pub(crate) struct Reader {
    mailbox: Arc<Mailbox>,
    chunk: Bytes,
}

/// What a reader finds.
enum Found {
    Chunk(Bytes),
    InFile(Spool, u64, u64),
    Nothing,
    End,
}

impl Reader {
    pub(super) fn new(mailbox: Arc<Mailbox>) -> Self {
        Self { mailbox, chunk: Bytes::new() }
    }

    /// The next line, without its end; none when nothing more will come.
    ///
    /// Cancel safe: a line is either returned or still there.
    pub(crate) async fn next_line(&mut self) -> Option<Bytes> {
        loop {
            if let Some(line) = self.line_at_hand() {
                return Some(line);
            }
            self.chunk = self.next_chunk().await?;
        }
    }

    /// The next line, if it is at hand.
    pub(crate) fn line_at_hand(&mut self) -> Option<Bytes> {
        loop {
            if self.chunk.is_empty() {
                match self.mailbox.find() {
                    Found::Chunk(chunk) => self.chunk = chunk,
                    _ => return None,
                }
            }
            let line = match memchr(b'\n', &self.chunk) {
                Some(end) => {
                    let mut line = self.chunk.split_to(end + 1);
                    line.truncate(end);
                    line
                }
                None => std::mem::take(&mut self.chunk),
            };
            let line = match line.last() {
                Some(b'\r') => line.slice(..line.len() - 1),
                _ => line,
            };
            if !line.iter().all(u8::is_ascii_whitespace) {
                return Some(line);
            }
        }
    }

    async fn next_chunk(&self) -> Option<Bytes> {
        loop {
            let readable = self.mailbox.readable.notified();
            match self.mailbox.find() {
                Found::Chunk(chunk) => return Some(chunk),
                Found::InFile(spool, at, length) => match read_back(spool, at, length).await {
                    Ok(chunk) => {
                        self.mailbox.took(chunk.len() as u64);
                        return Some(chunk);
                    }
                    // What is in the file is lost; what comes after it is not.
                    Err(error) => self.mailbox.lost(length, &error),
                },
                Found::Nothing => readable.await,
                Found::End => return None,
            }
        }
    }
}

/// Reads whole lines back, some of them at least.
async fn read_back(spool: Spool, at: u64, length: u64) -> io::Result<Bytes> {
    let all = usize::try_from(length).unwrap_or(usize::MAX);
    let work = move || {
        let mut size = all.min(READ_BACK);
        loop {
            let mut chunk = spool.read(at, size)?;
            // The file ends with a whole line, so this ends, too.
            match memrchr(b'\n', &chunk) {
                Some(end) => {
                    chunk.truncate(end + 1);
                    return Ok(chunk);
                }
                None if size == all => return Ok(chunk),
                None => size = all.min(size.saturating_mul(4)),
            }
        }
    };
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}

impl Mailbox {
    fn find(&self) -> Found {
        let mut state = self.lock();
        if let Some(chunk) = state.head.pop_front() {
            state.head_bytes -= chunk.len();
            state.is_read = true;
            if state.waited_for.is_some() && !state.is_full(self.delivery.memory, RELIEF) {
                state.waited_for = None;
                self.relieved.notify_one();
            }
            return Found::Chunk(chunk);
        }
        if let Some(filed) = &state.filed
            && filed.read < filed.written
        {
            return Found::InFile(filed.spool.clone(), filed.read, filed.written - filed.read);
        }
        if state.writing > 0 {
            return Found::Nothing;
        }
        // Caught up with the file: what was to go there can be read at once.
        let done = state.filed.take();
        let chunk = state.tail.pop_front();
        state.tail_bytes -= chunk.as_ref().map_or(0, Bytes::len);
        let end = state.closed;
        drop(state);
        if let Some(filed) = done {
            // Giving a large file back takes a while.
            drop(tokio::task::spawn_blocking(move || filed.spool.clear().is_ok()));
        }
        match chunk {
            Some(chunk) => {
                self.relieved.notify_one();
                Found::Chunk(chunk)
            }
            None if end => Found::End,
            None => Found::Nothing,
        }
    }

    fn took(&self, length: u64) {
        if let Some(filed) = &mut self.lock().filed {
            filed.read += length;
        }
    }

    fn lost(&self, length: u64, error: &io::Error) {
        tracing::error!(%error, length, "messages cannot be read back from their file");
        self.took(length);
        let marker = crate::message::lost_marker(length);
        let mut state = self.lock();
        state.head_bytes += marker.len();
        state.head.push_front(marker.into());
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.mailbox.lock();
        let filed = state.filed.take();
        *state = State { abandoned: true, spilling: state.spilling, ..State::default() };
        drop(state);
        drop(filed);
        self.mailbox.relieved.notify_one();
    }
}
