//! J: answers that change what is asked for later.

mod files;
mod malformed;
mod session;

use serde_json::{Value, json};

use super::puppet::{PUPPET, Turn, deny, turn};
use super::{Case, Experiment, Trial};
use crate::driver::{Cli, DriverError};

pub(super) const EXPERIMENT: Experiment = Experiment::new(
    "J",
    "permission-updates",
    "A permission request is allowed with `updatedPermissions`. Which updates hold, where are they \
     kept, and what does a malformed one do to the others?",
    &[
        Case::new("session", PUPPET, session::FACTS, |trial| Box::pin(session::steps(trial))),
        Case::new("launched-for-bypass", PUPPET, session::LAUNCHED, |trial| {
            Box::pin(session::launched(trial))
        }),
        Case::new("malformed", PUPPET, malformed::FACTS, |trial| Box::pin(malformed::steps(trial))),
        Case::new("without-sources", PUPPET, files::WITHOUT_SOURCES, |trial| {
            Box::pin(files::without_sources(trial))
        }),
        Case::new("with-sources", PUPPET, files::WITH_SOURCES, |trial| {
            Box::pin(files::with_sources(trial))
        }),
    ],
);

/// Has a command asked for that none of the rules is about, and allows it with these updates.
async fn update(cli: &mut Cli, updates: Value) -> Result<Turn, DriverError> {
    turn(cli, "run install -d folder", |ask| {
        json!({
            "behavior": "allow",
            "updatedInput": ask["input"],
            "updatedPermissions": updates,
        })
    })
    .await
}

/// What becomes of a call when the person, if asked, refuses.
async fn then(cli: &mut Cli, text: &str) -> Result<&'static str, DriverError> {
    Ok(outcome(&turn(cli, text, deny).await?))
}

fn outcome(turn: &Turn) -> &'static str {
    match (turn.asked(), turn.refused()) {
        (true, _) => "asks",
        (false, true) => "refused",
        (false, false) => "runs",
    }
}

fn set_mode(mode: &str) -> Value {
    json!({"type": "setMode", "mode": mode, "destination": "session"})
}

fn rules(kind: &str, behavior: &str, rules: &[Value]) -> Value {
    json!({"type": kind, "rules": rules, "behavior": behavior, "destination": "session"})
}

fn add_rule(rule: &Value) -> Value {
    rules("addRules", "allow", std::slice::from_ref(rule))
}

fn remove_rule(rule: &Value) -> Value {
    rules("removeRules", "allow", std::slice::from_ref(rule))
}

fn directories(kind: &str, directory: &str) -> Value {
    json!({"type": kind, "directories": [directory], "destination": "session"})
}

/// The mode that a turn told last. What came before may be of a request that changed it back.
fn told(turn: &Turn) -> &str {
    turn.told_modes().last().copied().unwrap_or("nothing")
}

/// A message that has a file written: in the working folder, or in the home folder.
fn write(trial: &Trial, name: &str) -> String {
    format!("write {}/{name}", trial.lab().work().display())
}

fn write_outside(trial: &Trial, name: &str) -> String {
    format!("write {}/{name}", trial.lab().home().display())
}
