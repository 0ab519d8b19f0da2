//! What waits for a person, over all sessions.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use countersign_server::access::Read;
use countersign_server::api::Api;
use countersign_server::web::Problem;
use http::HeaderMap;

use super::{Frame, card, open, shown};
use crate::render::Html;

pub(super) async fn page(
    State(api): State<Api>,
    Read(identity): Read,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let frame = Frame::new(&api, &identity, &headers, "inbox", None).await?;
    let mut cards = Vec::new();
    for approval in open(&api, None).await? {
        let head = api.service.session(approval.session).await?;
        let is_first = cards.is_empty();
        cards.push(card(&api, &identity, &approval, &head, true, is_first).await?);
    }
    Ok(shown(&Inbox { frame, cards }))
}

#[derive(Template)]
#[template(path = "view/inbox.html")]
struct Inbox {
    frame: Frame,
    cards: Vec<Html>,
}
