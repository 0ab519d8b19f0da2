//! May a tool run? The mode, the rules, and what the tool would do.

mod answer;
mod command;
mod commands;
mod decide;
mod modes;
mod paths;
mod rules;
mod update;
mod zod;

use std::path::{Path, PathBuf};

use super::args::Args;
use super::env::Env;
use super::json::{Json, Object};
use super::profile::Profile;
use super::settings::Settings;

pub(crate) use self::answer::{Answered, read_answer};
pub(crate) use self::command::words;
pub(crate) use self::decide::{Ask, Decision, Denial, Granted};
pub(crate) use self::rules::{Behavior, Rule};
pub(crate) use self::update::Update;
pub(crate) use self::zod::input_problems;

/// The modes that there are.
pub(crate) const MODES: [&str; 6] =
    ["acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan"];

/// How a mode came about. For plan mode it makes a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The session began with it.
    Start,
    /// The client asked for it.
    Request,
    /// The model entered it with a tool.
    Tool,
    /// A permission answer set it.
    Update,
}

/// What is allowed in a session.
#[derive(Clone, Debug)]
pub(crate) struct Permissions {
    /// The mode. Older versions take any text, and even nothing.
    mode: Option<String>,
    /// The mode before plan mode.
    before_plan: Option<String>,
    /// That mode is only noted when the model enters plan mode.
    only_tool_notes_mode: bool,
    /// How plan mode was entered.
    plan_entry: Entry,
    /// `bypassPermissions` may be chosen.
    pub(crate) bypass_available: bool,
    rules: Vec<Rule>,
    /// Folders besides the working directory, and where they come from.
    dirs: Vec<(PathBuf, String)>,
}

impl Permissions {
    /// The permissions at the start.
    pub(crate) fn new(profile: &Profile, args: &Args, env: &Env, settings: &Settings) -> Self {
        let flags = |texts: &[String], behavior| -> Vec<Rule> {
            texts.iter().map(|text| Rule::parse(behavior, "cliArg", text)).collect()
        };
        let mut rules = flags(&args.allowed_tools, Behavior::Allow);
        rules.extend(flags(&args.disallowed_tools, Behavior::Deny));
        rules.extend(settings.rules());
        let asked = args.permission_mode.clone().or_else(|| settings.default_mode());
        let mode = if args.skip_permissions { Some("bypassPermissions".to_owned()) } else { asked };
        let mode = mode.unwrap_or_else(|| "default".to_owned());
        let bypass_available =
            args.skip_permissions || args.allow_skip_permissions || mode == "bypassPermissions";
        let dirs = args
            .add_dirs
            .iter()
            .map(|dir| (env.absolute(&dir.to_string_lossy()), "cliArg".to_owned()));
        Self {
            mode: Some(mode),
            before_plan: None,
            only_tool_notes_mode: profile.only_tool_notes_mode,
            plan_entry: Entry::Start,
            bypass_available,
            rules,
            dirs: dirs.collect(),
        }
    }

    /// The mode as it acts: one that nobody knows acts like none.
    pub(crate) fn mode(&self) -> &str {
        self.mode.as_deref().filter(|mode| MODES.contains(mode)).unwrap_or("default")
    }

    /// The mode as it is told.
    pub(crate) fn told_mode(&self) -> Json {
        self.mode.clone().into()
    }

    /// Whether it is `default` itself, and not something unknown that acts like it.
    fn is_plain(&self) -> bool {
        self.mode.as_deref() == Some("default")
    }

    /// Whether this is plan mode, and the default one comes back after it.
    fn returns_plain(&self) -> bool {
        self.mode() == "plan" && self.before_plan.as_deref().is_none_or(|mode| mode == "default")
    }

    /// Sets the mode. False when it was this already.
    pub(crate) fn set_mode(&mut self, mode: Option<&str>, entry: Entry) -> bool {
        if self.mode.as_deref() == mode {
            return false;
        }
        if mode == Some("plan") {
            if entry == Entry::Tool || !self.only_tool_notes_mode {
                self.before_plan.clone_from(&self.mode);
            }
            self.plan_entry = entry;
        }
        self.mode = mode.map(str::to_owned);
        true
    }

    /// Leaves plan mode for the mode before it.
    pub(crate) fn leave_plan(&mut self) {
        let before = self.before_plan.take().unwrap_or_else(|| "default".to_owned());
        self.mode = Some(before);
    }

    /// Tools that a rule forbids as a whole: they are not there at all, unless the rule came with an
    /// answer of the session, which refuses their calls one by one.
    pub(crate) fn denied_tools(&self) -> Vec<String> {
        let denied = self.rules.iter().filter(|rule| {
            rule.behavior == Behavior::Deny && rule.content.is_none() && rule.source != "session"
        });
        denied.map(|rule| rule.tool.clone()).collect()
    }

    /// The rules.
    pub(crate) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Puts other rules in place of those of a source.
    pub(crate) fn replace_source(&mut self, source: &str, rules: Vec<Rule>) {
        self.rules.retain(|rule| rule.source != source);
        self.rules.extend(rules);
    }

    /// Folders besides the working directory.
    pub(crate) fn extra_dirs(&self) -> impl Iterator<Item = &Path> {
        self.dirs.iter().map(|(dir, _)| dir.as_path())
    }

    /// Folders besides the working directory, with where they come from.
    pub(crate) fn dirs(&self) -> &[(PathBuf, String)] {
        &self.dirs
    }

    fn is_inside(&self, env: &Env, path: &Path) -> bool {
        path.starts_with(&env.cwd) || self.extra_dirs().any(|dir| path.starts_with(dir))
    }

    fn find(&self, behavior: Behavior, fits: impl Fn(&Rule) -> bool) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.behavior == behavior && fits(rule))
    }

    /// Applies an update of the session. Files are somebody else's business.
    pub(crate) fn apply(&mut self, update: &Update, holds: bool) {
        match update {
            Update::AddRules { rules, behavior, destination } if holds => {
                for (tool, content) in rules {
                    let rule = Rule {
                        behavior: *behavior,
                        source: destination.clone(),
                        tool: tool.clone(),
                        content: content.clone(),
                    };
                    if !self.rules.contains(&rule) {
                        self.rules.push(rule);
                    }
                }
            }
            Update::ReplaceRules { rules, behavior, destination } if holds => {
                self.rules.retain(|rule| rule.source != *destination || rule.behavior != *behavior);
                let add = Update::AddRules {
                    rules: rules.clone(),
                    behavior: *behavior,
                    destination: destination.clone(),
                };
                self.apply(&add, true);
            }
            Update::RemoveRules { rules, behavior, destination } => self.rules.retain(|rule| {
                let listed = rules
                    .iter()
                    .any(|(tool, content)| *tool == rule.tool && *content == rule.content);
                !(listed && rule.behavior == *behavior && rule.source == *destination)
            }),
            Update::AddDirectories { directories, destination } => {
                for dir in directories {
                    let dir = PathBuf::from(dir);
                    if !self.dirs.iter().any(|(known, _)| *known == dir) {
                        self.dirs.push((dir, destination.clone()));
                    }
                }
            }
            Update::RemoveDirectories { directories, .. } => {
                self.dirs.retain(|(dir, _)| {
                    !directories.iter().any(|gone| dir.as_path() == Path::new(gone))
                });
            }
            Update::AddRules { .. } | Update::ReplaceRules { .. } | Update::SetMode { .. } => {}
        }
    }
}

/// A suggestion to allow something for good.
fn suggest_rule(rules: Vec<Object>, destination: &str) -> Json {
    let mut suggestion = Object::default();
    suggestion.set("type", "addRules");
    suggestion.set("rules", rules);
    suggestion.set("behavior", "allow");
    suggestion.set("destination", destination);
    suggestion.into()
}
