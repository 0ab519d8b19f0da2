//! The form for a new session.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use countersign_protocol::permission::PermissionMode;
use countersign_server::access::Read;
use countersign_server::api::Api;
use countersign_server::hub::Settings;
use countersign_server::store::SessionFilter;
use countersign_server::web::Problem;
use http::HeaderMap;

use super::head::{models, modes};
use super::{Frame, shown};

/// How many sessions are looked at for folders that were used before.
const RECENT: usize = 100;

pub(super) async fn page(
    State(api): State<Api>,
    Read(identity): Read,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let frame = Frame::new(&api, &identity, &headers, "new", None).await?;
    let filter = SessionFilter { limit: RECENT, ..SessionFilter::default() };
    let recent = api.service.hub().store().sessions(filter).await?;
    let mut folders: Vec<String> = Vec::new();
    for head in &recent.items {
        if !folders.contains(&head.folder) {
            folders.push(head.folder.clone());
        }
    }
    let roots: Vec<String> =
        api.service.roots().iter().map(|root| root.display().to_string()).collect();
    let first = folders.first().or_else(|| roots.first()).cloned().unwrap_or_default();
    folders
        .extend(roots.iter().filter(|root| !folders.contains(root)).cloned().collect::<Vec<_>>());
    let allow_bypass = api.service.hub().settings().allow_bypass;
    Ok(shown(&New {
        frame,
        no_cli: no_cli(api.service.hub().settings().clone()).await,
        folders,
        first,
        roots,
        modes: modes(&PermissionMode::Default, allow_bypass),
        models: models(&api, None),
    }))
}

/// Why sessions could not start, if the CLI is not where it should be.
async fn no_cli(settings: Settings) -> Option<String> {
    let found = tokio::task::spawn_blocking(move || settings.find_cli()).await.ok()?;
    found.err().map(|error| error.to_string())
}

#[derive(Template)]
#[template(path = "view/new.html")]
struct New {
    frame: Frame,
    no_cli: Option<String>,
    folders: Vec<String>,
    first: String,
    roots: Vec<String>,
    modes: Vec<(String, String, bool)>,
    models: Vec<(String, String, bool)>,
}
