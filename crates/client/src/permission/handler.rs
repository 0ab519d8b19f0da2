//! Who answers.

use std::pin::Pin;
use std::sync::Arc;

use thiserror::Error;

use super::answer::PermissionAnswer;
use super::ask::PermissionAsk;
use super::question::QuestionError;

/// Decides whether tools may run.
///
/// A closure that returns a future is one, whose output is a [`PermissionAnswer`] or a `Result`
/// with one. The ready ones are in this module, too: [`DenyAll`](super::DenyAll), which is the
/// default, [`AllowAll`](super::AllowAll), [`ReadOnly`](super::ReadOnly) and
/// [`Chain`](super::Chain).
///
/// It is called for several asks at the same time. It may take as long as it likes, unless the
/// session was given a limit: the CLI waits, and so does nothing else.
pub trait PermissionHandler: Send + Sync + 'static {
    /// Decides. An error denies, with the error as the reason.
    fn decide(
        &self,
        ask: PermissionAsk,
    ) -> impl Future<Output = Result<PermissionAnswer, HandlerFailure>> + Send;
}

/// What a handler failed with.
pub type HandlerFailure = Box<dyn std::error::Error + Send + Sync>;

/// What a closure may return.
pub trait IntoAnswer {
    /// The answer, or why there is none.
    ///
    /// # Errors
    /// When there is none.
    fn into_answer(self) -> Result<PermissionAnswer, HandlerFailure>;
}

impl IntoAnswer for PermissionAnswer {
    fn into_answer(self) -> Result<PermissionAnswer, HandlerFailure> {
        Ok(self)
    }
}

impl<E: Into<HandlerFailure>> IntoAnswer for Result<PermissionAnswer, E> {
    fn into_answer(self) -> Result<PermissionAnswer, HandlerFailure> {
        self.map_err(Into::into)
    }
}

impl<F, Fut> PermissionHandler for F
where
    F: Fn(PermissionAsk) -> Fut + Send + Sync + 'static,
    Fut: Future + Send,
    Fut::Output: IntoAnswer,
{
    async fn decide(&self, ask: PermissionAsk) -> Result<PermissionAnswer, HandlerFailure> {
        self(ask).await.into_answer()
    }
}

/// Why an answer cannot be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The input of a tool is always an object.
    #[error("the input of a tool has to be a JSON object")]
    NotAnObject,
    /// There is no plan that could be carried out in a new conversation.
    #[error("there is no plan to begin anew with: approve it in this conversation instead")]
    NoPlan,
    /// Answers do not fit the questions.
    #[error(transparent)]
    Questions(#[from] QuestionError),
    /// The input cannot be written.
    #[error("the input cannot be written as JSON: {0}")]
    NotJson(#[from] serde_json::Error),
}

type Decision<'a> =
    Pin<Box<dyn Future<Output = Result<PermissionAnswer, HandlerFailure>> + Send + 'a>>;

/// A handler of whatever type.
pub(crate) trait AnyPermissionHandler: Send + Sync {
    fn decide_boxed<'a>(&'a self, ask: PermissionAsk) -> Decision<'a>;
}

impl<H: PermissionHandler> AnyPermissionHandler for H {
    fn decide_boxed<'a>(&'a self, ask: PermissionAsk) -> Decision<'a> {
        Box::pin(self.decide(ask))
    }
}

pub(crate) fn erased(handler: impl PermissionHandler) -> Arc<dyn AnyPermissionHandler> {
    Arc::new(handler)
}
