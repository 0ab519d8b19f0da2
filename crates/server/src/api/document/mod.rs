//! The OpenAPI document, as the server sends it.
//!
//! The document is a file of this crate, so a server does not have to build it. The feature `openapi`
//! adds the code that describes the operations and types, and a test compares the two.

#[cfg(feature = "openapi")]
mod describe;

use axum::response::{IntoResponse as _, Response};
use http::header::CONTENT_TYPE;

#[cfg(feature = "openapi")]
pub use self::describe::document;
use crate::access::Read;

const DOCUMENT: &str = include_str!("../../../openapi.json");

/// This document.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get, path = "/openapi.json", tag = "server", operation_id = "getDocument",
        responses((status = 200, content_type = "application/json", body = Object))
    )
)]
pub(super) async fn show(_: Read) -> Response {
    ([(CONTENT_TYPE, "application/json")], DOCUMENT).into_response()
}
