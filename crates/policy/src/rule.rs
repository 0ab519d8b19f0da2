//! Permission rules: `Tool`, `Tool(content)`.

use std::fmt;

use countersign_protocol::tool::current_name;

use crate::call::{Call, Place};
use crate::pattern::{command_fits, path_fits};
use crate::shell;

/// A permission rule: a tool, and what of it.
///
/// It has the meaning that the CLI gives it, which was compared with the real one for commands, paths,
/// addresses and tools of MCP servers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// The tool.
    pub tool: String,
    /// What of it; the whole tool if absent.
    pub content: Option<String>,
}

impl Rule {
    /// A rule of its two parts.
    #[must_use]
    pub fn new(tool: &str, content: Option<&str>) -> Self {
        let content = content.filter(|content| !content.is_empty() && *content != "*");
        Self { tool: current_name(tool).to_owned(), content: content.map(str::to_owned) }
    }

    /// Reads `Tool` or `Tool(content)`. Everything is a rule: what has no brackets names a tool.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            Some((tool, content)) => Self::new(tool, Some(content)),
            None => Self::new(text, None),
        }
    }

    /// Whether it is about this call: about all commands of it, where it is a line of them.
    ///
    /// A line that cannot be seen through, because it has variables or runs what another command says,
    /// is covered by a rule for the whole tool, or for exactly this line. So is one in which there is
    /// more than commands: a variable that is set before `npm test` can make it do anything.
    #[must_use]
    pub fn covers(&self, call: &Call<'_>, place: &Place<'_>) -> bool {
        if self.covers_tool(call.tool) {
            return true;
        }
        if let Some(command) = call.command() {
            return self.covers_line(command);
        }
        if let Some(path) = call.path() {
            return self.covers_path(call.tool, path, place);
        }
        match current_name(call.tool) {
            "WebFetch" => {
                call.text("url").and_then(host).is_some_and(|host| self.covers_domain(host))
            }
            tool @ "Skill" => call.text("skill").is_some_and(|name| self.covers_name(tool, name)),
            tool @ "Agent" => {
                call.text("subagent_type").is_some_and(|name| self.covers_name(tool, name))
            }
            _ => false,
        }
    }

    /// Whether these rules together are about this call: each command of a line can be one of another
    /// rule.
    #[must_use]
    pub fn all_cover(rules: &[Self], call: &Call<'_>, place: &Place<'_>) -> bool {
        rules.iter().any(|rule| rule.covers(call, place))
            || call.command().is_some_and(|line| is_covered(rules, line))
    }

    /// Whether it is about the whole tool. A rule for a server is about all of its tools.
    #[must_use]
    pub fn covers_tool(&self, tool: &str) -> bool {
        let tool = current_name(tool);
        let server = self.tool.starts_with("mcp__")
            && tool
                .strip_prefix(self.tool.trim_end_matches("__*"))
                .is_some_and(|rest| rest.starts_with("__"));
        self.content.is_none() && (self.tool == tool || server)
    }

    /// Whether it is about this one command.
    #[must_use]
    pub fn covers_command(&self, command: &str) -> bool {
        self.tool == "Bash"
            && self.content.as_deref().is_some_and(|content| command_fits(content, command))
    }

    fn covers_line(&self, line: &str) -> bool {
        if self.tool == "Bash" && self.content.as_deref() == Some(line) {
            return true;
        }
        is_covered(std::slice::from_ref(self), line)
    }

    /// Whether it is about this path. Rules for `Edit` hold for all tools that write files, those for
    /// `Read` for all that read.
    #[must_use]
    pub fn covers_path(&self, tool: &str, path: &str, place: &Place<'_>) -> bool {
        let about = self.tool == tool
            || (self.tool == "Edit" && matches!(tool, "Write" | "MultiEdit" | "NotebookEdit"))
            || (self.tool == "Read" && matches!(tool, "Glob" | "Grep" | "LS"));
        let Some(pattern) = self.content.as_deref().filter(|_| about) else { return false };
        let Some(path) = place.absolute(path) else { return false };
        path_fits(place, pattern, &path.to_string_lossy())
    }

    /// Whether it is about what has this name: a skill, or a kind of agent. Whatever it is called with.
    #[must_use]
    pub fn covers_name(&self, tool: &str, name: &str) -> bool {
        let content = self.content.as_deref().unwrap_or_default();
        let named =
            content.strip_suffix(":*").or_else(|| content.strip_suffix(" *")).unwrap_or(content);
        self.tool == current_name(tool) && named == name
    }

    /// Whether it is about this host.
    #[must_use]
    pub fn covers_domain(&self, host: &str) -> bool {
        let domain = self.content.as_deref().and_then(|content| content.strip_prefix("domain:"));
        // Upper and lower case are the same in names of hosts.
        self.tool == "WebFetch" && domain.is_some_and(|domain| domain.eq_ignore_ascii_case(host))
    }
}

/// Whether there is a rule for each command of a line.
fn is_covered(rules: &[Rule], line: &str) -> bool {
    let Some(parsed) = shell::parse(line) else { return false };
    let covers = |text: &str| rules.iter().any(|rule| rule.covers_command(text));
    parsed.is_plain()
        && !parsed.commands.is_empty()
        && parsed.commands.iter().all(|command| covers(&command.text))
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.content {
            Some(content) => write!(f, "{}({content})", self.tool),
            None => f.write_str(&self.tool),
        }
    }
}

/// The host of an address.
fn host(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    // What fetches it takes `\` for `/`.
    let authority = rest.split(['/', '\\', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    Some(host.split_once(':').map_or(host, |(host, _)| host))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::{Value, json};

    use super::*;

    fn place() -> Place<'static> {
        Place::new(Path::new("/project"), Some(Path::new("/home/me")))
    }

    #[track_caller]
    fn covers(rule: &str, tool: &str, input: &Value) -> bool {
        Rule::parse(rule).covers(&Call { tool, input }, &place())
    }

    #[track_caller]
    fn command(rule: &str, line: &str) -> bool {
        covers(rule, "Bash", &json!({"command": line}))
    }

    #[test]
    fn rules_are_read_and_written() {
        for text in ["Bash", "Bash(npm test:*)", "mcp__server__tool", "Edit(/src/**)"] {
            assert_eq!(Rule::parse(text).to_string(), text);
        }
        assert_eq!(Rule::parse("Bash(*)").to_string(), "Bash");
        assert_eq!(Rule::parse("Bash()").to_string(), "Bash");
        assert_eq!(Rule::parse("KillShell").to_string(), "TaskStop");
    }

    #[test]
    fn a_command_fits_its_prefix() {
        assert!(command("Bash(npm test:*)", "npm test"));
        assert!(command("Bash(npm test:*)", "npm test -- a"));
        assert!(!command("Bash(npm test:*)", "npm tests"));
        assert!(command("Bash(touch *)", "touch"));
        assert!(command("Bash(git log -1)", "git log -1"));
        assert!(command("Bash", "anything at all"));
    }

    #[test]
    fn every_command_of_a_line_has_to_fit() {
        assert!(command("Bash(npm:*)", "npm ci && npm test"));
        assert!(!command("Bash(npm:*)", "npm ci && rm -r x"));
        assert!(!command("Bash(npm:*)", "npm ci; rm -r x"));
        assert!(!command("Bash(npm:*)", "npm ci | sh"));
        assert!(!command("Bash(npm:*)", "npm $(rm -r x)"));
        assert!(!command("Bash(npm:*)", "npm run $X"));
        assert!(!command("Bash(npm:*)", "npm test > /etc/passwd"));
        assert!(!command("Bash(npm:*)", "npm \"unclosed"));
        assert!(command("Bash(npm $X)", "npm $X"));
    }

    #[test]
    fn paths_addresses_and_servers() {
        let path = |path: &str| json!({"file_path": path});
        assert!(covers("Edit(/src/**)", "Write", &path("/project/src/a/b.rs")));
        assert!(covers("Edit(src/*.rs)", "Edit", &path("src/b.rs")));
        assert!(!covers("Edit(src/*.rs)", "Edit", &path("src/../b.rs")));
        assert!(!covers("Edit(/src/**)", "Read", &path("/project/src/b.rs")));
        assert!(covers("Read(~/notes/**)", "Read", &path("/home/me/notes/a")));
        assert!(covers("Read(//etc/**)", "Grep", &json!({"path": "/etc/hosts"})));
        let url = |url: &str| json!({"url": url});
        assert!(covers("WebFetch(domain:example.org)", "WebFetch", &url("https://example.org/a")));
        assert!(!covers(
            "WebFetch(domain:example.org)",
            "WebFetch",
            &url("https://example.org.x/")
        ));
        let rule = "WebFetch(domain:example.org)";
        assert!(covers(rule, "WebFetch", &url("HTTPS://me@EXAMPLE.org:443/")));
        assert!(!covers(rule, "WebFetch", &url("https://evil\\@example.org/")));
        let none = json!({});
        assert!(covers("mcp__docs", "mcp__docs__search", &none));
        assert!(covers("mcp__docs__*", "mcp__docs__search", &none));
        assert!(!covers("mcp__docs", "mcp__docs2__search", &none));
    }
}
