//! Connections that wait for the next request.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::connect::{Origin, Sender};

/// How many connections to one place wait at most.
const EACH: usize = 4;

/// Connections that wait for the next request.
pub(super) struct Pool {
    /// How long one may wait. Servers end those that nobody uses, and a request that is sent just
    /// then is lost.
    keep: Duration,
    idle: Mutex<HashMap<Origin, Vec<Idle>>>,
}

struct Idle {
    sender: Sender,
    until: Instant,
}

impl Pool {
    pub(super) fn new(keep: Duration) -> Self {
        Self { keep, idle: Mutex::default() }
    }

    /// A connection that can be used, as far as is known: the one that was used last.
    pub(super) async fn take(&self, to: &Origin) -> Option<Sender> {
        loop {
            let mut sender = self.pop(to)?;
            if sender.ready().await.is_ok() {
                return Some(sender);
            }
        }
    }

    fn pop(&self, to: &Origin) -> Option<Sender> {
        let now = Instant::now();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = idle.get_mut(to)?;
        waiting.retain(|one| one.until > now && !one.sender.is_closed());
        let found = waiting.pop();
        if waiting.is_empty() {
            idle.remove(to);
        }
        found.map(|one| one.sender)
    }

    /// Takes back a connection whose answer was read to its end.
    pub(super) fn put(&self, to: Origin, sender: Sender) {
        if sender.is_closed() {
            return;
        }
        let now = Instant::now();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever is not called any more is forgotten here.
        idle.retain(|_, waiting| {
            waiting.retain(|one| one.until > now && !one.sender.is_closed());
            !waiting.is_empty()
        });
        let waiting = idle.entry(to).or_default();
        if waiting.len() < EACH {
            waiting.push(Idle { sender, until: now + self.keep });
        }
    }
}
