//! The decision about one call.

use std::path::{Path, PathBuf};

use super::command::{Does, Line, Opaque, Part, look_at, rule_for};
use super::{Behavior, Permissions, Rule, suggest_rule};
use crate::sim::json::{Json, Object, obj};
use crate::sim::profile::{PlanCommands, Release};
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

/// Who has allowed something.
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
}

const WORKAROUND: &str = "IMPORTANT: You *may* attempt to accomplish this action using other tools that might naturally be used to accomplish this goal, e.g. using head instead of cat. But you *should not* attempt to work around this denial in malicious ways, e.g. do not use your ability to run tests to execute non-test actions. You should only try to work around this restriction in reasonable ways that do not attempt to bypass the intent behind this denial. If you believe this capability is essential to complete the user's request, STOP and explain to the user what you were trying to do and why you need this permission. Let the user decide how to proceed.";

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
        if tool == "Bash" {
            let command = input.text("command").unwrap_or_default();
            let line = self.look_at_command(command);
            let found = line
                .parts
                .iter()
                .any(|part| deny(&|rule| rule.covers_command(&part.text)).is_some())
                || deny(&|rule| rule.covers_command(command)).is_some();
            return found.then(|| Denial {
                message: format!("Permission to use Bash with command {command} has been denied."),
                as_tool_error: false,
                reason: None,
                reason_type: Some("subcommandResults"),
                reason_code: None,
                kind: "permission-rule",
                told_reason_type: Some("subcommandResults"),
            });
        }
        let path = file_of(tool, input).map(|path| self.env.absolute(path))?;
        deny(&|rule| rule.covers_path(&self.env, tool, &path)).map(|_| Denial {
            message: "File is in a directory that is denied by your permission settings."
                .to_owned(),
            as_tool_error: true,
            reason: None,
            reason_type: Some("rule"),
            reason_code: None,
            kind: "permission-rule",
            told_reason_type: Some("rule"),
        })
    }

    /// What the tool itself says, without the mode.
    fn check_tool(&self, permissions: &Permissions, tool: &str, input: &Json) -> Decision {
        if matches!(tool, "AskUserQuestion" | "ExitPlanMode") {
            return Decision::Ask(Ask {
                requires_user: true,
                refusal: not_granted(&format!("use {tool}")),
                ..Ask::default()
            });
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
                suggestions: (self.profile.release > Release::V62)
                    .then(|| vec![suggest_rule(vec![Rule::value(tool, None)], "localSettings")]),
                refusal: not_granted("use WebSearch"),
                ..Ask::default()
            }),
            "Skill" if self.profile.release == Release::V197 => {
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

    fn by_rule(&self, rule: &Rule, tool: &str) -> Ask {
        Ask {
            reason_type: Some("rule"),
            rule_source: Some(rule.source.clone()),
            refusal: not_granted(&format!("use {tool}")),
            ..Ask::default()
        }
    }

    fn check_read(&self, permissions: &Permissions, tool: &str, input: &Json) -> Decision {
        let path = self.env.absolute(file_of(tool, input).unwrap_or("."));
        if let Some(rule) = permissions.find(Behavior::Ask, |rule| {
            rule.covers_path(&self.env, tool, &path) || rule.covers_tool(tool)
        }) {
            return Decision::Ask(self.by_rule(rule, tool));
        }
        if permissions.is_inside(&self.env, &path) || self.is_own_file(&path) {
            return Decision::Allow(Some("mode"), Granted::Config);
        }
        let allowed = permissions.find(Behavior::Allow, |rule| {
            rule.covers_path(&self.env, tool, &path) || rule.covers_tool(tool)
        });
        if let Some(rule) = allowed {
            return by_allow_rule(rule);
        }
        let folder = path.parent().unwrap_or(&path).display().to_string();
        let pattern = format!("/{}/**", folder.trim_end_matches('/'));
        Decision::Ask(Ask {
            suggestions: Some(vec![suggest_rule(
                vec![Rule::value("Read", Some(&pattern))],
                "session",
            )]),
            reason: Some("Path is outside allowed working directories".to_owned()),
            reason_type: Some("workingDir"),
            policy_ask: true,
            refusal: not_granted(&format!("read from {}", path.display())),
            ..Ask::default()
        })
    }

    fn check_write(&self, permissions: &Permissions, tool: &str, input: &Json) -> Decision {
        let path = self.env.absolute(file_of(tool, input).unwrap_or("."));
        if self.plan.borrow().is_plan_file(&path) {
            return Decision::Allow(Some("other"), Granted::Config);
        }
        let mode = permissions.mode();
        let ask_rule = permissions.find(Behavior::Ask, |rule| {
            rule.covers_path(&self.env, tool, &path) || rule.covers_tool(tool)
        });
        let from_bypass = permissions.before_plan.as_deref() == Some("bypassPermissions");
        let plan_asks =
            mode == "plan" && (!from_bypass || self.profile.plan_guards_files_from_bypass);
        let allowed = permissions.find(Behavior::Allow, |rule| {
            rule.covers_path(&self.env, tool, &path) || rule.covers_tool(tool)
        });
        if let Some(rule) = ask_rule.filter(|_| !(plan_asks && self.profile.internals)) {
            // The newest version tells the rule in another place when there would be a question
            // without it, too.
            if self.profile.internals && allowed.is_none() && mode != "acceptEdits" {
                let matched = obj! { "source": &rule.source, "tool_name": &rule.tool };
                let refusal = not_granted(&format!("write to {}", path.display()));
                return Decision::Ask(Ask {
                    matched_ask_rule: Some(matched),
                    refusal,
                    ..Ask::default()
                });
            }
            return Decision::Ask(self.by_rule(rule, tool));
        }
        if plan_asks && self.profile.rich_asks {
            let matched =
                ask_rule.map(|rule| obj! { "source": &rule.source, "tool_name": &rule.tool });
            return Decision::Ask(Ask {
                reason_type: Some("mode"),
                matched_ask_rule: matched,
                refusal: format!("Cannot write to {} while in plan mode.", path.display()),
                ..Ask::default()
            });
        }
        let inside = permissions.is_inside(&self.env, &path);
        let sensitive = self.sensitive(&path);
        if let Some(rule) = allowed.filter(|_| sensitive.is_none()) {
            return by_allow_rule(rule);
        }
        if mode == "acceptEdits" && inside && sensitive.is_none() {
            return Decision::Allow(Some("mode"), Granted::Config);
        }
        let mut suggestions = Vec::new();
        if permissions.is_plain() || self.profile.release == Release::V62 {
            suggestions.push(accept_edits());
        }
        if !inside {
            suggestions.push(add_directory(&path));
        }
        let refusal = not_granted(&format!("write to {}", path.display()));
        let outside = "Path is outside allowed working directories".to_owned();
        Decision::Ask(Ask {
            suggestions: Some(suggestions),
            reason: sensitive.clone().or_else(|| (!inside).then_some(outside)),
            reason_type: match (&sensitive, inside) {
                (Some(_), _) => Some("safetyCheck"),
                (None, false) => Some("workingDir"),
                (None, true) => None,
            },
            classifier_approvable: sensitive.as_ref().map(|_| true),
            policy_ask: tool != "NotebookEdit",
            refusal,
            ..Ask::default()
        })
    }

    /// Why a file is not to be written without a word.
    fn sensitive(&self, path: &Path) -> Option<String> {
        let name = path.file_name()?.to_string_lossy();
        let inside = |folder: &str| path.components().any(|part| part.as_os_str() == folder);
        let shell = [
            ".bashrc",
            ".bash_profile",
            ".zshrc",
            ".zprofile",
            ".profile",
            ".gitconfig",
            ".mcp.json",
            ".ripgreprc",
        ];
        let shown = path.display();
        if inside(".claude") && matches!(name.as_ref(), "settings.json" | "settings.local.json") {
            return Some(not_granted(&format!("write to {shown}")));
        }
        (inside(".git") || inside(".vscode") || inside(".idea") || shell.contains(&name.as_ref()))
            .then(|| {
                format!("Claude requested permissions to edit {shown} which is a sensitive file.")
            })
    }

    /// What the CLI keeps for itself may be read.
    fn is_own_file(&self, path: &Path) -> bool {
        path.starts_with(self.env.config_home.join("plans"))
            || path.starts_with(self.env.project_folder(&self.env.cwd))
            || self.background.borrow().owns(path)
    }

    fn look_at_command(&self, command: &str) -> Line {
        let release = self.profile.release;
        look_at(&self.env, command, release > Release::V62, release > Release::V197)
    }

    fn check_command(&self, permissions: &Permissions, input: &Json) -> Decision {
        let command = input.text("command").unwrap_or_default();
        let line = self.look_at_command(command);
        let whole = |behavior: Behavior| {
            permissions
                .find(behavior, |rule| rule.covers_command(command) || rule.covers_tool("Bash"))
        };
        let ask = whole(Behavior::Ask).or_else(|| {
            permissions.find(Behavior::Ask, |rule| {
                line.parts.iter().any(|part| rule.covers_command(&part.text))
            })
        });
        if let Some(rule) = ask {
            return Decision::Ask(self.by_rule(rule, "Bash"));
        }
        if whole(Behavior::Allow).is_some_and(|rule| rule.content.is_none()) {
            return Decision::Allow(Some("rule"), Granted::Config);
        }
        let exact = permissions.find(Behavior::Allow, |rule| {
            rule.content.as_deref() == Some(command) && rule.tool == "Bash"
        });
        if exact.is_some() && self.profile.command_rules_cover_paths {
            return Decision::Allow(Some("rule"), Granted::Config);
        }
        if let Some(opaque) = line.opaque {
            return self.check_opaque(command, opaque);
        }
        let mut open: Vec<(&Part, Option<Ask>)> = Vec::new();
        for part in &line.parts {
            if let Does::Endangers(path) = &part.does {
                return Decision::Ask(dangerous(self, path));
            }
            match self.check_part(permissions, command, part) {
                Verdict::Fine => {}
                Verdict::Path(ask) => open.push((part, Some(*ask))),
                Verdict::Unknown => open.push((part, None)),
            }
        }
        self.sum_up(&line, open)
    }

    fn sum_up(&self, line: &Line, open: Vec<(&Part, Option<Ask>)>) -> Decision {
        let by_prefix = self.profile.release > Release::V62;
        let only_paths = open.iter().all(|(_, ask)| ask.is_some());
        let old = self.profile.release == Release::V62;
        let single = open.len() == 1;
        let texts: Vec<String> = open.iter().map(|(part, _)| part.text.clone()).collect();
        let path_ask = open.into_iter().find_map(|(_, ask)| ask);
        match path_ask {
            Some(ask) if old || (single && only_paths) => return Decision::Ask(ask),
            _ if texts.is_empty() => {
                return Decision::Allow(Some("subcommandResults"), Granted::Config);
            }
            _ => {}
        }
        let rules = texts
            .iter()
            .map(|text| Rule::value("Bash", Some(&rule_for(text, by_prefix))))
            .collect();
        let suggestions = Some(vec![suggest_rule(rules, "localSettings")]);
        if line.parts.len() == 1 {
            return Decision::Ask(Ask {
                suggestions,
                reason: Some("This command requires approval".to_owned()),
                reason_type: Some("other"),
                refusal: "This command requires approval".to_owned(),
                ..Ask::default()
            });
        }
        let (noun, verb) =
            if texts.len() == 1 { ("part", "requires") } else { ("parts", "require") };
        Decision::Ask(Ask {
            suggestions,
            reason_type: Some("subcommandResults"),
            refusal: format!(
                "This Bash command contains multiple operations. The following {noun} {verb} approval: {}",
                texts.join(", ")
            ),
            ..Ask::default()
        })
    }

    fn check_opaque(&self, command: &str, opaque: Opaque) -> Decision {
        let (reason, suggestions) = match (self.profile.release, opaque) {
            (Release::V325, Opaque::Variable) => {
                ("A variable in this command can't be checked before it runs", Some(Vec::new()))
            }
            (Release::V325, _) => (
                "A nested command in this command can't be checked before it runs",
                Some(Vec::new()),
            ),
            (Release::V197, Opaque::Variable) => ("Contains simple_expansion", Some(Vec::new())),
            (Release::V197, _) => ("Contains command_substitution", Some(Vec::new())),
            (Release::V62, Opaque::Variable) => {
                let rule = suggest_rule(vec![Rule::value("Bash", Some(command))], "localSettings");
                ("This command requires approval", Some(vec![rule]))
            }
            (Release::V62, Opaque::Dollar) => ("Command contains $() command substitution", None),
            (Release::V62, Opaque::Backtick) => {
                ("Command contains backticks (`) for command substitution", Some(Vec::new()))
            }
        };
        Decision::Ask(Ask {
            suggestions,
            reason: Some(reason.to_owned()),
            reason_type: Some("other"),
            refusal: reason.to_owned(),
            ..Ask::default()
        })
    }

    fn check_part(&self, permissions: &Permissions, command: &str, part: &Part) -> Verdict {
        let by_rule =
            permissions.find(Behavior::Allow, |rule| rule.covers_command(&part.text)).is_some();
        match &part.does {
            Does::Looks => Verdict::Fine,
            Does::Endangers(_) => Verdict::Unknown,
            Does::Anything if by_rule => Verdict::Fine,
            Does::Anything => Verdict::Unknown,
            Does::Reads(path) => {
                let allowed = by_rule && self.profile.command_rules_cover_paths;
                let readable = permissions.is_inside(&self.env, path)
                    || permissions
                        .find(Behavior::Allow, |rule| rule.covers_path(&self.env, "Read", path))
                        .is_some();
                if allowed || readable {
                    return Verdict::Fine;
                }
                let folder =
                    if path.is_dir() { path.as_path() } else { path.parent().unwrap_or(path) };
                let pattern = format!("/{}/**", folder.display());
                let read = suggest_rule(vec![Rule::value("Read", Some(&pattern))], "session");
                Verdict::Path(Box::new(self.path_ask(command, path, vec![read], "read")))
            }
            Does::Writes { path, name, redirected } => {
                if by_rule && self.profile.command_rules_cover_paths {
                    return Verdict::Fine;
                }
                if permissions
                    .find(Behavior::Allow, |rule| rule.covers_path(&self.env, "Edit", path))
                    .is_some()
                {
                    return if by_rule || *redirected { Verdict::Fine } else { Verdict::Unknown };
                }
                if permissions.mode() == "acceptEdits" && permissions.is_inside(&self.env, path) {
                    return Verdict::Fine;
                }
                let mut suggestions = vec![add_directory(path)];
                let returns_plain = permissions.mode() == "plan"
                    && permissions.before_plan.as_deref().is_none_or(|mode| mode == "default");
                let offers =
                    permissions.is_plain() || returns_plain || self.profile.release == Release::V62;
                if offers && !redirected {
                    suggestions.push(accept_edits());
                }
                Verdict::Path(Box::new(self.path_ask(command, path, suggestions, name)))
            }
        }
    }

    fn path_ask(&self, command: &str, path: &Path, mut suggestions: Vec<Json>, name: &str) -> Ask {
        if self.profile.release > Release::V62 {
            let shown = command.split(" >").next().unwrap_or(command);
            let rule =
                if command.contains(';') { command.to_owned() } else { rule_for(shown, true) };
            suggestions
                .insert(0, suggest_rule(vec![Rule::value("Bash", Some(&rule))], "localSettings"));
        }
        let (shown, cwd) = (path.display(), self.env.cwd.display());
        let refusal = if self.profile.internals && path.starts_with(&self.env.cwd) {
            format!(
                "{name} in '{shown}' needs approval. The path is inside the working directories for this session ('{cwd}'), and Claude Code asks before a shell command creates, changes or removes files there."
            )
        } else {
            format!(
                "{name} in '{shown}' was blocked. For security, Claude Code may only create or modify files in the allowed working directories for this session: '{cwd}'."
            )
        };
        Ask {
            suggestions: Some(suggestions),
            blocked_path: Some(path.to_path_buf()),
            refusal,
            ..Ask::default()
        }
    }

    fn apply_mode(
        &self,
        permissions: &Permissions,
        tool: &str,
        input: &Json,
        decision: Decision,
    ) -> Decision {
        let ask = match decision {
            Decision::Ask(ask) => ask,
            Decision::Allow(..) if permissions.mode() == "bypassPermissions" => {
                return Decision::Allow(Some("mode"), Granted::Config);
            }
            other => return other,
        };
        let mode = permissions.mode();
        if mode == "dontAsk" {
            return Decision::Deny(Denial {
                message: format!(
                    "Permission to use {tool} has been denied because Claude Code is running in don't ask mode. {WORKAROUND}"
                ),
                as_tool_error: false,
                reason: None,
                reason_type: Some("mode"),
                reason_code: None,
                kind: "permission-rule",
                told_reason_type: Some("mode"),
            });
        }
        if ask.requires_user {
            return Decision::Ask(ask);
        }
        let by_rule = ask.reason_type == Some("rule") || ask.matched_ask_rule.is_some();
        let endangers =
            ask.classifier_approvable == Some(false) && self.profile.bypass_keeps_safety;
        let from_bypass = mode == "plan"
            && permissions.before_plan.as_deref() == Some("bypassPermissions")
            && !self.profile.plan_guards_files_from_bypass;
        if (mode == "bypassPermissions" || from_bypass) && !by_rule && !endangers {
            return Decision::Allow(Some("mode"), Granted::Config);
        }
        if self.auto_decides(permissions, tool) && !by_rule {
            return self.decide_in_auto(permissions, tool, input, ask);
        }
        Decision::Ask(ask)
    }

    /// Whether auto mode decides about this tool now.
    fn auto_decides(&self, permissions: &Permissions, tool: &str) -> bool {
        let file_tool = matches!(tool, "Write" | "Edit" | "NotebookEdit");
        match permissions.mode() {
            "auto" => true,
            "plan" if self.settings.borrow().no_auto_in_plan() => false,
            "plan" => match self.profile.plan_commands {
                PlanCommands::Ask => false,
                PlanCommands::AutoWhenEnteredLive => permissions.plan_entered_live && !file_tool,
                PlanCommands::Auto => {
                    let from_bypass =
                        permissions.before_plan.as_deref() == Some("bypassPermissions");
                    !file_tool && !from_bypass
                }
            },
            _ => false,
        }
    }

    /// Auto mode allows what stays in the folder; for the rest it needs a check that does not run
    /// here, so it refuses.
    fn decide_in_auto(
        &self,
        permissions: &Permissions,
        tool: &str,
        input: &Json,
        ask: Ask,
    ) -> Decision {
        if matches!(tool, "Read" | "Glob" | "Grep") {
            if permissions.mode() == "plan" && !self.profile.plan_reads_anywhere {
                return Decision::Ask(ask);
            }
            return Decision::Allow(Some("mode"), Granted::Config);
        }
        let live = permissions.mode() == "auto"
            || self.profile.plan_commands == PlanCommands::AutoWhenEnteredLive;
        let inside = match tool {
            "Write" | "Edit" => file_of(tool, input)
                .is_some_and(|path| permissions.is_inside(&self.env, &self.env.absolute(path))),
            "Bash" => {
                ask.blocked_path.as_ref().is_some_and(|path| permissions.is_inside(&self.env, path))
            }
            _ => false,
        };
        if live && inside && ask.reason_type != Some("safetyCheck") {
            return Decision::Allow(Some("mode"), Granted::Config);
        }
        Decision::Deny(self.no_check(tool))
    }

    fn no_check(&self, tool: &str) -> Denial {
        if self.profile.internals {
            return Denial {
                message: format!(
                    "Auto mode is unavailable: its safety check does not run for this session, so {tool} was not run. Other actions that need the check will be denied too, and retrying won't help. Finish what you can without them, then tell the user what is blocked and that they can switch to another permission mode."
                ),
                as_tool_error: false,
                reason: Some("Classifier unavailable".to_owned()),
                reason_type: Some("classifier"),
                reason_code: Some("auto_mode_no_check_in_session"),
                kind: "automode-unavailable",
                told_reason_type: Some("classifier"),
            };
        }
        let reason = "Auto mode could not evaluate this action and is blocking it for safety — run with --debug for details";
        Denial {
            message: format!(
                "Permission for this action was denied by the Claude Code auto mode classifier. Reason: {reason}. If you have other tasks that don't depend on this action, continue working on those. {WORKAROUND}"
            ),
            as_tool_error: false,
            reason: Some(reason.to_owned()),
            reason_type: Some("classifier"),
            reason_code: None,
            kind: "automode-blocked",
            told_reason_type: Some("classifier"),
        }
    }
}

fn by_allow_rule(rule: &Rule) -> Decision {
    let granted = if rule.source == "session" { Granted::Session } else { Granted::Config };
    Decision::Allow(Some("rule"), granted)
}

/// What is found about one command of a line.
enum Verdict {
    Fine,
    Path(Box<Ask>),
    Unknown,
}

fn dangerous(sim: &Sim, path: &Path) -> Ask {
    let reason = format!("Dangerous rm operation on critical path: {}", path.display());
    Ask {
        suggestions: Some(Vec::new()),
        reason: Some(reason.clone()),
        reason_type: Some("safetyCheck"),
        classifier_approvable: Some(false),
        never_for_good: sim.profile.internals,
        refusal: reason,
        ..Ask::default()
    }
}

fn not_granted(what: &str) -> String {
    format!("Claude requested permissions to {what}, but you haven't granted it yet.")
}

fn accept_edits() -> Json {
    obj! { "type": "setMode", "mode": "acceptEdits", "destination": "session" }.into()
}

fn add_directory(path: &Path) -> Json {
    let folder = path.parent().unwrap_or(path).display().to_string();
    obj! { "type": "addDirectories", "directories": vec![folder], "destination": "session" }.into()
}

/// The file that a call is about.
fn file_of<'a>(tool: &str, input: &'a Json) -> Option<&'a str> {
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
