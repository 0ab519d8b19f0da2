//! What is started, and what it is told first.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

use countersign_protocol::Version;
use countersign_protocol::request::Initialize;

use crate::SessionBuilder;
use crate::cli::{Capability, Cli, Unsupported};
use crate::options::OptionsError;

/// What a session is started with: see [`SessionBuilder::preview`].
///
/// Arguments and `initialize` may hold secrets, such as the keys of MCP servers. Its debug output has
/// neither: of the arguments it has the names.
#[derive(Clone)]
#[non_exhaustive]
pub struct Launch {
    /// The program.
    pub program: Cli,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// What is done to the environment of this process to make that of the program.
    pub environment: ChildEnvironment,
    /// The working folder. `None` is that of this process.
    pub cwd: Option<PathBuf>,
    /// What the program is told first. Hooks and in-process MCP servers are not in it yet.
    pub initialize: Initialize,
    /// Whether each message is sent as it is: see [`SessionBuilder::verbatim_prompts`].
    pub verbatim_prompts: bool,
    /// What the options need that the oldest tested version does not have. When it is empty, the
    /// version does not matter.
    pub needs: Vec<Capability>,
}

impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arguments: Vec<_> = self.arguments.iter().map(|argument| name_of(argument)).collect();
        f.debug_struct("Launch")
            .field("program", &self.program)
            .field("arguments", &arguments)
            .field("environment", &self.environment)
            .field("cwd", &self.cwd)
            .field("verbatim_prompts", &self.verbatim_prompts)
            .field("needs", &self.needs)
            .finish_non_exhaustive()
    }
}

/// The name of an argument, which stands before its value.
fn name_of(argument: &OsStr) -> Cow<'_, str> {
    let bytes = argument.as_encoded_bytes();
    let name = bytes.split(|byte| *byte == b'=').next().unwrap_or_default();
    // What is no flag may be the value of one.
    if name.starts_with(b"--") { String::from_utf8_lossy(name) } else { "…".into() }
}

impl Launch {
    /// Makes sure that a version has all that the options need.
    ///
    /// # Errors
    ///
    /// When it does not. The error names the first thing that is missing.
    pub fn check(&self, version: Version) -> Result<(), Unsupported> {
        self.needs.iter().try_for_each(|need| need.check(version))
    }
}

/// The environment of the program, as a change of the environment of this process.
///
/// First everything is taken away, if `clear` says so; then what is in `remove`; then `set` is
/// added. Its debug output has no values, because some are secrets.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildEnvironment {
    /// Whether nothing is inherited.
    pub clear: bool,
    /// What is not inherited.
    pub remove: Vec<OsString>,
    /// What is set.
    pub set: Vec<(OsString, OsString)>,
}

impl fmt::Debug for ChildEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.set.iter().map(|(name, _)| name).collect();
        f.debug_struct("ChildEnvironment")
            .field("clear", &self.clear)
            .field("remove", &self.remove)
            .field("set", &names)
            .finish_non_exhaustive()
    }
}

impl SessionBuilder {
    /// What would be started, without starting it.
    ///
    /// ```no_run
    /// let launch = countersign::SessionBuilder::default().model("sonnet").preview()?;
    /// println!("{} {:?}", launch.program.path().display(), launch.arguments);
    /// # Ok::<(), countersign::OptionsError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When options contradict each other, a value cannot be used, or the CLI is not found.
    pub fn preview(&self) -> Result<Launch, OptionsError> {
        self.options.launch()
    }
}
