//! A stand-in for the Messages API that answers as a script says.
//!
//! The real CLI takes it for its model when `ANTHROPIC_BASE_URL` names it:
//!
//! ```no_run
//! use countersign_lab::model::ScriptedModel;
//! use countersign_lab::script::{Answer, Script};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let model = ScriptedModel::start(Script::new().then(Answer::text("Hello."))).await?;
//! println!("ANTHROPIC_BASE_URL={}", model.url());
//! // Start the CLI with that, and say something to it.
//! let requests = model.wait_for_requests(1).await;
//! assert!(requests[0].tool_names().contains(&"Bash"));
//! assert!(model.unused().is_empty());
//! model.stop().await?;
//! # Ok(())
//! # }
//! ```
//!
//! It serves any number of connections at once. Which answer a request gets is decided when the
//! request has been read, in the order in which that happens.
//!
//! Beside the messages it serves what else the CLI asks for: `count_tokens`, the list of models,
//! and to everything that it does not know it says `{}`. All of it is in the log.

mod events;
mod exchange;
mod log;
mod reply;
mod route;
mod server;
mod wire;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinSet;

use self::exchange::Shared;
use self::log::Log;
pub use self::log::{End, LoggedRequest};
use crate::guard;
use crate::script::{Entry, Player, Script, ScriptError, Unused};

/// The longest body of a request that a server takes, unless told otherwise: 100 MB.
pub const BODY_LIMIT: usize = 100_000_000;

/// A running stand-in for the Messages API.
///
/// When it is dropped, its port is closed and every connection ends; [`stop`](Self::stop) also
/// waits until that is done.
#[derive(Debug)]
pub struct ScriptedModel {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    /// The one task that accepts connections, and owns theirs.
    task: JoinSet<()>,
}

/// How a [`ScriptedModel`] is set up.
#[derive(Clone, Debug)]
#[must_use = "the server is not running yet"]
pub struct ModelOptions {
    port: u16,
    log_file: Option<PathBuf>,
    body_limit: usize,
}

/// A server that could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The script cannot be played.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The port is not to be had.
    #[error("cannot listen on 127.0.0.1, port {port}")]
    Listen {
        /// The port, or 0 for any.
        port: u16,
        /// Why.
        source: io::Error,
    },
    /// The listener that was given is of no use.
    #[error("cannot accept connections from the listener")]
    Listener(#[source] io::Error),
    /// The log file cannot be made.
    #[error("cannot write the log file {}", path.display())]
    LogFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A log file that does not have everything.
#[derive(Debug, thiserror::Error)]
#[error("the log file is incomplete")]
#[non_exhaustive]
pub struct LogIncomplete {
    source: io::Error,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self { port: 0, log_file: None, body_limit: BODY_LIMIT }
    }
}

impl ModelOptions {
    /// Any free port, no log file, bodies up to [`BODY_LIMIT`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Listens on this port of 127.0.0.1; 0 is any that is free.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Writes the log to this file as well, one JSON object a line. A file that is there is
    /// replaced.
    ///
    /// A request gives two lines: one when it is there, with its body, and one when it has ended.
    pub fn log_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.log_file = Some(path.into());
        self
    }

    /// Refuses bodies of more bytes than this with status 413.
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.body_limit = bytes;
        self
    }

    /// Starts the server on 127.0.0.1.
    ///
    /// # Errors
    ///
    /// When the script cannot be played, the port cannot be had or the log file cannot be made.
    pub async fn start(self, script: Script) -> Result<ScriptedModel, StartError> {
        let port = self.port;
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .await
            .map_err(|source| StartError::Listen { port, source })?;
        self.run(listener, script)
    }

    /// Starts the server on a listener, which may be of another network namespace.
    ///
    /// Has to be called within a tokio runtime.
    ///
    /// # Errors
    ///
    /// When the script cannot be played, the listener cannot be used or the log file cannot be
    /// made.
    pub fn serve(self, listener: TcpListener, script: Script) -> Result<ScriptedModel, StartError> {
        listener.set_nonblocking(true).map_err(StartError::Listener)?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(StartError::Listener)?;
        self.run(listener, script)
    }

    fn run(
        self,
        listener: tokio::net::TcpListener,
        script: Script,
    ) -> Result<ScriptedModel, StartError> {
        script.check()?;
        let address = listener.local_addr().map_err(StartError::Listener)?;
        let log = Log::new(self.log_file.as_deref()).map_err(|source| StartError::LogFile {
            path: self.log_file.clone().unwrap_or_default(),
            source,
        })?;
        let shared = Arc::new(Shared::new(Player::new(script), log, self.body_limit));
        let (stop, stopped) = watch::channel(false);
        let mut task = JoinSet::new();
        task.spawn(server::run(listener, Arc::clone(&shared), stopped));
        Ok(ScriptedModel { address, shared, stop, task })
    }
}

impl ScriptedModel {
    /// Starts a server on any free port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// When the script cannot be played or no port can be had.
    pub async fn start(script: Script) -> Result<Self, StartError> {
        ModelOptions::new().start(script).await
    }

    /// Starts a server on a listener, which may be of another network namespace.
    ///
    /// Has to be called within a tokio runtime.
    ///
    /// # Errors
    ///
    /// When the script cannot be played or the listener cannot be used.
    pub fn serve(listener: TcpListener, script: Script) -> Result<Self, StartError> {
        ModelOptions::new().serve(listener, script)
    }

    /// The address for `ANTHROPIC_BASE_URL`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Gives a variable of the script a value, from the next request on.
    pub fn set(&self, name: impl Into<String>, value: impl Into<String>) {
        self.shared.state().player.set(name, value);
    }

    /// Adds an answer at the end of the script.
    pub fn push(&self, entry: impl Into<Entry>) {
        self.shared.state().player.push(entry);
    }

    /// The requests so far, for the model and for everything else, in their order.
    ///
    /// Of a very long log only the latest part is kept: 100,000 requests, and 256 MiB of bodies.
    #[must_use]
    pub fn requests(&self) -> Vec<Arc<LoggedRequest>> {
        self.requests_after(0)
    }

    /// The requests after the one with this number.
    #[must_use]
    pub fn requests_after(&self, number: u64) -> Vec<Arc<LoggedRequest>> {
        self.shared.state().log.after(number)
    }

    /// The requests for the model so far: of the conversation, of subagents, and side jobs.
    #[must_use]
    pub fn model_requests(&self) -> Vec<Arc<LoggedRequest>> {
        let mut requests = self.requests();
        requests.retain(|request| request.kind.is_some());
        requests
    }

    /// Waits until there are this many requests for the model, and gives those that there are.
    pub async fn wait_for_requests(&self, count: usize) -> Vec<Arc<LoggedRequest>> {
        self.wait_until(|model| {
            let requests = model.model_requests();
            (requests.len() >= count).then_some(requests)
        })
        .await
    }

    /// Waits for something to be in the log: looks at it whenever a request comes or ends.
    pub async fn wait_until<T>(&self, mut look: impl FnMut(&Self) -> Option<T>) -> T {
        // Subscribed before the first look, so that nothing slips through between the two.
        let mut changes = self.shared.subscribe();
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            // Cannot fail: the sender is in what this server shares, which lives as long.
            if changes.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// What a CLI has to be started with to take this for its model and talk to nobody else, beside
    /// `HOME` and `PATH`.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let fixed = [("ANTHROPIC_API_KEY", guard::DUMMY_KEY)].into_iter().chain(guard::SWITCHES);
        let fixed = fixed.map(|(name, value)| (name, value.to_owned()));
        [("ANTHROPIC_BASE_URL", self.url())].into_iter().chain(fixed).collect()
    }

    /// The answers that the script still waits to give.
    #[must_use]
    pub fn unused(&self) -> Vec<Unused> {
        self.shared.state().player.unused()
    }

    /// Closes the port, ends every connection and waits until that is done.
    ///
    /// # Errors
    ///
    /// When the log file could not be written to its end.
    pub async fn stop(mut self) -> Result<(), LogIncomplete> {
        self.shared.stop();
        self.stop.send_replace(true);
        while self.task.join_next().await.is_some() {}
        match self.shared.state().log.take_failure() {
            Some(source) => Err(LogIncomplete { source }),
            None => Ok(()),
        }
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        // The tasks end with the set that owns them; what they break off is the server's doing.
        self.shared.stop();
    }
}
