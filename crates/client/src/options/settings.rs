//! Settings, and where they come from.

use std::fmt::Write as _;
use std::path::PathBuf;

use countersign_protocol::RawJson;

use super::OptionsError;
use super::draft::Draft;
use crate::SessionBuilder;

/// The options of this topic.
#[derive(Clone, Default)]
pub(super) struct Settings {
    sources: Option<Vec<SettingSource>>,
    inline: Option<RawJson>,
    file: Option<PathBuf>,
    sandbox: Option<RawJson>,
    ask_in_plan_mode: bool,
    managed: Option<RawJson>,
    project_config_root: Option<PathBuf>,
}

/// A settings file that the CLI reads by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SettingSource {
    /// `~/.claude/settings.json`: the user's own.
    User,
    /// `.claude/settings.json`: of the project, shared with others.
    Project,
    /// `.claude/settings.local.json`: of the project, not shared.
    Local,
}

impl SettingSource {
    const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

impl SessionBuilder {
    /// Which settings files the CLI reads. An empty list means none.
    ///
    /// Without this the CLI reads all of them, as it does in a terminal: the rules, hooks and MCP
    /// servers that a person has set up then hold in the session, too. Settings of the
    /// organisation are always read.
    pub fn setting_sources(mut self, sources: impl IntoIterator<Item = SettingSource>) -> Self {
        self.options.settings.sources = Some(sources.into_iter().collect());
        self
    }

    /// Settings for this session, an object with the keys of a settings file. They outrank the
    /// files of the user and the project.
    pub fn settings(mut self, settings: impl Into<RawJson>) -> Self {
        self.options.settings.inline = Some(settings.into());
        self
    }

    /// A file with settings for this session. A relative path begins in its working folder.
    pub fn settings_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.settings.file = Some(path.into());
        self
    }

    /// How commands are kept in: the value of the key `sandbox` of the settings.
    pub fn sandbox(mut self, sandbox: impl Into<RawJson>) -> Self {
        self.options.settings.sandbox = Some(sandbox.into());
        self
    }

    /// Has commands put to the permission handler in plan mode as well.
    ///
    /// From 2.1.197 on the CLI by default lets some commands run in plan mode that it would ask
    /// for otherwise, and from 2.1.325 on a classifier decides about all of them. This is the
    /// setting `useAutoModeDuringPlan: false`. 2.1.62 does not know it, and asks anyway.
    pub fn ask_in_plan_mode(mut self) -> Self {
        self.options.settings.ask_in_plan_mode = true;
        self
    }

    /// Settings of the highest rank, which nothing can override. Needs 2.1.197.
    pub fn managed_settings(mut self, settings: impl Into<RawJson>) -> Self {
        self.options.settings.managed = Some(settings.into());
        self
    }

    /// The folder whose `.claude` counts as that of the project, in place of the working folder.
    /// Needs 2.1.325.
    pub fn project_config_root(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.settings.project_config_root = Some(folder.into());
        self
    }
}

impl Settings {
    pub(super) fn apply(&self, draft: &mut Draft) -> Result<(), OptionsError> {
        if let Some(sources) = &self.sources {
            let names: Vec<_> = sources.iter().map(|source| source.as_str()).collect();
            draft.value("--setting-sources", names.join(","))?;
        }
        let extra = self.extra_keys();
        match (&self.file, &self.inline) {
            (Some(_), Some(_)) => {
                return Err(OptionsError::contradiction(
                    "there are two sets of settings",
                    "use `settings` or `settings_file`, not both",
                ));
            }
            (Some(_), None) if !extra.is_empty() => {
                return Err(OptionsError::contradiction(
                    "`sandbox` and `ask_in_plan_mode` cannot be added to a settings file",
                    "write the keys `sandbox` and `useAutoModeDuringPlan` to the file, or use \
                     `settings`",
                ));
            }
            (Some(file), None) => draft.value("--settings", file)?,
            (None, None) if extra.is_empty() => {}
            (None, inline) => {
                let empty = RawJson::empty_object();
                let settings = with_keys(inline.as_ref().unwrap_or(&empty), &extra)?;
                draft.value("--settings", settings.as_str())?;
            }
        }
        if let Some(managed) = &self.managed {
            check_object("managed_settings", managed)?;
            draft.value("--managed-settings", managed.as_str())?;
        }
        draft.optional("--project-config-root", self.project_config_root.as_deref())
    }

    fn extra_keys(&self) -> Vec<(&'static str, &str)> {
        let sandbox = self.sandbox.as_ref().map(|value| ("sandbox", value.as_str()));
        let plan = self.ask_in_plan_mode.then_some(("useAutoModeDuringPlan", "false"));
        sandbox.into_iter().chain(plan).collect()
    }
}

/// Adds keys to an object, which otherwise stays the text it is.
fn with_keys(object: &RawJson, keys: &[(&str, &str)]) -> Result<RawJson, OptionsError> {
    check_object("settings", object)?;
    let failed = |source| OptionsError::Json { option: "settings", source };
    let there: std::collections::BTreeMap<String, serde::de::IgnoredAny> =
        object.decode().map_err(failed)?;
    if keys.iter().any(|(key, _)| there.contains_key(*key)) {
        return Err(OptionsError::contradiction(
            "`settings` has a key that another option sets",
            "leave `sandbox` or `useAutoModeDuringPlan` out of `settings`, or do not call the \
             method",
        ));
    }
    let mut text = object.as_str().trim_end().to_owned();
    text.pop();
    for (at, (key, value)) in keys.iter().enumerate() {
        if at > 0 || !there.is_empty() {
            text.push(',');
        }
        // Writing to a string does not fail.
        write!(text, "\"{key}\":{value}").ok();
    }
    text.push('}');
    text.parse().map_err(|source| OptionsError::RawJson { option: "settings", source })
}

fn check_object(option: &'static str, value: &RawJson) -> Result<(), OptionsError> {
    if !value.is_object() {
        return Err(OptionsError::value(option, value.as_str(), "it has to be a JSON object"));
    }
    Ok(())
}
