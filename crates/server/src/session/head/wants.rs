//! What has to be done next about a session. It follows from what it is, so it is the same before a
//! crash and after it.

use countersign_protocol::permission::RuleBehavior;
use jiff::{SignedDuration, Timestamp};

use super::{Call, Head, Pending, Process};
use crate::id::ApprovalId;
use crate::session::approval::{ApprovalKind, Stage};
use crate::session::by::By;
use crate::session::event::{
    ApprovalClosed, ApprovalDelivered, ApprovalEnd, CallOutcome, Delivery, Happening, ModeChanged,
    ModelChanged, ToolDecided, TurnEnd, TurnEnded,
};

impl Head {
    /// Whether it has something to do for which it needs a process that it does not have.
    #[must_use]
    pub fn wants_process(&self) -> bool {
        if self.process.is_there() || self.stop || self.failure.is_some() || self.is_asking() {
            return false;
        }
        !self.approvals.is_empty() || self.goes_on.is_some() || self.has_next()
    }

    /// The answers that have to get to the process that there is.
    pub fn undelivered(&self) -> impl Iterator<Item = (ApprovalId, &Pending)> {
        let current = self.generation;
        let is_due = move |pending: &Pending| match pending.stage {
            Stage::Answered => true,
            Stage::Delivered => pending.generation != current,
            _ => false,
        };
        let each = self.approvals.iter().map(|(id, pending)| (*id, pending));
        each.filter(move |(_, pending)| is_due(pending))
    }

    /// Whether a call may run once because of this approval, and has not.
    #[must_use]
    pub fn has_grant(&self, approval: ApprovalId) -> bool {
        self.grants.iter().any(|grant| grant.approval == approval)
    }

    /// What happens without a process to a session that has none, because somebody wants it.
    #[must_use]
    pub fn settle(&self) -> Vec<Happening> {
        let mut happens = Vec::new();
        if self.process.is_there() {
            return happens;
        }
        if let Some(mode) = &self.wanted_mode {
            happens.push(ModeChanged { mode: mode.clone() }.into());
        }
        if let Some(wanted) = &self.wanted_model {
            happens.push(ModelChanged { model: wanted.model.clone() }.into());
        }
        let stopping = self.approvals.iter().find(|(_, pending)| {
            pending.stops && matches!(pending.stage, Stage::Answered | Stage::Delivered)
        });
        let why = if self.stop {
            "the session was stopped"
        } else if self.interrupt.is_some() {
            "the turn was interrupted"
        } else if stopping.is_some() {
            "the turn was ended by an answer"
        } else {
            return happens;
        };
        for (id, pending) in &self.approvals {
            if pending.stops && pending.stage == Stage::Answered {
                let how = Delivery::Nothing;
                let generation = self.generation;
                happens.push(ApprovalDelivered { approval: *id, generation, how }.into());
            }
            let end = if pending.stops { pending.effective_end() } else { ApprovalEnd::Cancelled };
            let why = Some(why.to_owned());
            happens.push(ApprovalClosed { approval: *id, end, why }.into());
        }
        if let Some(turn) = &self.turn {
            let (turn, end, why) = (turn.id, TurnEnd::Interrupted, Some(why.to_owned()));
            happens.push(TurnEnded { turn, end, used: None, why }.into());
        }
        happens
    }

    /// The one call that the session can be parked on now: a person is asked for it, and for nothing
    /// else, and it can be brought back.
    #[must_use]
    pub fn parkable(&self) -> Option<(ApprovalId, &Pending)> {
        if !matches!(self.process, Process::Alive { .. }) || self.is_being_ended() {
            return None;
        }
        let mut all = self.approvals.iter();
        let (id, pending) = all.next()?;
        let is_only = all.next().is_none();
        let can = pending.kind.is_permission() && pending.has_token;
        (is_only && can && pending.stage == Stage::Open).then_some((*id, pending))
    }

    /// That a call has its result about which no person was asked: by a rule for the whole tool where
    /// there is one, and by the mode otherwise. What it was called with is not known here. Nothing if
    /// a person was asked, or it is known already.
    #[must_use]
    pub fn decided(&self, tool_use_id: &str, outcome: CallOutcome) -> Option<Happening> {
        let Call { tool, mode, agent } = self.calls.get(tool_use_id)?.clone();
        let (listed, behavior) = match outcome {
            CallOutcome::Refused => (&self.options.disallowed_tools, RuleBehavior::Deny),
            _ => (&self.options.allowed_tools, RuleBehavior::Allow),
        };
        let given = self.rules.rules.iter().filter(|rule| rule.behavior == behavior);
        let mut rules = listed.iter().chain(given.map(|rule| &rule.rule));
        let rule = match rules.find(|rule| **rule == tool) {
            Some(rule) => rule.clone(),
            None => format!("mode {}", mode.as_ref().unwrap_or(&self.mode).as_str()),
        };
        let (tool_use_id, by) = (tool_use_id.to_owned(), By::Rule { rule });
        Some(ToolDecided { tool_use_id, tool, agent, input: None, outcome, by }.into())
    }

    /// Whether so many processes have failed that no other is started: more than `count` within this
    /// time. What lies further ahead than that, since the clock was put back, does not count.
    #[must_use]
    pub fn has_failed_too_often(
        &self,
        now: Timestamp,
        count: usize,
        within: SignedDuration,
    ) -> bool {
        let recent = |at: &&Timestamp| now.duration_since(**at).abs() <= within;
        self.failures.iter().filter(recent).count() > count
    }
}

impl Pending {
    /// How it is closed when its answer had its effect.
    #[must_use]
    pub const fn effective_end(&self) -> ApprovalEnd {
        if self.expired { ApprovalEnd::Expired } else { ApprovalEnd::Done }
    }

    /// Whether the model may have what was asked for because of an answer that went out, and nobody
    /// knows whether it has. It must not be given again then.
    #[must_use]
    pub fn may_have_run(&self) -> bool {
        let runs = matches!(self.kind, ApprovalKind::Tool | ApprovalKind::Elicitation);
        self.stage == Stage::Delivered && self.allows && runs
    }
}
