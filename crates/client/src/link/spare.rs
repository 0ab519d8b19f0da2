//! Memory to read into that nobody uses at the moment, shared by all sessions of a process.
//!
//! A session that waits for its CLI should hold none, and one that reads every few microseconds
//! should not ask for it anew each time.

use std::sync::{Mutex, PoisonError};

use bytes::BytesMut;

/// How much is read at once. A pipe holds as much.
pub(super) const CHUNK: usize = 64 * 1024;

/// How many are kept: as many as threads are likely to read at the same time.
const KEPT: usize = 8;

static SPARE: Mutex<Vec<BytesMut>> = Mutex::new(Vec::new());

/// Room to read into.
pub(super) fn take() -> BytesMut {
    let spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    spare.unwrap_or_else(|| BytesMut::with_capacity(CHUNK))
}

/// Gives back what is not needed now.
pub(super) fn give(mut buffer: BytesMut) {
    // Not the memory of a long line, and not what is left of some that is read from elsewhere.
    if !(CHUNK..2 * CHUNK).contains(&buffer.capacity()) {
        return;
    }
    buffer.clear();
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    if spare.len() < KEPT {
        spare.push(buffer);
    }
}
