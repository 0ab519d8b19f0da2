//! One session.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use countersign_server::access::{Read, Scope};
use countersign_server::api::Api;
use countersign_server::id::SessionId;
use countersign_server::web::Problem;
use http::HeaderMap;

use super::{Frame, card, open, shown, stands};
use crate::render::Html;
use crate::rows;
use crate::window::Window;

/// The tabs on the right: their names in addresses, and for people.
const TABS: [(&str, &str); 6] = [
    ("plan", "Plan"),
    ("changes", "Changes"),
    ("todos", "Todos"),
    ("usage", "Usage"),
    ("details", "Details"),
    ("wire", "Wire"),
];

pub(super) async fn page(
    State(api): State<Api>,
    Read(identity): Read,
    Path(session): Path<SessionId>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let now = api.service.session(session).await?;
    let frame = Frame::new(&api, &identity, &headers, "session", Some(session)).await?;
    let window = Window::before(&api, session, now.seq + 1).await?;
    let transcript = window.transcript(&api, &now.folder).await?;
    let mut cards = Vec::new();
    for approval in open(&api, Some(session)).await? {
        let is_first = cards.is_empty();
        cards.push(card(&api, &identity, &approval, &now, false, is_first).await?);
    }
    Ok(shown(&Session {
        frame,
        id: session,
        seq: now.seq,
        title: rows::title(&now),
        stands: stands(&api, &identity, &now, transcript.context()),
        may_decide: identity.scope.includes(Scope::Decide),
        before: window.before,
        transcript: transcript.html(),
        cards,
        queue: queue(&api, session).await?,
        tabs: TABS,
    }))
}

/// The messages that wait.
pub(crate) async fn queue(api: &Api, session: SessionId) -> Result<Html, Problem> {
    let messages = api.service.hub().store().queued_messages(session).await?;
    let messages = messages.into_iter().map(|message| Waiting {
        id: message.id.to_string(),
        pictures: message.content.images.len(),
        images: serde_json::to_string(&message.content.images).unwrap_or_default(),
        text: message.content.text,
    });
    Ok(Html::of_template(&Queue { messages: messages.collect() }))
}

#[derive(Template)]
#[template(path = "view/session.html")]
struct Session<'a> {
    frame: Frame,
    id: SessionId,
    seq: u64,
    title: &'a str,
    /// The parts that say how it stands: the name, the line above the composer, and the rest.
    stands: Vec<(&'static str, Html)>,
    may_decide: bool,
    before: u64,
    transcript: Html,
    cards: Vec<Html>,
    queue: Html,
    tabs: [(&'static str, &'static str); 6],
}

struct Waiting {
    id: String,
    text: String,
    images: String,
    pictures: usize,
}

#[derive(Template)]
#[template(path = "queue.html")]
struct Queue {
    messages: Vec<Waiting>,
}
