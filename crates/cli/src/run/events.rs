//! What happens, as JSON: one object a line. `docs/run.md` has the fields.

use countersign::protocol::RawJson;
use countersign::protocol::ids::{SessionId, ToolUseId};
use countersign::protocol::permission::PermissionMode;
use countersign::turn::{Decision, Outcome, ToolCall, TurnEvent};
use serde::Serialize;

use super::view::notice;

/// What happens.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Event<'a> {
    /// The model is about to be asked.
    Session {
        session_id: &'a str,
        model: &'a str,
        mode: &'a PermissionMode,
        version: &'a str,
        cwd: &'a str,
    },
    /// A whole text.
    Text { text: &'a str, parent: Option<&'a str> },
    /// A whole thought.
    Thinking { text: &'a str, parent: Option<&'a str> },
    /// The model calls a tool.
    ToolCall { id: &'a str, name: &'a str, input: &'a RawJson, parent: Option<&'a str> },
    /// A tool has run, or was refused.
    ToolDone {
        id: &'a str,
        name: &'a str,
        is_error: bool,
        text: String,
        denied: Option<&'a str>,
        duration_ms: Option<u64>,
        parent: Option<&'a str>,
    },
    /// A request to the API is tried again.
    Retry { attempt: u64, max_retries: u64, delay_ms: f64, status: Option<u64> },
    /// Anything else that a person would be told.
    Notice { text: String },
    /// The turn is over.
    Result {
        ok: bool,
        interrupted: bool,
        answer: &'a str,
        error: Option<String>,
        session_id: Option<&'a str>,
        total_cost_usd: f64,
        duration_ms: Option<u64>,
        input_tokens: u64,
        output_tokens: u64,
        cache_read_input_tokens: u64,
        cache_creation_input_tokens: u64,
        denials: Vec<Denial<'a>>,
        refused: usize,
    },
}

/// A call that was refused, by whomever.
#[derive(Debug, Serialize)]
pub(crate) struct Denial<'a> {
    id: &'a str,
    name: &'a str,
}

impl<'a> Event<'a> {
    /// What a program is told of an event, if anything.
    pub(crate) fn of(event: &'a TurnEvent) -> Option<Self> {
        Some(match event {
            TurnEvent::Began(init) => Self::Session {
                session_id: init.session_id.as_str(),
                model: &init.model,
                mode: &init.permission_mode,
                version: &init.claude_code_version,
                cwd: &init.cwd,
            },
            TurnEvent::Text { text, parent } => {
                Self::Text { text, parent: parent.as_ref().map(ToolUseId::as_str) }
            }
            TurnEvent::Thinking { text, parent } => {
                Self::Thinking { text, parent: parent.as_ref().map(ToolUseId::as_str) }
            }
            TurnEvent::ToolCall(call) => Self::ToolCall {
                id: call.id.as_str(),
                name: &call.name,
                input: &call.input,
                parent: call.parent.as_ref().map(ToolUseId::as_str),
            },
            TurnEvent::ToolDone(call) => Self::done(call),
            TurnEvent::Retry(retry) => Self::Retry {
                attempt: retry.attempt,
                max_retries: retry.max_retries,
                delay_ms: retry.retry_delay_ms.as_f64(),
                status: retry.error_status,
            },
            TurnEvent::Other(message) => Self::Notice { text: notice::of(message.saying())? },
            _ => return None,
        })
    }

    fn done(call: &'a ToolCall) -> Self {
        let result = call.result.as_ref();
        Self::ToolDone {
            id: call.id.as_str(),
            name: &call.name,
            is_error: result.is_none_or(|result| result.is_error),
            text: result.map(countersign::turn::ToolResult::text).unwrap_or_default(),
            denied: match &call.decision {
                Decision::Denied { reason, .. } => Some(reason),
                _ => None,
            },
            duration_ms: call.duration.and_then(|took| took.as_millis().try_into().ok()),
            parent: call.parent.as_ref().map(ToolUseId::as_str),
        }
    }

    /// The end of the turn.
    pub(crate) fn result(outcome: &'a Outcome, refused: usize) -> Self {
        let usage = outcome.usage();
        let tokens = |of: fn(&countersign::protocol::usage::Usage) -> Option<u64>| {
            usage.and_then(of).unwrap_or_default()
        };
        Self::Result {
            ok: outcome.succeeded(),
            interrupted: outcome.interrupted(),
            answer: outcome.answer(),
            error: outcome.error(),
            session_id: outcome.session_id().map(SessionId::as_str),
            total_cost_usd: outcome.total_cost_usd(),
            duration_ms: outcome.result.duration_ms.and_then(countersign::protocol::Num::as_u64),
            input_tokens: tokens(|usage| usage.input_tokens),
            output_tokens: tokens(|usage| usage.output_tokens),
            cache_read_input_tokens: tokens(|usage| usage.cache_read_input_tokens),
            cache_creation_input_tokens: tokens(|usage| usage.cache_creation_input_tokens),
            denials: outcome
                .denials()
                .iter()
                .map(|denial| Denial { id: denial.tool_use_id.as_str(), name: &denial.tool_name })
                .collect(),
            refused,
        }
    }
}
