//! What came of a turn.

use countersign_protocol::RawJson;
use countersign_protocol::content::{Content, ContentBlock};
use countersign_protocol::ids::{SessionId, TaskId, ToolUseId};
use countersign_protocol::message::{
    DeferredToolUse, PermissionDenial, ResultMessage, ResultSubtype, TerminalReason,
};
use countersign_protocol::usage::Usage;
use serde::de::DeserializeOwned;

use super::tool_call::ToolCall;
use crate::permission::FreshStart;

/// What came of a turn.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outcome {
    /// What the model wrote, the texts of sub-agents apart, joined by empty lines.
    pub text: String,
    /// What the model thought.
    pub thinking: String,
    /// The tool calls, in the order in which they were made, those of sub-agents included.
    pub tool_calls: Vec<ToolCall>,
    /// The sub-agents and background tasks that were started.
    pub sub_agents: Vec<SubAgent>,
    /// Turns that nobody asked for and that ended during this one.
    pub unasked: Vec<ResultMessage>,
    /// The result, whole.
    pub result: ResultMessage,
    /// A plan that was approved to be carried out in a new conversation; see
    /// [`Session::begin_fresh`](crate::Session::begin_fresh).
    pub fresh_start: Option<FreshStart>,
}

/// A sub-agent, or another task that runs beside the conversation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SubAgent {
    /// The task.
    pub task: TaskId,
    /// The tool call that started it.
    pub tool_use: Option<ToolUseId>,
    /// What it is for.
    pub description: String,
    /// Which kind of sub-agent.
    pub kind: Option<String>,
    /// Whether it runs in the background.
    pub in_background: bool,
    /// How it ended, in a word of the CLI: `completed`, `failed`, `killed` or `stopped`. None
    /// while it runs.
    pub ended: Option<String>,
    /// What it says of itself at the end.
    pub summary: Option<String>,
}

impl Outcome {
    /// Whether the turn ended well. A result can say `success` and be an error all the same, when
    /// the API failed; both are looked at.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.result.succeeded()
    }

    /// Whether the turn was interrupted, and so did not come to its end.
    #[must_use]
    pub fn interrupted(&self) -> bool {
        match &self.result.terminal_reason {
            Some(reason) => {
                matches!(reason, TerminalReason::AbortedStreaming | TerminalReason::AbortedTools)
            }
            // 2.1.62 gives no reason. A turn that fails in another way has errors to tell.
            None => {
                self.result.subtype == ResultSubtype::ErrorDuringExecution
                    && self.result.errors.as_deref().unwrap_or_default().is_empty()
            }
        }
    }

    /// What the CLI gives as the answer: the last text, or the words of an error.
    #[must_use]
    pub fn answer(&self) -> &str {
        self.result.result.as_deref().unwrap_or_default()
    }

    /// What went wrong, in words, if something did.
    #[must_use]
    pub fn error(&self) -> Option<String> {
        if self.succeeded() {
            return None;
        }
        let errors = self.result.errors.as_deref().unwrap_or_default();
        if !errors.is_empty() {
            return Some(errors.join("; "));
        }
        Some(self.result.result.clone().unwrap_or_else(|| self.result.subtype.to_string()))
    }

    /// The calls that were refused, by whomever.
    #[must_use]
    pub fn denials(&self) -> &[PermissionDenial] {
        self.result.permission_denials.as_deref().unwrap_or_default()
    }

    /// The tokens of the turn.
    #[must_use]
    pub fn usage(&self) -> Option<&Usage> {
        self.result.usage.as_deref()
    }

    /// What the process cost so far, in US dollars. It is a running total: do not add it up.
    #[must_use]
    pub fn total_cost_usd(&self) -> f64 {
        self.result.total_cost_usd.map_or(0.0, countersign_protocol::Num::as_f64)
    }

    /// The session.
    #[must_use]
    pub fn session_id(&self) -> Option<&SessionId> {
        self.result.session_id.as_ref()
    }

    /// The call that a hook put off, with which the turn ended.
    #[must_use]
    pub fn deferred(&self) -> Option<&DeferredToolUse> {
        self.result.deferred_tool_use.as_ref()
    }

    /// The structured output, as a type; none if there is none.
    ///
    /// # Errors
    /// When it has another shape.
    pub fn structured<T: DeserializeOwned>(&self) -> Result<Option<T>, serde_json::Error> {
        self.result.structured_output.as_ref().map(RawJson::decode).transpose()
    }
}

/// The text in some content.
pub(super) fn text_of(content: &Content) -> String {
    match content {
        Content::Text(text) => text.clone(),
        Content::Blocks(blocks) => {
            let texts: Vec<_> = blocks
                .iter()
                .filter_map(|block| match block {
                    ContentBlock::Text(text) => Some(text.text.as_str()),
                    _ => None,
                })
                .collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}
