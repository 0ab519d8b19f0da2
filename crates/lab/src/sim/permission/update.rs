//! `updatedPermissions`: what an answer changes besides the call.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Behavior, Entry, MODES};
use crate::sim::json::{Json, Object, obj};
use crate::sim::state::Sim;
use crate::sim::stdio::complain;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Update {
    AddRules { rules: Vec<(String, Option<String>)>, behavior: Behavior, destination: String },
    ReplaceRules { rules: Vec<(String, Option<String>)>, behavior: Behavior, destination: String },
    RemoveRules { rules: Vec<(String, Option<String>)>, behavior: Behavior, destination: String },
    SetMode { mode: String, destination: String },
    AddDirectories { directories: Vec<String>, destination: String },
    RemoveDirectories { directories: Vec<String>, destination: String },
}

const DESTINATIONS: [&str; 5] =
    ["userSettings", "projectSettings", "localSettings", "session", "cliArg"];

/// What is wrong with an update: the path to it, in the words of a schema.
#[derive(Clone, Debug)]
pub(super) struct Wrong(pub(super) Vec<Json>);

impl Update {
    /// Reads a list. One bad entry spoils all of it.
    pub(super) fn read_all(list: &[Json]) -> Result<Vec<Self>, Wrong> {
        let mut updates = Vec::new();
        let mut wrong = Vec::new();
        for (at, entry) in list.iter().enumerate() {
            match Self::read(entry, at) {
                Ok(update) => updates.push(update),
                Err(Wrong(problems)) => wrong.extend(problems),
            }
        }
        if wrong.is_empty() { Ok(updates) } else { Err(Wrong(wrong)) }
    }

    fn read(entry: &Json, at: usize) -> Result<Self, Wrong> {
        let kind = entry.text("type").unwrap_or_default();
        if ![
            "addRules",
            "replaceRules",
            "removeRules",
            "setMode",
            "addDirectories",
            "removeDirectories",
        ]
        .contains(&kind)
        {
            let problem = obj! {
                "code": "invalid_union",
                "errors": Vec::<Json>::new(),
                "note": "No matching discriminator",
                "path": path(at, "type"),
                "message": "Invalid input",
            };
            return Err(Wrong(vec![problem.into()]));
        }
        let mut problems = Vec::new();
        let destination = one_of(entry, at, "destination", &DESTINATIONS, &mut problems);
        let update = match kind {
            "setMode" => {
                let modes: Vec<&str> = MODES.into_iter().filter(|mode| *mode != "auto").collect();
                let mode = entry.text("mode").filter(|mode| *mode == "auto").map(str::to_owned);
                let mode = mode.or_else(|| one_of(entry, at, "mode", &modes, &mut problems));
                mode.zip(destination).map(|(mode, destination)| Self::SetMode { mode, destination })
            }
            "addDirectories" | "removeDirectories" => {
                let directories = strings(entry.get("directories"));
                if directories.is_none() {
                    problems.push(wrong_type(at, "directories", "array"));
                }
                directories.zip(destination).map(|(directories, destination)| {
                    if kind == "addDirectories" {
                        Self::AddDirectories { directories, destination }
                    } else {
                        Self::RemoveDirectories { directories, destination }
                    }
                })
            }
            _ => {
                let behavior =
                    one_of(entry, at, "behavior", &["allow", "deny", "ask"], &mut problems);
                let rules = rules(entry.get("rules"));
                if rules.is_none() {
                    problems.push(wrong_type(at, "rules", "array"));
                }
                let behavior = behavior.and_then(|behavior| Behavior::parse(&behavior));
                rules.zip(behavior).zip(destination).map(|((rules, behavior), destination)| {
                    match kind {
                        "addRules" => Self::AddRules { rules, behavior, destination },
                        "replaceRules" => Self::ReplaceRules { rules, behavior, destination },
                        _ => Self::RemoveRules { rules, behavior, destination },
                    }
                })
            }
        };
        match update {
            Some(update) if problems.is_empty() => Ok(update),
            _ => Err(Wrong(problems)),
        }
    }

    /// Where it is kept.
    fn destination(&self) -> &str {
        match self {
            Self::AddRules { destination, .. }
            | Self::ReplaceRules { destination, .. }
            | Self::RemoveRules { destination, .. }
            | Self::SetMode { destination, .. }
            | Self::AddDirectories { destination, .. }
            | Self::RemoveDirectories { destination, .. } => destination,
        }
    }
}

fn path(at: usize, key: &str) -> Vec<Json> {
    vec!["updatedPermissions".into(), at.into(), key.into()]
}

fn one_of(
    entry: &Json,
    at: usize,
    key: &str,
    allowed: &[&str],
    problems: &mut Vec<Json>,
) -> Option<String> {
    match entry.text(key).filter(|value| allowed.contains(value)) {
        Some(value) => Some(value.to_owned()),
        None => {
            let quoted: Vec<String> = allowed.iter().map(|value| format!("\"{value}\"")).collect();
            let values: Vec<Json> = allowed.iter().map(|value| (*value).into()).collect();
            let problem = obj! {
                "code": "invalid_value",
                "values": values,
                "path": path(at, key),
                "message": format!("Invalid option: expected one of {}", quoted.join("|")),
            };
            problems.push(problem.into());
            None
        }
    }
}

fn wrong_type(at: usize, key: &str, expected: &str) -> Json {
    obj! {
        "expected": expected,
        "code": "invalid_type",
        "path": path(at, key),
        "message": format!("Invalid input: expected {expected}, received undefined"),
    }
    .into()
}

fn strings(list: Option<&Json>) -> Option<Vec<String>> {
    list?.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

fn rules(list: Option<&Json>) -> Option<Vec<(String, Option<String>)>> {
    let rule = |rule: &Json| {
        let tool = rule.text("toolName")?.to_owned();
        Some((tool, rule.text("ruleContent").map(str::to_owned)))
    };
    list?.as_array()?.iter().map(rule).collect()
}

impl Sim {
    /// Applies changes, one after the other.
    pub(crate) fn apply_updates(&self, updates: &[Update]) {
        for update in updates {
            if let Update::SetMode { mode, destination } = update {
                let allowed = mode != "bypassPermissions"
                    || !self.profile.guards_bypass
                    || self.permissions.borrow().bypass_available;
                // A mode that may not be chosen is not kept either.
                if allowed {
                    if self.permissions.borrow_mut().set_mode(Some(mode), Entry::Update) {
                        self.emit_mode();
                    }
                    self.write_settings(update, destination);
                }
                continue;
            }
            let destination = update.destination();
            let holds = match destination {
                "session" | "cliArg" => true,
                source => self.settings.borrow().reads(source) && self.trusts(source),
            };
            self.permissions.borrow_mut().apply(update, holds);
            self.write_settings(update, destination);
            if !holds {
                self.warn_of_distrust(destination);
            }
        }
    }

    /// Settings of a workspace that nobody has trusted do not allow anything.
    fn trusts(&self, source: &str) -> bool {
        match source {
            "userSettings" => true,
            "localSettings" => self.profile.trusts_local,
            _ => self.profile.trusts_project,
        }
    }

    /// Says, once, that rules of a workspace that nobody has trusted do not hold.
    fn warn_of_distrust(&self, source: &str) {
        let read = self.settings.borrow().reads(source);
        if !read || !self.profile.tells_distrust || self.life.warned_of_distrust.get() {
            return;
        }
        let Some(path) = self.settings_file(source) else { return };
        let (_, permissions) = kept(&path);
        let count = strings(permissions.get("allow")).unwrap_or_default().len();
        if count == 0 {
            return;
        }
        self.life.warned_of_distrust.set(true);
        let entries = if count == 1 { "entry" } else { "entries" };
        let file = path.strip_prefix(&self.env.cwd).unwrap_or(&path).display();
        let (work, home) = (self.env.cwd.display(), self.env.home.display());
        complain(&format!(
            "Ignoring {count} permissions.allow {entries} from {file}: this workspace has not been trusted. Run Claude Code interactively here once and accept the trust dialog, or set projects[\"{work}\"].hasTrustDialogAccepted: true in {home}/.claude.json."
        ));
    }

    fn settings_file(&self, source: &str) -> Option<PathBuf> {
        match source {
            "userSettings" => Some(self.env.config_home.join("settings.json")),
            "projectSettings" => Some(self.env.cwd.join(".claude/settings.json")),
            "localSettings" => Some(self.env.cwd.join(".claude/settings.local.json")),
            _ => None,
        }
    }

    fn write_settings(&self, update: &Update, destination: &str) {
        let Some(path) = self.settings_file(destination) else { return };
        let (mut settings, mut permissions) = kept(&path);
        change(&mut permissions, update);
        settings.set("permissions", permissions);
        // A settings file that cannot be written is lost; the CLI goes on.
        if let Some(folder) = path.parent()
            && fs::create_dir_all(folder).is_ok()
            && let Ok(text) = serde_json::to_string_pretty(&Json::from(settings))
        {
            drop(fs::write(&path, text));
        }
    }
}

/// The settings in a file, and the permissions among them; none where it is missing or broken.
fn kept(path: &Path) -> (Object, Object) {
    let text = fs::read_to_string(path).unwrap_or_default();
    let Some(Json::Object(settings)) = Json::parse(&text) else { return Default::default() };
    let permissions = match settings.get("permissions") {
        Some(Json::Object(permissions)) => permissions.clone(),
        _ => Object::default(),
    };
    (settings, permissions)
}

fn change(permissions: &mut Object, update: &Update) {
    let text = |(tool, content): &(String, Option<String>)| match content {
        Some(content) => format!("{tool}({content})"),
        None => tool.clone(),
    };
    let listed = |permissions: &Object, key: &str| -> Vec<String> {
        strings(permissions.get(key)).unwrap_or_default()
    };
    match update {
        Update::SetMode { mode, .. } => permissions.set("defaultMode", mode.as_str()),
        Update::AddRules { rules, behavior, .. } => {
            let mut list = listed(permissions, behavior.name());
            for rule in rules.iter().map(text) {
                if !list.contains(&rule) {
                    list.push(rule);
                }
            }
            permissions.set(behavior.name(), list);
        }
        Update::ReplaceRules { rules, behavior, .. } => {
            let list: Vec<String> = rules.iter().map(text).collect();
            permissions.set(behavior.name(), list);
        }
        Update::RemoveRules { rules, behavior, .. } => {
            let gone: Vec<String> = rules.iter().map(text).collect();
            let mut list = listed(permissions, behavior.name());
            list.retain(|rule| !gone.contains(rule));
            permissions.set(behavior.name(), list);
        }
        Update::AddDirectories { directories, .. } => {
            let mut list = listed(permissions, "additionalDirectories");
            list.extend(
                directories.iter().filter(|dir| !list.contains(dir)).cloned().collect::<Vec<_>>(),
            );
            permissions.set("additionalDirectories", list);
        }
        Update::RemoveDirectories { directories, .. } => {
            let mut list = listed(permissions, "additionalDirectories");
            list.retain(|dir| !directories.contains(dir));
            permissions.set("additionalDirectories", list);
        }
    }
}
