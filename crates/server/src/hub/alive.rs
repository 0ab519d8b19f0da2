//! Processes that are there, and what is known of them beside the log.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign::SessionHandle;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::SessionId;

/// What is known of a process that is there, and of no use when it is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alive {
    /// When the CLI last said something.
    pub last_line: Option<Timestamp>,
    /// How many frames came that are of no kind that is known.
    pub unknown: u64,
    /// Its slash commands: their names, and what each is for.
    pub commands: Vec<(String, String)>,
}

/// A model that sessions can use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Model {
    /// Its name for the CLI.
    pub value: String,
    /// Its name for people.
    pub name: String,
}

/// The processes that are there.
#[derive(Debug, Default)]
pub(super) struct Processes(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    processes: HashMap<SessionId, (SessionHandle, Option<Timestamp>)>,
    /// What the last CLI said that it can use: it is the same for all of them.
    models: Vec<Model>,
}

impl Processes {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn began(&self, session: SessionId, handle: SessionHandle) {
        let told = handle.initialization().and_then(|told| told.models.as_ref());
        let models: Vec<Model> = told
            .into_iter()
            .flatten()
            .map(|model| Model { value: model.value.clone(), name: model.display_name.clone() })
            .collect();
        let mut known = self.known();
        if !models.is_empty() {
            known.models = models;
        }
        known.processes.insert(session, (handle, None));
    }

    pub(super) fn spoke(&self, session: SessionId, at: Timestamp) {
        if let Some((_, last)) = self.known().processes.get_mut(&session) {
            *last = Some(at);
        }
    }

    pub(super) fn ended(&self, session: SessionId) {
        self.known().processes.remove(&session);
    }

    pub(super) fn alive(&self, session: SessionId) -> Option<Alive> {
        let known = self.known();
        let (handle, last_line) = known.processes.get(&session)?;
        let commands = handle.initialization().and_then(|told| told.commands.as_ref());
        let commands = commands.into_iter().flatten();
        Some(Alive {
            last_line: *last_line,
            unknown: handle.stats().unknown,
            commands: commands
                .map(|command| (command.name.clone(), command.description.clone()))
                .collect(),
        })
    }

    pub(super) fn models(&self) -> Vec<Model> {
        self.known().models.clone()
    }
}
