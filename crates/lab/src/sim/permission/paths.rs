//! The decision about files: may they be read, may they be written?

use std::path::Path;

use super::decide::{
    Ask, Decision, Granted, accept_edits, add_directory, by_allow_rule, file_of, not_granted,
};
use super::{Behavior, Permissions, Rule, suggest_rule};
use crate::sim::json::{Json, obj};
use crate::sim::state::Sim;

impl Sim {
    /// The rule for a file: one for its path, or one for all that the tool does.
    fn file_rule<'a>(
        &self,
        permissions: &'a Permissions,
        behavior: Behavior,
        tool: &str,
        path: &Path,
    ) -> Option<&'a Rule> {
        permissions.find(behavior, |rule| {
            rule.covers_path(&self.env, tool, path) || rule.covers_tool(tool)
        })
    }

    /// Reading a file, or looking for files.
    pub(super) fn check_read(
        &self,
        permissions: &Permissions,
        tool: &str,
        input: &Json,
    ) -> Decision {
        let path = self.env.absolute(file_of(tool, input).unwrap_or("."));
        let find = |behavior| self.file_rule(permissions, behavior, tool, &path);
        if let Some(rule) = find(Behavior::Ask) {
            return Decision::Ask(self.by_rule(rule, tool));
        }
        if permissions.is_inside(&self.env, &path) || self.is_own_file(&path) {
            return Decision::Allow(Some("mode"), Granted::Config);
        }
        if let Some(rule) = find(Behavior::Allow) {
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

    /// Writing a file.
    pub(super) fn check_write(
        &self,
        permissions: &Permissions,
        tool: &str,
        input: &Json,
    ) -> Decision {
        let path = self.env.absolute(file_of(tool, input).unwrap_or("."));
        if self.plan.borrow().is_plan_file(&path) {
            return Decision::Allow(Some("other"), Granted::Config);
        }
        let mode = permissions.mode();
        let ask_rule = self.file_rule(permissions, Behavior::Ask, tool, &path);
        let guarded = !permissions.bypass_available || self.profile.plan_guards_files;
        let plan_asks = mode == "plan" && guarded;
        let allowed = self.file_rule(permissions, Behavior::Allow, tool, &path);
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
        let sensitive = self.sensitive(&path);
        if plan_asks && self.profile.rich_asks && sensitive.is_none() {
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
        if let Some(rule) = allowed.filter(|_| sensitive.is_none()) {
            return by_allow_rule(rule);
        }
        if mode == "acceptEdits" && inside && sensitive.is_none() {
            return Decision::Allow(Some("mode"), Granted::Config);
        }
        let mut suggestions = Vec::new();
        if permissions.is_plain()
            || permissions.returns_plain()
            || self.profile.always_offers_accept_edits
        {
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
}
