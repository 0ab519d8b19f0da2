//! Pages for what went wrong: each says what is so, and what to do.

use askama::Template;
use axum::body::to_bytes;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{Html as Body, IntoResponse as _, Response};
use countersign_server::web::Problem;
use countersign_server::web::problem::NOT_FOUND;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, Method, StatusCode};
use serde::Deserialize;

use super::theme;
use crate::assets;

/// The longest problem that is read.
const LONGEST: usize = 64 << 10;

/// What a problem says.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Told {
    title: String,
    detail: String,
}

/// Makes a page of a problem where a person looks at one.
pub(super) async fn pages(request: Request, next: Next) -> Response {
    let theme = theme(request.headers());
    let is_visit = is_visit(request.method(), request.headers())
        && !request.uri().path().starts_with("/page/");
    let response = next.run(request).await;
    let kind = response.headers().get(CONTENT_TYPE);
    let is_problem = kind.is_some_and(|kind| kind == "application/problem+json");
    if !is_visit || !is_problem {
        return response;
    }
    let (parts, body) = response.into_parts();
    let told = to_bytes(body, LONGEST).await.unwrap_or_default();
    let told: Told = serde_json::from_slice(&told).unwrap_or_default();
    page(parts.status, &told, theme)
}

/// There is nothing at this address.
pub(super) async fn missing(method: Method, headers: HeaderMap) -> Response {
    if !is_visit(&method, &headers) {
        return Problem::new(NOT_FOUND).into_response();
    }
    let told = Told { title: NOT_FOUND.title.to_owned(), detail: String::new() };
    page(NOT_FOUND.status, &told, theme(&headers))
}

fn page(status: StatusCode, told: &Told, theme: Option<&'static str>) -> Response {
    let advice = match status {
        StatusCode::NOT_FOUND | StatusCode::BAD_REQUEST => {
            "It may have been deleted, or the address is not complete. What was decided in a session \
             stays in the audit."
        }
        StatusCode::FORBIDDEN => "Sign in with a token that may do this.",
        status if status.is_server_error() => {
            "Nothing is lost: answers that were taken are kept. Try again in a moment; the log of the \
             server says more."
        }
        _ => "",
    };
    let version = assets::version();
    let page = Failed { status: status.as_u16(), told, advice, theme, version };
    match page.render() {
        Ok(text) => (status, Body(text)).into_response(),
        Err(_) => status.into_response(),
    }
}

/// Whether a person looks at a page.
fn is_visit(method: &Method, headers: &HeaderMap) -> bool {
    let page = |accept: &http::HeaderValue| {
        accept.to_str().is_ok_and(|accept| accept.contains("text/html"))
    };
    method == Method::GET && headers.get(ACCEPT).is_some_and(page)
}

#[derive(Template)]
#[template(path = "view/failed.html")]
struct Failed<'a> {
    status: u16,
    told: &'a Told,
    advice: &'a str,
    theme: Option<&'static str>,
    version: &'static str,
}
