//! Control requests: each is sent to the CLI, and what it changes is looked at.

mod conversation;
mod files;
mod lacking;
mod mcp;
mod modes;
mod queue;
mod session;
mod settings;
mod tasks;

use countersign::cli::Capability;
use countersign::protocol::ids::MessageUuid;
use countersign::protocol::request::ErrorCode;
use countersign::protocol::system::SystemInit;
use countersign::turn::{Outcome as TurnOutcome, TurnEvent};
use countersign::{ControlError, Session};
use libtest_mimic::Trial;

use crate::kit::{Cli, soon};

pub(crate) use self::mcp::as_a_server as as_an_mcp_server;

pub(crate) fn trials() -> Vec<Trial> {
    [
        conversation::trials(),
        files::trials(),
        lacking::trials(),
        mcp::trials(),
        modes::trials(),
        queue::trials(),
        session::trials(),
        settings::trials(),
        tasks::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A model that says the same to everything.
const OK: &str = r#"otherwise = "ok""#;

/// Whether the version has this request.
fn has(cli: Cli, subtype: &str) -> bool {
    Capability::request(subtype).unwrap().in_version(cli.version())
}

/// A whole turn: how it began, its message, and what came of it.
async fn turn(session: &mut Session, prompt: &str) -> (SystemInit, MessageUuid, TurnOutcome) {
    let mut turn = session.send(prompt).await.unwrap();
    let message = turn.message_id().unwrap().clone();
    let mut began = None;
    while let Some(event) = soon("an event", turn.next()).await {
        if let TurnEvent::Began(init) = event {
            began = Some(*init);
        }
    }
    let outcome = turn.finish().await.unwrap();
    (began.unwrap(), message, outcome)
}

/// The CLI refused, with this code where the version has codes.
#[track_caller]
fn assert_refused<T: std::fmt::Debug>(
    cli: Cli,
    result: Result<T, ControlError>,
    expected: Option<ErrorCode>,
) {
    match result {
        Err(ControlError::Refused { message, code, .. }) => {
            assert!(!message.is_empty());
            let expected = expected.filter(|_| Capability::ERROR_CODES.in_version(cli.version()));
            assert_eq!(code, expected, "{message}");
        }
        other => panic!("{other:?}"),
    }
}
