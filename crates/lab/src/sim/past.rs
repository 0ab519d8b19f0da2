//! What the transcript of a session tells about its past.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use super::json::Json;
use super::queue::Deferred;
use super::session::PROGRESS;
use crate::script::Progress;

/// What a transcript tells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    /// The entries of the conversation, in order.
    pub(crate) entries: Vec<Json>,
    /// The last entry of the chain.
    pub(crate) leaf: Option<String>,
    /// The last entry of the model.
    assistant: Option<String>,
    /// The messages of the user.
    pub(crate) prompts: Vec<String>,
    /// The words of the first one.
    pub(crate) first_prompt: Option<String>,
    /// The title that was given last.
    pub(crate) title: Option<String>,
    /// Dollars so far.
    pub(crate) cost: f64,
    /// The call that was put off last, when it has no result.
    pub(crate) deferred: Option<Json>,
    /// Calls without a result.
    pub(crate) open_calls: Vec<String>,
    /// How far the script was played.
    pub(crate) progress: Option<Progress>,
    /// The message of the user that has no complete answer.
    pub(crate) unanswered: Option<String>,
}

impl Past {
    /// Reads a transcript, up to an entry if one is named.
    pub(crate) fn read(path: &Path, up_to: Option<&str>) -> Option<Self> {
        let text = fs::read_to_string(path).ok()?;
        let lines: Vec<Json> = text.lines().filter_map(Json::parse).collect();
        let mut past = Self { entries: conversation(&lines, up_to)?, ..Self::default() };
        for line in &lines {
            match line.text("type") {
                Some("custom-title") => past.title = line.text("customTitle").map(str::to_owned),
                Some(PROGRESS) => {
                    let progress = line.get("progress").map(ToString::to_string);
                    past.progress = progress.and_then(|text| serde_json::from_str(&text).ok());
                }
                Some("cost-state") => {
                    past.cost = line.get("totalCostUSD").and_then(Json::as_f64).unwrap_or(0.0);
                }
                _ => {}
            }
        }
        past.look_at_entries();
        (!past.entries.is_empty()).then_some(past)
    }

    /// The call that was put off, when there is one.
    pub(crate) fn deferred_call(&self) -> Option<Deferred> {
        let call = self.deferred.as_ref()?;
        Some(Deferred {
            id: call.text("toolUseID")?.to_owned(),
            name: call.text("toolName")?.to_owned(),
            input: call.get("toolInput").cloned().unwrap_or_default(),
            assistant_uuid: self.assistant.clone().unwrap_or_default(),
        })
    }

    fn look_at_entries(&mut self) {
        let mut calls: Vec<String> = Vec::new();
        let mut deferred: Option<Json> = None;
        let mut prompt = None;
        let mut finished = true;
        for entry in &self.entries {
            let uuid = entry.text("uuid").map(str::to_owned);
            self.leaf.clone_from(&uuid);
            let message = entry.get("message");
            match entry.text("type") {
                Some("assistant") => {
                    self.assistant.clone_from(&uuid);
                    let message = message.unwrap_or(&Json::Null);
                    let uses =
                        blocks(message).filter(|block| block.text("type") == Some("tool_use"));
                    let uses: Vec<_> =
                        uses.filter_map(|block| block.text("id").map(str::to_owned)).collect();
                    finished = uses.is_empty() && message.text("stop_reason") != Some("tool_use");
                    calls.extend(uses);
                }
                Some("user") => {
                    let message = message.unwrap_or(&Json::Null);
                    let results: Vec<_> =
                        blocks(message).filter_map(|block| block.text("tool_use_id")).collect();
                    calls.retain(|call| !results.contains(&call.as_str()));
                    if results.is_empty() && !entry.is_true("isMeta") {
                        let words = message.text("content").map(str::to_owned);
                        self.first_prompt = self.first_prompt.take().or(words);
                        self.prompts.extend(uuid.clone());
                        prompt = uuid;
                    }
                    finished = false;
                }
                Some("attachment") => {
                    if let Some(attachment) = entry.get("attachment")
                        && attachment.text("type") == Some("hook_deferred_tool")
                    {
                        deferred = Some(attachment.clone());
                    }
                }
                _ => {}
            }
        }
        self.deferred = deferred.filter(|call| {
            call.text("toolUseID").is_some_and(|id| calls.iter().any(|open| open == id))
        });
        self.open_calls = calls;
        self.unanswered = prompt.filter(|_| !finished);
    }
}

/// The blocks of a message.
pub(crate) fn blocks(message: &Json) -> impl Iterator<Item = &Json> {
    message.get("content").and_then(Json::as_array).unwrap_or_default().iter()
}

/// The entries of the conversation: from the last one up to the first, with those that stand
/// beside the chain because they ran in parallel.
fn conversation(lines: &[Json], up_to: Option<&str>) -> Option<Vec<Json>> {
    let is_entry = |line: &&Json| {
        matches!(line.text("type"), Some("user" | "assistant" | "attachment" | "system"))
            && line.text("uuid").is_some()
            && !line.is_true("isSidechain")
    };
    let entries: Vec<&Json> = lines.iter().filter(is_entry).collect();
    let by_uuid: HashMap<&str, &Json> =
        entries.iter().filter_map(|entry| Some((entry.text("uuid")?, *entry))).collect();
    let mut chain: HashSet<&str> = HashSet::new();
    let mut at = match up_to {
        Some(uuid) => Some(by_uuid.get(uuid).copied()?),
        None => entries.last().copied(),
    };
    while let Some(entry) = at {
        let Some(uuid) = entry.text("uuid") else { break };
        if !chain.insert(uuid) {
            break;
        }
        at = entry.text("parentUuid").and_then(|parent| by_uuid.get(parent).copied());
    }
    let message_id = |entry: &Json| {
        entry.get("message").and_then(|message| message.text("id")).map(str::to_owned)
    };
    let spoken: HashSet<String> = entries
        .iter()
        .filter(|entry| entry.text("uuid").is_some_and(|uuid| chain.contains(uuid)))
        .filter_map(|entry| message_id(entry))
        .collect();
    for entry in &entries {
        let beside = match entry.text("type") {
            Some("assistant") => message_id(entry).is_some_and(|id| spoken.contains(&id)),
            Some("user") => {
                entry.text("sourceToolAssistantUUID").is_some_and(|source| chain.contains(source))
            }
            _ => false,
        };
        if beside {
            chain.extend(entry.text("uuid"));
        }
    }
    let kept = entries
        .into_iter()
        .filter(|entry| entry.text("uuid").is_some_and(|uuid| chain.contains(uuid)));
    Some(kept.cloned().collect())
}
