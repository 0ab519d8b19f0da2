//! The same for programs without an async runtime.
//!
//! Each [`Session`] has a runtime of its own on a thread of its own, so handlers run while nobody
//! calls anything, as they do everywhere else.
//!
//! Within an async runtime everything here is refused with [`BlockingError::WithinRuntime`]: it
//! would hold up what else runs there. The async API is at hand there.
//!
//! ```no_run
//! use countersign::SessionBuilder;
//! use countersign::blocking;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut session = blocking::Session::connect(SessionBuilder::new())?;
//! let outcome = session.send("What is 2+2?")?;
//! println!("{}", outcome.answer());
//! session.close()?;
//! # Ok(())
//! # }
//! ```

use std::io;

use countersign_protocol::content::Content;
use thiserror::Error;
use tokio::runtime::{Builder, Handle, Runtime};

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
    Ok(Waiting::start()?.wait(crate::query(prompt))??)
}

/// Asks one question; see [`SessionBuilder::ask`].
///
/// # Errors
/// When there is no answer.
pub fn ask(builder: SessionBuilder, prompt: impl Into<String>) -> Result<Outcome, BlockingError> {
    Ok(Waiting::start()?.wait(builder.ask(prompt))??)
}

/// Why something did not work.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BlockingError {
    /// It was called within an async runtime.
    #[error("this waits, which must not be done within an async runtime: use the async API there")]
    WithinRuntime,
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
#[derive(Debug)]
pub struct Session {
    // Before the runtime, which it needs to end.
    session: crate::Session,
    runtime: Waiting,
}

impl Session {
    /// Starts the CLI; see [`SessionBuilder::connect`].
    ///
    /// # Errors
    /// When there is no session.
    pub fn connect(builder: SessionBuilder) -> Result<Self, BlockingError> {
        let runtime = Waiting::start()?;
        let session = runtime.wait(builder.connect())??;
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
        let session = &mut self.session;
        self.runtime.wait(async {
            let mut turn = session.send(content).await?;
            while let Some(event) = turn.next().await {
                told(event);
            }
            Ok(turn.finish().await?)
        })?
    }

    /// The next message; none when the session has ended.
    ///
    /// # Errors
    /// Within an async runtime.
    pub fn next_message(&mut self) -> Result<Option<Message>, BlockingError> {
        self.runtime.wait(self.session.next_message())
    }

    /// A handle, for what does not wait: [`SessionHandle::snapshot`], for one.
    #[must_use]
    pub fn handle(&self) -> SessionHandle {
        self.session.handle()
    }

    /// Does something with the handle of the session, such as a control request.
    ///
    /// ```no_run
    /// # fn example(session: &countersign::blocking::Session) -> Result<(), Box<dyn std::error::Error>> {
    /// use countersign::protocol::permission::PermissionMode;
    ///
    /// session.with(|handle| async move {
    ///     handle.set_permission_mode(PermissionMode::Plan).await
    /// })??;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Within an async runtime.
    pub fn with<F: Future>(
        &self,
        what: impl FnOnce(SessionHandle) -> F,
    ) -> Result<F::Output, BlockingError> {
        self.runtime.wait(what(self.session.handle()))
    }

    /// Ends the session in order.
    ///
    /// # Errors
    /// Within an async runtime, where the session is ended as when it is dropped: at once.
    pub fn close(self) -> Result<SessionEnd, BlockingError> {
        let Self { session, runtime } = self;
        runtime.wait(session.close())
    }
}

/// A runtime to wait with.
#[derive(Debug)]
struct Waiting(Option<Runtime>);

impl Waiting {
    fn start() -> Result<Self, BlockingError> {
        refuse_within_runtime()?;
        // One thread beside the caller's, so that the session is served while nobody waits.
        Ok(Self(Some(Builder::new_multi_thread().worker_threads(1).enable_all().build()?)))
    }

    fn wait<F: Future>(&self, future: F) -> Result<F::Output, BlockingError> {
        refuse_within_runtime()?;
        // It is there until it is dropped.
        let runtime = self.0.as_ref().ok_or_else(|| io::Error::other("it has ended"))?;
        Ok(runtime.block_on(future))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            // The session ends with the tasks of its runtime. To wait for that is a panic within
            // another one.
            match refuse_within_runtime() {
                Ok(()) => drop(runtime),
                Err(_) => runtime.shutdown_background(),
            }
        }
    }
}

fn refuse_within_runtime() -> Result<(), BlockingError> {
    match Handle::try_current() {
        Ok(_) => Err(BlockingError::WithinRuntime),
        Err(_) => Ok(()),
    }
}
