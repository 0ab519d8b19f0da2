//! The queue between those who record and the thread that writes.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Health, Report, Trouble};
use crate::format::{Channel, End, Note};

/// What an item takes besides its bytes, roughly: without this, many small chunks would take
/// more memory than the limit says.
const ITEM_COST: usize = 96;

/// How far notes may go over the limit, so that a full queue does not hide how things ended.
const NOTE_ROOM: usize = 64 * 1024;

/// Something to be written, with its time.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) us: u64,
    pub(super) what: What,
}

/// What is to be written.
#[derive(Debug)]
pub(super) enum What {
    Chunk { channel: Channel, bytes: Box<[u8]> },
    Note(Note),
    End(End),
}

impl Item {
    /// What the item counts in the queue.
    pub(super) fn cost(&self) -> usize {
        ITEM_COST + self.bytes()
    }

    /// How many bytes of the streams it holds.
    pub(super) fn bytes(&self) -> usize {
        match &self.what {
            What::Chunk { bytes, .. } => bytes.len(),
            What::Note(_) | What::End(_) => 0,
        }
    }
}

/// A queue that is bounded in bytes, what the writer has taken and not yet written included.
#[derive(Debug)]
pub(super) struct Queue {
    start: Instant,
    limit: usize,
    state: Mutex<State>,
    /// There is something for the writer.
    work: Condvar,
    /// There is room again, or the writer is done.
    room: Condvar,
}

#[derive(Debug, Default)]
struct State {
    items: VecDeque<Item>,
    /// What is taken of the limit.
    held: usize,
    /// The writer waits for work. Otherwise nobody needs to wake it, which costs a system call.
    idle: bool,
    /// Nobody waits for room any more until the writer gets on.
    stalled: bool,
    /// Something was lost, and nothing is taken in until the writer gets on. Otherwise small
    /// chunks would slip through between large ones, and the tape would be full of gaps.
    losing: bool,
    /// Nothing is taken in any more.
    closed: bool,
    health: Health,
    /// The first trouble there was, for the report.
    first: Option<Trouble>,
    /// Set when the writer has ended.
    report: Option<Report>,
}

/// What the writer is given.
pub(super) enum Work {
    Items(VecDeque<Item>),
    /// Nothing came for as long as the writer wanted to wait.
    Nothing,
    /// Nothing will come any more.
    Closed,
}

impl Queue {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            start: Instant::now(),
            limit,
            state: Mutex::default(),
            work: Condvar::new(),
            room: Condvar::new(),
        }
    }

    /// The state. Nothing in this module can panic while it holds it.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time on the tape.
    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Puts a chunk into the queue; where there is no room, waits for some at most that long.
    ///
    /// # Errors
    ///
    /// When there is still none. The chunk is counted as lost then, and the queue remembers to
    /// say so on the tape.
    pub(super) fn push(
        &self,
        channel: Channel,
        bytes: &[u8],
        patience: Duration,
    ) -> Result<(), Trouble> {
        // The copy is made before the queue is locked; nobody waits for it.
        let bytes = Box::<[u8]>::from(bytes);
        let what = What::Chunk { channel, bytes };
        let mut item = Item { us: 0, what };
        let cost = item.cost();
        let full =
            |state: &mut State| state.losing || (state.held > 0 && state.held + cost > self.limit);

        let mut state = self.lock();
        if full(&mut state) && !patience.is_zero() {
            let blocked = |state: &mut State| full(state) && !state.stalled && !state.closed;
            (state, _) = self
                .room
                .wait_timeout_while(state, patience, blocked)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return Ok(());
        }
        // The time is taken under the lock, so that it goes forward on the tape.
        item.us = self.now();
        if full(&mut state) {
            let why = state.health.trouble.clone().unwrap_or(Trouble::Stalled { waited: patience });
            (state.stalled, state.losing) = (true, true);
            state.lose(&item, &why);
            return Err(why);
        }
        state.add(item);
        self.wake(&mut state);
        Ok(())
    }

    /// Puts a note into the queue, without waiting. In a queue that is full there is room for
    /// some; after that notes are dropped.
    pub(super) fn push_note(&self, note: Note) {
        let mut state = self.lock();
        if !state.closed && state.held <= self.limit.saturating_add(NOTE_ROOM) {
            state.add(Item { us: self.now(), what: What::Note(note) });
            self.wake(&mut state);
        }
    }

    /// Takes nothing in any more. What was taken in is still written, and `end` after it.
    pub(super) fn close(&self, end: Option<End>) {
        let mut state = self.lock();
        if state.closed {
            return;
        }
        if let Some(end) = end {
            state.add(Item { us: self.now(), what: What::End(end) });
        }
        state.closed = true;
        self.room.notify_all();
        self.work.notify_one();
    }

    /// Waits until the writer has ended, at most that long, and says how it went.
    pub(super) fn wait_for_end(&self, patience: Duration) -> Option<Report> {
        let (state, _) = self
            .room
            .wait_timeout_while(self.lock(), patience, |state| state.report.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        state.report.clone()
    }

    pub(super) fn health(&self) -> Health {
        self.lock().health.clone()
    }

    fn wake(&self, state: &mut State) {
        if state.idle {
            state.idle = false;
            self.work.notify_one();
        }
    }
}

/// What only the writer does.
impl Queue {
    /// Waits for work, for ever or at most that long.
    pub(super) fn take(&self, patience: Option<Duration>) -> Work {
        let nothing = |state: &mut State| state.items.is_empty() && !state.closed;
        let mut state = self.lock();
        if nothing(&mut state) {
            state.idle = true;
            state = match patience {
                None => {
                    self.work.wait_while(state, nothing).unwrap_or_else(PoisonError::into_inner)
                }
                Some(patience) => {
                    self.work
                        .wait_timeout_while(state, patience, nothing)
                        .unwrap_or_else(PoisonError::into_inner)
                        .0
                }
            };
            state.idle = false;
        }
        match (state.items.is_empty(), state.closed) {
            (false, _) => Work::Items(std::mem::take(&mut state.items)),
            (true, true) => Work::Closed,
            (true, false) => Work::Nothing,
        }
    }

    /// Says that something was written: so much room is free again.
    pub(super) fn wrote(&self, cost: usize, records: u64, bytes: u64) {
        let mut state = self.lock();
        state.held = state.held.saturating_sub(cost);
        (state.stalled, state.losing) = (false, false);
        state.health.trouble = None;
        state.health.records += records;
        state.health.bytes += bytes;
        self.room.notify_all();
    }

    /// Says that nothing can be written at present.
    pub(super) fn failed(&self, trouble: &Trouble) {
        let mut state = self.lock();
        state.stalled = true;
        state.suffer(trouble);
        self.room.notify_all();
    }

    /// Waits before the next attempt to write, unless the queue is closed. Says whether it is.
    pub(super) fn wait_to_retry(&self, patience: Duration) -> bool {
        // The writer does not say that it is idle: something to write is no reason to try again.
        let (state, _) = self
            .work
            .wait_timeout_while(self.lock(), patience, |state| !state.closed)
            .unwrap_or_else(PoisonError::into_inner);
        state.closed
    }

    /// Says that the writer has ended.
    pub(super) fn ended(&self, lost: u64, records: u64, finished: bool) {
        let mut state = self.lock();
        state.closed = true;
        let left: usize = std::mem::take(&mut state.items).iter().map(Item::bytes).sum();
        state.health.lost_bytes += lost + left as u64;
        state.health.records += records;
        let Health { records, bytes, lost_bytes, .. } = state.health;
        let trouble = state.first.clone();
        state.report = Some(Report { records, bytes, lost_bytes, finished, trouble });
        self.room.notify_all();
    }
}

impl State {
    fn add(&mut self, item: Item) {
        self.held += item.cost();
        self.items.push_back(item);
    }

    fn suffer(&mut self, trouble: &Trouble) {
        self.health.trouble = Some(trouble.clone());
        self.first.get_or_insert_with(|| trouble.clone());
    }

    /// Counts the bytes of an item as lost, and notes it where they are missing.
    fn lose(&mut self, item: &Item, why: &Trouble) {
        let lost = item.bytes() as u64;
        self.health.lost_bytes += lost;
        self.suffer(why);
        if let Some(Item { what: What::Note(Note::Gap { bytes, .. }), .. }) = self.items.back_mut()
        {
            *bytes += lost;
            return;
        }
        let gap = Note::Gap { bytes: lost, reason: why.to_string() };
        self.add(Item { us: item.us, what: What::Note(gap) });
    }
}
