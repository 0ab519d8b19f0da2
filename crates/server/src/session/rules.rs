//! The rules that a session was given while it ran.
//!
//! The CLI keeps rules of a session in its memory and forgets them with its process. So they are
//! kept here and given again when the session is resumed.

use countersign_protocol::permission::{
    DirectoriesUpdate, PermissionMode, PermissionRule, PermissionUpdate, RuleBehavior, RulesUpdate,
    UpdateDestination,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::event::RulesChanged;
use crate::id::ApprovalId;

/// Rules and folders in force for a session, in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Rules {
    /// The rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// Folders that tools may use besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
}

/// A rule in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Rule {
    /// As it stands in a settings file, such as `Bash(npm test:*)`.
    pub rule: String,
    /// `allow`, `deny` or `ask`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub behavior: RuleBehavior,
    /// Where the CLI keeps it: `session` or `cliArg`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub destination: UpdateDestination,
    /// The answer that it came with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalId>,
    /// Since when.
    pub since: Timestamp,
}

/// Whether the CLI forgets what goes there with its process.
fn is_forgotten(destination: &UpdateDestination) -> bool {
    matches!(destination, UpdateDestination::Session | UpdateDestination::CliArg)
}

/// A rule as it stands in a settings file.
#[must_use]
pub fn rule_text(rule: &PermissionRule) -> String {
    match &rule.rule_content {
        Some(content) => format!("{}({content})", rule.tool_name),
        None => rule.tool_name.clone(),
    }
}

/// A rule of a settings file.
fn parse_rule(text: &str) -> PermissionRule {
    let (tool, content) = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        Some((tool, content)) => (tool, Some(content)),
        None => (text, None),
    };
    let mut rule = PermissionRule::new(tool);
    rule.rule_content = content.map(str::to_owned);
    rule
}

impl Rules {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.folders.is_empty()
    }

    /// Takes over what an update changes, as far as the CLI would forget it.
    pub fn update(
        &mut self,
        update: &PermissionUpdate,
        approval: Option<ApprovalId>,
        since: Timestamp,
    ) {
        match update {
            PermissionUpdate::AddRules(change) if is_forgotten(&change.destination) => {
                for rule in &change.rules {
                    let rule = Rule {
                        rule: rule_text(rule),
                        behavior: change.behavior.clone(),
                        destination: change.destination.clone(),
                        approval,
                        since,
                    };
                    if !self.rules.iter().any(|known| known.is_same(&rule)) {
                        self.rules.push(rule);
                    }
                }
            }
            PermissionUpdate::ReplaceRules(change) if is_forgotten(&change.destination) => {
                self.rules.retain(|known| {
                    known.behavior != change.behavior || known.destination != change.destination
                });
                let add = PermissionUpdate::AddRules(change.clone());
                self.update(&add, approval, since);
            }
            PermissionUpdate::RemoveRules(change) if is_forgotten(&change.destination) => {
                let gone: Vec<_> = change.rules.iter().map(rule_text).collect();
                self.rules.retain(|known| {
                    known.behavior != change.behavior
                        || known.destination != change.destination
                        || !gone.contains(&known.rule)
                });
            }
            PermissionUpdate::AddDirectories(change) if is_forgotten(&change.destination) => {
                for folder in &change.directories {
                    if !self.folders.contains(folder) {
                        self.folders.push(folder.clone());
                    }
                }
            }
            PermissionUpdate::RemoveDirectories(change) if is_forgotten(&change.destination) => {
                self.folders.retain(|folder| !change.directories.contains(folder));
            }
            _ => {}
        }
    }

    /// The same rules for another session, one change for each that they came with.
    #[must_use]
    pub fn inherited(&self) -> Vec<RulesChanged> {
        let mut changes: Vec<_> = self
            .rules
            .iter()
            .map(|known| {
                let rules = vec![parse_rule(&known.rule)];
                let add =
                    RulesUpdate::new(rules, known.behavior.clone(), known.destination.clone());
                let updates = vec![PermissionUpdate::AddRules(add)];
                RulesChanged { updates, approval: known.approval }
            })
            .collect();
        if !self.folders.is_empty() {
            let add = DirectoriesUpdate::new(self.folders.clone(), UpdateDestination::Session);
            let updates = vec![PermissionUpdate::AddDirectories(add)];
            changes.push(RulesChanged { updates, approval: None });
        }
        changes
    }

    /// The settings that give them to a CLI again.
    #[must_use]
    pub fn to_settings(&self) -> Option<serde_json::Value> {
        if self.is_empty() {
            return None;
        }
        let of = |behavior: RuleBehavior| -> Vec<&str> {
            let rules = self.rules.iter().filter(|rule| rule.behavior == behavior);
            rules.map(|rule| &*rule.rule).collect()
        };
        Some(serde_json::json!({"permissions": {
            "allow": of(RuleBehavior::Allow),
            "deny": of(RuleBehavior::Deny),
            "ask": of(RuleBehavior::Ask),
            "additionalDirectories": self.folders,
        }}))
    }
}

impl Rule {
    fn is_same(&self, other: &Self) -> bool {
        self.rule == other.rule
            && self.behavior == other.behavior
            && self.destination == other.destination
    }
}

/// The mode that the last of these updates sets for the session.
#[must_use]
pub fn mode_set_by(updates: &[PermissionUpdate]) -> Option<&PermissionMode> {
    updates.iter().rev().find_map(|update| match update {
        PermissionUpdate::SetMode(set) => Some(&set.mode),
        _ => None,
    })
}

/// Whether any of these updates sets this mode, though another may follow.
#[must_use]
pub fn sets_mode(updates: &[PermissionUpdate], mode: &PermissionMode) -> bool {
    let sets = |update: &PermissionUpdate| match update {
        PermissionUpdate::SetMode(set) => set.mode == *mode,
        _ => false,
    };
    updates.iter().any(sets)
}

#[cfg(test)]
mod tests {
    use countersign_protocol::permission::SetMode;

    use super::*;

    #[test]
    fn rules_are_the_same_for_a_session_that_inherits_them() {
        let approval = Some(ApprovalId::new());
        let since = Timestamp::UNIX_EPOCH;
        let rule = |rule: &str, behavior, approval| Rule {
            rule: rule.to_owned(),
            behavior,
            destination: UpdateDestination::Session,
            approval,
            since,
        };
        let rules = Rules {
            rules: vec![
                rule("Bash(touch:*)", RuleBehavior::Allow, approval),
                rule("Bash(echo (a) b)", RuleBehavior::Deny, None),
                rule("mcp__server__tool", RuleBehavior::Ask, None),
            ],
            folders: vec!["/srv/more".to_owned()],
        };
        let mut inherited = Rules::default();
        for change in rules.inherited() {
            for update in &change.updates {
                inherited.update(update, change.approval, since);
            }
        }
        assert_eq!(inherited, rules);
    }

    #[test]
    fn a_mode_that_is_set_on_the_way_is_set() {
        let set = |mode: PermissionMode| SetMode::new(mode, UpdateDestination::Session).into();
        let updates = [set(PermissionMode::BypassPermissions), set(PermissionMode::Default)];
        assert_eq!(mode_set_by(&updates), Some(&PermissionMode::Default));
        assert!(sets_mode(&updates, &PermissionMode::BypassPermissions));
        assert!(!sets_mode(&updates, &PermissionMode::Plan));
    }
}
