//! The decision about one call.

use std::path::{Path, PathBuf};

use super::{Behavior, Permissions, Rule, suggest_rule};
use crate::sim::json::{Json, Object, obj};
use crate::sim::state::Sim;

/// What is decided.
#[derive(Clone, Debug)]
pub(crate) enum Decision {
    /// It may run: what for, and whether a person has said so in this session.
    Allow(Option<&'static str>, Granted),
    /// Somebody has to be asked.
    Ask(Ask),
    /// It may not run.
    Deny(Denial),
}

/// Who has allowed or forbidden something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Granted {
    /// The settings, or the mode.
    Config,
    /// A person, by a rule of this session.
    Session,
}

/// A question to the client.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ask {
    pub(crate) suggestions: Option<Vec<Json>>,
    pub(crate) blocked_path: Option<PathBuf>,
    pub(crate) reason: Option<String>,
    pub(crate) reason_type: Option<&'static str>,
    /// Whether the question is the policy's alone; not told for all tools.
    pub(crate) policy_ask: bool,
    pub(crate) requires_user: bool,
    pub(crate) classifier_approvable: Option<bool>,
    pub(crate) never_for_good: bool,
    pub(crate) rule_source: Option<String>,
    pub(crate) matched_ask_rule: Option<Object>,
    pub(crate) by_hook: bool,
    /// What the model is told when nobody can be asked.
    pub(crate) refusal: String,
}

/// A refusal that nobody is asked about.
#[derive(Clone, Debug)]
pub(crate) struct Denial {
    pub(crate) message: String,
    /// The same, when it is shown as an error of the tool.
    pub(crate) as_tool_error: bool,
    pub(crate) reason: Option<String>,
    pub(crate) reason_type: Option<&'static str>,
    pub(crate) reason_code: Option<&'static str>,
    /// How newer versions call it.
    pub(crate) kind: &'static str,
    pub(crate) told_reason_type: Option<&'static str>,
    /// Who has forbidden it.
    pub(crate) by: Granted,
}

impl Denial {
    /// A deny rule says so; what it covers gives the type of the reason.
    fn by_rule(rule: &Rule, reason_type: &'static str, message: String) -> Self {
        Self {
            message,
            as_tool_error: false,
            reason: None,
            reason_type: Some(reason_type),
            reason_code: None,
            kind: "permission-rule",
            told_reason_type: Some(reason_type),
            by: by_whom(rule),
        }
    }
}

impl Sim {
    /// Decides about a call.
    pub(crate) fn decide(&self, tool: &str, input: &Json) -> Decision {
        let permissions = self.permissions.borrow();
        if let Some(denial) = self.forbidden(&permissions, tool, input) {
            return Decision::Deny(denial);
        }
        let decision = self.check_tool(&permissions, tool, input);
        self.apply_mode(&permissions, tool, input, decision)
    }

    /// A deny rule, which holds in every mode.
    fn forbidden(&self, permissions: &Permissions, tool: &str, input: &Json) -> Option<Denial> {
        let deny = |fits: &dyn Fn(&Rule) -> bool| permissions.find(Behavior::Deny, fits);
        // A rule that came during the turn: before, the tool would not have been on offer.
        if let Some(rule) = deny(&|rule| rule.content.is_none() && rule.tool == tool) {
            let message = format!("Permission to use {tool} has been denied.");
            return Some(Denial::by_rule(rule, "rule", message));
        }
        if tool == "Bash" {
            let command = input.text("command").unwrap_or_default();
            let line = self.look_at_command(command);
            let found = line
                .parts
                .iter()
                .find_map(|part| deny(&|rule| rule.covers_command(&part.text)))
                .or_else(|| deny(&|rule| rule.covers_command(command)));
            let message = format!("Permission to use Bash with command {command} has been denied.");
            return found.map(|rule| Denial::by_rule(rule, "subcommandResults", message));
        }
        let path = file_of(tool, input).map(|path| self.env.absolute(path))?;
        let message = "File is in a directory that is denied by your permission settings.";
        deny(&|rule| rule.covers_path(&self.env, tool, &path)).map(|rule| Denial {
            as_tool_error: true,
            ..Denial::by_rule(rule, "rule", message.to_owned())
        })
    }

    /// What the tool itself says, without the mode.
    fn check_tool(&self, permissions: &Permissions, tool: &str, input: &Json) -> Decision {
        let question = match tool {
            "AskUserQuestion" => Some("Answer questions?"),
            "ExitPlanMode" => Some("Exit plan mode?"),
            _ => None,
        };
        if let Some(question) = question {
            let refusal = question.to_owned();
            return Decision::Ask(Ask { requires_user: true, refusal, ..Ask::default() });
        }
        match tool {
            "Bash" => return self.check_command(permissions, input),
            "Write" | "Edit" | "NotebookEdit" => return self.check_write(permissions, tool, input),
            "Read" | "Glob" | "Grep" => return self.check_read(permissions, tool, input),
            _ => {}
        }
        if let Some(rule) = permissions.find(Behavior::Ask, |rule| rule.covers_tool(tool)) {
            return Decision::Ask(self.by_rule(rule, tool));
        }
        if let Some(rule) = permissions.find(Behavior::Allow, |rule| rule.covers_tool(tool)) {
            return by_allow_rule(rule);
        }
        match tool {
            "WebFetch" => {
                let url = input.text("url").unwrap_or_default();
                let host = host_of(url);
                if permissions.find(Behavior::Allow, |rule| rule.covers_domain(host)).is_some() {
                    return Decision::Allow(Some("rule"), Granted::Config);
                }
                let suggestion = obj! {
                    "type": "addRules",
                    "destination": "localSettings",
                    "rules": vec![Rule::value(tool, Some(&format!("domain:{host}")))],
                    "behavior": "allow",
                };
                Decision::Ask(Ask {
                    suggestions: Some(vec![suggestion.into()]),
                    refusal: not_granted("use WebFetch"),
                    ..Ask::default()
                })
            }
            "WebSearch" => Decision::Ask(Ask {
                suggestions: self
                    .profile
                    .suggests_web_search
                    .then(|| vec![suggest_rule(vec![Rule::value(tool, None)], "localSettings")]),
                refusal: not_granted("use WebSearch"),
                ..Ask::default()
            }),
            "Skill" if self.profile.asks_for_skills => {
                let skill = input.text("skill").unwrap_or_default();
                let rule = |content: String| {
                    suggest_rule(vec![Rule::value(tool, Some(&content))], "localSettings")
                };
                Decision::Ask(Ask {
                    suggestions: Some(vec![rule(skill.to_owned()), rule(format!("{skill}:*"))]),
                    refusal: not_granted("use Skill"),
                    ..Ask::default()
                })
            }
            tool if tool.starts_with("mcp__") => Decision::Ask(Ask {
                suggestions: Some(vec![suggest_rule(
                    vec![Rule::value(tool, None)],
                    "localSettings",
                )]),
                policy_ask: true,
                refusal: not_granted(&format!("use {tool}")),
                ..Ask::default()
            }),
            _ => Decision::Allow(None, Granted::Config),
        }
    }

    /// A rule wants somebody to be asked.
    pub(super) fn by_rule(&self, rule: &Rule, tool: &str) -> Ask {
        Ask {
            reason_type: Some("rule"),
            rule_source: Some(rule.source.clone()),
            refusal: not_granted(&format!("use {tool}")),
            ..Ask::default()
        }
    }
}

fn by_whom(rule: &Rule) -> Granted {
    if rule.source == "session" { Granted::Session } else { Granted::Config }
}

pub(super) fn by_allow_rule(rule: &Rule) -> Decision {
    let granted = by_whom(rule);
    Decision::Allow(Some("rule"), granted)
}

pub(super) fn not_granted(what: &str) -> String {
    format!("Claude requested permissions to {what}, but you haven't granted it yet.")
}

pub(super) fn accept_edits() -> Json {
    obj! { "type": "setMode", "mode": "acceptEdits", "destination": "session" }.into()
}

pub(super) fn add_directory(path: &Path) -> Json {
    let folder = path.parent().unwrap_or(path).display().to_string();
    obj! { "type": "addDirectories", "directories": vec![folder], "destination": "session" }.into()
}

/// The file that a call is about.
pub(super) fn file_of<'a>(tool: &str, input: &'a Json) -> Option<&'a str> {
    match tool {
        "NotebookEdit" => input.text("notebook_path"),
        "Read" | "Write" | "Edit" => input.text("file_path"),
        "Glob" | "Grep" => Some(input.text("path").unwrap_or(".")),
        _ => None,
    }
}

fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', ':', '?']).next().unwrap_or(rest)
}
