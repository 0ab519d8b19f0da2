//! Tokens and signed-in browsers over HTTP.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::gate::{Access, NewToken};
use super::identity::Admin;
use super::once::{Begun, done_before, made_before};
use super::scope::Scope;
use super::store::{AccessStoreError, BrowserRecord, TokenRecord};
use crate::api::view::Nothing;
use crate::id::{BrowserId, TokenId};
use crate::web::extract::{Json, Path};
use crate::web::idempotency::Command;
use crate::web::operations::operations;
use crate::web::problem::{self, Problem};

operations! {
    /// Returns the routes about tokens and browsers, all of which need the scope `admin`.
    pub routes: Arc<Access>;
    "/api/v1/tokens" => get list_tokens, post create_token;
    "/api/v1/tokens/{id}" => delete revoke_token;
    "/api/v1/browsers" => get list_browsers;
    "/api/v1/browsers/{id}" => delete sign_out;
}

/// An API token, without its secret.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Token {
    /// Its id, which is no secret.
    pub id: TokenId,
    /// What it is called.
    pub name: String,
    /// What it is good for.
    pub scope: Scope,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it is good for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to the minute or so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used: Option<Timestamp>,
    /// Since when it is good for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
}

impl From<TokenRecord> for Token {
    fn from(token: TokenRecord) -> Self {
        let TokenRecord { id, name, scope, hash: _, created_at, expires_at, last_used, revoked_at } =
            token;
        Self { id, name, scope, created_at, expires_at, last_used, revoked_at }
    }
}

/// A token to be made.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateToken {
    /// What it is called.
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 100))]
    pub name: String,
    /// What it is good for.
    pub scope: Scope,
    /// From when on it is good for nothing. Never, when it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// A token that was made.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CreatedToken {
    /// The token itself. It is shown this once.
    pub secret: String,
    /// What is known of it.
    pub token: Token,
}

impl std::fmt::Debug for CreatedToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CreatedToken").field("token", &self.token).finish_non_exhaustive()
    }
}

/// All tokens.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Tokens {
    /// In the order in which they were made.
    pub tokens: Vec<Token>,
}

/// A browser that is signed in.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Browser {
    /// Its id, which is no secret.
    pub id: BrowserId,
    /// The token that it was let in with.
    pub token: TokenId,
    /// What it is good for.
    pub scope: Scope,
    /// When it was let in.
    pub created_at: Timestamp,
    /// When it was last used, to the hour or so.
    pub last_used: Timestamp,
    /// From when on it is good for nothing, unless it is used before.
    pub expires_at: Timestamp,
}

impl From<BrowserRecord> for Browser {
    fn from(browser: BrowserRecord) -> Self {
        let BrowserRecord { id, hash: _, token, scope, created_at, last_used, expires_at } =
            browser;
        Self { id, token, scope, created_at, last_used, expires_at }
    }
}

/// All browsers that are signed in.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Browsers {
    /// In the order in which they were let in.
    pub browsers: Vec<Browser>,
}

impl From<AccessStoreError> for Problem {
    fn from(error: AccessStoreError) -> Self {
        Self::unavailable(&error)
    }
}

/// Lists the tokens, also those that are good for nothing any more.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get,
        path = "/api/v1/tokens",
        tag = "access", operation_id = "listTokens",
        responses(
            (status = 200, body = Tokens),
        ),
    )
)]
async fn list_tokens(State(access): State<Arc<Access>>, _: Admin) -> Result<Json<Tokens>, Problem> {
    let tokens = access.store().tokens().await?;
    Ok(Json(Tokens { tokens: tokens.into_iter().map(Token::from).collect() }))
}

/// Makes a token. A command that comes again under its key makes no second one, and gets 409 with the
/// token as it is: its secret is kept nowhere, so it cannot be shown again.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        post,
        path = "/api/v1/tokens",
        tag = "access", operation_id = "createToken",
        request_body = CreateToken,
        params(("Idempotency-Key" = Option<String>, Header, description = "The same key for the same command is carried out once")),
        responses(
            (status = 201, body = CreatedToken),
        ),
    )
)]
async fn create_token(
    State(access): State<Arc<Access>>,
    Admin(identity): Admin,
    command: Command<CreateToken>,
) -> Result<(StatusCode, Json<CreatedToken>), Problem> {
    let once = match access.once(&identity, &command).await? {
        Begun::Now(once) => once,
        Begun::Before(response) => {
            let instead = "the token was made, and its secret cannot be shown again: revoke it, and \
                           make another under another key";
            return Err(made_before(&response, instead));
        }
    };
    let CreateToken { name, scope, expires_at } = command.body;
    let new = NewToken { name, scope, expires_at };
    let (secret, token) = access.create_token_by(identity.by(), new).await?;
    let created = CreatedToken { secret: secret.expose().to_owned(), token: token.into() };
    access.done(once, &created.token).await?;
    Ok((StatusCode::CREATED, Json(created)))
}

/// Revokes a token, and signs out every browser that was let in with it.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        delete,
        path = "/api/v1/tokens/{id}",
        tag = "access", operation_id = "revokeToken",
        params(
            ("id" = TokenId, Path, description = "The token."),
            ("Idempotency-Key" = Option<String>, Header, description = "The same key for the same command is carried out once"),
        ),
        responses(
            (status = 204, description = "The token is good for nothing any more."),
        ),
    )
)]
async fn revoke_token(
    State(access): State<Arc<Access>>,
    Admin(identity): Admin,
    Path(id): Path<TokenId>,
    command: Command<Nothing>,
) -> Result<Response, Problem> {
    let Begun::Now(once) = access.once(&identity, &command).await? else {
        return Ok(done_before());
    };
    let status = found(access.revoke_token(identity.by(), id).await?, "there is no such token")?;
    access.done(once, &id).await?;
    Ok(status.into_response())
}

/// Lists the browsers that are signed in.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get,
        path = "/api/v1/browsers",
        tag = "access", operation_id = "listBrowsers",
        responses(
            (status = 200, body = Browsers),
        ),
    )
)]
async fn list_browsers(
    State(access): State<Arc<Access>>,
    _: Admin,
) -> Result<Json<Browsers>, Problem> {
    let browsers = access.store().browsers().await?;
    Ok(Json(Browsers { browsers: browsers.into_iter().map(Browser::from).collect() }))
}

/// Signs a browser out.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        delete,
        path = "/api/v1/browsers/{id}",
        tag = "access", operation_id = "signOutBrowser",
        params(
            ("id" = BrowserId, Path, description = "The browser."),
            ("Idempotency-Key" = Option<String>, Header, description = "The same key for the same command is carried out once"),
        ),
        responses(
            (status = 204, description = "The browser is signed out."),
        ),
    )
)]
async fn sign_out(
    State(access): State<Arc<Access>>,
    Admin(identity): Admin,
    Path(id): Path<BrowserId>,
    command: Command<Nothing>,
) -> Result<Response, Problem> {
    let Begun::Now(once) = access.once(&identity, &command).await? else {
        return Ok(done_before());
    };
    let status = found(access.logout(identity.by(), id).await?, "there is no such browser")?;
    access.done(once, &id).await?;
    Ok(status.into_response())
}

fn found(found: bool, otherwise: &'static str) -> Result<StatusCode, Problem> {
    if found {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Problem::new(problem::NOT_FOUND).detail(otherwise))
    }
}
