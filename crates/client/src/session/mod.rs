//! A session: one process of the CLI, and everything that goes over its pipes.

mod bypass;
mod callback;
mod connect;
mod control;
mod duty;
mod fresh;
mod handle;
mod intake;
mod mirroring;
mod owner;
mod place;
mod serve;
mod shared;
mod snapshot;
mod spans;
mod stderr;
mod tasks;
mod watch;

use std::fmt;
use std::sync::Arc;

use countersign_protocol::content::Content;
use countersign_protocol::ids::MessageUuid;
use countersign_protocol::message::UserMessage;

pub use self::handle::SessionHandle;
pub(crate) use self::snapshot::Sent;
pub use self::snapshot::{SessionEnd, Snapshot};
pub use self::watch::Watch;
use crate::builder::SessionBuilder;
use crate::counters::Stats;
use crate::error::SendError;
use crate::link::Reader;
use crate::message::Message;
use crate::store::{Flush, Mirror};
use crate::turn::Turn;

pub(crate) use self::mirroring::{Kept, Mirroring};
pub(crate) use self::place::Place;
pub(crate) use self::serve::Handlers;
pub(crate) use self::shared::Shared;
pub(crate) use self::stderr::OnStderr;

/// A conversation with the CLI.
///
/// It is the one that reads messages; [`SessionHandle`]s, of which there can be many, do everything
/// else. Requests of the CLI are answered whether or not anybody reads.
///
/// When it is dropped, the process and all that it started is killed. [`Session::close`] ends it
/// in order.
pub struct Session {
    handle: SessionHandle,
    messages: Reader,
    /// A result that waits until the store has what came before it.
    held: Option<(Message, Flush)>,
    mirror: Option<Arc<Mirror>>,
    /// How many results were read.
    results_read: u64,
    /// How it was set up, to begin anew.
    builder: Box<SessionBuilder>,
    /// Ends the session when it is dropped.
    leash: Leash,
}

/// What keeps a session alive.
#[derive(Debug)]
struct Leash(Arc<Shared>);

impl Drop for Leash {
    fn drop(&mut self) {
        self.0.kill.cancel();
    }
}

impl Session {
    pub(crate) fn new(
        shared: Arc<Shared>,
        messages: Reader,
        mirror: Option<Arc<Mirror>>,
        builder: SessionBuilder,
    ) -> Self {
        let handle = SessionHandle::new(Arc::clone(&shared));
        Self {
            handle,
            messages,
            held: None,
            mirror,
            results_read: 0,
            builder: Box::new(builder),
            leash: Leash(shared),
        }
    }

    /// How a session is set up.
    pub fn builder() -> SessionBuilder {
        SessionBuilder::new()
    }

    /// A handle, for other tasks.
    #[must_use]
    pub fn handle(&self) -> SessionHandle {
        self.handle.clone()
    }

    /// The next message, whatever it belongs to; none when the session has ended and everything
    /// was read.
    ///
    /// Cancel safe: a message is either returned or still there.
    pub async fn next_message(&mut self) -> Option<Message> {
        let message = self.next_unnoted().await?;
        if message.is_result() {
            self.results_read += 1;
        } else if message.is_lost() {
            // Nobody knows how many were among them.
            self.results_read = self.leash.0.snapshot.borrow().turns_over;
        }
        Some(message)
    }

    /// How many results will be read, at least, before that of a message that is sent now.
    pub(crate) fn results_to_come(&self) -> u64 {
        let snapshot = self.leash.0.snapshot.borrow();
        let unread = snapshot.turns_over.saturating_sub(self.results_read);
        unread + u64::from(snapshot.is_running)
    }

    async fn next_unnoted(&mut self) -> Option<Message> {
        let Some(mirror) = &self.mirror else {
            return self.messages.next_line().await.map(Message::from_line);
        };
        if self.held.is_none() {
            let message = Message::from_line(self.messages.next_line().await?);
            if !message.is_result() {
                return Some(message);
            }
            // Once: who gives up waiting again and again would otherwise never be done.
            self.held = Some((message, mirror.begin_flush()));
        }
        if let Some((_, flush)) = &self.held {
            mirror.flushed(*flush).await;
        }
        self.held.take().map(|(message, _)| message)
    }

    /// Sends a message of the user, and gives the turn that comes of it.
    ///
    /// # Errors
    /// When the session has ended.
    pub async fn send(
        &mut self,
        content: impl Into<Content>,
    ) -> Result<Turn<&mut Self>, SendError> {
        self.send_message(UserMessage::prompt(content)).await
    }

    /// [`send`](Self::send) for a message with a priority, pasted content and so on.
    ///
    /// # Errors
    /// When the session has ended.
    pub async fn send_message(
        &mut self,
        message: UserMessage,
    ) -> Result<Turn<&mut Self>, SendError> {
        Turn::begin(self, message).await
    }

    /// [`send`](Self::send) for a turn that goes elsewhere, and takes the session along.
    ///
    /// # Errors
    /// When the session has ended.
    pub async fn into_turn(self, content: impl Into<Content>) -> Result<Turn<Self>, SendError> {
        Turn::begin(self, UserMessage::prompt(content)).await
    }

    /// The turn that is running, or the next one that nobody asks for.
    pub fn current_turn(&mut self) -> Turn<&mut Self> {
        Turn::running(self)
    }

    /// Sends a message of the user, and returns its id as soon as it is on its way; see
    /// [`SessionHandle::post`]. With the id it can be withdrawn while it is queued: see
    /// [`SessionHandle::cancel_message`].
    ///
    /// # Errors
    /// When the session has ended.
    pub async fn post(&self, content: impl Into<Content>) -> Result<MessageUuid, SendError> {
        self.handle.post(UserMessage::prompt(content)).await
    }

    /// What passed through the session so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.leash.0.counters.stats()
    }

    /// Ends the session in order: a running turn is interrupted, the input is closed, and what
    /// does not end by itself is ended. Returns when nothing is left.
    pub async fn close(self) -> SessionEnd {
        self.handle.close().await
    }
}

impl fmt::Debug for Session {
    /// Without messages that nobody has read, and how it was set up.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("handle", &self.handle).finish_non_exhaustive()
    }
}

impl std::ops::Deref for Session {
    type Target = SessionHandle;

    fn deref(&self) -> &SessionHandle {
        &self.handle
    }
}
