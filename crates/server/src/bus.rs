//! Who is told of what happens: subscribers of one session, and of all.
//!
//! What is on the bus is on disk, but for deltas, which are live only. The bus keeps nothing: a
//! subscriber that is too slow is told so, and reads the log.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::broadcast;

use crate::id::SessionId;
use crate::session::{Event, Happening, Head};

/// How much may wait for a subscriber, before it is told that it is too slow.
const BACKLOG: usize = 1024;

/// With how many watched sessions it is first looked which of them are not watched any more. Nothing
/// tells when a subscriber goes, and a session in which nothing happens is never told anything.
const SWEEP: usize = 64;

/// Something that subscribers are told.
#[derive(Clone, Debug)]
pub enum News {
    /// Something happened, and this is what the session is now.
    Event {
        /// What happened.
        event: Arc<Event>,
        /// What the session is after everything that was written with it.
        head: Arc<Head>,
    },
    /// A piece of what the model is saying. It is in no log; the whole follows.
    Delta {
        /// The session.
        session: SessionId,
        /// The frame of the CLI, as JSON.
        frame: Arc<str>,
    },
}

impl News {
    /// The session that it is about.
    #[must_use]
    pub fn session(&self) -> SessionId {
        match self {
            Self::Event { event, .. } => event.session,
            Self::Delta { session, .. } => *session,
        }
    }
}

/// Who is told of what happens.
#[derive(Debug)]
pub struct Bus {
    all: broadcast::Sender<News>,
    sessions: Mutex<Watched>,
    counters: Counters,
}

/// The sessions that somebody watches, or did.
#[derive(Debug)]
struct Watched {
    senders: HashMap<SessionId, broadcast::Sender<News>>,
    /// With how many those are taken out that nobody watches any more.
    sweep_at: usize,
}

impl Watched {
    fn sender(&mut self, session: SessionId) -> &broadcast::Sender<News> {
        if self.senders.len() >= self.sweep_at && !self.senders.contains_key(&session) {
            self.senders.retain(|_, sender| sender.receiver_count() > 0);
            self.sweep_at = SWEEP.max(2 * self.senders.len());
        }
        self.senders.entry(session).or_insert_with(|| broadcast::Sender::new(BACKLOG))
    }
}

/// How much of what was told, since the server was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events.
    pub events: u64,
    /// Times that a person was asked.
    pub opened: u64,
    /// Answers.
    pub answered: u64,
    /// Approvals that were closed.
    pub closed: u64,
    /// Turns that have ended.
    pub turns: u64,
    /// Processes that failed.
    pub failures: u64,
}

#[derive(Debug, Default)]
struct Counters {
    events: AtomicU64,
    opened: AtomicU64,
    answered: AtomicU64,
    closed: AtomicU64,
    turns: AtomicU64,
    failures: AtomicU64,
}

impl Counters {
    fn count(&self, happening: &Happening) {
        let more = |counter: &AtomicU64| {
            counter.fetch_add(1, Ordering::Relaxed);
        };
        more(&self.events);
        match happening {
            Happening::ApprovalOpened(_) => more(&self.opened),
            Happening::ApprovalAnswered(_) => more(&self.answered),
            Happening::ApprovalClosed(_) => more(&self.closed),
            Happening::TurnEnded(_) => more(&self.turns),
            Happening::ProcessEnded(ended) if ended.failed => more(&self.failures),
            _ => {}
        }
    }
}

impl Default for Bus {
    fn default() -> Self {
        let all = broadcast::Sender::new(BACKLOG);
        let sessions = Watched { senders: HashMap::new(), sweep_at: SWEEP };
        Self { all, sessions: Mutex::new(sessions), counters: Counters::default() }
    }
}

impl Bus {
    /// A bus without subscribers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells of events that are on disk. Called by the store, in the order of their positions.
    pub fn publish(&self, event: Arc<Event>, head: Arc<Head>) {
        self.counters.count(&event.happening);
        let news = News::Event { event, head };
        self.tell_session(&news);
        // An error means that nobody listens.
        drop(self.all.send(news));
    }

    /// Tells the subscribers of one session of a piece of a message.
    pub fn publish_delta(&self, session: SessionId, frame: Arc<str>) {
        self.tell_session(&News::Delta { session, frame });
    }

    /// How much was told.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let all = &self.counters;
        Counts {
            events: read(&all.events),
            opened: read(&all.opened),
            answered: read(&all.answered),
            closed: read(&all.closed),
            turns: read(&all.turns),
            failures: read(&all.failures),
        }
    }

    /// Whether anybody would be told of pieces of messages.
    #[must_use]
    pub fn is_watched(&self, session: SessionId) -> bool {
        self.watched().senders.get(&session).is_some_and(|sender| sender.receiver_count() > 0)
    }

    fn tell_session(&self, news: &News) {
        let mut watched = self.watched();
        let session = news.session();
        if let Some(sender) = watched.senders.get(&session)
            && sender.send(news.clone()).is_err()
        {
            watched.senders.remove(&session);
        }
    }

    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Subscribes to one session. Subscribe first, then read the log: nothing is missed then.
    #[must_use]
    pub fn subscribe(&self, session: SessionId) -> broadcast::Receiver<News> {
        self.watched().sender(session).subscribe()
    }

    /// Subscribes to the events of all sessions, without pieces of messages.
    #[must_use]
    pub fn subscribe_all(&self) -> broadcast::Receiver<News> {
        self.all.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::{Bus, SWEEP};
    use crate::id::SessionId;

    #[test]
    fn sessions_that_nobody_watches_any_more_are_forgotten() {
        let bus = Bus::new();
        let watched = SessionId::new();
        let kept: Vec<_> = (0..3).map(|_| bus.subscribe(watched)).collect();
        for _ in 0..100 * SWEEP {
            drop(bus.subscribe(SessionId::new()));
        }
        assert!(bus.watched().senders.len() <= SWEEP);
        assert!(bus.is_watched(watched));
        drop(kept);
        assert!(!bus.is_watched(watched));
    }
}
