//! Whether the server lives, and whether it can do its work.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use serde::{Deserialize, Serialize};

use super::extract::Json;
use super::operations::operations;
use super::problem::{Kind, Problem};

/// How long looking may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// The server lives and cannot work.
pub const NOT_READY: Kind =
    Kind::new("not-ready", "The server is not ready", http::StatusCode::SERVICE_UNAVAILABLE);

/// Looks whether the server can do its work.
pub trait Readiness: fmt::Debug + Send + Sync {
    /// Nothing if it can, or else why not, in words that everybody may read.
    fn look(&self) -> Pin<Box<dyn Future<Output = Result<(), &'static str>> + Send + '_>>;
}

/// That all is well.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct Health {
    /// Always `ok`.
    status: String,
}

impl Health {
    fn ok() -> Json<Self> {
        Json(Self { status: "ok".to_owned() })
    }
}

operations! {
    /// Returns the routes `/healthz` and `/readyz`, which need no token.
    pub routes: Arc<dyn Readiness>;
    "/healthz" => get healthz;
    "/readyz" => get readyz;
}

/// Whether the server lives. It does if it answers.
#[cfg_attr(feature = "openapi", utoipa::path(get, path = "/healthz", tag = "operation", operation_id = "getHealth", responses((status = 200, body = Health))))]
async fn healthz() -> Json<Health> {
    Health::ok()
}

/// Whether the server can do its work.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get,
        path = "/readyz",
        tag = "operation", operation_id = "getReadiness",
        responses(
            (status = 200, body = Health),
            (status = 503, body = Problem, content_type = "application/problem+json"),
        ),
    )
)]
async fn readyz(State(readiness): State<Arc<dyn Readiness>>) -> Result<Json<Health>, Problem> {
    let looked = tokio::time::timeout(PATIENCE, readiness.look()).await;
    match looked.unwrap_or(Err("looking takes too long")) {
        Ok(()) => Ok(Health::ok()),
        Err(why) => Err(Problem::new(NOT_READY).detail(why).retry_after(PATIENCE)),
    }
}
