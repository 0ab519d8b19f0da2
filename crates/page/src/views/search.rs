//! All sessions, those in the archive included, by words in their titles and in what was said.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use countersign_server::access::Read;
use countersign_server::api::Api;
use countersign_server::store::SessionFilter;
use countersign_server::web::Problem;
use http::HeaderMap;
use serde::Deserialize;

use super::{Frame, shown};
use crate::render::Html;
use crate::rows;

/// How many are on a page.
const LISTED: usize = 50;

#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    #[serde(default)]
    q: String,
    archived: Option<String>,
    after: Option<String>,
}

pub(super) async fn page(
    State(api): State<Api>,
    Read(identity): Read,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let frame = Frame::new(&api, &identity, &headers, "search", None).await?;
    let in_archive = wanted.archived.is_some();
    let words = wanted.q.trim();
    let filter = SessionFilter {
        words: (!words.is_empty()).then(|| words.to_owned()),
        archived: if in_archive { None } else { Some(false) },
        after: wanted.after.filter(|after| !after.is_empty()),
        limit: LISTED,
        ..SessionFilter::default()
    };
    let found = api.service.hub().store().sessions(filter).await?;
    let rows = found.items.iter().map(|head| rows::found(head)).collect();
    Ok(shown(&Search { frame, words, in_archive, rows, next: found.next }))
}

#[derive(Template)]
#[template(path = "view/search.html")]
struct Search<'a> {
    frame: Frame,
    words: &'a str,
    in_archive: bool,
    rows: Vec<Html>,
    next: Option<String>,
}
