//! What happens, as it happens.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use countersign_protocol::RawJson;
use futures_util::Stream;
use futures_util::future::BoxFuture;
use futures_util::stream;
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, Method, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, Sleep};

use super::audit::LONGEST_REASON;
use super::call::{BACK_OFF, jittered, refusal};
use super::sse::{Block, Parser};
use super::{Client, ClientError};
use crate::api::view::{EventView, SessionView};
use crate::id::SessionId;
use crate::outgoing::Pieces;
use crate::session::{Happening, UnreadableEvent};

/// The header that says after what a stream goes on.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// A stream that lasted this long was a good one: the next is not waited for as if it had failed.
const LASTED: Duration = Duration::from_secs(10);

/// Something that a stream tells.
#[derive(Debug)]
#[non_exhaustive]
pub enum Followed {
    /// Something happened. Each event comes once and in its order.
    Event(EventView),
    /// What the session is. It may be ahead of the events, and never is behind the last one for long.
    Head(Box<SessionView>),
    /// A piece of what the model is saying, as the CLI said it. It is in no log, and there may be
    /// some that never come; the whole follows as an event.
    Delta(RawJson),
    /// We were too slow, and the server has not kept this many for us. Events are not lost by that:
    /// they follow from the log.
    Lagged {
        /// How many.
        missed: u64,
    },
    /// The log does not have the event after which the stream was to begin: a copy from before was put
    /// back. What is known from then on is to be read anew; what comes next is after this number.
    Reset {
        /// The end of the log.
        after: u64,
    },
    /// The stream broke off, and is opened again where it was.
    Reconnecting {
        /// Why it broke off, or could not be opened.
        because: ClientError,
        /// How long is waited before the next try.
        wait: Duration,
    },
}

impl EventView {
    /// What happened, as a type.
    ///
    /// # Errors
    ///
    /// The kind is not known to this version, or the body has another shape.
    pub fn happening(&self) -> Result<Happening, UnreadableEvent> {
        Happening::read(&self.kind, self.body.as_str())
    }
}

/// What a stream is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    Session(SessionId),
    All,
    Inbox,
}

/// A stream of what happens, which opens itself again when it breaks off.
///
/// It ends with an error when there is no use in trying again: the token is not good any more, the
/// session is gone, or what comes cannot be read. After the event that says that a session was deleted,
/// the stream of that session ends.
pub struct Following {
    client: Client,
    about: About,
    /// The number of the last event, as far as it is known.
    last: Option<u64>,
    state: State,
    ready: VecDeque<Followed>,
    /// How often it could not be opened, or broke off at once.
    failures: u32,
    /// The event that was missing when the stream was opened again because of that.
    missing: Option<u64>,
    /// How long the server wants us to wait.
    retry: Duration,
}

enum State {
    Open(Box<Open>),
    Waiting(Pin<Box<Sleep>>),
    Opening(BoxFuture<'static, Result<Pieces, ClientError>>),
    /// There is no use in trying again. It is told after all that came before.
    Failed(ClientError),
    Over,
}

struct Open {
    pieces: Pieces,
    parser: Parser,
    since: Instant,
}

impl Client {
    /// The events of a session as they happen: those after this number, or from now on. Beside them
    /// comes what the session is now, and pieces of what the model is saying.
    ///
    /// # Errors
    /// When there is no such session, or the server cannot be reached.
    pub async fn follow(
        &self,
        session: SessionId,
        after: Option<u64>,
    ) -> Result<Following, ClientError> {
        Following::open(self, About::Session(session), after).await
    }

    /// The events of all sessions as they happen: those after this position, or from now on.
    ///
    /// # Errors
    /// When the server cannot be reached.
    pub async fn follow_all(&self, after: Option<u64>) -> Result<Following, ClientError> {
        Following::open(self, About::All, after).await
    }

    /// What is asked and what is answered as it happens, over all sessions: after this position, or
    /// from now on.
    ///
    /// # Errors
    /// When the server cannot be reached.
    pub async fn follow_inbox(&self, after: Option<u64>) -> Result<Following, ClientError> {
        Following::open(self, About::Inbox, after).await
    }
}

/// Opens a stream.
async fn open(client: Client, about: About, after: Option<u64>) -> Result<Pieces, ClientError> {
    let path = match about {
        About::Session(session) => format!("/sessions/{session}/stream"),
        About::All => "/stream".to_owned(),
        About::Inbox => "/inbox/stream".to_owned(),
    };
    let mut ask = client.0.bare(Method::GET, &path, "text/event-stream");
    if let Some(after) = after {
        ask.headers.insert(LAST_EVENT_ID, HeaderValue::from(after));
    }
    let (parts, pieces) = client.0.outgoing.open(ask).await.map(Response::into_parts)?;
    if !parts.status.is_success() {
        let reason = pieces.rest(LONGEST_REASON).await?;
        return Err(refusal(parts.status, &parts.headers, &reason));
    }
    let kind = parts.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    match kind.unwrap_or_default() {
        kind if kind.starts_with("text/event-stream") => Ok(pieces),
        kind => {
            let status = parts.status.as_u16();
            Err(ClientError::NotOurs { status, kind: kind.to_owned() })
        }
    }
}

impl Following {
    async fn open(client: &Client, about: About, after: Option<u64>) -> Result<Self, ClientError> {
        let pieces = open(client.clone(), about, after).await?;
        let mut this = Self {
            client: client.clone(),
            about,
            last: after,
            state: State::Over,
            ready: VecDeque::new(),
            failures: 0,
            missing: None,
            retry: BACK_OFF.0,
        };
        this.opened(pieces);
        Ok(this)
    }

    /// The number of the last event that was given, or after which the next one comes: what to go on
    /// after another time. For a session it is the `seq`, otherwise the `position`.
    #[must_use]
    pub const fn last(&self) -> Option<u64> {
        self.last
    }

    /// The next thing; none when it is over. It can be dropped while it waits, and nothing is lost.
    ///
    /// # Errors
    ///
    /// There is no use in trying again. It is over then.
    pub async fn next(&mut self) -> Option<Result<Followed, ClientError>> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(Ok(ready));
            }
            let went_well = match &mut self.state {
                State::Over => return None,
                State::Failed(_) => match std::mem::replace(&mut self.state, State::Over) {
                    State::Failed(error) => return Some(Err(error)),
                    _ => return None,
                },
                State::Open(open) => match open.pieces.next().await {
                    Ok(Some(piece)) => self.take(&piece),
                    Ok(None) => Err(ClientError::StreamEnded),
                    Err(error) => Err(error.into()),
                },
                State::Waiting(sleep) => {
                    sleep.as_mut().await;
                    self.reopen();
                    Ok(())
                }
                State::Opening(opening) => opening.as_mut().await.map(|pieces| self.opened(pieces)),
            };
            if let Err(error) = went_well {
                self.broke_off(error);
            }
        }
    }

    /// The same as a stream.
    pub fn into_stream(self) -> impl Stream<Item = Result<Followed, ClientError>> + Send {
        stream::unfold(self, |mut this| async move {
            let next = this.next().await?;
            Some((next, this))
        })
    }

    fn opened(&mut self, pieces: Pieces) {
        let parser = Parser::new(self.client.0.limits.body);
        self.state = State::Open(Box::new(Open { pieces, parser, since: Instant::now() }));
    }

    fn reopen(&mut self) {
        let opening = open(self.client.clone(), self.about, self.last);
        self.state = State::Opening(Box::pin(opening));
    }

    /// Sees to it that the stream is opened again, if there is use in it.
    fn broke_off(&mut self, because: ClientError) {
        if let ClientError::Gap { expected, .. } = because
            && self.missing != Some(expected)
        {
            // The log has it: the server reads it from there when the stream is opened.
            self.missing = Some(expected);
            self.reopen();
            return;
        }
        if !because.may_pass() {
            self.state = State::Failed(because);
            return;
        }
        if let State::Open(open) = &self.state
            && open.since.elapsed() > LASTED
        {
            self.failures = 0;
        }
        let asked = because.problem().and_then(super::Problem::retry_after);
        let factor = 1_u32.checked_shl(self.failures).unwrap_or(u32::MAX);
        let wait = jittered(self.retry.saturating_mul(factor).min(BACK_OFF.1));
        let wait = asked.map_or(wait, |asked| asked.max(wait));
        self.failures = self.failures.saturating_add(1);
        self.state = State::Waiting(Box::pin(tokio::time::sleep(wait)));
        self.ready.push_back(Followed::Reconnecting { because, wait });
    }

    /// Takes what came.
    fn take(&mut self, piece: &[u8]) -> Result<(), ClientError> {
        let State::Open(open) = &mut self.state else { return Ok(()) };
        let fed = open.parser.feed(piece);
        let blocks: Vec<_> = std::iter::from_fn(|| open.parser.next()).collect();
        for block in blocks {
            self.take_block(block)?;
            if matches!(self.state, State::Over) {
                return Ok(());
            }
        }
        fed.map_err(|too_long| ClientError::TooLong { most: too_long.0 })
    }

    fn take_block(&mut self, block: Block) -> Result<(), ClientError> {
        if let Some(retry) = block.retry {
            self.retry = retry.min(BACK_OFF.1);
        }
        let Some(data) = block.data else {
            // The stream begins after this one.
            if self.last.is_none() {
                self.last = block.id.and_then(|id| id.parse().ok());
            }
            return Ok(());
        };
        let followed = match block.event.as_deref() {
            Some("head") => {
                let view: SessionView = read("a session", &data)?;
                // It is told first, so nothing came between it and what follows.
                self.last = self.last.or(Some(view.head.seq));
                Followed::Head(Box::new(view))
            }
            Some("delta") => Followed::Delta(read("a piece of a message", &data)?),
            Some("lagged") => {
                let Lagged { missed } = read("what was missed", &data)?;
                Followed::Lagged { missed }
            }
            Some("reset") => {
                let Reset { after } = read("where the log ends", &data)?;
                (self.last, self.missing) = (Some(after), None);
                Followed::Reset { after }
            }
            _ => match self.event(read("an event", &data)?)? {
                Some(event) => Followed::Event(event),
                None => return Ok(()),
            },
        };
        self.ready.push_back(followed);
        Ok(())
    }

    /// An event, if it is the next one. One that came before is none.
    fn event(&mut self, event: EventView) -> Result<Option<EventView>, ClientError> {
        let number = match self.about {
            About::Session(_) => event.seq,
            About::All | About::Inbox => event.position,
        };
        if self.last.is_some_and(|last| number <= last) {
            return Ok(None);
        }
        if let (About::Session(session), Some(last)) = (self.about, self.last)
            && number > last + 1
        {
            return Err(ClientError::Gap { session, expected: last + 1, found: number });
        }
        self.last = Some(number);
        self.failures = 0;
        self.missing = None;
        if matches!(self.about, About::Session(_)) && event.kind == "session.deleted" {
            self.state = State::Over;
        }
        Ok(Some(event))
    }
}

#[derive(Deserialize)]
struct Reset {
    after: u64,
}

#[derive(Deserialize)]
struct Lagged {
    missed: u64,
}

fn read<T: DeserializeOwned>(what: &'static str, data: &str) -> Result<T, ClientError> {
    serde_json::from_str(data).map_err(|source| ClientError::Unreadable { what, source })
}

impl fmt::Debug for Following {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Following");
        shown.field("about", &self.about).field("last", &self.last).finish_non_exhaustive()
    }
}
