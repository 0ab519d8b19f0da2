//! Programs elsewhere are told when a person is asked, and when a session ends or fails.
//!
//! Each [configured](crate::config::Webhook) address is told in the order in which things happened,
//! at least once: how far it has come is kept in the store, and moves on when it has answered with a
//! status of 2xx. Until then it is told again, after a second, two, four and so on up to five minutes,
//! for a day. Then it is given up, which is noted in the audit, and the next is told. One that does not
//! answer holds up neither the others nor the server. An address that is new is told what happens from
//! then on.
//!
//! | what | when |
//! | --- | --- |
//! | `approval.opened` | the event `approval.opened` |
//! | `session.failed` | the event `session.failed` |
//! | `session.ended` | the event with which the state becomes `ended`: `process.ended` when somebody wanted the session to stop, or `session.stop_asked` when it had no process |
//!
//! The body of a request is a [`Notice`]; [`sign`] says how it is signed, and [`verify`] looks whether it
//! is. Addresses come from the configuration of the server and from nowhere else: whoever can start
//! sessions cannot have the server call an address of their choice. Redirects are not followed.

mod courier;
mod ended;
mod notice;
mod sign;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::courier::{Courier, Hook};
pub use self::notice::{Notice, NoticeApproval, NoticeSession};
pub use self::sign::{BadSignature, SIGNATURE, TOLERANCE, sign, verify};
use crate::access::Clock;
use crate::bus::Bus;
use crate::config::{Webhook, WebhookSecretError};
use crate::outgoing::{Limits, Outgoing, OutgoingError, RootsError};
use crate::store::{Store, StoreError};

/// How long and how often somebody is told who does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// How long is waited after the first time. It is doubled each time.
    pub first: Duration,
    /// How long is waited at most.
    pub most: Duration,
    /// How long after something happened it is given up. It is tried once in any case.
    pub give_up: Duration,
    /// How long an answer may take.
    pub answer: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            most: Duration::from_secs(5 * 60),
            give_up: Duration::from_secs(24 * 3600),
            answer: Duration::from_secs(15),
        }
    }
}

/// What webhooks are made of.
#[derive(Clone)]
pub struct Post {
    /// Where things happen.
    pub store: Arc<dyn Store>,
    /// Who says that they do.
    pub bus: Arc<Bus>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Where people find the server, for links.
    pub url: String,
    /// How long and how often somebody is told who does not answer.
    pub patience: Patience,
}

impl fmt::Debug for Post {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Post");
        shown.field("url", &self.url).field("patience", &self.patience).finish_non_exhaustive()
    }
}

/// Why nobody is told.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WebhookError {
    /// There is nothing to sign with.
    #[error("the webhook to {at} cannot be used: {source}")]
    Secret {
        /// Where it goes to.
        at: String,
        /// Why not.
        source: WebhookSecretError,
    },
    /// Its address is none.
    #[error("the webhook to {at} cannot be used: {source}")]
    Address {
        /// Where it goes to.
        at: String,
        /// Why not.
        source: OutgoingError,
    },
    /// It is not known whom to trust.
    #[error(transparent)]
    Roots(#[from] RootsError),
    /// It is not known how far they have come.
    #[error("it is not known what webhooks were told: {0}")]
    Store(#[from] StoreError),
}

/// Tells receivers what happens, until it is closed.
#[derive(Debug)]
pub struct Webhooks {
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Webhooks {
    /// Begins to tell. When this returns, whatever happens is told to all of them.
    ///
    /// # Errors
    ///
    /// A secret cannot be read, or the store cannot be used. Nobody is told then.
    pub async fn start(webhooks: &[Webhook], post: Post) -> Result<Self, WebhookError> {
        let limits = Limits { answer: post.patience.answer, ..Limits::default() };
        let outgoing = Outgoing::new(limits)?;
        let post = Arc::new(post);
        let mut couriers = Vec::new();
        let mut names = Vec::new();
        // One that wants to be told of nothing is not told of everything.
        for webhook in webhooks.iter().filter(|webhook| !webhook.events.is_empty()) {
            let at = || webhook.url.to_string();
            Outgoing::check(webhook.url.expose())
                .map_err(|source| WebhookError::Address { at: at(), source })?;
            let secret = webhook.signing_secret();
            let secret = secret.map_err(|source| WebhookError::Secret { at: at(), source })?;
            let hook = Hook::new(webhook, secret, &mut names);
            couriers.push(Courier::new(hook, Arc::clone(&post), outgoing.clone()).await?);
        }
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        for courier in couriers {
            let stop = stop.clone();
            // Whatever is under way is told again by the next server: it is not known whether it
            // arrived.
            tasks.spawn(async move { stop.run_until_cancelled(courier.run()).await });
        }
        tasks.close();
        Ok(Self { tasks, stop })
    }

    /// Stops to tell. What was not told is told when there is a server again.
    pub async fn close(self) {
        self.stop.cancel();
        self.tasks.wait().await;
    }
}

impl Drop for Webhooks {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
