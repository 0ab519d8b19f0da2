//! The client's answer to `can_use_tool`, in all its forms.

use super::update::{Update, Wrong};
use super::zod::{neither, wrong_type, wrong_value};
use crate::sim::json::{Json, Object};
use crate::sim::profile::{BadAnswer, Profile};
use crate::sim::requests::Reply;

/// What the client wants.
#[derive(Clone, Debug)]
pub(crate) enum Answered {
    /// Run it, with this input if it is another one.
    Allow { input: Option<Json>, updates: Vec<Update> },
    /// Do not run it.
    Deny { message: String, interrupt: bool },
    /// It is not clear; so it is not run.
    Unclear(String),
}

const EXPECTED: &str = "The canUseTool callback returned an invalid permission result. Expected {behavior: 'allow', updatedInput?: object} or {behavior: 'deny', message: string}. updatedPermissions may hold at most 4096 updates, rules and directories in all.";

/// Reads an answer as this version does.
pub(crate) fn read_answer(profile: &Profile, reply: Reply) -> Answered {
    let payload = match reply {
        Reply::Success(payload) => payload,
        Reply::Error(error) => {
            return Answered::Unclear(format!("Tool permission request failed: Error: {error}"));
        }
        Reply::Closed => {
            return Answered::Unclear(
                "Tool permission request failed: Error: Stream closed".to_owned(),
            );
        }
    };
    let Some(Json::Object(answer)) = &payload else {
        let problem = || vec![wrong_type("object", &[], payload.as_ref())];
        return unclear(profile, problem(), problem());
    };
    let behavior = answer.get("behavior").and_then(Json::as_str);
    let updates = read_updates(profile, answer);
    let allow_problems = allow_problems(profile, answer, behavior, updates.as_ref().err());
    if allow_problems.is_empty() {
        let changed = answer.get("updatedInput").filter(|input| {
            !(profile.empty_means_original && input.as_object().is_some_and(Object::is_empty))
        });
        let updates = updates.unwrap_or_default();
        return Answered::Allow { input: changed.cloned(), updates };
    }
    let mut deny_problems = Vec::new();
    if behavior != Some("deny") {
        deny_problems.push(wrong_value("deny", "behavior"));
    }
    match answer.get("message") {
        Some(Json::String(message)) if deny_problems.is_empty() => Answered::Deny {
            message: message.clone(),
            interrupt: answer.get("interrupt") == Some(&Json::Bool(true)),
        },
        Some(Json::String(_)) => unclear(profile, allow_problems, deny_problems),
        other => {
            deny_problems.push(wrong_type("string", &["message"], other));
            unclear(profile, allow_problems, deny_problems)
        }
    }
}

fn allow_problems(
    profile: &Profile,
    answer: &Object,
    behavior: Option<&str>,
    updates: Option<&Wrong>,
) -> Vec<Json> {
    let mut problems = Vec::new();
    if behavior != Some("allow") {
        problems.push(wrong_value("allow", "behavior"));
    }
    match answer.get("updatedInput") {
        Some(Json::Object(_)) => {}
        None if profile.optional_updated_input => {}
        other => problems.push(wrong_type("record", &["updatedInput"], other)),
    }
    if let Some(Wrong(wrong)) = updates {
        problems.extend(wrong.iter().cloned());
    }
    problems
}

/// Older versions refuse everything when the list is bad; newer ones drop the list.
fn read_updates(profile: &Profile, answer: &Object) -> Result<Vec<Update>, Wrong> {
    let updates = match answer.get("updatedPermissions") {
        None => return Ok(Vec::new()),
        Some(Json::Array(list)) => Update::read_all(list),
        Some(other) => Err(Wrong(vec![wrong_type("array", &["updatedPermissions"], Some(other))])),
    };
    if profile.bad_updates_refuse { updates } else { Ok(updates.unwrap_or_default()) }
}

fn unclear(profile: &Profile, allow: Vec<Json>, deny: Vec<Json>) -> Answered {
    Answered::Unclear(match profile.bad_answer {
        BadAnswer::SchemaError => neither(allow, deny),
        BadAnswer::Sentence => EXPECTED.to_owned(),
    })
}
