//! Where a session is: its folder, the configuration of the CLI, its process.

use std::ffi::OsStr;
use std::path::PathBuf;

use countersign_protocol::ids::SessionId;

use crate::options::Launch;
use crate::process::Mark;
use crate::transcript::{ProjectKey, Sessions};

/// Where a session is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    /// The folder that it works in.
    pub(crate) cwd: PathBuf,
    /// Where the CLI keeps its configuration and its transcripts.
    pub(crate) config_home: Option<PathBuf>,
    /// What its process and all that it starts carry.
    pub(crate) mark: Option<Mark>,
}

impl Place {
    pub(crate) fn of(launch: &Launch) -> Self {
        let cwd = launch.cwd.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default();
        // Relative to the folder of the CLI, as the CLI takes it.
        let config_home = variable(launch, "CLAUDE_CONFIG_DIR")
            .or_else(|| Some(variable(launch, "HOME")?.join(".claude")))
            .map(|path| cwd.join(path));
        Self { cwd, config_home, mark: None }
    }

    /// Where the transcript of a session is, if it is there.
    pub(crate) fn transcript(&self, session: &SessionId) -> Option<PathBuf> {
        let expected = self.transcript_path(session)?;
        if expected.exists() {
            // There can be thousands of projects to look through.
            return Some(expected);
        }
        let sessions = Sessions::at(self.config_home.as_ref()?);
        Some(sessions.locate(session).map_or(expected, |files| files.transcript))
    }

    /// Where the transcript of a session in this folder has to be.
    pub(crate) fn transcript_path(&self, session: &SessionId) -> Option<PathBuf> {
        // An id that is none could lead anywhere.
        uuid::Uuid::parse_str(session.as_str()).ok()?;
        let key = ProjectKey::of(&self.cwd);
        let folder = self.config_home.as_ref()?.join("projects").join(key.as_str());
        Some(folder.join(format!("{session}.jsonl")))
    }
}

/// A variable of the CLI's environment.
fn variable(launch: &Launch, name: &str) -> Option<PathBuf> {
    let environment = &launch.environment;
    let named = |other: &&(std::ffi::OsString, std::ffi::OsString)| other.0 == OsStr::new(name);
    if let Some((_, value)) = environment.set.iter().rev().find(named) {
        return Some(value.into());
    }
    if environment.clear || environment.remove.iter().any(|removed| removed == name) {
        return None;
    }
    std::env::var_os(name).map(Into::into)
}
