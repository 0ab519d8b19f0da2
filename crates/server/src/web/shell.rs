//! What goes around all routes.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::{Router, body};
use http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, SET_COOKIE};
use http::{HeaderValue, StatusCode};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::timeout::TimeoutLayer;

use super::guard::{self, Hosts};
use super::metrics::{self, Metrics};
use super::problem::{self, PROBLEM_JSON, Problem, kind_of};
use crate::access::{Access, layer};

/// The longest body for routes that are for everybody, in bytes.
const OPEN_BODY: usize = 4 << 10;

/// When to try again what took too long.
const RETRY: Duration = Duration::from_secs(5);

/// What goes around all routes: who may come in, how much they may bring, and how errors look.
#[derive(Clone, Debug)]
pub struct Shell {
    /// The names of this server.
    pub hosts: Arc<Hosts>,
    /// Who may do what.
    pub access: Arc<Access>,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// The longest body of a request.
    pub body: usize,
    /// How long a request may take until its answer begins. What the answer then streams may take as
    /// long as it likes.
    pub request: Duration,
}

impl Shell {
    /// Puts it around the routes for everybody and those for people with a token.
    ///
    /// Whatever is not put among the first is closed to those without a token, and whatever changes
    /// something to those who may only read, even if its handler forgets to ask.
    pub fn around(self, open: Router, closed: Router) -> Router {
        // The last one is the outermost.
        open.layer(RequestBodyLimitLayer::new(OPEN_BODY.min(self.body)))
            .merge(closed.layer(from_fn(layer::require)))
            .layer(from_fn_with_state(self.access, layer::identify))
            .layer(TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, self.request))
            .layer(DefaultBodyLimit::disable())
            .layer(RequestBodyLimitLayer::new(self.body))
            .layer(from_fn_with_state(self.hosts.clone(), guard::check))
            .layer(CatchPanicLayer::custom(panicked))
            .layer(from_fn_with_state(self.metrics, metrics::track))
            .layer(from_fn(as_problems))
            .layer(from_fn_with_state(self.hosts, guard::headers))
    }
}

/// The answer of a handler that panicked. What it said may be about what nobody should see.
fn panicked(_: Box<dyn Any + Send + 'static>) -> Response {
    tracing::error!("a handler panicked");
    Problem::new(problem::INTERNAL).into_response()
}

/// Makes a problem of every error that is none yet: of routes that are not there, of bodies that are
/// too long, of requests that took too long. Pages may have errors of their own.
async fn as_problems(request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let status = response.status();
    let said = response.headers().get(CONTENT_TYPE);
    let is_page = |said: &HeaderValue| said.as_bytes().starts_with(b"text/html");
    if !(status.is_client_error() || status.is_server_error())
        || said.is_some_and(|said| said == PROBLEM_JSON || is_page(said))
    {
        return response;
    }
    let (parts, old) = response.into_parts();
    // It was for nobody to read; dropped, so that it is not waited for.
    drop::<body::Body>(old);
    let mut problem = Problem::new(kind_of(status));
    if status == StatusCode::SERVICE_UNAVAILABLE && !parts.headers.contains_key(RETRY_AFTER) {
        problem = problem.retry_after(RETRY);
    }
    for name in [ALLOW, RETRY_AFTER, SET_COOKIE] {
        if let Some(value) = parts.headers.get(&name) {
            problem = problem.header(name, value.clone());
        }
    }
    problem.into_response()
}
