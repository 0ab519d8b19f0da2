//! What runs when a tool is called.

use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use serde::de::DeserializeOwned;

use super::{Call, ToolOutput};

/// What runs when a tool is called: an async function of its arguments, or of its arguments and the
/// [`Call`].
///
/// The arguments are any type that can be deserialized; [`RawJson`](countersign_protocol::RawJson)
/// gets them as they came. The function returns a [`Result`]: what becomes a [`ToolOutput`], or an
/// error whose text the model reads.
///
/// It is implemented for functions and closures; `Shape` tells the two kinds apart and is found by
/// the compiler.
pub trait ToolHandler<Shape>: sealed::IntoHandler<Shape> {}

impl<F, Shape> ToolHandler<Shape> for F where F: sealed::IntoHandler<Shape> {}

/// A call that is being served. What goes wrong is an output, too.
pub(super) type Work = Pin<Box<dyn Future<Output = ToolOutput> + Send>>;

/// A handler whose types are forgotten.
pub(super) type Handler = Arc<dyn Fn(Call) -> Work + Send + Sync>;

mod sealed {
    use super::*;

    pub trait IntoHandler<Shape> {
        fn into_handler(self) -> Handler;
    }

    impl<F, Fut, Args, Output, E> IntoHandler<fn(Args)> for F
    where
        F: Fn(Args) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Output, E>> + Send + 'static,
        Args: DeserializeOwned + Send + 'static,
        Output: Into<ToolOutput>,
        E: Display,
    {
        fn into_handler(self) -> Handler {
            let handler = Arc::new(self);
            Arc::new(move |call| {
                let handler = Arc::clone(&handler);
                Box::pin(async move {
                    match decoded(&call) {
                        Ok(arguments) => finished(handler(arguments).await),
                        Err(problem) => problem,
                    }
                })
            })
        }
    }

    impl<F, Fut, Args, Output, E> IntoHandler<fn(Args, Call)> for F
    where
        F: Fn(Args, Call) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Output, E>> + Send + 'static,
        Args: DeserializeOwned + Send + 'static,
        Output: Into<ToolOutput>,
        E: Display,
    {
        fn into_handler(self) -> Handler {
            let handler = Arc::new(self);
            Arc::new(move |call| {
                let handler = Arc::clone(&handler);
                Box::pin(async move {
                    match decoded(&call) {
                        Ok(arguments) => finished(handler(arguments, call).await),
                        Err(problem) => problem,
                    }
                })
            })
        }
    }
}

fn decoded<Args: DeserializeOwned>(call: &Call) -> Result<Args, ToolOutput> {
    serde_json::from_str(call.arguments())
        .map_err(|problem| ToolOutput::error(format!("wrong arguments: {problem}")))
}

fn finished<Output: Into<ToolOutput>, E: Display>(result: Result<Output, E>) -> ToolOutput {
    match result {
        Ok(output) => output.into(),
        Err(problem) => ToolOutput::error(problem.to_string()),
    }
}

/// A future whose panic is a value.
pub(super) struct CatchPanic<F>(F);

impl<F: Future + Unpin> CatchPanic<F> {
    pub(super) const fn new(future: F) -> Self {
        Self(future)
    }

    /// Gives it up. It may panic at that, too, and nobody is interested any more.
    pub(super) fn abandon(self) {
        if catch_unwind(AssertUnwindSafe(|| drop(self))).is_err() {
            tracing::warn!("a tool panicked while it was given up");
        }
    }
}

impl<F: Future + Unpin> Future for CatchPanic<F> {
    type Output = Result<F::Output, String>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // After a panic it is not polled again, so nobody sees a state that was left halfway.
        match catch_unwind(AssertUnwindSafe(|| Pin::new(&mut self.0).poll(context))) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => Poll::Ready(Err(message_of(panic.as_ref()).to_owned())),
        }
    }
}

fn message_of(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}
