//! Commands about tokens and browsers that may come again.

use std::sync::Arc;

use axum::response::{IntoResponse as _, Response};
use http::{HeaderName, HeaderValue, StatusCode};
use serde::Serialize;
use tokio::sync::OwnedMutexGuard;

use super::gate::Access;
use super::identity::Identity;
use super::store::CarriedOut;
use crate::store::Command;
use crate::web::idempotency::{self, KEY_REUSED};
use crate::web::problem::{Kind, Problem};

/// What was made before under the same key is not shown again.
const MADE_BEFORE: Kind = Kind::new(
    "made-before",
    "It was made before, and its secret is shown once",
    StatusCode::CONFLICT,
);

const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// A command that is being carried out.
pub(super) struct Once {
    command: Option<Command>,
    /// One at a time, so that the same command is not carried out twice at once.
    _alone: Option<OwnedMutexGuard<()>>,
}

/// What is to be done about a command.
pub(super) enum Begun {
    /// It is to be carried out.
    Now(Once),
    /// It was, and was answered with this.
    Before(String),
}

impl Access {
    /// Begins a command.
    pub(super) async fn once<T>(
        &self,
        identity: &Identity,
        command: &idempotency::Command<T>,
    ) -> Result<Begun, Problem> {
        let Some(key) = &command.key else {
            return Ok(Begun::Now(Once { command: None, _alone: None }));
        };
        let digest = command.fingerprint.as_bytes();
        let command = Command {
            owner: identity.token().to_string(),
            key: key.as_str().to_owned(),
            fingerprint: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
            response: String::new(),
        };
        let alone = Arc::clone(self.commands()).lock_owned().await;
        match self.store().carried_out(command.clone()).await? {
            CarriedOut::Before(response) => Ok(Begun::Before(response)),
            CarriedOut::Another => Err(Problem::new(KEY_REUSED).detail(
                "the key was used for another command: every command needs one of its own",
            )),
            CarriedOut::No => Ok(Begun::Now(Once { command: Some(command), _alone: Some(alone) })),
        }
    }

    /// Notes what came of a command: what may be shown of it again.
    pub(super) async fn done<T: Serialize>(&self, once: Once, receipt: &T) -> Result<(), Problem> {
        if let Some(mut command) = once.command {
            command.response = serde_json::to_string(receipt).unwrap_or_default();
            self.store().remember(command).await?;
        }
        Ok(())
    }
}

/// The answer to a command that has none, and was carried out before.
pub(super) fn done_before() -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    response
}

/// The answer to a command that made a secret before.
pub(super) fn made_before(response: &str, instead: &'static str) -> Problem {
    let made: serde_json::Value = serde_json::from_str(response).unwrap_or_default();
    Problem::new(MADE_BEFORE).detail(instead).with("made", made)
}
