//! Subscribers: they write down every event that they are shown, also those that they should not be.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_server::api::view::EventView;
use countersign_server::client::Followed;
use countersign_server::id::SessionId;

use super::Failure;
use super::record::Record;
use super::wire::Wire;

/// How long is waited for a server that is not there.
const AGAIN: Duration = Duration::from_millis(10);

/// What a stream is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    Session(SessionId),
    All,
    Inbox,
}

/// The kinds of events that an inbox is made of.
const INBOX: [&str; 4] =
    ["approval.opened", "approval.answered", "approval.closed", "session.parked"];

impl About {
    /// The number of an event in a stream; none if it is not part of it.
    pub(super) fn number(self, event: &EventView) -> Option<u64> {
        match self {
            Self::Session(session) => (event.session == session).then_some(event.seq),
            Self::All => Some(event.position),
            Self::Inbox => INBOX.contains(&&*event.kind).then_some(event.position),
        }
    }
}

/// Who reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    /// Bytes, as they come. It opens the stream again at once, after the last event it was given.
    Bare,
    /// The typed client, which does all of this itself.
    Typed,
}

/// What a subscriber was shown.
#[derive(Clone, Debug)]
pub(super) struct Eye {
    pub(super) about: About,
    pub(super) reader: Reader,
    seen: Arc<Mutex<Seen>>,
}

/// The events that were shown, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// After which the stream began.
    pub(super) after: Option<u64>,
    pub(super) events: Vec<(u64, u64)>,
    /// How often the stream was opened.
    pub(super) opened: u64,
    /// Something that is no part of a stream.
    pub(super) broken: Vec<String>,
}

impl Eye {
    pub(super) fn new(about: About, reader: Reader) -> Self {
        Self { about, reader, seen: Arc::default() }
    }

    /// The same, which is to be shown everything that ever happened.
    pub(super) fn from_the_beginning(about: About, reader: Reader) -> Self {
        let eye = Self::new(about, reader);
        eye.with(|seen| seen.after = Some(0));
        eye
    }

    pub(super) fn seen(&self) -> Seen {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The number of the last event that was shown.
    pub(super) fn last(&self) -> Option<u64> {
        self.with(|seen| seen.events.last().map(|(number, _)| *number).or(seen.after))
    }

    /// The number of the last event that it is to be shown.
    pub(super) fn last_expected(&self, record: &Record) -> Option<u64> {
        let mut all = record.log.iter().rev();
        all.find_map(|logged| self.about.number(&logged.view))
    }

    fn with<T>(&self, what: impl FnOnce(&mut Seen) -> T) -> T {
        what(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn path(&self) -> String {
        match self.about {
            About::Session(session) => format!("/sessions/{session}/stream"),
            About::All => "/stream".to_owned(),
            About::Inbox => "/inbox/stream".to_owned(),
        }
    }

    /// Watches until it is over.
    pub(super) async fn watch(self, wire: Wire) {
        let over = wire.over().clone();
        let watch = async {
            loop {
                let ended = match self.reader {
                    Reader::Bare => self.read(&wire).await,
                    Reader::Typed => self.follow(&wire).await,
                };
                if let Err(Broken(Some(why))) = ended {
                    self.with(|seen| seen.broken.push(why));
                }
                tokio::time::sleep(AGAIN).await;
            }
        };
        tokio::select! {
            () = watch => {}
            () = over.cancelled() => {}
        }
    }

    async fn read(&self, wire: &Wire) -> Result<(), Broken> {
        let answer = wire.open(&self.path(), self.last()).await?;
        if !answer.status().is_success() {
            let status = answer.status();
            return Err(Broken((!status.is_server_error()).then(|| status.to_string())));
        }
        self.with(|seen| seen.opened += 1);
        let mut pieces = answer.into_body();
        let mut text = Vec::new();
        loop {
            let Some(piece) = pieces.next().await? else { return Ok(()) };
            text.extend_from_slice(&piece);
            while let Some(end) = text.windows(2).position(|pair| pair == b"\n\n") {
                let rest = text.split_off(end + 2);
                let block = std::mem::replace(&mut text, rest);
                self.block(&String::from_utf8_lossy(&block));
            }
        }
    }

    /// Takes down what one block says.
    fn block(&self, block: &str) {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
        let id = field("id: ").and_then(|id| id.parse().ok());
        match (id, field("event: "), field("data: ")) {
            (Some(id), Some(_), Some(data)) => {
                self.with(|seen| seen.events.push((id, digest(data))));
            }
            (Some(id), None, None) => {
                self.with(|seen| seen.after = seen.after.or(Some(id)));
            }
            (Some(_), ..) => self.with(|seen| seen.broken.push(block.to_owned())),
            // What the session is, and pieces of messages: they are in no log.
            (None, ..) => {}
        }
    }

    async fn follow(&self, wire: &Wire) -> Result<(), Broken> {
        let (client, after) = (&wire.client, self.last());
        let opened = match self.about {
            About::Session(session) => client.follow(session, after).await,
            About::All => client.follow_all(after).await,
            About::Inbox => client.follow_inbox(after).await,
        };
        let Ok(mut following) = opened else { return Err(Broken(None)) };
        self.with(|seen| seen.opened += 1);
        while let Some(next) = following.next().await {
            match next {
                Ok(Followed::Event(event)) => {
                    // One that is not part of it is none that was expected.
                    let number = self.about.number(&event).unwrap_or(event.position);
                    self.with(|seen| seen.events.push((number, digest(event.body.as_str()))));
                }
                Ok(Followed::Reconnecting { .. }) => self.with(|seen| seen.opened += 1),
                Ok(_) => {}
                Err(error) => return Err(Broken(Some(error.to_string()))),
            }
            let last = following.last();
            self.with(|seen| seen.after = seen.after.or(last));
        }
        Ok(())
    }
}

#[cfg(test)]
impl Eye {
    pub(super) fn show(&self, number: u64, text: u64) {
        self.with(|seen| seen.events.push((number, text)));
    }

    pub(super) fn forget(&self, number: u64) {
        self.with(|seen| seen.events.retain(|event| event.0 != number));
    }
}

/// A stream broke off, and if that is not what happens when a server is killed, why.
struct Broken(Option<String>);

impl<E: Into<Failure>> From<E> for Broken {
    fn from(_: E) -> Self {
        Self(None)
    }
}

/// What a text is known by.
pub(super) fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
