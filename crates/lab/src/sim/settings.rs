//! Settings: files, the flag, and what a client changes while the session runs.

use std::fs;

use super::args::Args;
use super::env::Env;
use super::json::{Json, Object, obj};
use super::permission::Rule;

/// The settings of a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// Which files are read.
    sources: Vec<&'static str>,
    /// The files, in order of rising weight, and the flag at the end.
    layers: Vec<(&'static str, Object)>,
    /// Agents of the client, by name.
    pub(crate) agents: Object,
    /// The client wants answers in a form of its own.
    pub(crate) structured_output: bool,
}

const FILES: [(&str, &str); 3] =
    [("user", "userSettings"), ("project", "projectSettings"), ("local", "localSettings")];

impl Settings {
    /// Reads the settings that the command line names.
    ///
    /// # Errors
    ///
    /// A complaint, when the settings of the flag are neither JSON nor a file with JSON.
    pub(crate) fn read(args: &Args, env: &Env) -> Result<Self, String> {
        let wanted = |name: &str| {
            args.setting_sources
                .as_ref()
                .is_none_or(|sources| sources.split(',').any(|source| source.trim() == name))
        };
        let mut settings = Self::default();
        for (name, source) in FILES {
            if !wanted(name) {
                continue;
            }
            settings.sources.push(source);
            let path = match source {
                "userSettings" => env.config_home.join("settings.json"),
                "projectSettings" => env.cwd.join(".claude/settings.json"),
                _ => env.cwd.join(".claude/settings.local.json"),
            };
            // A file that is missing or broken counts as an empty one.
            if let Ok(text) = fs::read_to_string(path)
                && let Some(Json::Object(layer)) = Json::parse(&text)
            {
                settings.layers.push((source, layer));
            }
        }
        if let Some(text) = &args.settings {
            settings.layers.push(("flagSettings", read_flag(text)?));
        }
        Ok(settings)
    }

    /// Whether the files of a source are read.
    pub(crate) fn reads(&self, source: &str) -> bool {
        self.sources.contains(&source)
    }

    /// The value of a key, from the layer with the most weight.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        self.layers.iter().rev().find_map(|(_, layer)| layer.get(key))
    }

    /// The rules of all layers.
    pub(crate) fn rules(&self) -> Vec<Rule> {
        let layers = self.layers.iter();
        layers.flat_map(|(source, layer)| rules_of(source, layer)).collect()
    }

    /// The rules of the flag.
    pub(crate) fn flag_rules(&self) -> Vec<Rule> {
        let flags = self.layers.iter().filter(|(source, _)| *source == "flagSettings");
        flags.flat_map(|(source, layer)| rules_of(source, layer)).collect()
    }

    /// The mode that the settings begin with.
    pub(crate) fn default_mode(&self) -> Option<String> {
        let permissions =
            self.layers.iter().rev().filter_map(|(_, layer)| layer.get("permissions"));
        let mut modes = permissions.filter_map(|permissions| permissions.text("defaultMode"));
        modes.next().map(str::to_owned)
    }

    /// Whether plan mode asks, instead of leaving it to auto mode.
    pub(crate) fn no_auto_in_plan(&self) -> bool {
        self.get("useAutoModeDuringPlan") == Some(&Json::Bool(false))
    }

    /// Changes the settings of the flag: `null` takes a key out.
    pub(crate) fn change_flag(&mut self, changes: &Object) {
        if !self.layers.iter().any(|(source, _)| *source == "flagSettings") {
            self.layers.push(("flagSettings", Object::default()));
        }
        let flag = self.layers.iter_mut().find(|(source, _)| *source == "flagSettings");
        let Some((_, layer)) = flag else { return };
        for (key, value) in changes.iter() {
            if value.is_null() {
                layer.remove(key);
            } else {
                layer.set(key, value);
            }
        }
    }

    /// All layers in one.
    pub(crate) fn effective(&self) -> Object {
        let mut all = Object::default();
        for (_, layer) in &self.layers {
            for (key, value) in layer.iter() {
                all.set(key, value);
            }
        }
        all
    }

    /// The layers, each with its name.
    pub(crate) fn sources(&self) -> Vec<Object> {
        let layers = self.layers.iter().filter(|(_, layer)| !layer.is_empty());
        layers.map(|(source, layer)| obj! { "source": *source, "settings": layer }).collect()
    }
}

fn rules_of(source: &str, layer: &Object) -> Vec<Rule> {
    let permissions = layer.get("permissions").cloned().unwrap_or_default();
    Rule::of_settings(&permissions, source)
}

fn read_flag(text: &str) -> Result<Object, String> {
    let text = if text.trim_start().starts_with('{') {
        text.to_owned()
    } else {
        fs::read_to_string(text).map_err(|_| format!("Error: Settings file not found: {text}"))?
    };
    match Json::parse(&text) {
        Some(Json::Object(layer)) => Ok(layer),
        _ => Err("Error: Invalid JSON provided to --settings".to_owned()),
    }
}
