//! Who decided what.

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use http::header::CONTENT_TYPE;

use super::Api;
use super::view::{ListAudit, limit};
use crate::access::Read;
use crate::store::{AuditEntry, AuditFilter, Page, StoreError};
use crate::web::extract::{Json, Query};
use crate::web::problem::Problem;

/// How many entries are read at once for an export.
const AT_ONCE: usize = 500;

fn filter(wanted: ListAudit) -> AuditFilter {
    AuditFilter {
        session: wanted.session,
        approval: wanted.approval,
        kind: wanted.kind,
        since: wanted.since,
        until: wanted.until,
        after: wanted.after,
        limit: limit(wanted.limit),
    }
}

/// Who decided what, when, from where and exactly how, newest first.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get, path = "/audit", tag = "audit", operation_id = "listAudit", params(ListAudit),
        responses(
            (status = 200, body = Page<AuditEntry>),
        )
    )
)]
pub(super) async fn list(
    State(api): State<Api>,
    _: Read,
    Query(wanted): Query<ListAudit>,
) -> Result<Json<Page<AuditEntry>>, Problem> {
    Ok(Json(api.service.hub().store().audit(filter(wanted)).await?))
}

/// The whole audit, or what of it fits: one JSON object a line, newest first.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get, path = "/audit/export", tag = "audit", operation_id = "exportAudit", params(ListAudit),
        responses(
            (status = 200, content_type = "application/x-ndjson", body = String),
        )
    )
)]
pub(super) async fn export(
    State(api): State<Api>,
    _: Read,
    Query(wanted): Query<ListAudit>,
) -> Result<Response, Problem> {
    let filter = AuditFilter { limit: AT_ONCE, ..filter(wanted) };
    // What is wrong with the question is said before anything is sent.
    let first = api.service.hub().store().audit(filter.clone()).await?;
    let pages = stream::try_unfold(Some((filter, Some(first))), move |at| {
        let api = api.clone();
        async move {
            let Some((filter, page)) = at else { return Ok::<_, StoreError>(None) };
            let page = match page {
                Some(page) => page,
                None => api.service.hub().store().audit(filter.clone()).await?,
            };
            let mut lines = String::new();
            for entry in &page.items {
                lines.push_str(&serde_json::to_string(entry).unwrap_or_default());
                lines.push('\n');
            }
            let next = page.next.map(|next| (AuditFilter { after: Some(next), ..filter }, None));
            Ok(Some((lines, next)))
        }
    });
    Ok(([(CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(pages)).into_response())
}
