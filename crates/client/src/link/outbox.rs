//! What goes to the CLI.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_record::{Channel, Note, Recorder};
use tokio::net::unix::pipe::Sender;
use tokio::sync::Notify;

use super::{OnLine, Way};

/// How much may wait for a CLI that does not read before whoever sends more has to wait, too.
///
/// Answers are not held back by it: there are no more of them than requests. Reports of progress are
/// left out.
const ROOM: usize = 1024 * 1024;

/// The lines that go to the CLI, in the order in which they were given.
///
/// Whoever has a line writes it at once, if the pipe has room; what it does not take is kept and
/// written by the owner of the session as soon as it can be. So an answer needs no other task to
/// be on its way, and a CLI that does not read holds up nobody.
pub(crate) struct Outbox {
    queue: Mutex<Queue>,
    /// Tells the owner that something waits.
    waiting: Notify,
    /// Tells senders that there is room again.
    room: Notify,
    recorder: Option<Recorder>,
    on_line: Option<OnLine>,
}

struct Queue {
    pipe: Option<Arc<Sender>>,
    bytes: Vec<u8>,
    /// How much of `bytes` is written.
    written: usize,
}

/// The CLI reads no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutboxClosed;

impl Outbox {
    pub(crate) fn new(pipe: Sender, recorder: Option<Recorder>, on_line: Option<OnLine>) -> Self {
        let queue = Queue { pipe: Some(Arc::new(pipe)), bytes: Vec::new(), written: 0 };
        let (waiting, room) = (Notify::new(), Notify::new());
        Self { queue: Mutex::new(queue), waiting, room, recorder, on_line }
    }

    /// Sends whole lines, now or as soon as the CLI reads.
    pub(crate) fn push(&self, lines: &[u8]) -> Result<(), OutboxClosed> {
        tracing::trace!(lines = %String::from_utf8_lossy(lines), "to the CLI");
        let mut queue = self.lock();
        let Some(pipe) = &queue.pipe else { return Err(OutboxClosed) };
        // Before it is written, so that what comes of it has a later place on the tape.
        if let Some(recorder) = &self.recorder {
            recorder.record(Channel::In, lines);
        }
        if let Some(on_line) = &self.on_line {
            let lines = lines.strip_suffix(b"\n").unwrap_or(lines);
            lines.split(|byte| *byte == b'\n').for_each(|line| on_line(Way::ToCli, line));
        }
        let mut rest = lines;
        while queue.bytes.is_empty() && !rest.is_empty() {
            match pipe.try_write(rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => {
                    queue.close();
                    drop(queue);
                    self.room.notify_waiters();
                    return Err(OutboxClosed);
                }
            }
        }
        if !rest.is_empty() {
            queue.bytes.extend_from_slice(rest);
            drop(queue);
            self.waiting.notify_one();
        }
        Ok(())
    }

    /// Waits until not too much waits to be read by the CLI, or it reads no more.
    pub(crate) async fn room(&self) {
        loop {
            let mut notified = std::pin::pin!(self.room.notified());
            // Listening first, so that no room made in between is missed.
            notified.as_mut().enable();
            if !self.is_full() {
                return;
            }
            notified.await;
        }
    }

    /// Whether so much waits to be read by the CLI that more should wait.
    pub(crate) fn is_full(&self) -> bool {
        let queue = self.lock();
        queue.pipe.is_some() && queue.waiting() > ROOM
    }

    /// Waits until something has to be written that the pipe did not take, and until it takes some.
    ///
    /// Returns when there was progress, or when nothing can be written any more.
    pub(crate) async fn flush(&self) -> Result<(), OutboxClosed> {
        loop {
            if self.try_flush()? {
                self.waiting.notified().await;
                continue;
            }
            let pipe = self.lock().pipe.clone().ok_or(OutboxClosed)?;
            tokio::select! {
                // An error shows when it is written to.
                _ = pipe.writable() => {}
                // Closed meanwhile, or there is more to write.
                () = self.waiting.notified() => {}
            }
        }
    }

    /// Writes what the pipe takes; says whether that was all.
    fn try_flush(&self) -> Result<bool, OutboxClosed> {
        let mut queue = self.lock();
        let Queue { pipe, bytes, written } = &mut *queue;
        let Some(open) = pipe else { return Err(OutboxClosed) };
        let outcome = loop {
            let rest = bytes.get(*written..).unwrap_or_default();
            if rest.is_empty() {
                break Ok(true);
            }
            match open.try_write(rest) {
                Ok(count) => *written += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break Err(OutboxClosed),
            }
        };
        match outcome {
            // The memory of a long line is given back.
            Ok(true) => (*bytes, *written) = (Vec::new(), 0),
            // Whoever reads slowly may never let the queue run empty. Half of it, so that no byte is
            // moved more often than it is written.
            Ok(false) if *written >= bytes.len() / 2 => {
                bytes.drain(..*written);
                *written = 0;
            }
            Ok(false) => {}
            Err(OutboxClosed) => queue.close(),
        }
        let has_room = queue.pipe.is_none() || queue.waiting() <= ROOM;
        drop(queue);
        if has_room {
            self.room.notify_waiters();
        }
        outcome
    }

    /// Closes the pipe. What still waits is not written.
    pub(crate) fn close(&self) {
        let mut queue = self.lock();
        if let (Some(_), Some(recorder)) = (&queue.pipe, &self.recorder) {
            recorder.note(Note::Closed { channel: Channel::In });
        }
        queue.close();
        drop(queue);
        self.room.notify_waiters();
        self.waiting.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Nothing in here can panic between two states that belong together.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn waiting(&self) -> usize {
        self.bytes.len() - self.written
    }

    fn close(&mut self) {
        *self = Self { pipe: None, bytes: Vec::new(), written: 0 };
    }
}

#[cfg(test)]
mod tests;
