//! One case, played on one program: where its steps do what they do and tell what they find.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::fact::Fact;
use super::observed::Finding;
use super::summary::Summary;
use super::{Case, V197};
use crate::Version;
use crate::driver::{Cli, Conversation, DriverError};
use crate::lab::{Lab, LabError, Launch, LaunchError, Program};
use crate::script::Script;

/// A case that is played: its laboratory, what was found, and every conversation.
#[derive(Debug)]
pub struct Trial {
    case: Case,
    lab: Lab,
    folder: PathBuf,
    patience: Duration,
    findings: Vec<Finding>,
    tapes: Vec<String>,
    conversations: Vec<Conversation>,
}

impl Trial {
    /// Opens the laboratory of a case. Tapes go into the folder, which exists. The variable `agent`
    /// of the script is the tool that starts a subagent.
    pub(super) async fn open(
        case: Case,
        program: Program,
        folder: PathBuf,
        patience: Duration,
    ) -> Result<Self, TrialError> {
        let script = Script::parse(case.script, case.name)
            .map_err(|error| TrialError::Script(error.to_string()))?;
        let agent = if program.version() < V197 { "Task" } else { "Agent" };
        let lab = Lab::builder(program, script).file("hello.txt", "hello\n");
        let lab = lab.variable("agent", agent).start().await?;
        let (findings, tapes, conversations) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { case, lab, folder, patience, findings, tapes, conversations })
    }

    /// The laboratory. Its working folder has a file `hello.txt`.
    #[must_use]
    pub const fn lab(&self) -> &Lab {
        &self.lab
    }

    /// The version that is studied.
    #[must_use]
    pub const fn version(&self) -> Version {
        self.lab.program().version()
    }

    /// How long a step may take.
    #[must_use]
    pub const fn patience(&self) -> Duration {
        self.patience
    }

    /// Starts a process, whose conversation is recorded.
    ///
    /// # Errors
    ///
    /// When it does not start, or the tape cannot be written.
    pub async fn launch(&mut self, launch: Launch) -> Result<Cli, TrialError> {
        let number = self.tapes.len() + 1;
        let name = match self.case.name {
            "" => format!("{number}.tape"),
            case => format!("{case}-{number}.tape"),
        };
        let mut cli = self.lab.launch(launch.tape(self.folder.join(&name))).await?;
        cli.set_patience(self.patience);
        self.tapes.push(name);
        self.conversations.push(cli.conversation());
        Ok(cli)
    }

    /// Tells what was found. The name is that of a fact, or of something that is only measured.
    ///
    /// What a fact says of the model is not found on the simulated CLI, which asks none.
    pub fn found(&mut self, name: &str, value: impl Into<Value>) {
        let of_the_model = |fact: &Fact| fact.finding() == name && fact.is_of_the_model();
        let simulated = matches!(self.lab.program(), Program::Simulated { .. });
        if simulated && self.case.facts.iter().any(of_the_model) {
            return;
        }
        let (name, value) = (self.case.full_name(name), value.into());
        self.findings.push(Finding { name, value, documented: None });
    }

    /// Tells how long something took: a finding in milliseconds that is only measured.
    pub fn measured(&mut self, name: &str, time: Duration) {
        let tenths = (time.as_secs_f64() * 10_000.0).round() / 10.0;
        self.found(&format!("{name} (ms)"), tenths);
    }

    /// What was said until now, for people to read.
    pub(super) fn transcripts(&self) -> String {
        let all = self.tapes.iter().zip(&self.conversations);
        all.map(|(tape, said)| format!("{tape}:\n{}", said.transcript())).collect()
    }

    /// Takes the laboratory down, and returns what there is to tell.
    pub(super) async fn close(self) -> Result<Told, LabError> {
        let mut summary = Summary::default();
        self.conversations.iter().for_each(|conversation| summary.add(&conversation.said()));
        let told = Told { findings: self.findings, tapes: self.tapes, summary };
        self.lab.close().await?;
        Ok(told)
    }
}

/// What there is to tell of a case.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) findings: Vec<Finding>,
    pub(super) tapes: Vec<String>,
    pub(super) summary: Summary,
}

/// Why a case did not get to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrialError {
    /// The script cannot be read.
    #[error("the script of the experiment is broken: {0}")]
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
    /// A file could not be read or written.
    #[error("a file of the experiment: {0}")]
    File(#[from] std::io::Error),
}
