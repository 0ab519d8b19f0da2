//! What a turn tells about itself: spans for it and for its tool calls, without what is said.

use countersign_protocol::ids::{MessageUuid, ToolUseId};
use tracing::Span;
use tracing::field::Empty;

use super::event::TurnEvent;
use super::tool_call::{Decision, ToolCall};

/// The spans of a turn.
#[derive(Debug)]
pub(super) struct Spans {
    turn: Span,
    /// Those of the calls that have no result yet.
    tools: Vec<(ToolUseId, Span)>,
}

impl Spans {
    pub(super) fn new(session: &Span, message: Option<&MessageUuid>) -> Self {
        let turn =
            tracing::info_span!(parent: session, "turn", message_id = Empty, outcome = Empty);
        if let Some(message) = message {
            turn.record("message_id", message.as_str());
        }
        Self { turn, tools: Vec::new() }
    }

    pub(super) fn saw(&mut self, event: &TurnEvent) {
        match event {
            TurnEvent::ToolCall(call) => {
                let within = call.parent.as_ref().and_then(|parent| self.tool(parent));
                let span = tracing::info_span!(
                    parent: within.unwrap_or(&self.turn),
                    "tool",
                    name = call.name,
                    id = call.id.as_str(),
                    decision = Empty,
                    failed = Empty,
                );
                self.tools.push((call.id.clone(), span));
            }
            TurnEvent::ToolDone(call) => self.done(call),
            TurnEvent::Done(result) => {
                self.turn.record("outcome", result.subtype.as_str());
                self.tools.clear();
            }
            _ => {}
        }
    }

    /// There will be no result.
    pub(super) fn failed(&mut self) {
        self.turn.record("outcome", "not known");
        self.tools.clear();
    }

    fn tool(&self, call: &ToolUseId) -> Option<&Span> {
        self.tools.iter().find(|(id, _)| id == call).map(|(_, span)| span)
    }

    fn done(&mut self, call: &ToolCall) {
        let Some(place) = self.tools.iter().position(|(id, _)| *id == call.id) else { return };
        let (_, span) = self.tools.swap_remove(place);
        span.record("decision", call.decision.name());
        if let Some(result) = &call.result {
            span.record("failed", result.is_error);
        }
    }
}

impl Decision {
    /// What was decided, in a word.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::NotAsked => "not asked",
            Self::Allowed { changed: false, .. } => "allowed",
            Self::Allowed { changed: true, .. } => "allowed with changes",
            Self::Denied { .. } => "denied",
        }
    }
}
