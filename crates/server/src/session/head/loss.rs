//! What becomes of a session whose process is gone before its time.

use super::Head;
use crate::session::approval::{ApprovalKind, Stage};
use crate::session::event::{
    ApprovalClosed, ApprovalEnd, CallOutcome, GoesOn, Happening, ProcessEnded, TurnEnd, TurnEnded,
};

/// What the model is told when its turn goes on.
const RESTARTED: &str = "The program that you run in was restarted while you were working. Go on \
                         where you were.";

impl Head {
    /// Whether the model has to be told that calls of the turn may or may not have been carried out.
    #[must_use]
    pub fn has_unknown(&self) -> bool {
        self.goes_on.as_ref().is_some_and(|goes_on| goes_on.say != RESTARTED)
    }

    /// What happens when the process is gone: nothing that may have run is asked for again, what a
    /// person is asked stays open, and a turn that was running goes on with the next process.
    ///
    /// `failed` says whether that was the process's own fault.
    #[must_use]
    pub fn lose_process(&self, why: &str, failed: bool) -> Vec<Happening> {
        let mut happens = Vec::new();
        let mut unknown = Vec::new();
        happens
            .extend(self.calls.keys().filter_map(|call| self.decided(call, CallOutcome::Unknown)));
        let mut is_asked = false;
        for (id, pending) in &self.approvals {
            let (end, why) = match (pending.kind, pending.stage) {
                _ if pending.may_have_run() && !self.has_grant(*id) => {
                    unknown.push(pending);
                    (ApprovalEnd::Unknown, "the process ended before it said what became of it")
                }
                (ApprovalKind::Elicitation, _) => {
                    (ApprovalEnd::Cancelled, "the MCP server that asked is gone")
                }
                (ApprovalKind::EnterPlan, Stage::Delivered) => {
                    (ApprovalEnd::Done, "the process ended after it was given the answer")
                }
                _ => {
                    is_asked = true;
                    continue;
                }
            };
            let why = Some(why.to_owned());
            happens.push(ApprovalClosed { approval: *id, end, why }.into());
        }
        happens
            .push(ProcessEnded { generation: self.generation, why: why.to_owned(), failed }.into());
        let is_wanted = self.interrupt.is_none() && !self.stop;
        if let Some(turn) = &self.turn
            && is_wanted
            && (!is_asked || !unknown.is_empty())
        {
            // What was to be said before may not have been read: it is said again, with more.
            let earlier = self.goes_on.as_ref().filter(|goes_on| goes_on.turn == turn.id);
            let mut say =
                vec![earlier.map_or_else(|| RESTARTED.to_owned(), |earlier| earlier.say.clone())];
            say.extend(unknown.into_iter().map(|pending| {
                let call = pending.tool_use_id.as_deref().unwrap_or("unknown");
                let tool = &pending.tool;
                format!(
                    "Your call of {tool} ({call}) had been approved, and may or may not have been \
                     carried out: its outcome is unknown. Look before you make it again."
                )
            }));
            let say = say.join("\n\n");
            happens.push(GoesOn { turn: turn.id, say }.into());
        }
        happens
    }

    /// What happens when the process was ended because its turn had reached a limit, and did not end:
    /// the turn is over with it, and with the turn what it asked for.
    #[must_use]
    pub fn lose_process_at_limit(&self, why: &str, limit: &str) -> Vec<Happening> {
        let mut happens = self.lose_process(why, true);
        happens.retain(|happening| !matches!(happening, Happening::GoesOn(_)));
        let closed = |happens: &[Happening], id| {
            happens.iter().any(
                |happening| matches!(happening, Happening::ApprovalClosed(it) if it.approval == id),
            )
        };
        let why = || Some(limit.to_owned());
        for (id, pending) in &self.approvals {
            if closed(&happens, *id) {
                continue;
            }
            let went_out = pending.stage == Stage::Delivered;
            let end = if went_out { pending.effective_end() } else { ApprovalEnd::Cancelled };
            happens.push(ApprovalClosed { approval: *id, end, why: why() }.into());
        }
        if let Some(turn) = &self.turn {
            let (turn, end) = (turn.id, TurnEnd::Interrupted);
            happens.push(TurnEnded { turn, end, used: None, why: why() }.into());
        }
        happens
    }
}
