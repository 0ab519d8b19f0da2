//! One receiver: what it was told, and what it is told next.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_protocol::RawJson;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use jiff::SignedDuration;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::ended;
use super::notice::{Notice, notice_id};
use super::{Post, SIGNATURE, sign};
use crate::bus::News;
use crate::config::{Secret, Webhook, WebhookEvent, WebhookUrl};
use crate::outgoing::{Ask, Outgoing};
use crate::session::{By, Event, Happening};
use crate::store::{AuditEntry, StoreError};

/// How many events are read at once.
const AT_ONCE: usize = 100;

/// How often the log is looked at when nobody says that something happened.
const LOOK: Duration = Duration::from_secs(5 * 60);

/// How long is waited before a store that cannot be used is tried again: at first, and at most.
const AGAIN: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(10));

/// How far a receiver may have come without that being kept, if nothing was told to it.
const UNKEPT: u64 = 10_000;

/// How much of an answer is read. Nobody looks at it.
const ANSWER: usize = 64 << 10;

/// A receiver, as it is configured.
#[derive(Debug)]
pub(super) struct Hook {
    /// The name under which it is kept how far it has come.
    name: String,
    url: WebhookUrl,
    secret: Secret,
    events: Vec<WebhookEvent>,
    /// The kinds of events in the log that it may have to be told of.
    kinds: Vec<&'static str>,
}

impl Hook {
    /// A receiver with a name that none of these has.
    pub(super) fn new(webhook: &Webhook, secret: Secret, names: &mut Vec<String>) -> Self {
        // It is known by its address: another secret, or other events, do not make it another one.
        let digest = Sha256::digest(webhook.url.expose().as_str().as_bytes());
        let digest: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let same = names.iter().filter(|name| **name == digest).count();
        names.push(digest.clone());
        let name = match same {
            0 => format!("webhook:{digest}"),
            _ => format!("webhook:{digest}:{}", same + 1),
        };
        let mut kinds = Vec::new();
        for event in &webhook.events {
            match event {
                WebhookEvent::ApprovalOpened => kinds.push("approval.opened"),
                WebhookEvent::SessionFailed => kinds.push("session.failed"),
                WebhookEvent::SessionEnded => kinds.extend(ended::KINDS),
            }
        }
        let (url, events) = (webhook.url.clone(), webhook.events.clone());
        Self { name, url, secret, events, kinds }
    }
}

/// Tells one receiver.
pub(super) struct Courier {
    hook: Hook,
    post: Arc<Post>,
    outgoing: Outgoing,
    news: Receiver<News>,
    /// Everything up to here was told.
    at: u64,
    /// As it is kept.
    kept: u64,
}

impl Courier {
    /// Somebody who tells a receiver what it was not told yet. One that is new is told what happens
    /// from now on.
    pub(super) async fn new(
        hook: Hook,
        post: Arc<Post>,
        outgoing: Outgoing,
    ) -> Result<Self, StoreError> {
        let news = post.bus.subscribe_all();
        let at = match post.store.cursor(&hook.name).await? {
            Some(at) => at,
            None => {
                let now = post.store.last_position().await?;
                post.store.set_cursor(&hook.name, now).await?;
                now
            }
        };
        Ok(Self { hook, post, outgoing, news, at, kept: at })
    }

    /// Tells what happened and what happens, for ever.
    pub(super) async fn run(mut self) {
        let mut wait = AGAIN.0;
        loop {
            match self.tell_some().await {
                Ok(true) => wait = AGAIN.0,
                Ok(false) => {
                    wait = AGAIN.0;
                    self.wait_for_news().await;
                }
                Err(error) => {
                    tracing::warn!(webhook = %self.hook.url, %error, "the log cannot be read; it is tried again");
                    tokio::time::sleep(wait).await;
                    wait = (wait * 2).min(AGAIN.1);
                }
            }
        }
    }

    /// Tells what is next in the log. Says whether there may be more.
    async fn tell_some(&mut self) -> Result<bool, StoreError> {
        // Asked for first: what is written from here on is left for the next time.
        let last = self.post.store.last_position().await?;
        let events = self.post.store.all_events(self.at, &self.hook.kinds, AT_ONCE).await?;
        for event in &events {
            if let Some(what) = self.is_told(event).await? {
                self.tell(event, what).await?;
                self.post.store.set_cursor(&self.hook.name, event.position).await?;
                self.kept = event.position;
            }
            self.at = event.position;
        }
        if !events.is_empty() {
            return Ok(true);
        }
        // There is nothing else up to there: it need not be looked at again.
        self.at = self.at.max(last);
        if self.at - self.kept > UNKEPT {
            self.post.store.set_cursor(&self.hook.name, self.at).await?;
            self.kept = self.at;
        }
        Ok(false)
    }

    /// Waits until something happened that may have to be told.
    async fn wait_for_news(&mut self) {
        let look = tokio::time::sleep(LOOK);
        tokio::pin!(look);
        loop {
            let news = tokio::select! {
                news = self.news.recv() => news,
                () = &mut look => return,
            };
            match news {
                Ok(News::Event { event, .. }) => {
                    if event.position > self.at && self.hook.kinds.contains(&event.happening.kind())
                    {
                        return;
                    }
                }
                Ok(News::Delta { .. }) => {}
                Err(RecvError::Lagged(_)) => return,
                // Nobody writes any more.
                Err(RecvError::Closed) => look.as_mut().await,
            }
        }
    }

    /// What an event is to this receiver, if it wants to be told.
    async fn is_told(&self, event: &Event) -> Result<Option<WebhookEvent>, StoreError> {
        let what = match &event.happening {
            Happening::ApprovalOpened(_) => Some(WebhookEvent::ApprovalOpened),
            Happening::Failed(_) => Some(WebhookEvent::SessionFailed),
            _ if ended::has_ended(&*self.post.store, event).await? => {
                Some(WebhookEvent::SessionEnded)
            }
            _ => None,
        };
        Ok(what.filter(|what| self.hook.events.contains(what)))
    }

    /// Tells of an event, until it was heard or is given up.
    async fn tell(&self, event: &Event, what: WebhookEvent) -> Result<(), StoreError> {
        let Post { store, url, clock, patience, .. } = &*self.post;
        let give_up = SignedDuration::try_from(patience.give_up).unwrap_or(SignedDuration::MAX);
        let mut wait = patience.first;
        for tries in 1_u64.. {
            let Some(notice) = Notice::of(&**store, event, what, url).await? else {
                return Ok(());
            };
            let Err(why) = self.send(&notice).await else {
                tracing::debug!(webhook = %self.hook.url, notice = %notice.id, tries, "a webhook was told");
                return Ok(());
            };
            if clock.now().duration_since(event.at) >= give_up {
                self.give_up(event, what, tries, &why).await;
                return Ok(());
            }
            tracing::warn!(webhook = %self.hook.url, notice = %notice.id, tries, %why, ?wait, "a webhook was not told; it is tried again");
            tokio::time::sleep(wait).await;
            wait = wait.saturating_mul(2).min(patience.most);
        }
        Ok(())
    }

    /// Sends a request. Why it was not heard, if it was not.
    async fn send(&self, notice: &Notice) -> Result<(), String> {
        let body = serde_json::to_vec(notice).map_err(|error| error.to_string())?;
        let signature = sign(self.hook.secret.expose(), self.post.clock.now(), &body);
        let signature = HeaderValue::try_from(signature).map_err(|error| error.to_string())?;
        let headers = HeaderMap::from_iter([
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (HeaderName::from_static(SIGNATURE), signature),
        ]);
        let url = self.hook.url.expose().clone();
        let ask = Ask { method: Method::POST, url, headers, body: Bytes::from(body) };
        let answer = self.outgoing.open(ask).await.map_err(|error| error.to_string())?;
        let status = answer.status();
        // So that the receiver is not cut off while it speaks.
        drop(answer.into_body().rest(ANSWER).await);
        if status.is_success() { Ok(()) } else { Err(format!("it answered with status {status}")) }
    }

    /// Notes that a receiver will never hear of something.
    async fn give_up(&self, event: &Event, what: WebhookEvent, tries: u64, why: &str) {
        let id = notice_id(event);
        tracing::error!(webhook = %self.hook.url, notice = %id, tries, why, "a webhook was not told, and is not any more");
        let approval = match &event.happening {
            Happening::ApprovalOpened(opened) => Some(opened.approval),
            _ => None,
        };
        let detail = json!({
            "webhook": self.hook.url.to_string(), "notice": id, "type": what, "tries": tries,
            "why": why,
        });
        let entry = AuditEntry {
            at: self.post.clock.now(),
            kind: "webhook.given_up".to_owned(),
            session: Some(event.session),
            approval,
            by: By::Server,
            detail: RawJson::from(detail),
        };
        if let Err(error) = self.post.store.note_in_audit(entry).await {
            tracing::warn!(%error, "it was not noted in the audit");
        }
    }
}
