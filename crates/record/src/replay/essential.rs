//! Which fields of a line matter to what the CLI does next.

use serde_json::Value;

use crate::format::Channel;
use crate::meaning::{Difference, Frame, Pattern};

/// Patterns for what matters in lines of some kinds; in all others everything does.
const MATTERS: [(&str, &[&str]); 2] = [
    // Around the message there is what the client notes for itself.
    ("user", &["message.**", "type"]),
    // The rest is how the client wants the CLI to be. What it said is on the tape. But what it
    // will be asked depends on its hooks and servers.
    (
        "control_request/initialize",
        &["type", "request.subtype", "request.hooks.**", "request.sdkMcpServers.**"],
    ),
];

/// Patterns for what does not matter, in lines of any kind: words for people and for the model,
/// and the names and versions of servers.
const ASIDE: [&str; 13] = [
    "response.response.toolUseID",
    "response.response.decisionClassification",
    "response.response.message",
    "response.response.reason",
    "response.response.systemMessage",
    "response.response.stopReason",
    "response.response.suppressOutput",
    "response.response.hookSpecificOutput.permissionDecisionReason",
    "response.response.hookSpecificOutput.additionalContext",
    "response.response.mcp_response.result.serverInfo.**",
    "response.response.mcp_response.result.capabilities.**",
    "response.response.mcp_response.result.protocolVersion",
    "response.error",
];

/// Tells what matters.
#[derive(Clone, Debug)]
pub(crate) struct Essential {
    matters: Vec<(&'static str, Vec<Pattern>)>,
    aside: Vec<Pattern>,
}

impl Essential {
    pub(crate) fn new() -> Self {
        // The patterns above are constants, and a test reads all of them.
        let patterns = |texts: &[&str]| texts.iter().filter_map(|text| text.parse().ok()).collect();
        Self {
            matters: MATTERS.iter().map(|(kind, texts)| (*kind, patterns(texts))).collect(),
            aside: patterns(&ASIDE),
        }
    }

    /// Whether one of the differences in a line of the client matters.
    pub(crate) fn any(&self, line: &Value, differences: &[Difference]) -> bool {
        let kind = Frame::of(Channel::In, line).kind;
        let matters = self.matters.iter().find(|(wanted, _)| *wanted == kind);
        differences.iter().any(|Difference { path, .. }| match matters {
            Some((_, patterns)) => patterns.iter().any(|pattern| pattern.matches(&kind, path)),
            None => !self.aside.iter().any(|pattern| pattern.matches(&kind, path)),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::meaning::{Comparer, Rules};

    #[test]
    fn all_patterns_are_patterns() {
        let texts = MATTERS.iter().flat_map(|(_, texts)| texts.iter()).chain(&ASIDE);
        for text in texts {
            assert!(text.parse::<Pattern>().is_ok(), "{text}");
        }
    }

    #[test]
    fn what_the_cli_acts_upon_matters() {
        let answer = |payload: Value| {
            json!({"type": "control_response", "response":
                {"subtype": "success", "request_id": "1", "response": payload}})
        };
        let user = |content: &str, priority: &str| json!({"type": "user", "message": {"content": content}, "priority": priority});
        let start = |hooks: &str, title: &str| {
            json!({"type": "control_request", "request_id": "1", "request":
                {"subtype": "initialize", "hooks": {"Stop": [{"matcher": hooks}]}, "title": title}})
        };
        for (left, right, matters) in [
            (user("a", "now"), user("a", "next"), false),
            (user("a", "now"), user("b", "now"), true),
            (start("a", "x"), start("a", "y"), false),
            (start("a", "x"), start("b", "x"), true),
            (
                answer(json!({"behavior": "deny", "message": "a"})),
                answer(json!({"behavior": "deny", "message": "b"})),
                false,
            ),
            (answer(json!({"behavior": "deny"})), answer(json!({"behavior": "allow"})), true),
            (
                answer(json!({"behavior": "allow"})),
                answer(json!({"behavior": "allow", "updatedInput": {}})),
                true,
            ),
        ] {
            let found = Comparer::new(Rules::new()).compare(Channel::In, &left, &right);
            assert!(!found.is_empty());
            assert_eq!(Essential::new().any(&right, &found), matters, "{left} {right}");
        }
    }
}
