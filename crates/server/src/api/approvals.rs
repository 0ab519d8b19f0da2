//! What people are asked, and what they answer.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;

use super::sessions::{before, done};
use super::view::{GiveAnswer, ListApprovals, Part, limit};
use super::{Api, Command};
use crate::access::Read;
use crate::id::ApprovalId;
use crate::service::AnswerTaken;
use crate::session::{Approval, Stage};
use crate::store::{ApprovalFilter, Page};
use crate::web::extract::{Json, Path, Query};
use crate::web::problem::Problem;

/// Everything that waits for a person, over all sessions, oldest first.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get, path = "/inbox", tag = "approvals", operation_id = "listInbox", params(Part),
        responses(
            (status = 200, body = Page<Approval>),
        )
    )
)]
pub(super) async fn inbox(
    State(api): State<Api>,
    _: Read,
    Query(part): Query<Part>,
) -> Result<Json<Page<Approval>>, Problem> {
    let filter = ApprovalFilter {
        stages: vec![Stage::Open],
        after: part.after,
        limit: limit(part.limit),
        ..ApprovalFilter::default()
    };
    Ok(Json(api.service.hub().store().approvals(filter).await?))
}

/// Approvals that fit, a page of them.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get, path = "/approvals", tag = "approvals", operation_id = "listApprovals", params(ListApprovals),
        responses(
            (status = 200, body = Page<Approval>),
        )
    )
)]
pub(super) async fn list(
    State(api): State<Api>,
    _: Read,
    Query(wanted): Query<ListApprovals>,
) -> Result<Json<Page<Approval>>, Problem> {
    let filter = ApprovalFilter {
        session: wanted.session,
        stages: wanted.stage.into_iter().collect(),
        kinds: wanted.kind.into_iter().collect(),
        newest_first: !wanted.oldest_first.unwrap_or(false),
        after: wanted.after,
        limit: limit(wanted.limit),
    };
    Ok(Json(api.service.hub().store().approvals(filter).await?))
}

/// An approval, with the request as the CLI made it and with everything that became of it.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get, path = "/approvals/{approval}", tag = "approvals", operation_id = "getApproval",
        params(("approval" = ApprovalId, Path)),
        responses(
            (status = 200, body = Approval),
        )
    )
)]
pub(super) async fn show(
    State(api): State<Api>,
    _: Read,
    Path(approval): Path<ApprovalId>,
) -> Result<Json<Approval>, Problem> {
    Ok(Json(api.service.approval(approval).await?))
}

/// Answers. The answer is on disk when this returns, and gets to exactly that call, whatever happens
/// to the process and to the server. The first answer counts: a later one gets 409, with the approval
/// as it is.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        post, path = "/approvals/{approval}/answer", tag = "approvals", operation_id = "answerApproval",
        request_body(content = GiveAnswer, examples(
            ("allow" = (summary = "The tool may run, once", value = json!({"answer": {"allow": {}}}))),
            ("allow_for_longer" = (summary = "It may run, and so may what the first suggestion covers",
                value = json!({"answer": {"allow": {"suggestions": [{"number": 0, "destination": "session"}]}}}))),
            ("allow_with_rule" = (summary = "It may run with another input, and a rule is added",
                value = json!({"answer": {"allow": {"input": {"command": "npm test"},
                    "rules": [{"tool": "Bash", "content": "npm test:*"}]}}}))),
            ("deny" = (summary = "It may not", value = json!({"answer": {"deny": {"message": "Not there."}}}))),
            ("deny_and_stop" = (summary = "It may not, and the turn ends",
                value = json!({"answer": {"deny": {"message": "", "stop": true}}}))),
            ("plan" = (summary = "The plan is approved; edits need no approval",
                value = json!({"answer": {"plan": {"choice": "accept_edits"}}}))),
            ("plan_elsewhere" = (summary = "The plan, in other words, is carried out in a new session",
                value = json!({"answer": {"plan": {"choice": "clear_context", "plan": "1. Look. 2. Mend."}}}))),
            ("keep_planning" = (summary = "The plan is sent back",
                value = json!({"answer": {"keep_planning": {"feedback": "Keep the old names."}}}))),
            ("answers" = (summary = "Two questions are answered",
                value = json!({"answer": {"answers": [{"choose": ["SQLite"]}, {"text": "By Friday"}]}}))),
            ("reply" = (summary = "Something is said instead",
                value = json!({"answer": {"reply": {"text": "Look at the README first."}}}))),
            ("skip" = (summary = "The questions are not answered", value = json!({"answer": {"skip": {}}}))),
            ("form" = (summary = "A form of an MCP server is filled in",
                value = json!({"answer": {"form": {"action": "accept", "content": {"name": "Ada"}}}}))),
        )),
        params(
            ("approval" = ApprovalId, Path),
            ("Idempotency-Key" = Option<String>, Header, description = "The same key for the same command is carried out once"),
        ),
        responses(
            (status = 202, body = AnswerTaken),
        )
    )
)]
pub(super) async fn answer(
    State(api): State<Api>,
    Path(approval): Path<ApprovalId>,
    command: Command<GiveAnswer>,
) -> Result<Response, Problem> {
    if let Some(done) = before::<AnswerTaken>(&api, &command.caller, StatusCode::ACCEPTED).await? {
        return Ok(done);
    }
    let taken = api.service.answer(&command.caller, approval, command.body.answer).await?;
    Ok(done(StatusCode::ACCEPTED, taken))
}
