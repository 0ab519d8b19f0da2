//! The session that a page is about: its transcript, and how it stands.

use std::sync::Arc;

use countersign_server::bus::{News, Pieces, ends_pieces};
use countersign_server::id::SessionId;
use countersign_server::session::{Event, Happening, Head};
use countersign_server::web::Problem;
use countersign_server::web::sse::Frame;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use super::{Viewer, closed};
use crate::render::Html;
use crate::transcript::{LIVE, Patch, Transcript};
use crate::views;
use crate::window::Window;

/// Above how many events a page is better loaded anew.
const FAR: u64 = 2_000;

/// How many events are read at once.
const AT_ONCE: usize = 500;

/// The session that a page is about.
pub(super) struct Own {
    pub(super) session: SessionId,
    pub(super) news: Receiver<News>,
    transcript: Transcript,
    /// The last event that the page was told of.
    pub(super) last: u64,
    /// The last event with which pieces of a message were done with.
    ended: u64,
    /// Whether other messages may wait than the page says, and what it says.
    queue: bool,
    waiting: Option<Html>,
    /// What the page says of how the session stands: elements, and what is in them.
    stands: Vec<(&'static str, Html)>,
}

impl Own {
    fn take(&mut self, event: &Event) {
        self.last = event.seq;
        if ends_pieces(&event.happening) {
            self.ended = event.seq;
        }
        self.queue |= event.happening.kind().starts_with("message.");
        self.transcript.event(event);
    }

    /// Takes up a piece, unless what it is a piece of is known as a whole already.
    fn piece(&mut self, after: u64, frame: &str) {
        if after >= self.ended {
            self.transcript.delta(frame);
        }
    }
}

impl Viewer {
    /// Goes on after what the page knows.
    pub(super) async fn begin(
        &mut self,
        session: SessionId,
        after: Option<u64>,
    ) -> Result<(), Problem> {
        let (pieces, news) = self.api.service.hub().bus().subscribe_saying(session);
        let head = self.api.service.session(session).await?;
        let known = after.unwrap_or(head.seq);
        if known > head.seq || head.seq - known > FAR {
            self.ready.push_back(Frame::new("reset", "{}"));
        }
        let last = known.min(head.seq);
        let window = Window::before(&self.api, session, last + 1).await?;
        let mut transcript = window.transcript(&self.api, &head.folder).await?;
        window.with_earlier(&self.api, session, &mut transcript).await?;
        transcript.settle();
        let (queue, stands) = (true, Vec::new());
        let waiting = None;
        self.own = Some(Own { session, news, transcript, last, ended: 0, queue, waiting, stands });
        // What was being said when the page lost its connection may be over, or goes on from its
        // beginning.
        self.send(&[Patch::Remove { id: LIVE.to_owned() }]);
        self.catch_up().await?;
        self.say(&pieces);
        self.show().await?;
        self.stand(&head);
        Ok(())
    }

    /// Takes up what is in the log.
    async fn catch_up(&mut self) -> Result<(), Problem> {
        loop {
            let Some(own) = &mut self.own else { return Ok(()) };
            let store = self.api.service.hub().store();
            let events = store.events(own.session, own.last, AT_ONCE).await?;
            if events.is_empty() {
                return Ok(());
            }
            for event in events {
                own.take(&event);
            }
        }
    }

    /// Some of what happened was missed: events are in the log, and pieces are said again.
    async fn start_over(&mut self) -> Result<(), Problem> {
        let Some(own) = &mut self.own else { return Ok(()) };
        let (pieces, news) = self.api.service.hub().bus().subscribe_saying(own.session);
        own.news = news;
        own.transcript.say_again();
        self.catch_up().await?;
        self.say(&pieces);
        Ok(())
    }

    /// Takes up what is being said.
    fn say(&mut self, pieces: &Pieces) {
        let Some(own) = &mut self.own else { return };
        for piece in &pieces.frames {
            own.piece(pieces.after, piece);
        }
    }

    /// Something happened in the session that the page is about.
    pub(super) async fn heard(&mut self, news: Result<News, RecvError>) -> Result<(), Problem> {
        let mut now = None;
        let mut news = match news {
            Ok(news) => Some(news),
            Err(RecvError::Lagged(_)) => None,
            Err(RecvError::Closed) => return Err(closed()),
        };
        // Pieces that came meanwhile are shown together.
        loop {
            let Some(own) = &mut self.own else { return Ok(()) };
            match news {
                Some(News::Delta { after, frame, .. }) => own.piece(after, &frame),
                Some(News::Event { event, head }) => {
                    if event.seq > own.last + 1 {
                        self.catch_up().await?;
                    } else if event.seq > own.last {
                        own.take(&event);
                    }
                    if matches!(event.happening, Happening::Deleted(_)) {
                        // There is a page that says so.
                        self.ready.push_back(Frame::new("reset", "{}"));
                    }
                    now = Some(head);
                }
                None => self.start_over().await?,
            }
            let Some(own) = &mut self.own else { return Ok(()) };
            news = match own.news.try_recv() {
                Ok(more) => Some(more),
                Err(TryRecvError::Lagged(_)) => None,
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            };
        }
        self.show().await?;
        if let Some(head) = now {
            self.stand(&head);
        }
        Ok(())
    }

    /// Sends what has changed in the transcript.
    async fn show(&mut self) -> Result<(), Problem> {
        let Some(own) = &mut self.own else { return Ok(()) };
        let (session, queue) = (own.session, std::mem::take(&mut own.queue));
        let mut patches = own.transcript.patches();
        if queue {
            let html = views::queue(&self.api, session).await?;
            let own = self.own.as_mut().filter(|own| own.waiting.as_ref() != Some(&html));
            if let Some(own) = own {
                own.waiting = Some(html.clone());
                patches.push(Patch::Fill { id: "queue".to_owned(), html });
            }
        }
        self.send(&patches);
        Ok(())
    }

    /// Sends how the session stands, where that is something else.
    fn stand(&mut self, head: &Arc<Head>) {
        let Some(own) = &mut self.own else { return };
        let context = own.transcript.context();
        let stands = views::stands(&self.api, &self.identity, head, context);
        let new = stands.iter().filter(|part| !own.stands.contains(part));
        let patches: Vec<Patch> = new
            .map(|(id, html)| Patch::Fill { id: (*id).to_owned(), html: html.clone() })
            .collect();
        own.stands = stands;
        self.send(&patches);
    }
}
