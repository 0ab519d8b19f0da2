//! What is known of sessions beside the log: of their processes, and of rules.

use axum::extract::State;

use super::Api;
use super::view::{ProcessView, SlashCommand};
use crate::access::Read;
use crate::hub::WireLines;
use crate::id::SessionId;
use crate::service::RulesInForce;
use crate::web::extract::{Json, Path};
use crate::web::problem::Problem;

/// What is known of the process of a session, beside what its log says; nothing without a process.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get, path = "/sessions/{session}/process", tag = "sessions", operation_id = "getProcess",
        params(("session" = SessionId, Path)),
        responses(
            (status = 200, body = ProcessView),
        )
    )
)]
pub(super) async fn show(
    State(api): State<Api>,
    _: Read,
    Path(session): Path<SessionId>,
) -> Result<Json<ProcessView>, Problem> {
    api.service.session(session).await?;
    let Some(alive) = api.service.hub().alive(session) else {
        return Ok(Json(ProcessView::default()));
    };
    let commands = alive.commands.into_iter();
    let commands = commands.map(|(name, description)| SlashCommand { name, description });
    Ok(Json(ProcessView {
        is_alive: true,
        last_line: alive.last_line,
        unknown_frames: alive.unknown,
        commands: commands.collect(),
    }))
}

/// The rules in force for a session, and where each came from: from its start, from answers, from
/// settings files as they are now.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get, path = "/sessions/{session}/rules", tag = "sessions", operation_id = "listRules",
        params(("session" = SessionId, Path)),
        responses(
            (status = 200, body = RulesInForce),
        )
    )
)]
pub(super) async fn rules(
    State(api): State<Api>,
    _: Read,
    Path(session): Path<SessionId>,
) -> Result<Json<RulesInForce>, Problem> {
    Ok(Json(api.service.rules(session).await?))
}

/// The last lines that passed between the server and the CLI of a session, as they were: also those
/// that are not in its log, such as requests and their answers. They are kept in memory, and not many.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get, path = "/sessions/{session}/wire", tag = "sessions", operation_id = "getWire",
        params(("session" = SessionId, Path)),
        responses(
            (status = 200, body = WireLines),
        )
    )
)]
pub(super) async fn wire(
    State(api): State<Api>,
    _: Read,
    Path(session): Path<SessionId>,
) -> Result<Json<WireLines>, Problem> {
    api.service.session(session).await?;
    Ok(Json(api.service.hub().wire(session)))
}
