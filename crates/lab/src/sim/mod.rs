//! A simulated CLI: it speaks the protocol of `claude`, and a script is its model.
//!
//! It is for demonstrations, load tests and fault tests, and for tests of clients that cannot
//! install the real CLI. It starts in milliseconds, takes a few megabytes, starts no processes and
//! calls no network. The program `countersign-sim` and the command `countersign sim` are it.
//!
//! What versions of the CLI do differently is in one table, `profile/versions.rs`; each entry is a
//! fact that was seen in recordings of the real CLI. Words that differ stand where they are said.
//! Where the recordings are silent, the newest version is the model.
//!
//! All of it runs on one thread (`exec.rs`): a turn, the hooks and permissions it waits for, and
//! tasks in the background are futures. Standard input, standard output and signals have threads
//! of their own (`stdio.rs`), which only move bytes.
mod args;
mod background;
mod catalog;
mod checkpoint;
mod clock;
mod compact;
mod control;
mod env;
mod exec;
mod faults;
mod frames;
mod hooks;
mod input;
mod json;
mod mcp;
mod meter;
mod options;
mod past;
mod permission;
mod plan;
mod profile;
mod queue;
mod requests;
mod resume;
mod session;
mod settings;
mod slash;
mod start;
mod state;
mod stdio;
mod thread;
mod tools;
mod turn;
mod wheel;

use std::path::PathBuf;
use std::process::ExitCode;

pub use self::options::Options;

/// The version that is imitated when none is named.
pub const DEFAULT_VERSION: &str = "2.1.325";

/// The versions that can be imitated, the newest first.
#[must_use]
pub fn versions() -> [&'static str; 3] {
    profile::ALL.map(|profile| profile.version)
}

/// How to start the simulated CLI.
///
/// ```no_run
/// use countersign_lab::sim::Launch;
///
/// let mut launch = Launch::new();
/// launch.script = Some("demo.toml".into());
/// launch.claude_args = std::env::args().skip(1).collect();
/// let code = launch.run();
/// # drop(code);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Launch {
    /// The script of the model's answers. Without one, it says what it was told.
    pub script: Option<PathBuf>,
    /// The version to imitate: 2.1.325, 2.1.197 or 2.1.62.
    pub version: String,
    /// Variables of the script.
    pub variables: Vec<(String, String)>,
    /// The config home, in place of `CLAUDE_CONFIG_DIR` and `~/.claude`.
    pub state: Option<PathBuf>,
    /// The arguments of `claude`.
    pub claude_args: Vec<String>,
}

impl Launch {
    /// Without a script, as the newest version.
    #[must_use]
    pub fn new() -> Self {
        Self {
            script: None,
            version: DEFAULT_VERSION.to_owned(),
            variables: Vec::new(),
            state: None,
            claude_args: Vec::new(),
        }
    }

    /// Speaks over standard input and output until the client has nothing more to say, and gives
    /// the exit code.
    ///
    /// It takes over standard input, standard output and the signals of the process.
    #[must_use]
    pub fn run(&self) -> ExitCode {
        start::run(self)
    }
}

impl Default for Launch {
    fn default() -> Self {
        Self::new()
    }
}
