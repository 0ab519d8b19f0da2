//! Tool calls, with what became of them.

use std::time::Duration;

use countersign_protocol::RawJson;
use countersign_protocol::content::Content;
use countersign_protocol::ids::{AgentId, ToolUseId};
use countersign_protocol::permission::PermissionResult;
use countersign_protocol::tool::ToolInput;

/// A tool call of the model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolCall {
    /// The call.
    pub id: ToolUseId,
    /// The tool.
    pub name: String,
    /// What the model called it with.
    pub input: RawJson,
    /// The call of the sub-agent that makes it.
    pub parent: Option<ToolUseId>,
    /// The sub-agent that makes it.
    pub agent: Option<AgentId>,
    /// What was decided about it here.
    pub decision: Decision,
    /// What came of it; none while it runs, and when the turn ended before it.
    pub result: Option<ToolResult>,
    /// How long it took, from the call to the result, the wait for a decision included.
    pub duration: Option<Duration>,
}

impl ToolCall {
    /// The input, by type.
    #[must_use]
    pub fn tool(&self) -> ToolInput {
        ToolInput::parse(&self.name, &self.input).unwrap_or(ToolInput::Other)
    }
}

/// What was decided about a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Decision {
    /// Nobody was asked here: rules, the mode or a hook decided, or it needs no permission.
    #[default]
    NotAsked,
    /// It was allowed.
    Allowed {
        /// Whether with another input.
        changed: bool,
        /// How long the decision took.
        waited: Duration,
    },
    /// It was denied.
    Denied {
        /// Why.
        reason: String,
        /// How long the decision took.
        waited: Duration,
    },
}

impl Decision {
    pub(crate) fn of(result: &PermissionResult, input_changed: bool, waited: Duration) -> Self {
        match result {
            PermissionResult::Allow(_) => Self::Allowed { changed: input_changed, waited },
            PermissionResult::Deny(deny) => Self::Denied { reason: deny.message.clone(), waited },
            other => Self::Denied { reason: format!("answered with {}", other.name()), waited },
        }
    }
}

/// What came of a tool call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolResult {
    /// What the model is shown.
    pub content: Option<Content>,
    /// Whether it failed, or was refused.
    pub is_error: bool,
    /// The structured result, where the tool has one; see
    /// [`ToolOutput`](countersign_protocol::tool::ToolOutput).
    pub output: Option<RawJson>,
}

impl ToolResult {
    /// The text of what the model is shown.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.content {
            Some(content) => super::outcome::text_of(content),
            None => String::new(),
        }
    }
}
