//! What went wrong, as problems.

use http::StatusCode;
use std::time::Duration;

use crate::service::ServiceError;
use crate::session::Refused;
use crate::store::StoreError;
use crate::web::problem::{self, Kind, Problem};

const NO_SESSION: Kind = Kind::new("no-session", "There is no such session", StatusCode::NOT_FOUND);
const NO_APPROVAL: Kind =
    Kind::new("no-approval", "There is no such approval", StatusCode::NOT_FOUND);
const NOT_OPEN: Kind =
    Kind::new("already-answered", "Nobody waits for this answer any more", StatusCode::CONFLICT);
const NOT_AN_ANSWER: Kind = Kind::new(
    "not-an-answer",
    "This does not answer what was asked",
    StatusCode::UNPROCESSABLE_ENTITY,
);
const FOLDER: Kind =
    Kind::new("folder", "The folder cannot be used", StatusCode::UNPROCESSABLE_ENTITY);
const INVALID: Kind =
    Kind::new("invalid", "What was asked for is not right", StatusCode::UNPROCESSABLE_ENTITY);
const OVER_BUDGET: Kind =
    Kind::new("over-budget", "The session has cost all that it may", StatusCode::CONFLICT);
const STALE_TURN: Kind = Kind::new("stale-turn", "That turn is over", StatusCode::CONFLICT);
const NOT_QUEUED: Kind =
    Kind::new("not-queued", "The message does not wait any more", StatusCode::CONFLICT);
const CONFLICT: Kind =
    Kind::new("conflict", "This cannot be done as the session is now", StatusCode::CONFLICT);
const KEY_REUSED: Kind = Kind::new(
    "key-reused",
    "The key was used for another command",
    StatusCode::UNPROCESSABLE_ENTITY,
);

impl From<ServiceError> for Problem {
    fn from(error: ServiceError) -> Self {
        let detail = error.to_string();
        match error {
            ServiceError::NoSession(session) => {
                Self::new(NO_SESSION).detail(detail).with("session", session)
            }
            ServiceError::NoApproval(approval) => {
                Self::new(NO_APPROVAL).detail(detail).with("approval", approval)
            }
            ServiceError::NotOpen(approval) => {
                Self::new(NOT_OPEN).detail(detail).with("approval", approval)
            }
            ServiceError::NotAnAnswer(_) => Self::new(NOT_AN_ANSWER).detail(detail),
            ServiceError::Folder(_) => Self::new(FOLDER).detail(detail),
            ServiceError::Content(_) | ServiceError::Invalid(_) => {
                Self::new(INVALID).detail(detail)
            }
            ServiceError::Closing => {
                Self::new(problem::UNAVAILABLE).detail(detail).retry_after(Duration::from_secs(10))
            }
            ServiceError::Refused(Refused::StaleTurn { running, .. }) => {
                Self::new(STALE_TURN).detail(detail).with("running", running)
            }
            ServiceError::Refused(Refused::OverBudget) => Self::new(OVER_BUDGET).detail(detail),
            ServiceError::Refused(Refused::NotQueued(_)) => Self::new(NOT_QUEUED).detail(detail),
            ServiceError::Refused(_) => Self::new(CONFLICT).detail(detail),
            ServiceError::KeyReused(_) => Self::new(KEY_REUSED).detail(detail),
            ServiceError::Store(error) => error.into(),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::Unavailable(_) | StoreError::Closed => {
                Self::unavailable(&error).retry_after(Duration::from_secs(5))
            }
            StoreError::Cursor(_) => Self::new(problem::BAD_PARAMETER).detail(error.to_string()),
            StoreError::Unsupported(why) => Self::new(INVALID).detail(why.clone()),
            _ => Self::internal(&error),
        }
    }
}
