//! The server itself.

use std::path::PathBuf;

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::sessions::{before, done};
use super::view::Nothing;
use super::{Api, Command};
use crate::access::{Admin, Read};
use crate::hub::Model;
use crate::service::Carried;
use crate::store::{AuditEntry, Totals};
use crate::web::extract::Json;
use crate::web::problem::Problem;

/// What is said of the server.
#[derive(Clone, Debug)]
pub struct Info {
    /// Where copies of the store are put.
    pub backups: PathBuf,
    /// When it was started.
    pub started_at: Timestamp,
}

/// The server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ServerInfo {
    /// Its version.
    pub version: String,
    /// When it was started.
    pub started_at: Timestamp,
    /// The folders that sessions may use, each with all that is in it.
    pub roots: Vec<String>,
    /// How many processes there are.
    pub live_processes: usize,
    /// How many there may be.
    pub live_processes_at_most: usize,
    /// How many sessions wait for one.
    pub waiting_for_process: usize,
    /// Whether sessions may be in the mode in which next to nothing is asked for.
    pub allow_bypass: bool,
    /// The models that sessions can use, as the CLI that was started last has told; none before that.
    #[serde(default)]
    pub models: Vec<Model>,
    /// After how many seconds what nobody answers is refused; never if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_expiry_seconds: Option<u64>,
}

/// A copy of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Backup {
    /// The file, in the folder for copies in the data folder of the server.
    pub file: String,
}

/// The server: its version, its folders, its limits.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get, path = "/server", tag = "server", operation_id = "getServer",
        responses(
            (status = 200, body = ServerInfo),
        )
    )
)]
pub(super) async fn show(State(api): State<Api>, _: Read) -> Json<ServerInfo> {
    let hub = api.service.hub();
    let settings = hub.settings();
    Json(ServerInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: api.info.started_at,
        roots: api.service.roots().iter().map(|root| root.display().to_string()).collect(),
        live_processes: hub.live_processes(),
        live_processes_at_most: settings.live_processes,
        waiting_for_process: hub.waiting_for_process(),
        allow_bypass: settings.allow_bypass,
        models: hub.models(),
        approval_expiry_seconds: settings.expiry.map(|expiry| expiry.as_secs()),
    })
}

/// What all sessions have used, and how many there are.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get, path = "/usage", tag = "server", operation_id = "getUsage",
        responses(
            (status = 200, body = Totals),
        )
    )
)]
pub(super) async fn usage(State(api): State<Api>, _: Read) -> Result<Json<Totals>, Problem> {
    Ok(Json(api.service.hub().store().totals().await?))
}

/// Copies everything that is kept to a file, while the server is in use.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        post, path = "/backup", tag = "server", operation_id = "createBackup",
        params(("Idempotency-Key" = Option<String>, Header, description = "The same key for the same command is carried out once")),
        responses(
            (status = 201, body = Backup),
        )
    )
)]
pub(super) async fn backup(
    State(api): State<Api>,
    Admin(identity): Admin,
    command: Command<Nothing>,
) -> Result<Response, Problem> {
    if let Some(done) = before::<Backup>(&api, &command.caller, StatusCode::CREATED).await? {
        return Ok(done);
    }
    let now = Timestamp::now();
    let file = format!("countersign-{}.sqlite", now.strftime("%Y%m%dT%H%M%S%3fZ"));
    let mut private = tokio::fs::DirBuilder::new();
    let made = private.recursive(true).mode(0o700).create(&api.info.backups).await;
    made.map_err(|error| Problem::unavailable(&error))?;
    let store = api.service.hub().store();
    store.backup(api.info.backups.join(&file)).await?;
    let detail = countersign_protocol::RawJson::from(serde_json::json!({"file": file}));
    let entry = AuditEntry {
        at: now,
        kind: "store.copied".to_owned(),
        session: None,
        approval: None,
        by: identity.by(),
        detail,
    };
    store.note_in_audit(entry).await?;
    let receipt = Backup { file };
    api.service.remember(&command.caller, &receipt).await?;
    Ok(done(StatusCode::CREATED, Carried { receipt, before: false }))
}
