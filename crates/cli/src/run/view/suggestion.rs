//! What "don't ask again" would change, in words.

use countersign::protocol::permission::{
    PermissionMode, PermissionRule, PermissionUpdate, RuleBehavior, UpdateDestination,
};

use super::place::Place;

/// The answer that lets the tool run and makes this change.
pub(crate) fn words(update: &PermissionUpdate, place: &Place) -> Option<String> {
    Some(match update {
        PermissionUpdate::AddRules(update) if update.behavior == RuleBehavior::Allow => {
            let rules = rules(&update.rules);
            format!("Yes, and don't ask again for {rules} {}", where_to(&update.destination))
        }
        PermissionUpdate::AddRules(update) => {
            let (rules, place) = (rules(&update.rules), where_to(&update.destination));
            format!("Yes, and add a rule to {} {rules} {place}", update.behavior)
        }
        PermissionUpdate::ReplaceRules(update) => {
            let (rules, place) = (rules(&update.rules), where_to(&update.destination));
            format!("Yes, and {} {rules}, and nothing else, {place}", update.behavior)
        }
        PermissionUpdate::RemoveRules(update) => {
            let (rules, place) = (rules(&update.rules), where_to(&update.destination));
            format!("Yes, and no longer {} {rules} {place}", update.behavior)
        }
        PermissionUpdate::SetMode(update) => {
            let place = where_to(&update.destination);
            match &update.mode {
                PermissionMode::AcceptEdits => format!("Yes, and accept all edits {place}"),
                PermissionMode::BypassPermissions => {
                    format!("Yes, and ask for nothing at all any more {place}")
                }
                mode => format!("Yes, and go to the mode {mode} {place}"),
            }
        }
        PermissionUpdate::AddDirectories(update) => {
            let folders: Vec<_> = update.directories.iter().map(|path| place.short(path)).collect();
            let place = where_to(&update.destination);
            format!("Yes, and allow work in {} {place}", folders.join(", "))
        }
        PermissionUpdate::RemoveDirectories(update) => {
            let (folders, place) = (update.directories.join(", "), where_to(&update.destination));
            format!("Yes, and no longer allow work in {folders} {place}")
        }
        // A change of a kind that nobody here can explain is not offered.
        _ => return None,
    })
}

fn rules(rules: &[PermissionRule]) -> String {
    let rules = rules.iter().map(|rule| match &rule.rule_content {
        Some(content) => format!("{}({content})", rule.tool_name),
        None => format!("any {}", rule.tool_name),
    });
    rules.collect::<Vec<_>>().join(" and ")
}

fn where_to(destination: &UpdateDestination) -> String {
    match destination {
        UpdateDestination::Session | UpdateDestination::CliArg => "in this session".to_owned(),
        UpdateDestination::LocalSettings => "in this folder (for you)".to_owned(),
        UpdateDestination::ProjectSettings => "in this folder (for everybody)".to_owned(),
        UpdateDestination::UserSettings => "anywhere (for you)".to_owned(),
        other => format!("({other})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_said_in_words() {
        let updates = r#"[
            {"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm test:*"}],"behavior":"allow","destination":"localSettings"},
            {"type":"addRules","rules":[{"toolName":"WebFetch"}],"behavior":"deny","destination":"userSettings"},
            {"type":"replaceRules","rules":[{"toolName":"Read"}],"behavior":"allow","destination":"projectSettings"},
            {"type":"removeRules","rules":[{"toolName":"Read"}],"behavior":"deny","destination":"session"},
            {"type":"setMode","mode":"acceptEdits","destination":"session"},
            {"type":"setMode","mode":"bypassPermissions","destination":"session"},
            {"type":"addDirectories","directories":["/project/a","/b"],"destination":"session"},
            {"type":"removeDirectories","directories":["/b"],"destination":"session"},
            {"type":"other"}
        ]"#;
        let updates: Vec<PermissionUpdate> = serde_json::from_str(updates).unwrap();
        let place = Place::new("/project".into());
        let said: Vec<_> = updates.iter().filter_map(|update| words(update, &place)).collect();
        insta::assert_snapshot!(said.join("\n"), @r"
        Yes, and don't ask again for Bash(npm test:*) in this folder (for you)
        Yes, and add a rule to deny any WebFetch anywhere (for you)
        Yes, and allow any Read, and nothing else, in this folder (for everybody)
        Yes, and no longer deny any Read in this session
        Yes, and accept all edits in this session
        Yes, and ask for nothing at all any more in this session
        Yes, and allow work in a, /b in this session
        Yes, and no longer allow work in /b in this session
        ");
    }
}
