//! What was decided about tool calls, until somebody joins it with them.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use countersign_protocol::ids::ToolUseId;

use super::tool_call::Decision;

/// How many are kept. A turn that nobody joins leaves its own behind.
const KEPT: usize = 1024;

/// What was decided last.
#[derive(Debug, Default)]
pub(crate) struct Decisions(Mutex<VecDeque<(ToolUseId, Decision)>>);

impl Decisions {
    pub(crate) fn note(&self, call: ToolUseId, decision: Decision) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        kept.push_back((call, decision));
    }

    /// What was decided about this call.
    pub(super) fn about(&self, call: &ToolUseId) -> Option<Decision> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().rposition(|(about, _)| about == call)?;
        kept.remove(place).map(|(_, decision)| decision)
    }
}
