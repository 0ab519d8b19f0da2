//! How a session is set up.

use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::DEFAULT_MAX_LINE;
use countersign_protocol::ask::{DialogAnswer, Elicitation, ElicitationAnswer, RequestUserDialog};

use crate::dialog::{DialogHandler, ElicitationHandler};
use crate::hook::Hook;
use crate::limits::Limits;
use crate::link::{Delivery, OnLine, Way};
use crate::options::Options;
use crate::permission::{
    DenyAll, EnterPlanAnswer, EnterPlanAsk, HandlerFailure, PermissionHandler, enter_plan_hook,
    erased,
};
use crate::recording::Tape;
use crate::session::{Handlers, Mirroring, OnStderr};
use crate::times::Times;

/// How a session is set up: what the CLI is told, and who answers what it asks.
#[derive(Clone)]
#[must_use = "a builder does nothing until `connect`"]
pub struct SessionBuilder {
    /// What the CLI is told.
    pub(crate) options: Box<Options>,
    pub(crate) handlers: Handlers,
    pub(crate) delivery: Delivery,
    pub(crate) times: Times,
    pub(crate) limits: Limits,
    pub(crate) max_line: usize,
    pub(crate) on_stderr: Option<OnStderr>,
    pub(crate) on_line: Option<OnLine>,
    pub(crate) tape: Option<Tape>,
    pub(crate) mirroring: Mirroring,
    pub(crate) exact_cwd: bool,
}

impl Default for SessionBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl SessionBuilder {
    /// A session with the CLI's own settings, in which nothing that needs permission is allowed.
    pub fn new() -> Self {
        Self {
            options: Box::default(),
            handlers: Handlers::new(erased(DenyAll)),
            delivery: Delivery::default(),
            times: Times::default(),
            limits: Limits::default(),
            max_line: DEFAULT_MAX_LINE,
            on_stderr: None,
            on_line: None,
            tape: None,
            mirroring: Mirroring::default(),
            exact_cwd: false,
        }
    }

    /// Looks whether a session can be set up like this, without starting anything or looking for the
    /// CLI. What depends on its version is found out when it is started.
    ///
    /// # Errors
    /// When an option has a value that it cannot have, or two contradict each other.
    pub fn check_options(&self) -> Result<(), crate::OptionsError> {
        self.options.check()
    }

    /// Who decides whether tools may run. By default everything is denied.
    pub fn on_permission(mut self, handler: impl PermissionHandler) -> Self {
        self.handlers.permission = erased(handler);
        self
    }

    /// How long a permission handler may take; then the tool is denied. There is no limit by
    /// default, since people take their time and the CLI waits.
    pub fn permission_timeout(mut self, limit: Duration) -> Self {
        self.handlers.permission_timeout = Some(limit);
        self
    }

    /// Who decides whether the model may enter plan mode by itself. Without it, it may.
    ///
    /// The CLI does not ask for that permission, so this is a hook. An error or a panic refuses,
    /// and so does a day without an answer. The model is told why.
    ///
    /// ```
    /// use countersign::SessionBuilder;
    /// use countersign::permission::{EnterPlanAsk, HandlerFailure};
    ///
    /// let builder = SessionBuilder::new().on_enter_plan_mode(|ask: EnterPlanAsk| async move {
    ///     Ok::<_, HandlerFailure>(ask.deny("This is a small change: just make it."))
    /// });
    /// ```
    pub fn on_enter_plan_mode<F, Fut, E>(self, handler: F) -> Self
    where
        F: Fn(EnterPlanAsk) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<EnterPlanAnswer, E>> + Send + 'static,
        E: Into<HandlerFailure>,
    {
        self.hook(enter_plan_hook(handler))
    }

    /// Adds a hook.
    pub fn hook(mut self, hook: Hook) -> Self {
        self.handlers.hooks.push(Arc::new(hook));
        self
    }

    /// Adds an MCP server that lives in this process. One of the same name takes its place.
    #[cfg(feature = "mcp")]
    pub fn in_process_mcp(mut self, server: impl Into<crate::mcp::McpServer>) -> Self {
        let server = server.into();
        self.handlers.mcp.insert(server.name().to_owned(), server);
        self
    }

    /// Who answers what MCP servers ask the user. By default everything is declined.
    pub fn on_elicitation<F, Fut, E>(mut self, handler: F) -> Self
    where
        F: Fn(Elicitation) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ElicitationAnswer, E>> + Send + 'static,
        E: Into<HandlerFailure>,
    {
        self.handlers.elicitation = Some(ElicitationHandler::new(handler));
        self
    }

    /// Who shows dialogs of these kinds. By default none are asked for.
    pub fn on_dialog<F, Fut, E>(
        mut self,
        kinds: impl IntoIterator<Item = impl Into<String>>,
        handler: F,
    ) -> Self
    where
        F: Fn(RequestUserDialog) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<DialogAnswer, E>> + Send + 'static,
        E: Into<HandlerFailure>,
    {
        let kinds = kinds.into_iter().map(Into::into).collect();
        self.handlers.dialogs = Some(DialogHandler::new(kinds, handler));
        self
    }

    /// Who is given what the CLI writes to its standard error, as it comes. It is called from the
    /// task that reads it, so it should be quick.
    pub fn on_stderr(mut self, told: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        self.on_stderr = Some(Arc::new(told));
        self
    }

    /// Who is given each line that goes to the CLI or comes from it, without its end, in order: to
    /// show what passes, say. It is called from the tasks that write and read, so it has to be quick.
    /// There is no guarantee that a line to the CLI was read there.
    ///
    /// ```
    /// use countersign::{SessionBuilder, Way};
    ///
    /// let builder = SessionBuilder::new().on_line(|way, line| {
    ///     let arrow = if way == Way::ToCli { "->" } else { "<-" };
    ///     eprintln!("{arrow} {}", String::from_utf8_lossy(line));
    /// });
    /// ```
    pub fn on_line(mut self, told: impl Fn(Way, &[u8]) + Send + Sync + 'static) -> Self {
        self.on_line = Some(Arc::new(told));
        self
    }

    /// What the session may take before it is interrupted, and then ended.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How long a line of the CLI may be. A longer one is passed over, and that is said in its
    /// place; a request in it is refused. 256 MiB by default.
    pub fn max_line(mut self, bytes: usize) -> Self {
        self.max_line = bytes;
        self
    }

    /// How many bytes of messages that nobody has read are kept in memory; the rest goes to a
    /// file. 4 MiB by default.
    pub fn unread_in_memory(mut self, bytes: usize) -> Self {
        self.delivery.memory = bytes;
        self
    }

    /// Drops pieces of messages that nobody has read, instead of putting them into the file, and
    /// says so in their place. Whole messages are never dropped.
    pub fn drop_unread_deltas(mut self) -> Self {
        self.delivery.drop_deltas = true;
        self
    }

    /// Where the file for messages that nobody has read is made. It has no name there, and is gone
    /// with the session.
    pub fn spool_folder(mut self, folder: impl Into<std::path::PathBuf>) -> Self {
        self.delivery.folder = Some(folder.into());
        self
    }

    /// How long the CLI may take to answer a control request. 60 s by default.
    pub fn request_timeout(mut self, limit: Duration) -> Self {
        self.times.request = limit;
        self
    }

    /// Ends the CLI before it is told anything when it was not started in exactly the folder that
    /// [`cwd`](Self::cwd) names: when a part of the path was replaced by a link after it was looked
    /// at. The path has to be a resolved one then.
    ///
    /// It is looked up in `/proc`; where that tells nothing, nothing is checked.
    pub const fn exact_cwd(mut self) -> Self {
        self.exact_cwd = true;
        self
    }

    /// How long the CLI may take to start. 60 s by default.
    pub fn initialize_timeout(mut self, limit: Duration) -> Self {
        self.times.initialize = limit;
        self
    }

    /// How long the steps of ending the process may take.
    pub fn shutdown_times(mut self, times: crate::process::ShutdownTimes) -> Self {
        self.times.shutdown = times;
        self
    }
}

impl std::fmt::Debug for SessionBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionBuilder")
            .field("options", &self.options)
            .field("hooks", &self.handlers.hooks)
            .finish_non_exhaustive()
    }
}
