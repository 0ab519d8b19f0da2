//! Turns: what comes of a message, joined.
//!
//! [`Session::send`](crate::Session::send) gives a [`Turn`]. It is read event by event, or
//! finished at once; either way [`Turn::finish`] gives the [`Outcome`], in which text, tool calls
//! with their results, sub-agents, denials, usage and cost are together.

mod decisions;
mod event;
mod join;
mod outcome;
mod spans;
mod tool_call;
mod unread;

use std::borrow::BorrowMut;
use std::fmt;

use countersign_protocol::ids::MessageUuid;
use countersign_protocol::message::UserMessage;
use tokio_util::sync::CancellationToken;

pub(crate) use self::decisions::Decisions;
pub use self::event::TurnEvent;
use self::join::{Followed, Joined, Joiner};
pub use self::outcome::{Outcome, SubAgent};
use self::spans::Spans;
pub use self::tool_call::{Decision, ToolCall, ToolResult};
use crate::error::{Dropped, SendError, TurnError};
use crate::session::{Sent, Session};

/// A turn that is running.
///
/// Only its own result ends it: turns that nobody asked for, because a background task has ended,
/// pass through it as [`TurnEvent::Unasked`]. A result that cannot be read ends it, too, without an
/// outcome: [`Turn::finish`] then says why. So do the loss of messages, and a message that the CLI
/// drops.
///
/// Dropping it leaves the turn running; what it says is then read with
/// [`Session::next_message`], or by the next turn.
#[must_use = "a turn that is not read leaves what it says to the next; `Session::post` begins one without reading it"]
pub struct Turn<S = Session> {
    session: S,
    joiner: Joiner,
    /// Says that its message was withdrawn.
    withdrawn: CancellationToken,
    spans: Spans,
    end: Option<Result<Box<Outcome>, TurnError>>,
}

impl<S: BorrowMut<Session>> Turn<S> {
    pub(crate) async fn begin(session: S, message: UserMessage) -> Result<Self, SendError> {
        let mut message = message;
        let sent = Sent::new(&mut message);
        let (handle, shared) = (session.borrow().handle(), session.borrow().shared());
        let spans = Spans::new(&shared.span, Some(&sent.id));
        let withdrawn = shared.follow(sent.id.clone());
        let results_before = session.borrow().results_to_come();
        let (version, was_running, others) = {
            let snapshot = shared.snapshot.borrow();
            (snapshot.version, snapshot.is_running, snapshot.on_their_way())
        };
        handle.post_as(message, sent.clone()).await?;
        let followed = Followed { sent, version, was_running, results_before, others };
        let joiner = Joiner::new(Some(followed));
        Ok(Self { session, joiner, withdrawn, spans, end: None })
    }

    /// A turn that is running already, or begins without a message of ours.
    pub(crate) fn running(session: S) -> Self {
        let spans = Spans::new(&session.borrow().shared().span, None);
        let withdrawn = CancellationToken::new();
        Self { session, joiner: Joiner::new(None), withdrawn, spans, end: None }
    }

    /// The message that began it; none if the CLI began it by itself.
    #[must_use]
    pub fn message_id(&self) -> Option<&MessageUuid> {
        self.joiner.message_id()
    }

    /// The session, for requests while the turn runs.
    #[must_use]
    pub fn session(&self) -> &Session {
        self.session.borrow()
    }

    /// What happens next; none when the turn is over, or the session is.
    ///
    /// Cancel safe: an event is either returned or still to come.
    pub async fn next(&mut self) -> Option<TurnEvent> {
        if self.end.is_some() {
            return None;
        }
        let event = match self.joiner.rest() {
            Some(event) => event,
            None => self.read().await?,
        };
        self.spans.saw(&event);
        Some(event)
    }

    async fn read(&mut self) -> Option<TurnEvent> {
        let session = self.session.borrow_mut();
        let message = tokio::select! {
            biased;
            () = self.withdrawn.cancelled() => {
                self.spans.failed();
                self.end = Some(Err(Dropped::Withdrawn.into()));
                return None;
            }
            message = session.next_message() => message?,
        };
        match self.joiner.join(message, session.shared().decisions()) {
            Joined::Event(event) => Some(event),
            Joined::End(mut outcome, event) => {
                outcome.fresh_start = session.shared().take_fresh_start();
                self.end = Some(Ok(outcome));
                Some(event)
            }
            Joined::Failed(error, event) => {
                tracing::warn!(%error, "a turn has no outcome");
                self.spans.failed();
                self.end = Some(Err(error));
                Some(event)
            }
        }
    }

    /// Reads on to the end, and says what came of it.
    ///
    /// # Errors
    /// When the session ends before the turn does, the CLI drops the message, the result cannot be
    /// read, or messages were lost.
    pub async fn finish(mut self) -> Result<Outcome, TurnError> {
        while self.next().await.is_some() {}
        match self.end {
            Some(end) => end.map(|outcome| *outcome),
            None => Err(TurnError::SessionEnded(Box::new(self.session.borrow().ended().await))),
        }
    }
}

impl<S: fmt::Debug> fmt::Debug for Turn<S> {
    /// Without what was said in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn")
            .field("session", &self.session)
            .field("message_id", &self.joiner.message_id())
            .field("is_over", &self.end.is_some())
            .finish_non_exhaustive()
    }
}

impl Turn<Session> {
    /// Gives the session back. The turn runs on.
    #[must_use]
    pub fn into_session(self) -> Session {
        self.session
    }
}
