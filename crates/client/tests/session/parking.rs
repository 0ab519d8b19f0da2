//! Parking: an answer that outlives the process that asked.

mod answers;
mod crashes;
mod gates;
mod homes;
mod refusals;
mod stores;
mod told;

use std::path::Path;

use countersign::park::{ParkingToken, Resumed};
use countersign::permission::{AnswerError, PermissionAnswer, PermissionAsk};
use countersign::{Session, SessionBuilder};
use countersign_lab::Lab;
use countersign_lab::script::RequestKind;
use libtest_mimic::Trial;

use crate::kit::soon;

const WRITE_TWICE: &str = r#"
[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
tool = { name = "Write", input = { file_path = "${cwd}/second.txt", content = "second\n" } }

[[answer]]
text = "That was it."
"#;

pub(crate) fn trials() -> Vec<Trial> {
    [
        answers::trials(),
        crashes::trials(),
        gates::trials(),
        homes::trials(),
        refusals::trials(),
        stores::trials(),
        told::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Waits for an answer that never comes.
async fn nobody(ask: PermissionAsk) -> PermissionAnswer {
    ask.cancelled().await;
    ask.deny("too late")
}

/// A session that asks, and waits for an answer.
async fn asking(builder: SessionBuilder, asks: usize) -> Session {
    let builder = builder.on_permission(nobody);
    let session = soon("the start", Box::pin(builder.connect())).await.unwrap();
    session.post("Go on.").await.unwrap();
    soon("the ask", async {
        while session.open_permissions().len() < asks {
            tokio::task::yield_now().await;
        }
    })
    .await;
    session
}

/// Starts a session, and parks it when it asks.
async fn parked(builder: SessionBuilder) -> ParkingToken {
    let session = asking(builder, 1).await;
    let token = soon("parking", session.park()).await.map_err(|(_, error)| error).unwrap();
    kept(&token)
}

/// Through text and back, as it would be kept.
fn kept(token: &ParkingToken) -> ParkingToken {
    serde_json::from_str(&serde_json::to_string(token).unwrap()).unwrap()
}

async fn resume(
    builder: SessionBuilder,
    token: &ParkingToken,
    answer: impl FnOnce(PermissionAsk) -> Result<PermissionAnswer, AnswerError> + Send + 'static,
) -> Resumed {
    let resumed = Box::pin(builder.resume_parked(token, answer));
    soon("the resume", resumed).await.unwrap_or_else(|error| panic!("{error}"))
}

/// Waits until a session that was brought back asks for another call.
async fn asks_next(session: &Session, token: &ParkingToken) {
    let first = token.tool_use_id().unwrap();
    soon("the next ask", async {
        while session.open_permissions().iter().all(|ask| ask.tool_use_id == first) {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// What the model was told last.
fn last_request(lab: &Lab) -> String {
    let mut requests = lab.model().model_requests();
    requests.retain(|request| request.kind == Some(RequestKind::Main));
    requests.last().map(|request| request.body.to_string()).unwrap_or_default()
}

fn new_file(lab: &Lab) -> Option<String> {
    std::fs::read_to_string(lab.work().join("new.txt")).ok()
}

/// Waits until the CLI has written the call to its transcript.
async fn wait_for_call(lab: &Lab, token: &ParkingToken) {
    let call = token.tool_use_id().unwrap();
    let projects = lab.home().join(".claude/projects");
    let has_call =
        |file: &Path| std::fs::read_to_string(file).is_ok_and(|text| text.contains(call.as_str()));
    soon("the transcript", async {
        loop {
            let folders = std::fs::read_dir(&projects).into_iter().flatten().flatten();
            let mut files =
                folders.flat_map(|folder| std::fs::read_dir(folder.path()).into_iter().flatten());
            if files.any(|file| file.is_ok_and(|file| has_call(&file.path()))) {
                return;
            }
            tokio::task::yield_now().await;
        }
    })
    .await;
}
