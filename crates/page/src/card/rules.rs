//! The rule line of a card: what would not be asked for any more.

use countersign_policy::{Call, Place, Rule};
use countersign_protocol::ask::CanUseTool;
use countersign_protocol::permission::PermissionUpdate;
use countersign_server::session::rule_text;
use serde_json::Value;

use crate::render::words::short;
use crate::render::{Html, visible};

/// How many calls are named that a rule would have matched.
const NAMED: usize = 4;

/// A call that was made before.
#[derive(Clone, Debug, PartialEq)]
pub struct Matched {
    /// The tool.
    pub tool: String,
    /// What it was called with.
    pub input: Value,
}

/// What the CLI suggests so that it need not ask again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Suggestion {
    /// Its number in the request.
    pub(super) number: usize,
    /// It, in words.
    pub(super) words: String,
    /// It, as it is written.
    pub(super) code: Html,
    /// Where the CLI would keep it.
    pub(super) destination: String,
    /// Whether another place can be chosen.
    pub(super) can_move: bool,
    /// What else it would have matched in this session.
    pub(super) matched: Vec<Html>,
    /// How much more than that.
    pub(super) more: usize,
}

pub(super) fn suggestions(
    request: &CanUseTool,
    before: &[Matched],
    place: &Place<'_>,
) -> Vec<Suggestion> {
    if request.suppress_always_allow_rule == Some(true) {
        return Vec::new();
    }
    let all = request.permission_suggestions.iter().flatten().enumerate();
    all.filter_map(|(number, update)| suggestion(number, update, before, place)).collect()
}

fn suggestion(
    number: usize,
    update: &PermissionUpdate,
    before: &[Matched],
    place: &Place<'_>,
) -> Option<Suggestion> {
    let (words, code, destination) = match update {
        PermissionUpdate::AddRules(change) => {
            let rules = change.rules.iter().map(rule_text).collect::<Vec<_>>().join(", ");
            (format!("always {}", change.behavior), rules, &change.destination)
        }
        PermissionUpdate::AddDirectories(change) => {
            ("also work in".to_owned(), change.directories.join(", "), &change.destination)
        }
        PermissionUpdate::SetMode(change) => {
            ("switch to the mode".to_owned(), change.mode.to_string(), &change.destination)
        }
        _ => return None,
    };
    let rules: Vec<Rule> = match update {
        PermissionUpdate::AddRules(change) => {
            let rules = change.rules.iter();
            rules.map(|rule| Rule::new(&rule.tool_name, rule.rule_content.as_deref())).collect()
        }
        _ => Vec::new(),
    };
    let mut matched: Vec<String> = Vec::new();
    for call in before {
        let asked = Call { tool: &call.tool, input: &call.input };
        if Rule::all_cover(&rules, &asked, place) {
            let words = words_of(call);
            if !matched.contains(&words) {
                matched.push(words);
            }
        }
    }
    let more = matched.len().saturating_sub(NAMED);
    matched.truncate(NAMED);
    Some(Suggestion {
        number,
        words,
        code: visible::text_of(&code),
        destination: destination.to_string(),
        can_move: !matches!(update, PermissionUpdate::SetMode(_)),
        matched: matched.iter().map(|words| visible::text_of(words)).collect(),
        more,
    })
}

/// A call in a few words.
fn words_of(call: &Matched) -> String {
    let asked = Call { tool: &call.tool, input: &call.input };
    let about = asked.command().or_else(|| asked.path()).or_else(|| asked.text("url"));
    match about {
        Some(about) => short(about, 60),
        None => call.tool.clone(),
    }
}
