//! A launch that is being put together.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};

use countersign_protocol::RawJson;
use countersign_protocol::request::Initialize;
use serde::Serialize;

use super::OptionsError;
use super::environment::compose;
use super::launch::Launch;
use super::process::Process;
use crate::cli::Capability;

/// How long one argument may be: Linux takes 128 KiB, with the byte that ends it.
const LONGEST_ARGUMENT: usize = 128 * 1024 - 1;

/// A launch that is being put together.
pub(super) struct Draft {
    arguments: Vec<OsString>,
    flags: BTreeSet<String>,
    environment: Vec<(OsString, OsString)>,
    pub(super) initialize: Initialize,
    pub(super) verbatim_prompts: bool,
    needs: BTreeSet<Capability>,
}

impl Draft {
    /// With what every session is started with.
    pub(super) fn new() -> Self {
        let mut draft = Self {
            arguments: Vec::new(),
            flags: BTreeSet::new(),
            environment: Vec::new(),
            initialize: Initialize::new(),
            verbatim_prompts: false,
            needs: BTreeSet::new(),
        };
        // The CLI speaks the protocol with these three and with no fewer.
        for argument in ["--output-format=stream-json", "--verbose", "--input-format=stream-json"] {
            draft.push(argument.into());
        }
        draft.set("CLAUDE_CODE_ENTRYPOINT", "sdk-rust");
        draft.set("CLAUDE_AGENT_SDK_VERSION", env!("CARGO_PKG_VERSION"));
        draft.set("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1");
        draft
    }

    /// Adds a flag without a value.
    pub(super) fn flag(&mut self, flag: &str) {
        self.push(flag.into());
    }

    /// Adds a flag with a value, in one argument: what begins with a dash is then a value, too.
    pub(super) fn value(
        &mut self,
        flag: &str,
        value: impl AsRef<OsStr>,
    ) -> Result<(), OptionsError> {
        let mut argument = OsString::from(flag);
        argument.push("=");
        argument.push(value.as_ref());
        if argument.as_encoded_bytes().contains(&0) {
            let problem = "its value has a NUL byte, which no argument can have";
            return Err(OptionsError::value("a flag", flag, problem));
        }
        if argument.len() > LONGEST_ARGUMENT {
            let (flag, bytes) = (flag.to_owned(), argument.len());
            return Err(OptionsError::TooLong { flag, bytes, most: LONGEST_ARGUMENT });
        }
        self.push(argument);
        Ok(())
    }

    /// Adds a flag with a value, if there is one.
    pub(super) fn optional(
        &mut self,
        flag: &str,
        value: Option<impl AsRef<OsStr>>,
    ) -> Result<(), OptionsError> {
        value.map_or(Ok(()), |value| self.value(flag, value))
    }

    /// Adds a flag, if it is wanted.
    pub(super) fn flag_if(&mut self, flag: &str, wanted: bool) {
        if wanted {
            self.flag(flag);
        }
    }

    /// Adds a flag whose value is JSON.
    pub(super) fn json(
        &mut self,
        flag: &str,
        option: &'static str,
        value: &impl Serialize,
    ) -> Result<(), OptionsError> {
        let json =
            RawJson::from_value(value).map_err(|source| OptionsError::Json { option, source })?;
        self.value(flag, json.as_str())
    }

    /// Sets a variable of the environment.
    pub(super) fn set(&mut self, name: &'static str, value: impl Into<OsString>) {
        self.environment.push((name.into(), value.into()));
    }

    /// Sets a variable of the environment that does nothing in old versions.
    pub(super) fn set_needed(&mut self, name: &'static str, value: impl Into<OsString>) {
        self.set(name, value);
        if let Some(variable) = Capability::variable(name) {
            self.need(variable);
        }
    }

    /// Notes that this is needed.
    pub(super) fn need(&mut self, capability: Capability) {
        if !capability.in_every_version() {
            self.needs.insert(capability);
        }
    }

    /// Whether this flag is there.
    pub(super) fn has_flag(&self, flag: &str) -> bool {
        self.flags.contains(flag)
    }

    fn push(&mut self, argument: OsString) {
        let text = argument.to_string_lossy();
        let flag = text.split_once('=').map_or(&*text, |(flag, _)| flag).to_owned();
        let known = [Capability::flag(&flag), Capability::flag_value(&text)];
        self.flags.insert(flag);
        self.arguments.push(argument);
        for capability in known.into_iter().flatten() {
            self.need(capability);
        }
    }

    /// The launch, with the fields of `initialize` that were given raw.
    pub(super) fn finish(mut self, process: &Process) -> Result<Launch, OptionsError> {
        let initialize = with_fields(&self.initialize, process.initialize_fields()?)?;
        for field in field_names(&initialize)? {
            if let Some(capability) = Capability::initialize_field(&field) {
                self.need(capability);
            }
        }
        Ok(Launch {
            program: process.program()?,
            arguments: self.arguments,
            environment: compose(process.environment(), self.environment, process.changes())?,
            cwd: process.working_folder()?,
            initialize,
            verbatim_prompts: self.verbatim_prompts,
            needs: self.needs.into_iter().collect(),
        })
    }
}

/// Adds fields that were given raw, and reads the whole again. A field that the type names ends up
/// in its place, and one that is there already makes it fail.
fn with_fields(
    initialize: &Initialize,
    fields: &[(String, RawJson)],
) -> Result<Initialize, OptionsError> {
    if fields.is_empty() {
        return Ok(initialize.clone());
    }
    let failed = OptionsError::InitializeField;
    let mut text = serde_json::to_string(initialize).map_err(failed)?;
    text.pop();
    for (name, value) in fields {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&serde_json::to_string(name).map_err(failed)?);
        text.push(':');
        text.push_str(value.as_str());
    }
    text.push('}');
    serde_json::from_str(&text).map_err(failed)
}

fn field_names(initialize: &Initialize) -> Result<Vec<String>, OptionsError> {
    let json = RawJson::from_value(initialize).map_err(OptionsError::InitializeField)?;
    let fields: std::collections::BTreeMap<String, serde::de::IgnoredAny> =
        json.decode().map_err(OptionsError::InitializeField)?;
    Ok(fields.into_keys().collect())
}

/// Refuses a NUL byte, which ends a string for the operating system.
pub(super) fn reject_nul(option: &'static str, value: &OsStr) -> Result<(), OptionsError> {
    if value.as_encoded_bytes().contains(&0) {
        let problem = "it has a NUL byte";
        return Err(OptionsError::value(option, &value.to_string_lossy(), problem));
    }
    Ok(())
}

/// Refuses an empty text.
pub(super) fn reject_empty(option: &'static str, value: &str) -> Result<(), OptionsError> {
    if value.trim().is_empty() {
        return Err(OptionsError::value(option, value, "it is empty; leave the option out"));
    }
    Ok(())
}

/// Refuses what would be two entries in a list with commas.
pub(super) fn reject_comma(option: &'static str, value: &str) -> Result<(), OptionsError> {
    reject_empty(option, value)?;
    if value.contains(',') {
        return Err(OptionsError::value(option, value, "it has a comma; give each one by itself"));
    }
    Ok(())
}
