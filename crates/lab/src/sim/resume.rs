//! From a transcript back to a conversation.

use std::path::Path;

use super::json::{Json, obj};
use super::past::{Past, blocks};
use super::profile::Profile;
use super::session::Session;
use super::thread::Thread;

/// What the model is told of a call whose end nobody saw.
const UNKNOWN_OUTCOME: &str = "[Tool call interrupted: the session ended before this call's result was recorded, so its outcome is unknown. Check whether it took effect before relying on it or running it again.]";

/// What the model is said to have answered where nothing of its answer is left.
const NO_RESPONSE: &str = "No response requested.";
/// What the user is said to have asked for after that.
const GO_ON: &str = "Continue from where you left off.";

impl Past {
    /// Puts the conversation into a thread. A turn that is run again begins with its message: what
    /// it called before is forgotten.
    pub(crate) fn restore(&self, profile: &Profile, run_again: bool, thread: &mut Thread) {
        let lost_is_told = profile.lost_call_is_told && !run_again;
        let mut lost = Vec::new();
        for entry in &self.entries {
            let Some(message) = entry.get("message") else { continue };
            match entry.text("type") {
                Some("user") => {
                    self.tell_lost(thread, &mut lost);
                    if let Some(content) = message.get("content") {
                        thread.push_user(content);
                    }
                }
                Some("assistant") => {
                    let id = message.text("id").unwrap_or_default();
                    for block in blocks(message) {
                        let call = block.text("id").filter(|id| self.is_lost(id));
                        if let Some(call) = call {
                            if !lost_is_told {
                                continue;
                            }
                            lost.push(call.to_owned());
                        }
                        thread.push_assistant(id, block);
                    }
                }
                _ => {}
            }
        }
        self.tell_lost(thread, &mut lost);
        if !run_again && self.deferred.is_none() && thread.ends_with_user() {
            if profile.asks_to_go_on {
                thread.push_user(&GO_ON.into());
            }
            // So that the model answers what comes next, and not once more what was said before.
            let text = obj! { "type": "text", "text": NO_RESPONSE };
            thread.push_assistant("", &text.into());
        }
    }

    /// The model that answered last, in what is left of the conversation.
    pub(crate) fn model(&self, profile: &Profile) -> Option<String> {
        let kept = |block: &Json| {
            profile.lost_call_is_told || !block.text("id").is_some_and(|id| self.is_lost(id))
        };
        let answers = self.entries.iter().filter(|entry| entry.text("type") == Some("assistant"));
        let mut messages = answers.filter_map(|entry| entry.get("message"));
        let real = |message: &&Json| message.text("model") != Some("<synthetic>");
        let last = messages.rfind(|message| real(message) && blocks(message).any(kept))?;
        last.text("model").map(str::to_owned)
    }

    /// Whether this is a call whose end nobody saw.
    fn is_lost(&self, id: &str) -> bool {
        let deferred = self.deferred.as_ref().and_then(|call| call.text("toolUseID"));
        self.open_calls.iter().any(|open| open == id) && deferred != Some(id)
    }

    fn tell_lost(&self, thread: &mut Thread, lost: &mut Vec<String>) {
        let results: Vec<Json> = lost
            .drain(..)
            .map(|id| {
                obj! {
                    "type": "tool_result",
                    "tool_use_id": id,
                    "content": UNKNOWN_OUTCOME,
                    "is_error": true,
                }
                .into()
            })
            .collect();
        if !results.is_empty() {
            thread.push_user(&results.into());
        }
    }
}

impl Session {
    /// Takes over the entries of another session, as a fork does.
    pub(crate) fn copy_from(&mut self, path: &Path) {
        // A file that cannot be read any more leaves the fork without a past on disk.
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let id = self.id().to_owned();
        for line in text.lines().filter_map(Json::parse) {
            let Json::Object(mut entry) = line else { continue };
            if entry.get("uuid").is_some() {
                entry.set("sessionId", &id);
                self.note(entry);
            }
        }
    }
}
