//! Answers: checked, written, and the first one counts.

use countersign::permission::FreshStart;
use countersign_protocol::permission::PermissionMode;

use super::sessions::{like, made_like};
use super::{AnswerTaken, Caller, Carried, Service, ServiceError};
use crate::id::{ApprovalId, MessageId, SessionId};
use crate::session::{
    Answer, Approval, ApprovalAnswered, ApprovePlan, Created, Happening, MessageContent,
    MessageQueued, NotAnAnswer, Parent, Refused, Stage, sets_mode,
};
use crate::store::Write;

impl Service {
    /// An approval.
    ///
    /// # Errors
    /// When there is none, or the store cannot be read.
    pub async fn approval(&self, approval: ApprovalId) -> Result<Approval, ServiceError> {
        let found = self.hub.store().approval(approval).await?;
        found.ok_or(ServiceError::NoApproval(approval))
    }

    /// Answers what a person is asked. The answer is on disk when this returns, and will get to
    /// where it was asked, whatever happens to the process and to the server.
    ///
    /// # Errors
    /// When somebody was first, it is not asked any more, or it is no answer to what was asked.
    pub async fn answer(
        &self,
        caller: &Caller,
        approval: ApprovalId,
        answer: Answer,
    ) -> Result<Carried<AnswerTaken>, ServiceError> {
        let asked = self.approval(approval).await?;
        let session = asked.session;
        let effects = asked.check(&answer)?;
        let head = self.session(session).await?;
        let bypass = PermissionMode::BypassPermissions;
        let may_bypass = self.hub.settings().allow_bypass && head.mode == bypass;
        // Any of them, though another may follow.
        if sets_mode(&effects.updates, &bypass) && !may_bypass {
            return Err(NotAnAnswer::Bypass.into());
        }
        if let Answer::Plan(ApprovePlan { compact, grant_prompts, .. }) = &answer
            && effects.fresh_plan.is_some()
        {
            // Here and not when it is delivered: what was taken once is carried out.
            for (name, wanted) in [("compact", compact), ("grant_prompts", grant_prompts)] {
                if *wanted {
                    return Err(NotAnAnswer::NotElsewhere(name).into());
                }
            }
        }
        let child = effects.fresh_plan.as_ref().map(|_| SessionId::new());
        let compact = matches!(&answer, Answer::Plan(ApprovePlan { compact: true, .. }));
        let by = caller.by.clone();
        let answered = ApprovalAnswered { approval, answer, by: by.clone(), child };
        let mut happens: Vec<Happening> = vec![answered.into()];
        if compact {
            happens.push(queued("/compact", true, caller).into());
        }
        let mut write = Write::to(session, happens);
        if let (Some(child), Some(plan)) = (child, effects.fresh_plan) {
            self.unchanged(&head).await?;
            let fresh = FreshStart::new(plan, PermissionMode::AcceptEdits);
            let mut created = Created {
                mode: fresh.mode.clone(),
                parent: Some(Parent::Plan { session, approval }),
                ..like(&head, caller)
            };
            // It goes on with the same work, so it has what is left.
            if let Some(budget) = &mut created.options.limits.budget_usd {
                if head.is_over_budget() {
                    return Err(ServiceError::Refused(Refused::OverBudget));
                }
                *budget -= head.usage.cost_usd;
            }
            let mut happens = made_like(created, &head);
            happens.push(queued(&fresh.prompt(), false, caller).into());
            write = write.and_to(child, happens);
        }
        let receipt = AnswerTaken { session, approval, child };
        let carried = self.carry(caller, receipt, write).await;
        match carried {
            Err(ServiceError::Refused(Refused::Answered(_) | Refused::NotOpen(_))) => {
                let now = self.approval(approval).await?;
                // The log has the last word; the row follows it in the same transaction.
                debug_assert_ne!(now.stage, Stage::Open);
                Err(ServiceError::NotOpen(Box::new(now)))
            }
            other => other,
        }
    }
}

fn queued(text: &str, first: bool, caller: &Caller) -> MessageQueued {
    MessageQueued {
        message: MessageId::new(),
        content: MessageContent::text(text),
        now: false,
        first,
        by: caller.by.clone(),
    }
}
