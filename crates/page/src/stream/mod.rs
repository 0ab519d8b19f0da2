//! What changes on a page while it is open.
//!
//! One stream for each page: the transcript of its session ([`own`]), its cards ([`cards`]), the list on
//! the left ([`rows`]), and how much waits. When it begins, and whenever it was too slow, everything that
//! could have changed is looked at once; then it follows what happens.

mod cards;
mod own;
mod rows;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::response::Response;
use countersign_server::access::{Identity, Read};
use countersign_server::api::Api;
use countersign_server::bus::News;
use countersign_server::id::{ApprovalId, SessionId};
use countersign_server::session::{Approval, Event, Happening, Head, Stage};
use countersign_server::store::ApprovalFilter;
use countersign_server::web::Problem;
use countersign_server::web::problem::UNAVAILABLE;
use countersign_server::web::sse::Frame;
use futures_util::stream;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Interval, MissedTickBehavior};

use self::cards::Cards;
use self::own::Own;
use self::rows::Rows;
use crate::assets;
use crate::card;
use crate::rows::title;
use crate::transcript::Patch;

/// How often a page is told that the stream goes on: a network that is gone says nothing. The page waits
/// twice as long before it says that it is not live.
const BEAT: Duration = Duration::from_secs(10);

/// What a page shows.
#[derive(Debug, Deserialize)]
pub(crate) struct Shown {
    /// The session that it is about; none for the inbox and the rest.
    session: Option<SessionId>,
    /// The last event of it that the page knows.
    after: Option<u64>,
    /// The cards that it has; absent on pages that have none.
    cards: Option<String>,
    /// What it was loaded with beside itself.
    version: Option<String>,
}

pub(crate) async fn stream(
    State(api): State<Api>,
    Read(identity): Read,
    Query(shown): Query<Shown>,
) -> Result<Response, Problem> {
    // First, so that nothing is missed between what is looked at and what is followed.
    let all = api.service.hub().bus().subscribe_all();
    let known = |cards: String| -> Vec<ApprovalId> {
        cards.split(',').filter_map(|card| card.parse().ok()).collect()
    };
    let mut viewer = Viewer {
        all,
        own: None,
        cards: shown.cards.map(|cards| Cards::new(known(cards))),
        rows: Rows::default(),
        ready: VecDeque::from([Frame::comment("open")]),
        beat: beat(),
        api: api.clone(),
        identity: identity.clone(),
    };
    if shown.version.is_some_and(|version| version != assets::version()) {
        // Its module does not go with what is made here: the server is another one since.
        viewer.ready.push_back(Frame::new("reset", "{}"));
    }
    if let Some(session) = shown.session {
        viewer.begin(session, shown.after).await?;
    }
    viewer.look().await?;
    api.streamed(identity, viewer.into_stream())
}

/// Somebody who looks at a page.
struct Viewer {
    api: Api,
    identity: Identity,
    /// What happens in all sessions.
    all: Receiver<News>,
    /// The session that the page is about.
    own: Option<Own>,
    /// The cards that the page has; none if it has no place for any.
    cards: Option<Cards>,
    /// The sessions on the left.
    rows: Rows,
    ready: VecDeque<Frame>,
    beat: Interval,
}

impl Viewer {
    fn into_stream(self) -> impl futures_util::Stream<Item = Frame> + Send {
        stream::unfold(self, |mut this| async move {
            let frame = this.next().await?;
            Some((frame, this))
        })
    }

    /// The next thing to send; none when the store cannot be read any more: the page connects again.
    async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            if let Err(problem) = self.wait().await {
                tracing::warn!(?problem, "the stream of a page ends");
                return None;
            }
        }
    }

    /// Waits until something happens.
    async fn wait(&mut self) -> Result<(), Problem> {
        let own = async {
            match &mut self.own {
                Some(own) => own.news.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            news = own => self.heard(news).await,
            news = self.all.recv() => match news {
                Ok(News::Event { event, head }) => self.happened(&event, head).await,
                Ok(News::Delta { .. }) => Ok(()),
                Err(RecvError::Lagged(_)) => self.look().await,
                Err(RecvError::Closed) => Err(closed()),
            },
            () = self.rows.due() => {
                let patches = self.rows.patches(self.own.as_ref().map(|own| own.session));
                self.send(&patches);
                Ok(())
            }
            _ = self.beat.tick() => {
                self.ready.push_back(Frame::new("beat", "{}"));
                Ok(())
            }
        }
    }

    fn send(&mut self, patches: &[Patch]) {
        if patches.is_empty() {
            return;
        }
        let data = json!(patches).to_string();
        let frame = match &self.own {
            Some(own) => Frame::with_id(own.last, "patches", &data),
            None => Frame::new("patches", &data),
        };
        self.ready.push_back(frame);
    }

    /// Looks at everything but the transcript.
    async fn look(&mut self) -> Result<(), Problem> {
        let current = self.own.as_ref().map(|own| own.session);
        let list = self.rows.look(&self.api, current).await?;
        self.send(&[list]);
        self.sync_cards().await?;
        let newest = ApprovalFilter {
            stages: vec![Stage::Open],
            newest_first: true,
            limit: 1,
            ..ApprovalFilter::default()
        };
        let newest = self.api.service.hub().store().approvals(newest).await?;
        self.count(newest.items.first(), None).await
    }

    /// How much waits for a person; and what has come, or waits no more.
    async fn count(
        &mut self,
        newest: Option<&Approval>,
        gone: Option<ApprovalId>,
    ) -> Result<(), Problem> {
        let store = self.api.service.hub().store();
        let count = store.count_open().await?;
        let newest = match newest {
            Some(approval) => {
                let head = store.head(approval.session).await?;
                let folder = head.as_ref().map_or("", |head| &head.folder);
                let title = head.as_ref().map_or("", |head| title(head));
                Some(json!({
                    "id": approval.id,
                    "session": approval.session,
                    "title": title,
                    "what": card::in_words(approval, folder),
                }))
            }
            None => None,
        };
        let data = json!({"count": count, "newest": newest, "gone": gone}).to_string();
        self.ready.push_back(Frame::new("inbox", &data));
        Ok(())
    }

    /// Something happened in some session.
    async fn happened(&mut self, event: &Event, head: Arc<Head>) -> Result<(), Problem> {
        match &event.happening {
            Happening::ApprovalOpened(opened) => {
                let found = self.api.service.hub().store().approval(opened.approval).await?;
                if let Some(approval) = found.filter(|found| found.stage == Stage::Open) {
                    self.opened(&approval).await?;
                    self.count(Some(&approval), None).await?;
                }
            }
            Happening::ApprovalAnswered(answered) => {
                self.ended(answered.approval).await?;
                self.count(None, Some(answered.approval)).await?;
            }
            Happening::ApprovalClosed(closed) => {
                self.ended(closed.approval).await?;
                self.count(None, Some(closed.approval)).await?;
            }
            Happening::Deleted(_) => {
                let gone = self.rows.gone(event.session);
                self.send(&[gone]);
                self.sync_cards().await?;
                return self.count(None, None).await;
            }
            _ => {}
        }
        self.parked(&head);
        self.rows.changed(head);
        Ok(())
    }
}

fn beat() -> Interval {
    let mut beat = tokio::time::interval(BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat
}

fn closed() -> Problem {
    Problem::new(UNAVAILABLE)
}
