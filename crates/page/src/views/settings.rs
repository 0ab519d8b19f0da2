//! Settings: of this browser, and who may do what.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use countersign_server::access::{BrowserRecord, Read, Scope, TokenRecord, Who};
use countersign_server::api::Api;
use countersign_server::web::Problem;
use http::HeaderMap;

use super::{Frame, shown, theme};

pub(super) async fn page(
    State(api): State<Api>,
    Read(identity): Read,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let frame = Frame::new(&api, &identity, &headers, "settings", None).await?;
    let is_admin = identity.scope.includes(Scope::Admin);
    let (tokens, browsers) = if is_admin {
        let store = api.access.store();
        let mut tokens = store.tokens().await?;
        tokens.retain(|token| token.revoked_at.is_none());
        (tokens, store.browsers().await?)
    } else {
        (Vec::new(), Vec::new())
    };
    let own = match &identity.who {
        Who::Browser { id, .. } => Some(id.to_string()),
        Who::Token { .. } => None,
    };
    Ok(shown(&Settings {
        frame,
        theme: theme(&headers).unwrap_or("auto"),
        name: identity.name(),
        is_admin,
        tokens,
        browsers,
        own,
        version: env!("CARGO_PKG_VERSION"),
    }))
}

#[derive(Template)]
#[template(path = "view/settings.html")]
struct Settings<'a> {
    frame: Frame,
    theme: &'a str,
    name: &'a str,
    is_admin: bool,
    tokens: Vec<TokenRecord>,
    browsers: Vec<BrowserRecord>,
    own: Option<String>,
    version: &'a str,
}
