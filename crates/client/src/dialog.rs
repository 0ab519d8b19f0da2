//! What else the CLI may ask: elicitations of MCP servers, and dialogs.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use countersign_protocol::ask::{
    DialogAnswer, Elicitation, ElicitationAction, ElicitationAnswer, RequestUserDialog,
};

use crate::permission::HandlerFailure;

type Future_<T> = Pin<Box<dyn Future<Output = Result<T, HandlerFailure>> + Send>>;

/// Answers what an MCP server asks the user. Without one, everything is declined.
#[derive(Clone)]
pub(crate) struct ElicitationHandler(
    Arc<dyn Fn(Elicitation) -> Future_<ElicitationAnswer> + Send + Sync>,
);

impl ElicitationHandler {
    pub(crate) fn new<F, Fut, E>(handler: F) -> Self
    where
        F: Fn(Elicitation) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ElicitationAnswer, E>> + Send + 'static,
        E: Into<HandlerFailure>,
    {
        Self(Arc::new(move |ask| {
            let answer = handler(ask);
            Box::pin(async move { answer.await.map_err(Into::into) })
        }))
    }

    pub(crate) fn call(&self, ask: Elicitation) -> Future_<ElicitationAnswer> {
        (self.0)(ask)
    }
}

/// What is answered when nobody is there to ask.
pub(crate) fn declined() -> ElicitationAnswer {
    ElicitationAnswer::new(ElicitationAction::Decline)
}

/// Shows dialogs of the kinds that it declares. Others are not sent by the CLI.
#[derive(Clone)]
pub(crate) struct DialogHandler {
    pub(crate) kinds: Vec<String>,
    call: Arc<dyn Fn(RequestUserDialog) -> Future_<DialogAnswer> + Send + Sync>,
}

impl DialogHandler {
    pub(crate) fn new<F, Fut, E>(kinds: Vec<String>, handler: F) -> Self
    where
        F: Fn(RequestUserDialog) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<DialogAnswer, E>> + Send + 'static,
        E: Into<HandlerFailure>,
    {
        let call = Arc::new(move |ask| {
            let answer = handler(ask);
            Box::pin(async move { answer.await.map_err(Into::into) }) as Future_<DialogAnswer>
        });
        Self { kinds, call }
    }

    pub(crate) fn call(&self, ask: RequestUserDialog) -> Future_<DialogAnswer> {
        (self.call)(ask)
    }
}

impl fmt::Debug for ElicitationHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ElicitationHandler")
    }
}

impl fmt::Debug for DialogHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DialogHandler").field("kinds", &self.kinds).finish_non_exhaustive()
    }
}
