//! The layers that know whom a request comes from, and that let nobody else in.
//!
//! [`identify`] goes around all routes and [`require`] around all but the few that are for everybody.
//! Handlers then say what they need with [`Read`](super::Read), [`Decide`](super::Decide) or
//! [`Admin`](super::Admin). One that forgets to is not open all the same: it is for those with a valid
//! token, and for those who may decide if it changes anything.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::header::{ACCEPT, SET_COOKIE};
use http::{HeaderValue, Method};
use url::form_urlencoded;

use super::gate::{Access, Credential, Refusal, Seen};
use super::identity::identity;
use super::scope::Scope;
use crate::web::Peer;
use crate::web::problem::{self, Problem};

/// Finds out whom a request comes from, and notes it as an extension.
pub async fn identify(
    State(access): State<Arc<Access>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(peer) = request.extensions().get::<Peer>() else {
        tracing::error!("a request without the ends of its connection");
        return Problem::new(problem::INTERNAL).into_response();
    };
    let seen = access.see(request.headers(), peer.remote.ip()).await;
    let cookie = new_cookie(&access, &seen);
    request.extensions_mut().insert(seen);
    let mut response = next.run(request).await;
    // A handler that says something about the cookie knows better.
    if let Some(cookie) = cookie.filter(|_| !response.headers().contains_key(SET_COOKIE)) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

/// What a browser has to be told about its cookie.
fn new_cookie(access: &Access, seen: &Seen) -> Option<HeaderValue> {
    match seen {
        Seen::Somebody { renewed, .. } => renewed.clone(),
        // A cookie that is good for nothing would only fail again and again.
        Seen::Refused {
            credential: Credential::Cookie,
            refusal: Refusal::Unknown | Refusal::Revoked | Refusal::Expired,
        } => Some(access.cookies().clear()),
        _ => None,
    }
}

/// Lets nobody in without a valid token or cookie, and nobody change anything who may only read.
///
/// A person who opens a page is sent to where they can sign in, and comes back from there.
pub async fn require(request: Request, next: Next) -> Response {
    let needed = if is_safe(request.method()) { Scope::Read } else { Scope::Decide };
    match identity(request.extensions()) {
        Ok(identity) => match identity.allowed(needed) {
            Ok(_) => next.run(request).await,
            Err(problem) => problem.into_response(),
        },
        Err(problem) if problem.kind() != problem::UNAVAILABLE && is_visit(&request) => {
            let back = request.uri().path_and_query().map_or("/", |path| path.as_str());
            let query =
                form_urlencoded::Serializer::new(String::new()).append_pair("next", back).finish();
            Redirect::to(&format!("/login?{query}")).into_response()
        }
        Err(problem) => problem.into_response(),
    }
}

/// Whether a request changes nothing.
pub(crate) fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Whether a person looks at a page.
fn is_visit(request: &Request) -> bool {
    let page = |accept: &HeaderValue| accept.to_str().is_ok_and(|text| text.contains("text/html"));
    request.method() == Method::GET
        && !request.uri().path().starts_with("/api/")
        && request.headers().get(ACCEPT).is_some_and(page)
}
