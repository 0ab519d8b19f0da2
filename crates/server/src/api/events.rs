//! The log.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::header::CONTENT_TYPE;

use super::Api;
use super::view::{ListAllEvents, ListEvents, limit};
use crate::access::Read;
use crate::id::SessionId;
use crate::session::Event;
use crate::web::extract::{Path, Query};
use crate::web::problem::Problem;

/// Events of a session, oldest first: those after a number, or the last ones before it.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get, path = "/sessions/{session}/events", tag = "events", operation_id = "listSessionEvents",
        params(("session" = SessionId, Path), ListEvents),
        responses(
            (status = 200, body = super::view::Events),
        )
    )
)]
pub(super) async fn of_session(
    State(api): State<Api>,
    _: Read,
    Path(session): Path<SessionId>,
    Query(wanted): Query<ListEvents>,
) -> Result<Response, Problem> {
    let head = api.service.session(session).await?;
    let store = api.service.hub().store();
    let limit = limit(wanted.limit);
    let (events, more) = match wanted.before {
        Some(before) => {
            let events = store.events_before(session, before, limit).await?;
            let more = events.first().is_some_and(|first| first.seq > 1);
            (events, more)
        }
        None => {
            let events = store.events(session, wanted.after.unwrap_or_default(), limit).await?;
            let more = events.last().is_some_and(|last| last.seq < head.seq);
            (events, more)
        }
    };
    Ok(listed(&events, more))
}

/// Events of all sessions after a position, oldest first.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get, path = "/events", tag = "events", operation_id = "listEvents", params(ListAllEvents),
        responses(
            (status = 200, body = super::view::Events),
        )
    )
)]
pub(super) async fn of_all(
    State(api): State<Api>,
    _: Read,
    Query(wanted): Query<ListAllEvents>,
) -> Result<Response, Problem> {
    let store = api.service.hub().store();
    let limit = limit(wanted.limit);
    let events = store.all_events(wanted.after.unwrap_or_default(), &[], limit).await?;
    let more = match events.last() {
        Some(last) => last.position < store.last_position().await?,
        None => false,
    };
    Ok(listed(&events, more))
}

/// Events as they are in streams, without writing them anew.
fn listed(events: &[Arc<Event>], more: bool) -> Response {
    let items: Vec<_> = events.iter().map(|event| event.json()).collect();
    let items = items.iter().map(|json| &**json).collect::<Vec<_>>().join(",");
    let body = format!(r#"{{"items":[{items}],"more":{more}}}"#);
    ([(CONTENT_TYPE, "application/json")], body).into_response()
}
