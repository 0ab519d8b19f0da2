//! What passed through a session, in numbers.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts that go on while the session does.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    frames: AtomicU64,
    unknown: AtomicU64,
    malformed: AtomicU64,
    not_frames: AtomicU64,
    too_long: AtomicU64,
    late_answers: AtomicU64,
    unanswerable: AtomicU64,
    dropped_deltas: AtomicU64,
    spooled_bytes: AtomicU64,
    most_lag_bytes: AtomicU64,
    stderr_bytes: AtomicU64,
}

/// What passed through a session so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Lines that the CLI wrote.
    pub frames: u64,
    /// Frames of a kind that is not known.
    pub unknown: u64,
    /// Frames of a known kind that could not be read.
    pub malformed: u64,
    /// Lines that are not frames at all.
    pub not_frames: u64,
    /// Lines that were longer than allowed and were passed over.
    pub too_long: u64,
    /// Answers of the CLI to requests that nobody waits for any more.
    pub late_answers: u64,
    /// Requests of the CLI that no handler here can answer, and that were refused.
    pub unanswerable: u64,
    /// Pieces of messages that were dropped because nobody read them; none unless that was chosen.
    pub dropped_deltas: u64,
    /// Bytes of messages that went through the file because nobody read them.
    pub spooled_bytes: u64,
    /// The most bytes of messages that ever waited to be read.
    pub most_lag_bytes: u64,
    /// Bytes that the CLI wrote to its standard error.
    pub stderr_bytes: u64,
}

macro_rules! counting {
    ($($method:ident => $field:ident;)+) => {
        $(pub(crate) fn $method(&self) {
            self.$field.fetch_add(1, Ordering::Relaxed);
        })+
    };
}

impl Counters {
    counting! {
        unknown => unknown;
        malformed => malformed;
        not_a_frame => not_frames;
        too_long => too_long;
        late_answer => late_answers;
        unanswerable => unanswerable;
        dropped_delta => dropped_deltas;
    }

    pub(crate) fn frames(&self, count: u64) {
        self.frames.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn spooled(&self, bytes: u64) {
        self.spooled_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn stderr(&self, bytes: u64) {
        self.stderr_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn lagging(&self, bytes: u64) {
        self.most_lag_bytes.fetch_max(bytes, Ordering::Relaxed);
    }

    pub(crate) fn stats(&self) -> Stats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            frames: read(&self.frames),
            unknown: read(&self.unknown),
            malformed: read(&self.malformed),
            not_frames: read(&self.not_frames),
            too_long: read(&self.too_long),
            late_answers: read(&self.late_answers),
            unanswerable: read(&self.unanswerable),
            dropped_deltas: read(&self.dropped_deltas),
            spooled_bytes: read(&self.spooled_bytes),
            most_lag_bytes: read(&self.most_lag_bytes),
            stderr_bytes: read(&self.stderr_bytes),
        }
    }
}
