//! The environment of the CLI.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;

use super::OptionsError;
use super::draft::reject_nul;
use super::launch::ChildEnvironment;

/// What is not inherited: it says something about another session, about another SDK, or makes
/// the CLI ask what nobody answers.
const NOT_INHERITED: [&str; 16] = [
    // Set by the CLI for its tools: a CLI that finds it takes itself for nested, and may refuse.
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_AGENT_SDK_VERSION",
    "CLAUDE_AGENT_SDK_CLIENT_APP",
    "CLAUDE_CODE_SDK_READS_SESSION_STATE",
    "CLAUDE_CODE_SDK_READS_STARTUP_MARKS",
    "CLAUDE_CODE_SDK_HAS_OAUTH_REFRESH",
    "CLAUDE_CODE_SDK_HAS_HOST_AUTH_REFRESH",
    "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS",
    "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING",
    "CLAUDE_CODE_QUESTION_PREVIEW_FORMAT",
    "CLAUDE_CODE_RESUME_INTERRUPTED_TURN",
    // Options of the debugger of another program.
    "NODE_OPTIONS",
    "CLAUDE_CODE_PATH",
];

/// What the environment of the CLI begins with. [`SessionBuilder::env`] adds to it.
///
/// [`SessionBuilder::env`]: crate::SessionBuilder::env
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Environment {
    /// The environment of this process, without what would mislead the CLI: marks of a session
    /// that this process may be a tool of (`CLAUDECODE` and its kind), and `NODE_OPTIONS`.
    #[default]
    Inherit,
    /// These variables and nothing else. The CLI needs at least `HOME` and `PATH`.
    Replace(BTreeMap<OsString, OsString>),
}

impl Environment {
    /// These variables and nothing else.
    #[must_use]
    pub fn replace<K: Into<OsString>, V: Into<OsString>>(
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let pairs = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        Self::Replace(pairs.collect())
    }
}

impl fmt::Debug for Environment {
    /// Names only: values may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inherit => f.write_str("Inherit"),
            Self::Replace(variables) => f.debug_tuple("Replace").field(&variables.keys()).finish(),
        }
    }
}

/// What the caller changes in the environment. `None` takes a variable away.
#[derive(Clone, Default)]
pub(super) struct Changes(BTreeMap<OsString, Option<OsString>>);

impl Changes {
    pub(super) fn put(&mut self, name: OsString, value: Option<OsString>) {
        self.0.insert(name, value);
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// The environment that results. `ours` gives way to what the caller says.
pub(super) fn compose(
    base: &Environment,
    ours: Vec<(OsString, OsString)>,
    changes: &Changes,
) -> Result<ChildEnvironment, OptionsError> {
    let mut set: BTreeMap<OsString, OsString> = ours.into_iter().collect();
    let mut remove: Vec<OsString> = Vec::new();
    let clear = matches!(base, Environment::Replace(_));
    match base {
        Environment::Inherit => remove.extend(NOT_INHERITED.map(OsString::from)),
        Environment::Replace(variables) => set.extend(variables.clone()),
    }
    for (name, value) in &changes.0 {
        if let Some(value) = value {
            set.insert(name.clone(), value.clone());
        } else {
            set.remove(name);
            remove.push(name.clone());
        }
    }
    for (name, value) in &set {
        check(name, value)?;
    }
    for name in &remove {
        check(name, OsStr::new(""))?;
    }
    remove.retain(|name| !clear && !set.contains_key(name));
    remove.sort();
    remove.dedup();
    Ok(ChildEnvironment { clear, remove, set: set.into_iter().collect() })
}

fn check(name: &OsStr, value: &OsStr) -> Result<(), OptionsError> {
    if name.is_empty() || name.as_encoded_bytes().contains(&b'=') {
        let problem = "the name of a variable is not empty and has no `=`";
        return Err(OptionsError::value("env", &name.to_string_lossy(), problem));
    }
    reject_nul("env", name)?;
    // The value may be a secret, so the name stands for it.
    if value.as_encoded_bytes().contains(&0) {
        let problem = "its value has a NUL byte, which no variable can have";
        return Err(OptionsError::value("env", &name.to_string_lossy(), problem));
    }
    Ok(())
}
