//! The decision about commands: what they would do, and whether that was allowed.

use std::path::Path;

use super::command::{Does, Line, Opaque, Part, look_at, rule_for};
use super::decide::{Ask, Decision, Granted, accept_edits, add_directory, by_allow_rule};
use super::{Behavior, Permissions, Rule, suggest_rule};
use crate::sim::json::Json;
use crate::sim::profile::Release;
use crate::sim::state::Sim;

/// What is found about one command of a line.
enum Verdict {
    Fine,
    Path(Box<Ask>),
    Unknown,
}

impl Sim {
    /// What a command would do, as far as this version can tell.
    pub(super) fn look_at_command(&self, command: &str) -> Line {
        look_at(&self.env, command, self.profile.knows_more_commands, self.profile.tee_writes)
    }

    /// Running a command.
    pub(super) fn check_command(&self, permissions: &Permissions, input: &Json) -> Decision {
        let command = input.text("command").unwrap_or_default();
        let line = self.look_at_command(command);
        let ask = permissions.find(Behavior::Ask, |rule| {
            rule.covers_command(command)
                || rule.covers_tool("Bash")
                || line.parts.iter().any(|part| rule.covers_command(&part.text))
        });
        if let Some(rule) = ask {
            // Where rules for commands do not cover paths, the question about a path goes first.
            let path_first = !self.profile.command_rules_cover_paths && !rule.covers_tool("Bash");
            let path = line.parts.iter().filter(|_| path_first).find_map(|part| {
                match self.check_part(permissions, command, part) {
                    Verdict::Path(ask) => Some(*ask),
                    Verdict::Fine | Verdict::Unknown => None,
                }
            });
            return Decision::Ask(path.unwrap_or_else(|| self.by_rule(rule, "Bash")));
        }
        if let Some(rule) = permissions.find(Behavior::Allow, |rule| rule.covers_tool("Bash")) {
            return by_allow_rule(rule);
        }
        let exact = permissions.find(Behavior::Allow, |rule| {
            rule.content.as_deref() == Some(command) && rule.tool == "Bash"
        });
        if let Some(rule) = exact.filter(|_| self.profile.command_rules_cover_paths) {
            return by_allow_rule(rule);
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
        let by_prefix = self.profile.rules_by_prefix;
        let only_paths = open.iter().all(|(_, ask)| ask.is_some());
        let single = open.len() == 1;
        let texts: Vec<String> = open.iter().map(|(part, _)| part.text.clone()).collect();
        let path_ask = open.into_iter().find_map(|(_, ask)| ask);
        match path_ask {
            Some(ask) if !by_prefix || (single && only_paths) => return Decision::Ask(ask),
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
                let offers = permissions.is_plain()
                    || permissions.returns_plain()
                    || self.profile.always_offers_accept_edits;
                if offers && !redirected {
                    suggestions.push(accept_edits());
                }
                Verdict::Path(Box::new(self.path_ask(command, path, suggestions, name)))
            }
        }
    }

    fn path_ask(&self, command: &str, path: &Path, mut suggestions: Vec<Json>, name: &str) -> Ask {
        if self.profile.rules_by_prefix {
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
            let may = if name.starts_with("rm") {
                "remove files from"
            } else {
                "create or modify files in"
            };
            format!(
                "{name} in '{shown}' was blocked. For security, Claude Code may only {may} the allowed working directories for this session: '{cwd}'."
            )
        };
        Ask {
            suggestions: Some(suggestions),
            blocked_path: Some(path.to_path_buf()),
            refusal,
            ..Ask::default()
        }
    }
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
