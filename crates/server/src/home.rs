//! What a browser sees that is signed in, at a server that was given no pages.
//!
//! It is one page for every address that links name: it says that the browser is let in, what can be read
//! with it, and how to decide from a terminal.

use axum::Router;
use axum::response::Html;
use axum::routing::get;

use crate::access::Read;

/// The pages.
pub(crate) fn routes() -> Router {
    Router::new().route("/", get(page)).route("/sessions/{session}", get(page))
}

async fn page(_: Read) -> Html<&'static str> {
    Html(include_str!("home.html"))
}
