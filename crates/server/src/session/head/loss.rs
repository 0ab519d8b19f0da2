//! What becomes of a session whose process is gone before its time.

use super::Head;
use crate::session::approval::{ApprovalKind, Stage};
use crate::session::event::{
    ApprovalClosed, ApprovalEnd, CallOutcome, GoesOn, Happening, ProcessEnded,
};

impl Head {
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
            let mut say = vec![
                "The program that you run in was restarted while you were working. Go on where \
                 you were."
                    .to_owned(),
            ];
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
}
