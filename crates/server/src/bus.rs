//! Who is told of what happens: subscribers of one session, and of all.
//!
//! What is on the bus is on disk, but for deltas, which are live only. The bus keeps nothing but the
//! pieces of what is being said in this moment, for those who come in the middle of it: a subscriber that
//! is too slow is told so, and reads the log.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::broadcast;

use crate::id::SessionId;
use crate::session::{Event, Happening, Head};

/// How much may wait for a subscriber, before it is told that it is too slow.
const BACKLOG: usize = 1024;

/// How much of what is being said in a session is kept, in bytes. Who comes in the middle of something
/// longer sees it when it is whole.
const PIECES: usize = 1 << 20;

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
        /// It came after this event.
        after: u64,
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

/// What is being said in a session, in the pieces in which it came.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    /// They came after this event.
    pub after: u64,
    /// The frames of the CLI, as JSON.
    pub frames: Vec<Arc<str>>,
    bytes: usize,
}

impl Pieces {
    fn add(&mut self, frame: &Arc<str>) {
        self.bytes = self.bytes.saturating_add(frame.len());
        if self.bytes <= PIECES {
            self.frames.push(Arc::clone(frame));
        } else {
            self.frames.clear();
        }
    }
}

/// Whether what was being said is said with this, or never will be.
#[must_use]
pub fn ends_pieces(happening: &Happening) -> bool {
    match happening {
        // Its type is the first key of every frame. What an agent says ends nothing: the pieces are of
        // the main conversation. In a text, the quotes of the other key would be escaped.
        Happening::Frame(frame) => {
            let line = frame.line.as_str();
            line.get(..40).unwrap_or_default().contains("\"assistant\"")
                && !line.contains("\"parent_tool_use_id\":\"")
        }
        Happening::TurnEnded(_) | Happening::ProcessEnded(_) | Happening::Deleted(_) => true,
        _ => false,
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
    /// What is being said, by session.
    pieces: HashMap<SessionId, Pieces>,
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

    fn tell(&mut self, news: &News) {
        let session = news.session();
        if let Some(sender) = self.senders.get(&session)
            && sender.send(news.clone()).is_err()
        {
            self.senders.remove(&session);
        }
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
        let (senders, pieces) = (HashMap::new(), HashMap::new());
        let sessions = Watched { senders, pieces, sweep_at: SWEEP };
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
        if ends_pieces(&event.happening) {
            self.watched().pieces.remove(&event.session);
        }
        let news = News::Event { event, head };
        self.tell_session(&news);
        // An error means that nobody listens.
        drop(self.all.send(news));
    }

    /// Tells the subscribers of one session of a piece of a message, which came after this event.
    pub fn publish_delta(&self, session: SessionId, after: u64, frame: Arc<str>) {
        let mut watched = self.watched();
        let pieces = watched.pieces.entry(session);
        pieces.or_insert_with(|| Pieces { after, ..Pieces::default() }).add(&frame);
        watched.tell(&News::Delta { session, after, frame });
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
        self.watched().tell(news);
    }

    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Subscribes to one session. Subscribe first, then read the log: nothing is missed then.
    #[must_use]
    pub fn subscribe(&self, session: SessionId) -> broadcast::Receiver<News> {
        self.watched().sender(session).subscribe()
    }

    /// Subscribes to one session, and gives what is being said in it: what comes next goes on from there.
    #[must_use]
    pub fn subscribe_saying(&self, session: SessionId) -> (Pieces, broadcast::Receiver<News>) {
        let mut watched = self.watched();
        let pieces = watched.pieces.get(&session).cloned().unwrap_or_default();
        (pieces, watched.sender(session).subscribe())
    }

    /// Subscribes to the events of all sessions, without pieces of messages.
    #[must_use]
    pub fn subscribe_all(&self) -> broadcast::Receiver<News> {
        self.all.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Bus, News, PIECES, SWEEP, ends_pieces};
    use crate::id::SessionId;
    use crate::session::{Frame, Happening};

    #[test]
    fn who_comes_in_the_middle_is_given_the_pieces_until_the_whole_comes() {
        let (bus, session) = (Bus::new(), SessionId::new());
        let piece = |text: &str| bus.publish_delta(session, 7, Arc::from(text));
        piece("one");
        piece("two");
        let (pieces, mut news) = bus.subscribe_saying(session);
        assert_eq!(
            (pieces.after, pieces.frames.iter().map(|f| &**f).collect::<Vec<_>>()),
            (7, vec!["one", "two"])
        );
        piece("three");
        assert!(matches!(news.try_recv(), Ok(News::Delta { frame, .. }) if &*frame == "three"));
        assert!(news.try_recv().is_err(), "nothing comes twice");
        let says = |agent: &str| {
            let line = format!(r#"{{"type":"assistant","parent_tool_use_id":{agent}}}"#);
            Happening::Frame(Frame { generation: 1, line: line.parse().unwrap() })
        };
        assert!(!ends_pieces(&says("\"toolu_1\"")), "an agent says something else");
        assert!(ends_pieces(&says("null")));
        piece(&"x".repeat(PIECES));
        assert!(bus.subscribe_saying(session).0.frames.is_empty(), "it is too long to be kept");
    }

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
