//! How sessions are run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use countersign::Environment;
use countersign::cli::{FindError, FindOptions};

use crate::access::{Clock, SystemClock};
use crate::config::Roots;

/// How sessions are run, for all of them.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The CLI; looked for in the usual places if absent.
    pub cli: Option<PathBuf>,
    /// What the environment of the CLI begins with.
    pub environment: Environment,
    /// Variables that are set in it besides.
    pub variables: Vec<(String, String)>,
    /// The folders that sessions may work in. Looked at again whenever a process is started.
    pub roots: Roots,
    /// How many processes there may be at once.
    pub live_processes: usize,
    /// How long a session keeps its process when it has nothing to do.
    pub idle_after: Duration,
    /// How long a session keeps its process while a person is asked.
    pub park_after: Duration,
    /// How long a person may take; for ever if absent.
    pub expiry: Option<Duration>,
    /// How many processes of a session may fail, within [`restarts_within`](Self::restarts_within),
    /// before it is given up.
    pub restarts: usize,
    /// See [`restarts`](Self::restarts).
    pub restarts_within: Duration,
    /// Whether sessions may be in the mode in which next to nothing is asked for.
    pub allow_bypass: bool,
    /// How long sessions have to come to an end when the server stops.
    pub shutdown_within: Duration,
    /// How long a CLI may take to start.
    pub start_within: Duration,
    /// How long a CLI may take to interrupt a turn, before it is ended.
    pub interrupt_within: Duration,
    /// The folder for what only the CLI is to read, and its owner; that of the system if absent.
    pub private: Option<PathBuf>,
    /// Whether transcripts are kept in the store, too. Needs 2.1.197.
    pub mirror: bool,
    /// The clock on the wall, for what has to count through restarts.
    pub clock: Arc<dyn Clock>,
}

impl Settings {
    /// Looks for the CLI that sessions would be started with.
    ///
    /// # Errors
    /// When it is not there: no session can start.
    pub fn find_cli(&self) -> Result<PathBuf, FindError> {
        let mut options = FindOptions::from_env();
        options.explicit.clone_from(&self.cli);
        options.find()
    }

    /// A variable of the CLI's environment.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<PathBuf> {
        let set = self.variables.iter().rev().find(|(known, _)| known == name);
        if let Some((_, value)) = set {
            return Some(value.into());
        }
        match &self.environment {
            Environment::Replace(variables) => {
                variables.get(std::ffi::OsStr::new(name)).map(Into::into)
            }
            _ => std::env::var_os(name).map(Into::into),
        }
    }

    /// The folder in which the CLI keeps what is its own.
    #[must_use]
    pub fn config_home(&self) -> Option<PathBuf> {
        let home = || Some(self.variable("HOME")?.join(".claude"));
        self.variable("CLAUDE_CONFIG_DIR").or_else(home)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            cli: None,
            environment: Environment::Inherit,
            variables: Vec::new(),
            roots: Roots::default(),
            live_processes: 8,
            idle_after: Duration::from_secs(10 * 60),
            park_after: Duration::from_secs(2 * 60),
            expiry: None,
            restarts: 3,
            restarts_within: Duration::from_secs(10 * 60),
            allow_bypass: false,
            shutdown_within: Duration::from_secs(20),
            start_within: Duration::from_secs(60),
            interrupt_within: Duration::from_secs(10),
            private: None,
            mirror: true,
            clock: Arc::new(SystemClock),
        }
    }
}
