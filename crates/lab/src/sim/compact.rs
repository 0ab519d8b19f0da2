//! `/compact`: a summary takes the place of the conversation.

use std::rc::Rc;

use serde_json::json;

use super::clock::{ms_since, new_uuid, timestamp};
use super::json::{Json, Object, obj};
use super::meter::Tokens;
use super::profile::Release;
use super::state::Sim;
use super::turn::{End, Scope};
use crate::script::Block;

/// In the request for a summary.
const SUMMARIZE: &str = "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.";

/// A summary on its way into the conversation.
struct Compaction {
    /// The entry that says that there was one.
    boundary: String,
    /// The message with the summary.
    summary: String,
    /// The last entry before it.
    parent: Option<String>,
    /// The last message of the model, where it is kept.
    kept: Option<String>,
    /// What the model reads in the place of the conversation.
    text: String,
}

impl Sim {
    /// `/compact`.
    pub(super) async fn compact(self: &Rc<Self>, scope: &Rc<Scope>) -> End {
        scope.turn.set_local_command("compact");
        let instructions =
            if self.profile.release == Release::V62 { Json::from("") } else { Json::Null };
        let fields = obj! { "trigger": "manual", "custom_instructions": instructions };
        self.tell_hooks(scope, "PreCompact", Some("manual"), fields).await;
        self.emit_system("status", obj! { "status": "compacting" });
        if self.profile.needs_two_to_compact && self.answers.get() < 2 {
            let problem = "Not enough messages to compact.";
            self.emit_system(
                "status",
                obj! { "status": Json::Null, "compact_result": "failed", "compact_error": problem },
            );
            self.emit_init();
            self.say_text(scope, problem, Object::default());
            return End::Local(problem.to_owned());
        }
        let before = self.meter.borrow().latest.total();
        let summary = self.ask_for_summary();
        let known = self.profile.modern.then_some("success");
        self.emit_system("status", obj! { "status": Json::Null, "compact_result"?: known });
        self.emit_init();
        let compaction = self.replace_conversation(&summary);
        let metadata = self.told_compaction(scope, &compaction, before);
        self.emit(&obj! {
            "type": "system",
            "subtype": "compact_boundary",
            "session_id": self.session_id(),
            "uuid": &compaction.boundary,
            "compact_metadata": &metadata,
            "logical_parent_uuid"?: compaction.parent.clone().filter(|_| self.profile.internals),
        });
        self.store_compaction(&compaction, &metadata);
        let source = obj! {
            "source": "compact",
            "model"?: (!self.profile.internals).then(|| self.model.borrow().clone()),
            "session_title"?: self.session.borrow().title().filter(|_| self.profile.modern),
        };
        self.tell_hooks(scope, "SessionStart", Some("compact"), source).await;
        if self.profile.modern {
            let fields = obj! { "trigger": "manual", "compact_summary": without_tags(&summary).1 };
            self.tell_hooks(scope, "PostCompact", Some("manual"), fields).await;
        }
        self.emit_summary(&compaction);
        self.say_as_user("Compacted ");
        self.session.borrow_mut().lengthen(3);
        End::Local(String::new())
    }

    /// The model's summary of the conversation.
    fn ask_for_summary(&self) -> String {
        let model = self.model.borrow().clone();
        let request = json!({
            "model": model,
            "system": [{"type": "text", "text": "You are a helpful AI assistant tasked with summarizing conversations."}],
            "messages": [{"role": "user", "content": SUMMARIZE}],
            "tools": [],
            "stream": true,
        });
        let answer = self.player.borrow_mut().answer(&request);
        self.meter.borrow_mut().count(&model, Tokens::of(answer.usage), 0);
        let texts = answer.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The summary takes the place of what was said. Newer versions keep the last message of the
    /// model, if there was another one before it.
    fn replace_conversation(&self, summary: &str) -> Compaction {
        let parent = self.session.borrow().leaf().map(str::to_owned);
        let mut thread = self.thread.borrow_mut();
        let keeps = self.profile.modern && self.answers.get() >= 2;
        let last = thread.last_of_model().filter(|_| keeps);
        let text = self.compacted(summary, last.is_some());
        thread.clear();
        thread.push_user(&text.as_str().into());
        let kept = parent.clone().filter(|_| last.is_some());
        if let Some(last) = last {
            thread.push(last);
        }
        Compaction { boundary: new_uuid(), summary: new_uuid(), parent, kept, text }
    }

    fn compacted(&self, summary: &str, keeps: bool) -> String {
        let used = if self.profile.internals {
            "<system-reminder>\n<tools-used-before-summary></tools-used-before-summary>\n</system-reminder>\n"
        } else {
            ""
        };
        let (tagged, summary) = without_tags(summary);
        let title = if tagged { "Summary:\n" } else { "" };
        let mut text = format!(
            "This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.\n\n{used}{title}{summary}\n\nIf you need specific details from before compaction (like exact code snippets, error messages, or content you generated), read the full transcript at: {}",
            self.transcript_path().display()
        );
        if self.profile.modern {
            text.push_str("\nContinue the conversation from where it left off without asking the user any further questions. Resume directly — do not acknowledge the summary, do not recap what was happening, do not preface with \"I'll continue\" or similar. Pick up the last task as if the break never happened.");
        }
        if keeps && self.profile.internals {
            text.push_str("\n\nThe messages after this summary are the most recent messages from before compaction, kept verbatim. The summary was written without seeing them, so something it says has not happened yet may already have happened in them.");
        }
        text
    }

    /// What the client is told of it.
    fn told_compaction(&self, scope: &Scope, compaction: &Compaction, before: u64) -> Object {
        let modern = self.profile.modern;
        let anchor = compaction.summary.as_str();
        let kept = compaction.kept.as_deref();
        let segment = |uuid| obj! { "head_uuid": uuid, "anchor_uuid": anchor, "tail_uuid": uuid };
        let messages = |uuid| {
            let uuids = vec![uuid];
            obj! { "anchor_uuid": anchor, "uuids": uuids.clone(), "all_uuids": uuids }
        };
        obj! {
            "trigger": "manual",
            "pre_tokens": before,
            "post_tokens"?: modern.then(|| self.thread.borrow().size() / 4),
            "cumulative_dropped_tokens"?: modern.then_some(0),
            "duration_ms"?: modern.then(|| ms_since(scope.turn.started())),
            "preserved_segment"?: kept.map(segment),
            "preserved_messages"?: kept.map(messages),
        }
    }

    fn emit_summary(&self, compaction: &Compaction) {
        let modern = self.profile.modern;
        self.emit(&obj! {
            "type": "user",
            "message": obj! { "role": "user", "content": &compaction.text },
            "session_id": self.session_id(),
            "parent_tool_use_id": Json::Null,
            "uuid": &compaction.summary,
            "timestamp"?: modern.then(timestamp),
            "isReplay": false,
            "isSynthetic"?: modern.then_some(true),
        });
    }

    fn store_compaction(&self, compaction: &Compaction, metadata: &Object) {
        let mut session = self.session.borrow_mut();
        session.break_chain();
        let body = obj! {
            "subtype": "compact_boundary",
            "logicalParentUuid": compaction.parent.as_deref(),
            "content": "Conversation compacted",
            "compactMetadata": metadata,
        };
        session.append("system", &compaction.boundary, body, false);
        let message = obj! { "role": "user", "content": &compaction.text };
        let body = obj! { "message": message, "isCompactSummary": true };
        session.append("user", &compaction.summary, body, false);
    }
}

/// A summary without the tags around it, and whether it had some.
fn without_tags(text: &str) -> (bool, &str) {
    let (tagged, inner) = match text.split_once("<summary>") {
        Some((_, inner)) => (true, inner),
        None => (false, text),
    };
    (tagged, inner.split_once("</summary>").map_or(inner, |(inner, _)| inner).trim())
}
