//! Permission rules: `Tool`, `Tool(content)`.

use std::path::Path;

use countersign_policy::{Place, command_fits, path_fits};

use crate::sim::env::Env;
use crate::sim::json::{Json, Object, obj};

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behavior {
    Allow,
    Deny,
    Ask,
}

impl Behavior {
    /// Reads it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "allow" => Some(Self::Allow),
            "deny" => Some(Self::Deny),
            "ask" => Some(Self::Ask),
            _ => None,
        }
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Ask => "ask",
        }
    }
}

/// A rule, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) behavior: Behavior,
    /// `session`, `cliArg`, `flagSettings`, `userSettings`…
    pub(crate) source: String,
    pub(crate) tool: String,
    pub(crate) content: Option<String>,
}

impl Rule {
    /// Reads `Tool` or `Tool(content)`.
    pub(crate) fn parse(behavior: Behavior, source: &str, text: &str) -> Self {
        let (tool, content) = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            Some((tool, content)) if !content.is_empty() && content != "*" => (tool, Some(content)),
            Some((tool, _)) => (tool, None),
            None => (text, None),
        };
        Self {
            behavior,
            source: source.to_owned(),
            tool: current_name(tool).to_owned(),
            content: content.map(str::to_owned),
        }
    }

    /// The rules in the `permissions` of settings.
    pub(crate) fn of_settings(permissions: &Json, source: &str) -> Vec<Self> {
        let mut rules = Vec::new();
        for (key, behavior) in
            [("allow", Behavior::Allow), ("deny", Behavior::Deny), ("ask", Behavior::Ask)]
        {
            let texts = permissions.get(key).and_then(Json::as_array).unwrap_or_default();
            rules.extend(
                texts
                    .iter()
                    .filter_map(Json::as_str)
                    .map(|text| Self::parse(behavior, source, text)),
            );
        }
        rules
    }

    /// The rule as it is written.
    pub(crate) fn text(&self) -> String {
        match &self.content {
            Some(content) => format!("{}({content})", self.tool),
            None => self.tool.clone(),
        }
    }

    /// The rule in words, when there are any.
    pub(crate) fn description(&self) -> Option<Object> {
        let Some(content) = &self.content else {
            if self.tool == "Bash" {
                return Some(obj! { "prefix": "Any Bash command" });
            }
            return Some(
                obj! { "prefix": "Any use of the ", "emphasis": &self.tool, "suffix": " tool" },
            );
        };
        let prefix = content.strip_suffix(":*").or_else(|| content.strip_suffix(" *"));
        let prefix = prefix.filter(|_| self.tool == "Bash")?;
        Some(obj! { "prefix": "Any Bash command starting with ", "emphasis": prefix })
    }

    /// The rule as an entry of a permission update.
    pub(crate) fn value(tool: &str, content: Option<&str>) -> Object {
        obj! { "toolName": tool, "ruleContent"?: content }
    }

    /// Whether it is about the whole tool. A rule for a server is about all of its tools.
    pub(crate) fn covers_tool(&self, tool: &str) -> bool {
        let server = self.tool.starts_with("mcp__")
            && tool
                .strip_prefix(self.tool.trim_end_matches("__*"))
                .is_some_and(|rest| rest.starts_with("__"));
        self.content.is_none() && (self.tool == tool || server)
    }

    /// Whether it is about this command.
    pub(crate) fn covers_command(&self, command: &str) -> bool {
        self.tool == "Bash"
            && self.content.as_deref().is_some_and(|content| command_fits(content, command))
    }

    /// Whether it is about this path. Rules for `Edit` hold for all tools that write files, those
    /// for `Read` for all that read.
    pub(crate) fn covers_path(&self, env: &Env, tool: &str, path: &Path) -> bool {
        let about = self.tool == tool
            || (self.tool == "Edit" && matches!(tool, "Write" | "NotebookEdit"))
            || (self.tool == "Read" && matches!(tool, "Glob" | "Grep"));
        let place = Place::new(&env.cwd, Some(&env.home));
        about
            && self
                .content
                .as_deref()
                .is_some_and(|pattern| path_fits(&place, pattern, &path.to_string_lossy()))
    }

    /// Whether it is about this address.
    pub(crate) fn covers_domain(&self, host: &str) -> bool {
        let domain = self.content.as_deref().and_then(|content| content.strip_prefix("domain:"));
        self.tool == "WebFetch" && domain == Some(host)
    }
}

/// Tools that had another name.
fn current_name(tool: &str) -> &str {
    match tool {
        "KillShell" | "KillBash" => "TaskStop",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_fits_its_prefix() {
        let rule = Rule::parse(Behavior::Allow, "session", "Bash(npm test:*)");
        assert!(rule.covers_command("npm test"));
        assert!(rule.covers_command("npm test -- a"));
        assert!(!rule.covers_command("npm tests"));
        assert!(Rule::parse(Behavior::Allow, "session", "Bash(touch *)").covers_command("touch"));
    }

    #[test]
    fn a_rule_for_a_server_covers_its_tools() {
        let rule = Rule::parse(Behavior::Allow, "cliArg", "mcp__calc");
        assert!(rule.covers_tool("mcp__calc__add"));
        assert!(!rule.covers_tool("mcp__calc2__add"));
    }
}
