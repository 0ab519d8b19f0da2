//! Handlers that are ready to use.

use std::sync::Arc;

use countersign_protocol::tool::current_name;

use super::answer::PermissionAnswer;
use super::ask::PermissionAsk;
use super::handler::{AnyPermissionHandler, HandlerFailure, PermissionHandler, erased};

/// Denies everything. The default.
#[derive(Clone, Copy, Debug, Default)]
pub struct DenyAll;

impl PermissionHandler for DenyAll {
    async fn decide(&self, ask: PermissionAsk) -> Result<PermissionAnswer, HandlerFailure> {
        Ok(ask.deny("nobody is here to allow this: no permission handler was given"))
    }
}

/// Allows everything. Questions are left unanswered; with a plan that is allowed the session returns
/// to the mode that it was in before it planned, or to the default if it began with planning.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllowAll;

impl PermissionHandler for AllowAll {
    async fn decide(&self, ask: PermissionAsk) -> Result<PermissionAnswer, HandlerFailure> {
        Ok(ask.allow())
    }
}

/// Allows tools that only read, and denies the rest.
///
/// It knows the built-in ones by name. A shell command can do anything, so none is allowed; the CLI
/// does not ask for those that it knows to be harmless.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOnly;

/// Built-in tools that change nothing outside the conversation.
const READING: [&str; 11] = [
    "Read",
    "Glob",
    "Grep",
    "LSP",
    "TodoWrite",
    "ToolSearch",
    "TaskGet",
    "TaskList",
    "ListMcpResourcesTool",
    "ReadMcpResourceTool",
    "ReadMcpResourceDirTool",
];

impl PermissionHandler for ReadOnly {
    async fn decide(&self, ask: PermissionAsk) -> Result<PermissionAnswer, HandlerFailure> {
        if READING.contains(&current_name(ask.tool_name())) {
            return Ok(ask.allow());
        }
        let reason = format!("{} is not allowed: this session may only read", ask.tool_name());
        Ok(ask.deny(reason))
    }
}

/// What a link of a [`Chain`] says.
#[derive(Debug)]
#[must_use = "a verdict that is not returned is a denial"]
#[non_exhaustive]
pub enum Verdict {
    /// This is the answer.
    Answer(PermissionAnswer),
    /// The next one shall decide.
    Pass(PermissionAsk),
}

impl From<PermissionAnswer> for Verdict {
    fn from(answer: PermissionAnswer) -> Self {
        Self::Answer(answer)
    }
}

/// Asks one after the other, until somebody decides.
///
/// ```
/// use countersign::permission::{Chain, DenyAll, Verdict};
///
/// let handler = Chain::ending_with(DenyAll).before(|ask| match ask.tool_name() {
///     "Read" => ask.allow().into(),
///     _ => Verdict::Pass(ask),
/// });
/// ```
#[derive(Clone)]
pub struct Chain {
    links: Vec<Arc<dyn Fn(PermissionAsk) -> Verdict + Send + Sync>>,
    last: Arc<dyn AnyPermissionHandler>,
}

impl Chain {
    /// A chain of one, who decides whatever is left.
    #[must_use]
    pub fn ending_with(last: impl PermissionHandler) -> Self {
        Self { links: Vec::new(), last: erased(last) }
    }

    /// Asks this one before the last, and after those that were added before.
    #[must_use]
    pub fn before(
        mut self,
        link: impl Fn(PermissionAsk) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        self.links.push(Arc::new(link));
        self
    }
}

impl PermissionHandler for Chain {
    async fn decide(&self, mut ask: PermissionAsk) -> Result<PermissionAnswer, HandlerFailure> {
        for link in &self.links {
            match link(ask) {
                Verdict::Answer(answer) => return Ok(answer),
                Verdict::Pass(passed) => ask = passed,
            }
        }
        self.last.decide_boxed(ask).await
    }
}

impl std::fmt::Debug for Chain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chain").field("links", &self.links.len()).finish_non_exhaustive()
    }
}
