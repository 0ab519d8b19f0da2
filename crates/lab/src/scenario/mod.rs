//! Conversations to have with a CLI: what the model says, what the client does, what must come of
//! it.
//!
//! Each is played on real CLIs, where it shows that a fact about the protocol holds, and on the
//! simulated CLI, whose faith is measured by comparing what both said: see
//! [`fidelity`](crate::fidelity).
#![expect(
    clippy::indexing_slicing,
    reason = "a JSON value is read by key, which gives null where there is nothing"
)]

mod agents;
mod commands;
mod errors;
mod gates;
mod hooks;
mod input;
mod mcp;
mod parking;
mod permissions;
mod plans;
mod queue;
mod sessions;
mod together;
mod turns;
mod updates;

use std::fmt;
use std::pin::Pin;

use serde_json::Value;

use crate::Version;
use crate::driver::{DriverError, Ended};
use crate::lab::{Lab, LabError, LaunchError, Program};
use crate::script::Script;
use crate::talk::{Reply, frames, is_result, serve, tool_results};

/// A conversation to have with a CLI.
#[derive(Clone, Copy)]
pub struct Scenario {
    name: &'static str,
    shows: &'static str,
    script: &'static str,
    since: Version,
    play: Play,
}

type Play = for<'lab> fn(&'lab Lab) -> Playing<'lab>;
type Playing<'lab> = Pin<Box<dyn Future<Output = Outcome> + Send + 'lab>>;
type Outcome = Result<Vec<Ended>, ScenarioError>;

impl Scenario {
    const fn new(
        name: &'static str,
        shows: &'static str,
        script: &'static str,
        play: Play,
    ) -> Self {
        Self { name, shows, script, since: Version::new(0, 0, 0), play }
    }

    /// Versions before this one cannot do it.
    const fn since(mut self, version: Version) -> Self {
        self.since = version;
        self
    }

    /// All scenarios, the simple ones first.
    #[must_use]
    pub fn all() -> Vec<Self> {
        [
            turns::SCENARIOS,
            input::SCENARIOS,
            permissions::SCENARIOS,
            updates::SCENARIOS,
            together::SCENARIOS,
            plans::SCENARIOS,
            hooks::SCENARIOS,
            gates::SCENARIOS,
            mcp::SCENARIOS,
            queue::SCENARIOS,
            commands::SCENARIOS,
            agents::SCENARIOS,
            errors::SCENARIOS,
            sessions::SCENARIOS,
            parking::SCENARIOS,
        ]
        .concat()
    }

    /// The scenario of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|scenario| scenario.name == name)
    }

    /// A short name, such as `tool-allow`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What it shows, in one sentence.
    #[must_use]
    pub const fn shows(&self) -> &'static str {
        self.shows
    }

    /// The script of the model.
    #[must_use]
    pub const fn script(&self) -> &'static str {
        self.script
    }

    /// Whether this version can do it at all.
    #[must_use]
    pub fn applies_to(&self, version: Version) -> bool {
        version >= self.since
    }

    /// Plays the scenario on a program, in a laboratory of its own, and returns what was said by
    /// and to each process that was started.
    ///
    /// # Errors
    ///
    /// When the program did not do what the scenario shows.
    pub async fn play(&self, program: Program) -> Result<Played, ScenarioError> {
        let script = Script::parse(self.script, self.name)
            .map_err(|error| ScenarioError::Script(error.to_string()))?;
        let lab = Lab::builder(program, script).file("hello.txt", "hello\n").start().await?;
        let result = (self.play)(&lab).await;
        let (root, plans) = (lab.root(), plan_files(&lab));
        let model = format!("127.0.0.1:{}", lab.model().port());
        lab.close().await?;
        let processes = result?;
        let tasks = processes.iter().flat_map(frames).filter_map(task).collect();
        let root = root.to_string_lossy().into_owned();
        Ok(Played { root, model, plans, tasks, processes })
    }
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scenario").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What was said in a scenario.
#[derive(Debug)]
#[non_exhaustive]
pub struct Played {
    /// The processes that were started, one after the other.
    pub processes: Vec<Ended>,
    /// The folder of the laboratory.
    pub root: String,
    /// Where the model was to be found.
    pub model: String,
    /// The plan files that were written, whose names the CLI makes up of words.
    pub plans: Vec<String>,
    /// The ids of the tasks that were begun.
    pub tasks: Vec<String>,
}

fn plan_files(lab: &Lab) -> Vec<String> {
    let files = std::fs::read_dir(lab.home().join(".claude/plans")).into_iter().flatten();
    let mut names: Vec<_> =
        files.filter_map(|file| Some(file.ok()?.path().to_string_lossy().into_owned())).collect();
    names.sort();
    names
}

/// The id of a task that begins.
fn task(frame: &Value) -> Option<String> {
    let begins = frame["subtype"] == "task_started";
    begins.then(|| frame["task_id"].as_str().map(ToOwned::to_owned)).flatten()
}

/// Why a scenario did not show what it should.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// The script cannot be read.
    #[error("the script of the scenario is broken: {0}")]
    Script(String),
    /// The laboratory could not be set up or taken down.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// The CLI was not started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The conversation did not go on.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The CLI did something else.
    #[error("{expected}, but: {found}")]
    Differs {
        /// What was expected.
        expected: String,
        /// What came instead.
        found: String,
    },
}

/// Says what must hold, and shows `found` where it does not.
fn ensure(holds: bool, expected: &str, found: &Value) -> Result<(), ScenarioError> {
    if holds {
        return Ok(());
    }
    Err(ScenarioError::Differs { expected: expected.to_owned(), found: found.to_string() })
}

/// Whether the version of the program is at least this one of the series 2.1.
fn at_least(lab: &Lab, patch: u32) -> bool {
    lab.program().version() >= Version::new(2, 1, patch)
}
