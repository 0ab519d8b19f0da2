//! Plans, round by round.

use axum::extract::State;
use countersign::permission::{AskKind, PermissionAsk};
use similar::TextDiff;

use super::Api;
use super::view::PlanRound;
use crate::access::Read;
use crate::id::SessionId;
use crate::session::ApprovalKind;
use crate::store::ApprovalFilter;
use crate::web::extract::{Json, Path};
use crate::web::problem::Problem;

/// How many rounds are shown.
const ROUNDS: usize = 200;

/// The plans that were made in a session, with what changed from round to round.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get, path = "/sessions/{session}/plans", tag = "sessions", operation_id = "listPlans",
        params(("session" = SessionId, Path)),
        responses(
            (status = 200, body = Vec<PlanRound>),
        )
    )
)]
pub(super) async fn of_session(
    State(api): State<Api>,
    _: Read,
    Path(session): Path<SessionId>,
) -> Result<Json<Vec<PlanRound>>, Problem> {
    api.service.session(session).await?;
    let filter = ApprovalFilter {
        session: Some(session),
        kinds: vec![ApprovalKind::Plan],
        limit: ROUNDS,
        ..ApprovalFilter::default()
    };
    let page = api.service.hub().store().approvals(filter).await?;
    let mut rounds: Vec<PlanRound> = Vec::new();
    for approval in page.items {
        let Ok(request) = approval.permission() else { continue };
        let AskKind::Plan(plan) = PermissionAsk::again(request).into_kind() else { continue };
        let plan = plan.plan().unwrap_or_default().to_owned();
        let diff = rounds.last().map(|before| {
            let diff = TextDiff::from_lines(&before.plan, &plan);
            diff.unified_diff().to_string()
        });
        rounds.push(PlanRound {
            round: approval.round.unwrap_or_default(),
            approval: approval.id,
            stage: approval.stage,
            at: approval.opened_at,
            plan,
            answer: approval.given.map(|given| given.answer),
            diff,
        });
    }
    Ok(Json(rounds))
}
