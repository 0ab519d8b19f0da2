//! How a browser is let in: the page behind a link, and what it asks for.
//!
//! The code of a link stands behind the `#` of its address. A browser sends that part to nobody, so the
//! code is in no log of a server or a proxy, and a program that follows links to preview them does
//! not use it up. A small script takes it out of the address, and with it out of the history, and sends
//! it in the body of a request; the answer is the cookie.
//!
//! The cookie is `SameSite=Strict`: who comes here from a link elsewhere seems to be signed out on the
//! first page. So they are sent here as well, and the script sees that they are signed in and sends
//! them back.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use http::StatusCode;
use http::header::{CONTENT_TYPE, SET_COOKIE};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::gate::{Access, Credential, Refusal};
use super::identity::{Identity, Read, Who};
use super::once::{Begun, made_before};
use crate::api::view::Nothing;
use crate::config::Secret;
use crate::web::Peer;
use crate::web::extract::Json;
use crate::web::idempotency::Command;
use crate::web::operations::operations;
use crate::web::problem::{self, Kind, Problem};

/// A link that cannot be used any more.
pub const LINK_USED: Kind =
    Kind::new("link-not-valid", "The link cannot be used any more", StatusCode::UNAUTHORIZED);

operations! {
    /// Returns the routes of the API that a browser reaches before it is signed in. Handlers that need a
    /// signed-in browser check for it.
    routes: Arc<Access>;
    "/login" => get page, post login;
    "/api/v1/me" => get me;
    "/api/v1/login-links" => post create_link;
    "/api/v1/logout" => post logout;
}

/// Returns the routes that a browser reaches before it is signed in, with the files of the login page.
pub fn open_routes() -> Router<Arc<Access>> {
    routes().route("/login.js", get(script)).route("/login.css", get(style))
}

/// The page on which a browser is let in with a link.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get,
        path = "/login",
        tag = "access",
        operation_id = "getLoginPage",
        responses((status = 200, content_type = "text/html", body = String)),
    )
)]
async fn page() -> Html<&'static str> {
    Html(include_str!("login.html"))
}

async fn script() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8")], include_str!("login.js"))
}

async fn style() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("login.css"))
}

/// What a link is good for.
#[derive(Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
struct LoginCode {
    /// What stands behind the `#` of the link.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    code: Secret,
}

/// Lets a browser in with the code of a link.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        post,
        path = "/login",
        tag = "access", operation_id = "login",
        request_body = LoginCode,
        responses((status = 204, description = "The browser is let in; the cookie comes with this.")),
    )
)]
async fn login(
    State(access): State<Arc<Access>>,
    axum::Extension(peer): axum::Extension<Peer>,
    Json(LoginCode { code }): Json<LoginCode>,
) -> Result<Response, Problem> {
    match access.login(code.expose(), peer.remote.ip()).await {
        Ok(login) => Ok((StatusCode::NO_CONTENT, [(SET_COOKIE, login.cookie)]).into_response()),
        Err(refusal @ (Refusal::TooMany { .. } | Refusal::Unavailable)) => {
            Err(refusal.problem(Credential::Cookie))
        }
        Err(_) => Err(Problem::new(LINK_USED).detail(
            "it was used already, or is too old; make a new one with `countersign login-link`",
        )),
    }
}

/// Who the request comes from.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get,
        path = "/api/v1/me",
        tag = "access", operation_id = "getMe",
        responses(
            (status = 200, body = Identity),
        ),
    )
)]
async fn me(Read(identity): Read) -> Json<Identity> {
    Json(identity)
}

/// A link that lets in one browser, once.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct LoginLink {
    /// The link.
    url: String,
    /// From when on it is good for nothing.
    expires_at: Timestamp,
}

/// Makes a link that lets in one browser, once, with the rights of whoever asks. A command that comes
/// again under its key makes no second one, and gets 409: the link is kept nowhere.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        post,
        path = "/api/v1/login-links",
        tag = "access", operation_id = "createLoginLink",
        params(("Idempotency-Key" = Option<String>, Header, description = "The same key for the same command is carried out once")),
        responses(
            (status = 201, body = LoginLink),
        ),
    )
)]
async fn create_link(
    State(access): State<Arc<Access>>,
    Read(identity): Read,
    command: Command<Nothing>,
) -> Result<(StatusCode, Json<LoginLink>), Problem> {
    let once = match access.once(&identity, &command).await? {
        Begun::Now(once) => once,
        Begun::Before(response) => {
            let instead =
                "the link was made, and cannot be shown again: make another under another key";
            return Err(made_before(&response, instead));
        }
    };
    let (url, expires_at) = access.create_login_link(&identity).await?;
    access.done(once, &serde_json::json!({"expires_at": expires_at})).await?;
    Ok((StatusCode::CREATED, Json(LoginLink { url: url.expose().to_owned(), expires_at })))
}

/// Signs the browser out that the request comes from.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        post,
        path = "/api/v1/logout",
        tag = "access", operation_id = "logout",
        responses(
            (status = 204, description = "The browser is signed out."),
        ),
    )
)]
async fn logout(
    State(access): State<Arc<Access>>,
    Read(identity): Read,
) -> Result<Response, Problem> {
    let by = identity.by();
    let Who::Browser { id, .. } = identity.who else {
        return Err(Problem::new(problem::BAD_REQUEST)
            .detail("only a browser can be signed out; a token is revoked instead"));
    };
    access.logout(by, id).await.map_err(|error| Problem::unavailable(&error))?;
    let cookie = access.cookies().clear();
    Ok((StatusCode::NO_CONTENT, [(SET_COOKIE, cookie)]).into_response())
}
