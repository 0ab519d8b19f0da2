//! The log as it grows, as server-sent events.
//!
//! A subscriber is subscribed first and reads the log then, so nothing is missed between the two.
//! One that is too slow is told so, and reads what it missed from the log: the order stays, nothing
//! comes twice.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use futures_util::stream::{self, Stream, StreamExt as _};
use http::StatusCode;
use serde_json::json;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use super::Api;
use super::view::SessionView;
use crate::access::{Identity, Read};
use crate::bus::News;
use crate::hub::Hub;
use crate::id::SessionId;
use crate::session::{Event, Head};
use crate::store::StoreError;
use crate::web::extract::Path;
use crate::web::problem::{Kind, Problem};
use crate::web::sse::{self, After, Frame};

/// Somebody has as many streams as they may have.
const TOO_MANY_STREAMS: Kind =
    Kind::new("too-many-streams", "Too many streams are open", StatusCode::TOO_MANY_REQUESTS);

/// When it may be tried again.
const RETRY: Duration = Duration::from_secs(10);

/// How many events are read from the log at once.
const AT_ONCE: usize = 500;

/// What a stream is about.
#[derive(Clone, Copy)]
enum About {
    Session(SessionId),
    All,
    Inbox,
}

/// The kinds of events that an inbox is made of.
const INBOX: [&str; 5] = [
    "approval.opened",
    "approval.answered",
    "approval.closed",
    "session.parked",
    // What it asked is not asked any more, and nothing else says so.
    "session.deleted",
];

/// The events of a session as they happen, from a number on. The id of each is its number; a browser
/// that reconnects goes on after the last one. Beside them come `head` (what the session is now),
/// `delta` (a piece of what the model is saying, which is in no log) and `lagged` (the reader was too
/// slow; what it missed follows from the log). `reset` comes first when the log does not have the event
/// after which it is to begin, because a copy from before was put back: what follows begins after the
/// end of the log, and what was known is to be read anew. It ends when the token is revoked or expires, or the
/// browser is signed out.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get, path = "/sessions/{session}/stream", tag = "events", operation_id = "streamSession",
        params(("session" = SessionId, Path), sse::AfterQuery,
            ("Last-Event-ID" = Option<u64>, Header, description = "The last event that is known, as browsers send it. It comes before `after`.")),
        responses(
            (status = 200, content_type = "text/event-stream", body = String),
        )
    )
)]
pub(super) async fn of_session(
    State(api): State<Api>,
    Read(identity): Read,
    Path(session): Path<SessionId>,
    After(after): After,
) -> Result<Response, Problem> {
    let news = api.service.hub().bus().subscribe(session);
    let head = api.service.session(session).await?;
    let from = From::number(after, head.seq);
    respond(&api, identity, About::Session(session), news, from, Some(&head))
}

/// The events of all sessions as they happen, without pieces of messages. The id of each is its
/// position.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get, path = "/stream", tag = "events", operation_id = "streamAll", params(
            sse::AfterQuery,
            ("Last-Event-ID" = Option<u64>, Header, description = "The last event that is known, as browsers send it. It comes before `after`.")),
        responses(
            (status = 200, content_type = "text/event-stream", body = String),
        )
    )
)]
pub(super) async fn of_all(
    State(api): State<Api>,
    Read(identity): Read,
    After(after): After,
) -> Result<Response, Problem> {
    follow_all(&api, identity, About::All, after).await
}

/// What is asked and what is answered as it happens, over all sessions. The id of each event is its
/// position. With `session.deleted`, everything is over that the session asked.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get, path = "/inbox/stream", tag = "events", operation_id = "streamInbox", params(
            sse::AfterQuery,
            ("Last-Event-ID" = Option<u64>, Header, description = "The last event that is known, as browsers send it. It comes before `after`.")),
        responses(
            (status = 200, content_type = "text/event-stream", body = String),
        )
    )
)]
pub(super) async fn of_inbox(
    State(api): State<Api>,
    Read(identity): Read,
    After(after): After,
) -> Result<Response, Problem> {
    follow_all(&api, identity, About::Inbox, after).await
}

async fn follow_all(
    api: &Api,
    identity: Identity,
    about: About,
    after: Option<u64>,
) -> Result<Response, Problem> {
    let news = api.service.hub().bus().subscribe_all();
    let last = api.service.hub().store().last_position().await?;
    respond(api, identity, about, news, From::number(after, last), None)
}

/// Where a stream begins.
#[derive(Clone, Copy)]
struct From {
    /// After this event.
    after: u64,
    /// Whether somebody knows an event that is not in the log: a copy from before was put back.
    reset: bool,
}

impl From {
    /// After what somebody knows last, if the log has it, and after its end otherwise.
    fn number(known: Option<u64>, last: u64) -> Self {
        Self { after: known.unwrap_or(last).min(last), reset: known.is_some_and(|at| at > last) }
    }
}

fn respond(
    api: &Api,
    identity: Identity,
    about: About,
    news: Receiver<News>,
    from: From,
    head: Option<&Head>,
) -> Result<Response, Problem> {
    let hub = Arc::clone(api.service.hub());
    // So that it is known after what the stream begins: whoever loses the connection before anything
    // happens can go on from there.
    let From { after, reset } = from;
    let mut ready = VecDeque::from([Frame::open_after(after)]);
    if reset {
        let told = json!({"after": after}).to_string();
        ready.push_back(Frame::with_id(after, "reset", &told));
    }
    ready.extend(head.map(head_event));
    let told = head.map_or(0, |head| head.seq);
    let (last, behind) = (after, true);
    let follower = Follower { hub, about, news, last, behind, ready, head: None, told };
    api.streamed(identity, follower.into_stream())
}

impl Api {
    /// The answer that sends somebody these events, for as long as they are let in and the server does
    /// not stop.
    ///
    /// # Errors
    /// When they have as many streams as they may have.
    pub fn streamed(
        &self,
        identity: Identity,
        frames: impl Stream<Item = Frame> + Send + 'static,
    ) -> Result<Response, Problem> {
        let open = self.streams.open(identity.token()).ok_or_else(|| {
            let most = self.streams.most();
            let detail =
                format!("this token has {most} streams open, which is as many as it may have");
            Problem::new(TOO_MANY_STREAMS).detail(detail).retry_after(RETRY)
        })?;
        let stop = self.service.hub().closing().clone();
        // Whoever is not let in any more hears nothing more.
        let ended = Arc::clone(&self.access).shut_out(identity);
        let frames = frames.take_until(ended).map(move |frame| {
            // It counts for as long as the stream is there.
            let _counts = &open;
            frame
        });
        Ok(sse::response(frames, stop))
    }
}

/// Somebody who reads a stream.
struct Follower {
    hub: Arc<Hub>,
    about: About,
    news: Receiver<News>,
    /// The number of the last event that was sent.
    last: u64,
    /// Whether the log may have what was not sent yet.
    behind: bool,
    ready: VecDeque<Frame>,
    /// What the session is, if that was not sent yet.
    head: Option<Arc<Head>>,
    /// The event after which the session was what was sent of it last.
    told: u64,
}

impl Follower {
    fn into_stream(self) -> impl Stream<Item = Frame> + Send {
        stream::unfold(self, |mut this| async move {
            let next = this.next().await?;
            Some((next, this))
        })
    }

    /// The next thing to send; none when the log cannot be read any more.
    async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            if self.behind {
                if let Err(error) = self.catch_up().await {
                    tracing::warn!(%error, "a stream ends: the log cannot be read");
                    return None;
                }
                continue;
            }
            match self.news.try_recv() {
                Ok(news) => self.take(news),
                Err(TryRecvError::Lagged(missed)) => self.lagged(missed),
                Err(TryRecvError::Closed) => return None,
                Err(TryRecvError::Empty) => {
                    if let Some(head) = self.head.take() {
                        self.told = head.seq;
                        return Some(head_event(&head));
                    }
                    match self.news.recv().await {
                        Ok(news) => self.take(news),
                        Err(RecvError::Lagged(missed)) => self.lagged(missed),
                        Err(RecvError::Closed) => return None,
                    }
                }
            }
        }
    }

    /// Reads what is in the log.
    async fn catch_up(&mut self) -> Result<(), StoreError> {
        let store = self.hub.store();
        let events = match self.about {
            About::Session(session) => store.events(session, self.last, AT_ONCE).await?,
            About::All => store.all_events(self.last, &[], AT_ONCE).await?,
            About::Inbox => store.all_events(self.last, &INBOX, AT_ONCE).await?,
        };
        // A page is as long as it is large; only after an empty one there is nothing more.
        self.behind = !events.is_empty();
        for event in events {
            self.push(&event);
        }
        if let About::Session(session) = self.about
            && self.last > self.told
            && let Some(head) = self.hub.store().head(session).await?
        {
            self.now(head);
        }
        Ok(())
    }

    fn lagged(&mut self, missed: u64) {
        let told = json!({"missed": missed}).to_string();
        self.ready.push_back(Frame::new("lagged", &told));
        self.behind = true;
    }

    fn take(&mut self, news: News) {
        match news {
            News::Delta { frame, .. } => {
                self.ready.push_back(Frame::new("delta", &frame));
            }
            News::Event { event, head } => {
                if matches!(self.about, About::Session(_)) {
                    self.now(head);
                    // Subscribed later than it was written, and read from the log before.
                    if event.seq <= self.last {
                        return;
                    }
                    if event.seq > self.last + 1 {
                        self.behind = true;
                        return;
                    }
                } else if event.position <= self.last {
                    return;
                }
                let wanted = match self.about {
                    About::Inbox => INBOX.contains(&event.happening.kind()),
                    _ => true,
                };
                if wanted {
                    self.push(&event);
                }
            }
        }
    }

    /// Takes note of what the session is, if that is news.
    fn now(&mut self, head: Arc<Head>) {
        let known = self.head.as_ref().map_or(self.told, |known| known.seq);
        if head.seq > known {
            self.head = Some(head);
        }
    }

    fn push(&mut self, event: &Event) {
        self.last = match self.about {
            About::Session(_) => event.seq,
            About::All | About::Inbox => event.position,
        };
        let frame = Frame::with_id(self.last, event.happening.kind(), &event.json());
        self.ready.push_back(frame);
    }
}

fn head_event(head: &Head) -> Frame {
    let view = serde_json::to_string(&SessionView::from(head)).unwrap_or_default();
    Frame::new("head", &view)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Arc;

    use super::{About, Follower};
    use crate::bus::Bus;
    use crate::hub::{Hub, Settings};
    use crate::id::{ConversationId, SessionId};
    use crate::session::{By, Created, Happening, Renamed};
    use crate::store::{SqliteStore, Write};

    fn created() -> Happening {
        Created {
            folder: "/work".to_owned(),
            title: "a".to_owned(),
            labels: Default::default(),
            mode: "default".into(),
            model: None,
            options: Box::default(),
            conversation: ConversationId::new(),
            parent: None,
            by: By::Server,
        }
        .into()
    }

    /// What happens between subscribing and reading the log is read from the log, and comes on the bus
    /// as well. It is told once, and so is what it made of the session.
    #[tokio::test]
    async fn what_happens_between_subscribing_and_reading_is_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let bus = Arc::new(Bus::new());
        let store = SqliteStore::open(folder.path().join("store"), Arc::clone(&bus)).await.unwrap();
        let hub = Hub::new(Arc::new(store), bus, Settings::default());
        let session = SessionId::new();
        hub.store().write(Write::to(session, vec![created()])).await.unwrap();
        let news = hub.bus().subscribe(session);
        let renamed = Renamed { title: "b".to_owned(), by: By::Server };
        hub.store().write(Write::to(session, vec![renamed.into()])).await.unwrap();
        let (about, ready) = (About::Session(session), VecDeque::new());
        let mut follower = Follower {
            hub: Arc::clone(&hub),
            about,
            news,
            last: 1,
            behind: true,
            ready,
            head: None,
            told: 1,
        };
        let event = format!("{:?}", follower.next().await.unwrap());
        assert!(event.contains("session.renamed"), "{event}");
        let head = format!("{:?}", follower.next().await.unwrap());
        assert!(head.contains("event: head") && head.contains(r#"\"title\":\"b\""#), "{head}");
        let renamed = Renamed { title: "c".to_owned(), by: By::Server };
        hub.store().write(Write::to(session, vec![renamed.into()])).await.unwrap();
        let event = format!("{:?}", follower.next().await.unwrap());
        assert!(event.contains("id: 3"), "{event}");
    }
}
