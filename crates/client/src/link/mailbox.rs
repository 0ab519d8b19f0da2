//! What came from the CLI and waits for somebody to read it.

mod reader;

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use countersign_protocol::Line;
use tokio::sync::Notify;
use tokio::time::Instant;

pub(crate) use self::reader::Reader;
use super::spool::Spool;
use crate::counters::Counters;

/// How much is written to the file at once.
const WRITE_OUT: usize = if cfg!(test) { 256 } else { 1024 * 1024 };

/// How much may wait for a disk that does not get on before the CLI is no longer read.
const PATIENCE: usize = 64 * 1024 * 1024;

/// How long somebody who is reading is waited for before what is not read goes to the file, and how
/// much room has to be made meanwhile: as much as a few reads bring.
const GRACE: Duration = Duration::from_millis(5);
const RELIEF: usize = if cfg!(test) { 64 } else { 256 * 1024 };

/// How messages are kept until they are read.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    /// How many bytes of them are kept in memory.
    pub(crate) memory: usize,
    /// Whether pieces of messages are dropped beyond that. Whole messages never are.
    pub(crate) drop_deltas: bool,
    /// Where the file is made that the rest goes to.
    pub(crate) folder: Option<PathBuf>,
}

impl Default for Delivery {
    fn default() -> Self {
        Self { memory: 4 * 1024 * 1024, drop_deltas: false, folder: None }
    }
}

/// Messages on their way from the owner of a session to whoever reads them.
///
/// It takes everything at once and without waiting. What is not read stays in memory up to a
/// limit; what comes after that goes to a file, and is read back from it in its turn.
///
/// Somebody who reads all the time, only more slowly than the CLI writes, would have nearly
/// everything go through the file. So the CLI is not read for a moment when memory is full and the
/// reader is getting on. That is never longer than a permission can wait, and not done again
/// before the reader has read on.
#[derive(Debug)]
pub(crate) struct Mailbox {
    state: Mutex<State>,
    readable: Notify,
    relieved: Notify,
    delivery: Delivery,
    counters: Arc<Counters>,
}

#[derive(Debug, Default)]
struct State {
    /// What is read next.
    head: VecDeque<Bytes>,
    head_bytes: usize,
    /// What is in the file, and comes after `head`.
    filed: Option<Filed>,
    /// What is on its way to the file.
    writing: usize,
    /// What comes after the file.
    tail: VecDeque<Bytes>,
    tail_bytes: usize,
    /// Pieces of messages that were dropped since the last line.
    dropped: u64,
    /// A task that writes to the file is running.
    spilling: bool,
    /// The file cannot be written, so memory is all there is.
    no_file: bool,
    /// Something was read since the reader was last waited for in vain.
    is_read: bool,
    /// Since when the reader is waited for.
    waited_for: Option<Instant>,
    /// Nothing more will come.
    closed: bool,
    /// Nobody will read.
    abandoned: bool,
}

#[derive(Debug)]
struct Filed {
    spool: Spool,
    read: u64,
    written: u64,
}

impl State {
    fn unread_in_file(&self) -> u64 {
        self.filed.as_ref().map_or(0, |filed| filed.written - filed.read)
    }

    /// Whether what comes now has to wait behind something that is not in `head`.
    fn has_overflowed(&self) -> bool {
        self.unread_in_file() > 0 || self.writing > 0 || !self.tail.is_empty()
    }

    /// Whether so much has to be read before there is room for `more`.
    fn is_full(&self, memory: usize, more: usize) -> bool {
        !self.head.is_empty() && self.head_bytes + more > memory
    }

    /// What stands for the pieces of messages that were dropped since the last line, if any were.
    fn take_dropped(&mut self) -> Option<Bytes> {
        let dropped = std::mem::take(&mut self.dropped);
        (dropped > 0).then(|| Bytes::from(crate::message::dropped_marker(dropped)))
    }
}

impl Mailbox {
    pub(crate) fn new(delivery: Delivery, counters: Arc<Counters>) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            readable: Notify::new(),
            relieved: Notify::new(),
            delivery,
            counters,
        })
    }

    /// Takes whole lines.
    pub(crate) fn push(self: &Arc<Self>, batches: impl IntoIterator<Item = Bytes>) {
        let mut state = self.lock();
        if state.abandoned {
            return;
        }
        for batch in batches {
            if !state.has_overflowed() && state.head_bytes + batch.len() <= self.delivery.memory {
                // What was dropped before it is said before it, also when it was read meanwhile.
                let marker = state.take_dropped();
                for batch in marker.into_iter().chain([batch]) {
                    state.head_bytes += batch.len();
                    state.head.push_back(batch);
                }
                continue;
            }
            let batch = if self.delivery.drop_deltas {
                self.without_deltas(&mut state.dropped, &batch)
            } else {
                batch
            };
            if !batch.is_empty() {
                state.tail_bytes += batch.len();
                state.tail.push_back(batch);
            }
        }
        let spill = !state.tail.is_empty() && !state.spilling && !state.no_file;
        state.spilling |= spill;
        let lag = state.head_bytes as u64
            + state.unread_in_file()
            + (state.writing + state.tail_bytes) as u64;
        drop(state);
        self.counters.lagging(lag);
        self.readable.notify_one();
        if spill {
            let mailbox = Arc::clone(self);
            #[expect(
                clippy::disallowed_methods,
                reason = "it ends with what there is to write, and nothing has to wait for it"
            )]
            drop(tokio::task::spawn(async move { mailbox.spill().await }));
        }
    }

    /// The batch without the pieces of messages, which are counted.
    fn without_deltas(&self, dropped: &mut u64, batch: &[u8]) -> Bytes {
        let mut kept = BytesMut::new();
        for line in batch.split_inclusive(|&byte| byte == b'\n') {
            if Line::parse(line).is_ok_and(|line| line.frame_type() == "stream_event") {
                *dropped += 1;
                self.counters.dropped_delta();
                continue;
            }
            if *dropped > 0 {
                kept.extend_from_slice(crate::message::dropped_marker(*dropped).as_bytes());
                *dropped = 0;
            }
            kept.extend_from_slice(line);
        }
        kept.freeze()
    }

    /// Writes what waits to the file, until nothing does.
    async fn spill(self: Arc<Self>) {
        while let Some((batches, spool, at)) = self.next_to_write() {
            let length: usize = batches.iter().map(Bytes::len).sum();
            let folder = self.delivery.folder.clone();
            let work = move || {
                let outcome = (|| {
                    let spool = match spool {
                        Some(spool) => spool,
                        None => Spool::create(folder.as_ref())?,
                    };
                    spool.write(at, &batches)?;
                    Ok(spool)
                })();
                (batches, outcome)
            };
            match tokio::task::spawn_blocking(work).await {
                Ok((_, Ok(spool))) => self.wrote(spool, length),
                Ok((batches, Err(error))) => self.not_written(batches, &error),
                // The runtime is ending, and everything with it.
                Err(_) => return,
            }
        }
    }

    fn next_to_write(&self) -> Option<(Vec<Bytes>, Option<Spool>, u64)> {
        let mut state = self.lock();
        let mut batches = Vec::new();
        let mut length = 0;
        if !state.no_file && !state.abandoned {
            while length < WRITE_OUT
                && let Some(batch) = state.tail.pop_front()
            {
                length += batch.len();
                batches.push(batch);
            }
        }
        if batches.is_empty() {
            state.spilling = false;
            return None;
        }
        state.tail_bytes -= length;
        state.writing = length;
        let at = state.filed.as_ref().map_or(0, |filed| filed.written);
        Some((batches, state.filed.as_ref().map(|filed| filed.spool.clone()), at))
    }

    fn wrote(&self, spool: Spool, length: usize) {
        let mut state = self.lock();
        state.writing = 0;
        match &mut state.filed {
            Some(filed) => filed.written += length as u64,
            empty => *empty = Some(Filed { spool, read: 0, written: length as u64 }),
        }
        drop(state);
        self.counters.spooled(length as u64);
        self.readable.notify_one();
        self.relieved.notify_one();
    }

    fn not_written(&self, batches: Vec<Bytes>, error: &io::Error) {
        tracing::warn!(%error, "messages cannot be put into a file; they stay in memory");
        let mut state = self.lock();
        state.no_file = true;
        state.tail_bytes += std::mem::take(&mut state.writing);
        for batch in batches.into_iter().rev() {
            state.tail.push_front(batch);
        }
        drop(state);
        self.readable.notify_one();
    }

    /// Waits until there is room for more; there nearly always is.
    ///
    /// It is missing when the disk does not take what nobody reads. Then the CLI has to wait. And
    /// it is for a moment when somebody is about to make some.
    pub(crate) async fn room(&self) {
        loop {
            let relieved = self.relieved.notified();
            match self.wants() {
                Wants::Nothing => return,
                Wants::Disk => relieved.await,
                Wants::Reader(until) => {
                    if tokio::time::timeout_at(until, relieved).await.is_err() {
                        self.lock().is_read = false;
                    }
                }
            }
        }
    }

    /// Whether [`room`](Self::room) would return at once.
    pub(crate) fn has_room(&self) -> bool {
        matches!(self.wants(), Wants::Nothing)
    }

    fn wants(&self) -> Wants {
        let mut state = self.lock();
        if !state.abandoned && state.tail_bytes + state.writing > PATIENCE {
            return Wants::Disk;
        }
        let waits = !state.abandoned
            && state.is_read
            && !state.has_overflowed()
            && state.is_full(self.delivery.memory, RELIEF);
        if !waits {
            state.waited_for = None;
            return Wants::Nothing;
        }
        Wants::Reader(*state.waited_for.get_or_insert_with(Instant::now) + GRACE)
    }

    /// Nothing more will come.
    pub(crate) fn close(self: &Arc<Self>) {
        let mut state = self.lock();
        state.closed = true;
        if let Some(marker) = state.take_dropped() {
            state.tail_bytes += marker.len();
            state.tail.push_back(marker);
        }
        drop(state);
        self.readable.notify_one();
    }

    /// The end that is read from. There is one.
    pub(crate) fn reader(self: &Arc<Self>) -> Reader {
        Reader::new(Arc::clone(self))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing in here can panic between two states that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What has to happen before there is room.
enum Wants {
    Nothing,
    /// The disk has to get on.
    Disk,
    /// The reader has until then.
    Reader(Instant),
}

#[cfg(test)]
mod tests;
