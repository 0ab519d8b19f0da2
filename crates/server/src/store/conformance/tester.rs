//! What all tests use.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

use super::Place;
use super::sample;
use crate::access::Clock;
use crate::bus::Bus;
use crate::id::SessionId;
use crate::session::{Event, Happening, Head, Refused};
use crate::store::{Store, StoreError, Write, WriteError, Written};

/// What a store did.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// It failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It did not write something.
    #[error("not written: {0}")]
    Write(#[from] WriteError),
    /// It does not keep transcripts as it should.
    #[error(transparent)]
    Transcripts(#[from] countersign::store::conformance::Violation),
    /// It failed to keep a transcript.
    #[error(transparent)]
    Transcript(#[from] countersign::store::StoreError),
    /// It gave something else than it should have.
    #[error("{what}: expected {expected}, got {got}")]
    Differs {
        /// What was looked at.
        what: &'static str,
        /// What it should have been.
        expected: String,
        /// What it was.
        got: String,
    },
    /// It did something that it should not have done.
    #[error("{0}")]
    Wrong(String),
}

/// Something is not as it should be.
pub(super) fn wrong<T>(what: impl Into<String>) -> Result<T, Reason> {
    Err(Reason::Wrong(what.into()))
}

/// Two things have to be the same.
pub(super) fn same<T: PartialEq + Debug + ?Sized>(
    what: &'static str,
    expected: &T,
    got: &T,
) -> Result<(), Reason> {
    if expected == got {
        return Ok(());
    }
    let shown = |value: &T| format!("{value:?}").chars().take(2000).collect();
    Err(Reason::Differs { what, expected: shown(expected), got: shown(got) })
}

/// Something has to be there.
pub(super) fn some<T>(what: &str, value: Option<T>) -> Result<T, Reason> {
    value.ok_or_else(|| Reason::Wrong(format!("{what} is not there")))
}

/// What an event says, to be compared.
pub(super) fn fields(event: &Event) -> (SessionId, u64, u64, Timestamp, &Happening) {
    (event.session, event.seq, event.position, event.at, &event.happening)
}

pub(super) fn same_events(
    what: &'static str,
    expected: &[Arc<Event>],
    got: &[Arc<Event>],
) -> Result<(), Reason> {
    let all = |events: &[Arc<Event>]| -> Vec<String> {
        events.iter().map(|event| format!("{:?}", fields(event))).collect()
    };
    same(what, &all(expected), &all(got))
}

/// The whole log of a session, page by page.
pub(super) async fn whole_log(
    store: &dyn Store,
    session: SessionId,
) -> Result<Vec<Arc<Event>>, Reason> {
    let mut all: Vec<Arc<Event>> = Vec::new();
    loop {
        let after = all.last().map_or(0, |event| event.seq);
        let page = store.events(session, after, usize::MAX).await?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

/// A store, and what it was opened with.
pub(super) struct Tester {
    pub(super) place: Arc<dyn Place>,
    pub(super) store: Arc<dyn Store>,
    pub(super) bus: Arc<Bus>,
    pub(super) time: Time,
}

/// The time, which goes on by a millisecond whenever somebody looks.
#[derive(Clone, Debug)]
pub(super) struct Time(Arc<Mutex<Timestamp>>);

impl Time {
    fn new() -> Self {
        // In our days, because transcripts have to be.
        Self(Arc::new(Mutex::new(Timestamp::from_second(1_790_000_000).unwrap_or_default())))
    }

    /// The time that it is until somebody looks again.
    pub(super) fn last(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn pass(&self, time: SignedDuration) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *now = now.checked_add(time).unwrap_or(*now);
    }
}

impl Clock for Time {
    fn now(&self) -> Timestamp {
        self.pass(SignedDuration::from_millis(1));
        self.last()
    }
}

impl Tester {
    pub(super) async fn open(place: Arc<dyn Place>) -> Result<Self, Reason> {
        let (bus, time) = (Arc::new(Bus::new()), Time::new());
        let store = place.open(Arc::clone(&bus), Arc::new(time.clone())).await?;
        Ok(Self { place, store, bus, time })
    }

    /// Writes, and gives the events and what the sessions are now.
    pub(super) async fn write(
        &self,
        write: Write,
    ) -> Result<(Vec<Arc<Event>>, Vec<Arc<Head>>), Reason> {
        match self.store.write(write).await? {
            Written::Now { events, heads } => Ok((events, heads)),
            Written::Before { response } => wrong(format!("written before: {response}")),
        }
    }

    /// Has things happen in one session, and gives what it is now.
    pub(super) async fn happen(
        &self,
        session: SessionId,
        happenings: Vec<Happening>,
    ) -> Result<Arc<Head>, Reason> {
        let (_, heads) = self.write(Write::to(session, happenings)).await?;
        some("the head", heads.into_iter().next())
    }

    /// Makes a session.
    pub(super) async fn create(&self, title: &str) -> Result<SessionId, Reason> {
        let session = SessionId::new();
        self.happen(session, vec![sample::created(title)]).await?;
        Ok(session)
    }

    /// Makes a session with a process and a turn.
    pub(super) async fn running(&self) -> Result<sample::Running, Reason> {
        let session = SessionId::new();
        let running = sample::Running::new(session);
        self.happen(session, running.beginning()).await?;
        Ok(running)
    }

    /// Writes what has to be refused, and gives why it is.
    pub(super) async fn refused(&self, write: Write) -> Result<Refused, Reason> {
        match self.store.write(write).await {
            Err(WriteError::Refused { refused, .. }) => Ok(refused),
            Err(other) => Err(other.into()),
            Ok(_) => wrong("it was written, and should have been refused"),
        }
    }

    /// What a session is, which has to be there.
    pub(super) async fn head(&self, session: SessionId) -> Result<Arc<Head>, Reason> {
        some("the session", self.store.head(session).await?)
    }

    /// The whole log of a session.
    pub(super) async fn log(&self, session: SessionId) -> Result<Vec<Arc<Event>>, Reason> {
        whole_log(&*self.store, session).await
    }
}
