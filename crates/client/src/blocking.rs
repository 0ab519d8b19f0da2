//! The same for programs without an async runtime.
//!
//! Each [`Session`] has a runtime of its own on a thread of its own, so handlers run while nobody
//! calls anything, as they do everywhere else.
//!
//! ```no_run
//! use countersign::SessionBuilder;
//! use countersign::blocking;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut session = blocking::Session::connect(SessionBuilder::new())?;
//! let outcome = session.send("What is 2+2?")?;
//! println!("{}", outcome.answer());
//! session.close();
//! # Ok(())
//! # }
//! ```

use std::io;

use countersign_protocol::content::Content;
use thiserror::Error;
use tokio::runtime::{Builder, Runtime};

use crate::builder::SessionBuilder;
use crate::error::{ConnectError, SendError, TurnError};
use crate::message::Message;
use crate::query::QueryError;
use crate::session::{SessionEnd, SessionHandle};
use crate::turn::{Outcome, TurnEvent};

/// Asks one question; see [`countersign::query`](crate::query()).
///
/// # Errors
/// When there is no answer.
pub fn query(prompt: impl Into<String>) -> Result<String, BlockingError> {
    let runtime = runtime()?;
    Ok(runtime.block_on(crate::query(prompt))?)
}

/// Why something did not work.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BlockingError {
    /// There is no runtime.
    #[error("the runtime could not be started: {0}")]
    Runtime(#[from] io::Error),
    /// There is no session.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// Nothing could be sent.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The turn has no outcome.
    #[error(transparent)]
    Turn(#[from] TurnError),
    /// There is no answer.
    #[error(transparent)]
    Query(#[from] QueryError),
}

/// A session whose methods wait.
///
/// It must not be used from within an async runtime; there the async one is at hand.
#[derive(Debug)]
pub struct Session {
    // Before the runtime, which it needs to end.
    session: Option<crate::Session>,
    runtime: Runtime,
}

impl Session {
    /// Starts the CLI; see [`SessionBuilder::connect`].
    ///
    /// # Errors
    /// When there is no session.
    pub fn connect(builder: SessionBuilder) -> Result<Self, BlockingError> {
        let runtime = runtime()?;
        let session = Some(runtime.block_on(builder.connect())?);
        Ok(Self { session, runtime })
    }

    /// Sends a message, and waits for what comes of it.
    ///
    /// # Errors
    /// When the session has ended.
    pub fn send(&mut self, content: impl Into<Content>) -> Result<Outcome, BlockingError> {
        self.send_with(content, |_| {})
    }

    /// [`send`](Self::send), telling what happens as it happens.
    ///
    /// # Errors
    /// When the session has ended.
    pub fn send_with(
        &mut self,
        content: impl Into<Content>,
        mut told: impl FnMut(TurnEvent),
    ) -> Result<Outcome, BlockingError> {
        let Some(session) = &mut self.session else { return Err(SendError::SessionEnded.into()) };
        self.runtime.block_on(async {
            let mut turn = session.send(content).await?;
            while let Some(event) = turn.next().await {
                told(event);
            }
            Ok(turn.finish().await?)
        })
    }

    /// The next message; none when the session has ended.
    pub fn next_message(&mut self) -> Option<Message> {
        let session = self.session.as_mut()?;
        self.runtime.block_on(session.next_message())
    }

    /// Does something with the handle of the session, such as a control request.
    ///
    /// ```no_run
    /// # fn example(session: &countersign::blocking::Session) {
    /// use countersign::protocol::permission::PermissionMode;
    ///
    /// let done = session.with(|handle| async move {
    ///     handle.set_permission_mode(PermissionMode::Plan).await
    /// });
    /// # }
    /// ```
    pub fn with<F: Future>(&self, what: impl FnOnce(SessionHandle) -> F) -> Option<F::Output> {
        let handle = self.session.as_ref()?.handle();
        Some(self.runtime.block_on(what(handle)))
    }

    /// Ends the session in order; none if it was ended before.
    pub fn close(mut self) -> Option<SessionEnd> {
        let session = self.session.take()?;
        Some(self.runtime.block_on(session.close()))
    }
}

fn runtime() -> io::Result<Runtime> {
    // One thread beside the caller's, so that the session is served while nobody waits.
    Builder::new_multi_thread().worker_threads(1).enable_all().build()
}
