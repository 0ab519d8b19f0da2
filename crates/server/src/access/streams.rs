//! How many streams of events somebody has open.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::id::TokenId;

/// Counts streams by token, so that one program that opens them and forgets them does not take the
/// connections of everybody.
#[derive(Debug)]
pub struct Streams {
    most: usize,
    open: Mutex<HashMap<TokenId, usize>>,
}

/// A stream that is open. It counts until it is dropped.
#[derive(Debug)]
pub struct OpenStream {
    streams: Arc<Streams>,
    token: TokenId,
}

impl Streams {
    /// None is open, and each token may have so many.
    #[must_use]
    pub fn at_most(most: usize) -> Arc<Self> {
        Arc::new(Self { most, open: Mutex::default() })
    }

    /// Opens one, if there may be another.
    #[must_use]
    pub fn open(self: &Arc<Self>, token: TokenId) -> Option<OpenStream> {
        let mut all = self.all();
        let count = all.entry(token).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(OpenStream { streams: Arc::clone(self), token })
    }

    /// How many there may be.
    #[must_use]
    pub const fn most(&self) -> usize {
        self.most
    }

    fn all(&self) -> MutexGuard<'_, HashMap<TokenId, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut all = self.streams.all();
        if let Some(count) = all.get_mut(&self.token) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                all.remove(&self.token);
            }
        }
    }
}
