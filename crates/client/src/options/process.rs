//! The process: which program, where, with which environment, and what is passed to it raw.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use countersign_protocol::RawJson;

use super::OptionsError;
use super::draft::{Draft, reject_empty, reject_nul};
use super::environment::{Changes, Environment};
use crate::SessionBuilder;
use crate::cli::Cli;

/// Flags that would make the CLI something else than a session of this library.
const REFUSED: [&str; 12] = [
    "--print",
    "--help",
    "--version",
    "--output-format",
    "--input-format",
    "--permission-prompt-tool",
    "--permission-mode",
    "--dangerously-skip-permissions",
    "--sdk-url",
    "--session-mirror",
    "--await-claim",
    "--cwd",
];

/// Fields of `initialize` that are made of what is registered with the builder.
const OURS: [&str; 7] = [
    "subtype",
    "hooks",
    "sdkMcpServers",
    "sdkMcpServerConfigs",
    "sdkMcpServerManifests",
    "sdkMcpServerManifestsOrigin",
    "supportedDialogKinds",
];

/// The options of this topic.
#[derive(Clone, Default)]
pub(super) struct Process {
    executable: Option<PathBuf>,
    cwd: Option<PathBuf>,
    add_dirs: Vec<PathBuf>,
    environment: Environment,
    changes: Changes,
    extra: Vec<(String, Option<OsString>)>,
    initialize: Vec<(String, RawJson)>,
    debug: Option<String>,
    debug_file: Option<PathBuf>,
    client_app: Option<String>,
    trace_parent: Option<String>,
    trace_state: Option<String>,
}

impl fmt::Debug for Process {
    /// Without what is given raw, which may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process")
            .field("executable", &self.executable)
            .field("cwd", &self.cwd)
            .field("environment", &self.environment)
            .field("changes", &self.changes)
            .finish_non_exhaustive()
    }
}

impl Process {
    /// The folder to work in, unless one was chosen.
    pub(super) fn work_in(&mut self, folder: &Path) {
        self.cwd.get_or_insert_with(|| folder.to_owned());
    }
}

impl SessionBuilder {
    /// The program to start. Without this the CLI is looked for: see
    /// [`FindOptions`](crate::cli::FindOptions).
    pub fn executable(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.process.executable = Some(path.into());
        self
    }

    /// The working folder. A relative path is meant from that of this process, which is also the
    /// default.
    pub fn cwd(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.process.cwd = Some(folder.into());
        self
    }

    /// A folder besides the working folder that tools may use. Can be given several times.
    pub fn add_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.process.add_dirs.push(folder.into());
        self
    }

    /// What the environment begins with. Default: [`Environment::Inherit`].
    pub fn environment(mut self, environment: Environment) -> Self {
        self.options.process.environment = environment;
        self
    }

    /// Sets a variable, also one that this library sets itself.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.options.process.changes.put(name.into(), Some(value.into()));
        self
    }

    /// Takes a variable away.
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.options.process.changes.put(name.into(), None);
        self
    }

    /// Passes a flag that has no method here, such as `extra_arg("autocompact", "auto")`. A
    /// flag that an option sets already is refused when the session starts.
    pub fn extra_arg(mut self, flag: impl Into<String>, value: impl Into<OsString>) -> Self {
        self.options.process.extra.push((flag.into(), Some(value.into())));
        self
    }

    /// Passes a flag without a value that has no method here, such as `extra_flag("bare")`.
    pub fn extra_flag(mut self, flag: impl Into<String>) -> Self {
        self.options.process.extra.push((flag.into(), None));
        self
    }

    /// Sets a field of `initialize` that has no method here, by its name on the wire.
    pub fn initialize_field(mut self, name: impl Into<String>, value: impl Into<RawJson>) -> Self {
        self.options.process.initialize.push((name.into(), value.into()));
        self
    }

    /// Has the CLI write a log. `filter` is a list of categories, such as `api,hooks`; empty means
    /// all of them.
    pub fn debug(mut self, filter: impl Into<String>) -> Self {
        self.options.process.debug = Some(filter.into());
        self
    }

    /// Has the CLI write its log to this file.
    pub fn debug_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.process.debug_file = Some(path.into());
        self
    }

    /// What this program calls itself to the API, such as `my-app/1.0`.
    pub fn client_app(mut self, name: impl Into<String>) -> Self {
        self.options.process.client_app = Some(name.into());
        self
    }

    /// The span that the session belongs to, as in the header `traceparent` of W3C Trace Context.
    /// Needs 2.1.197.
    pub fn trace_parent(mut self, parent: impl Into<String>) -> Self {
        self.options.process.trace_parent = Some(parent.into());
        self
    }

    /// What goes with [`trace_parent`](Self::trace_parent), as in the header `tracestate`.
    pub fn trace_state(mut self, state: impl Into<String>) -> Self {
        self.options.process.trace_state = Some(state.into());
        self
    }
}

impl Process {
    pub(super) fn apply(&self, draft: &mut Draft) -> Result<(), OptionsError> {
        for folder in &self.add_dirs {
            draft.value("--add-dir", folder)?;
        }
        if let Some(folder) = &self.cwd
            && let Ok(folder) = std::path::absolute(folder)
        {
            // The inherited one would name another folder, and shells believe it.
            draft.set("PWD", folder);
        }
        match self.debug.as_deref() {
            None => {}
            Some("") => draft.flag("--debug"),
            Some(filter) => draft.value("--debug", filter)?,
        }
        draft.optional("--debug-file", self.debug_file.as_deref())?;
        if let Some(name) = &self.client_app {
            // It becomes part of a header.
            if name.is_empty() || name.contains(|c: char| c.is_control()) {
                let problem = "it is one line of text that is not empty";
                return Err(OptionsError::value("client_app", name, problem));
            }
            draft.set("CLAUDE_AGENT_SDK_CLIENT_APP", name);
        }
        if self.trace_state.is_some() && self.trace_parent.is_none() {
            return Err(OptionsError::contradiction(
                "`trace_state` says nothing without a span",
                "call `trace_parent` as well",
            ));
        }
        if let Some(parent) = &self.trace_parent {
            check_trace_parent(parent)?;
            draft.set_needed("TRACEPARENT", parent);
        }
        if let Some(state) = &self.trace_state {
            draft.set("TRACESTATE", state);
        }
        for (flag, _) in &self.extra {
            let flag = check_flag(flag)?;
            if draft.has_flag(&flag) {
                let problem = "an option sets this flag already: use its method alone";
                return Err(OptionsError::value("extra_arg", &flag, problem));
            }
        }
        for (flag, value) in &self.extra {
            let flag = check_flag(flag)?;
            match value {
                Some(value) => draft.value(&flag, value)?,
                None => draft.flag(&flag),
            }
        }
        Ok(())
    }

    pub(super) fn program(&self) -> Result<Cli, OptionsError> {
        Ok(match &self.executable {
            Some(path) => Cli::at(path)?,
            None => Cli::find()?,
        })
    }

    pub(super) fn working_folder(&self) -> Result<Option<PathBuf>, OptionsError> {
        let Some(folder) = &self.cwd else { return Ok(None) };
        let text = folder.to_string_lossy();
        reject_nul("cwd", folder.as_os_str())?;
        reject_empty("cwd", &text)?;
        // What is kept of a session is read by processes with another folder.
        let absolute = std::path::absolute(folder).map_err(|_| {
            let problem = "the folder of this process is gone: give an absolute path";
            OptionsError::value("cwd", &text, problem)
        })?;
        Ok(Some(absolute))
    }

    pub(super) const fn environment(&self) -> &Environment {
        &self.environment
    }

    pub(super) const fn changes(&self) -> &Changes {
        &self.changes
    }

    pub(super) fn initialize_fields(&self) -> Result<&[(String, RawJson)], OptionsError> {
        for (name, _) in &self.initialize {
            if OURS.contains(&name.as_str()) {
                let problem = "it is made of what is registered with the builder";
                return Err(OptionsError::value("initialize_field", name, problem));
            }
        }
        Ok(&self.initialize)
    }
}

/// The flag with its dashes, which may be left out.
fn check_flag(flag: &str) -> Result<String, OptionsError> {
    let fail = |problem| Err(OptionsError::value("extra_arg", flag, problem));
    let name = flag.strip_prefix("--").unwrap_or(flag);
    let mut characters = name.chars();
    let begins = characters.next().is_some_and(|c| c.is_ascii_alphabetic());
    if name.len() < 2 || !begins || !characters.all(|c| c.is_ascii_alphanumeric() || c == '-') {
        return fail("it is the long name of a flag, such as `bare`, without its value");
    }
    let flag = format!("--{name}");
    if REFUSED.contains(&flag.as_str()) {
        return fail("this flag belongs to the library, or has a method of its own");
    }
    Ok(flag)
}

/// `00-<32 hex digits>-<16>-<2>`. The CLI would ignore anything else without a word.
fn check_trace_parent(parent: &str) -> Result<(), OptionsError> {
    let lengths: Vec<_> = parent.split('-').map(str::len).collect();
    let digits =
        parent.bytes().all(|b| b == b'-' || b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    if lengths != [2, 32, 16, 2] || !digits {
        let problem = "it has the form `00-<32 hex digits>-<16 hex digits>-<2 hex digits>`";
        return Err(OptionsError::value("trace_parent", parent, problem));
    }
    Ok(())
}
