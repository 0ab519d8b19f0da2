//! Plans that wait to be approved.

use countersign_protocol::RawJson;
use countersign_protocol::content::{Content, ContentBlock, TextBlock};
use countersign_protocol::message::UserMessage;
use countersign_protocol::permission::{
    PermissionMode, PermissionRule, PermissionUpdate, RuleBehavior, RulesUpdate, UpdateDestination,
};
use countersign_protocol::tool::{AllowedPrompt, ExitPlanModeInput};

use super::answer::{FreshStart, PermissionAnswer};
use super::ask::PermissionAsk;
use super::handler::AnswerError;

/// The model has made a plan and wants to leave plan mode.
///
/// The choices are those of the terminal: see [`PlanChoice`]. Where there is no plan (the model
/// wrote none) only two of them make sense, yes and no: see [`PlanAsk::choices`].
#[derive(Debug)]
pub struct PlanAsk {
    ask: PermissionAsk,
    input: ExitPlanModeInput,
    edited: Option<String>,
    grant_prompts: bool,
}

/// What can be done with a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanChoice {
    /// Carry it out in a conversation that begins anew, in which edits need no approval.
    ///
    /// The turn ends. Its outcome has the [`FreshStart`] with which
    /// [`Session::begin_fresh`](crate::Session::begin_fresh) begins the conversation.
    ClearContextAndAcceptEdits,
    /// Carry it out here; edits need no approval.
    AcceptEdits,
    /// Carry it out here; each edit is asked for.
    ApproveManually,
}

impl PlanAsk {
    pub(super) fn new(ask: PermissionAsk, input: ExitPlanModeInput) -> Self {
        Self { ask, input, edited: None, grant_prompts: false }
    }

    /// The plan, or none if the model wrote none.
    #[must_use]
    pub fn plan(&self) -> Option<&str> {
        self.edited.as_deref().or(self.input.plan.as_deref())
    }

    /// The file that holds the plan. Not known from 2.1.62.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        self.input.plan_file_path.as_deref()
    }

    /// What the model would like to be allowed besides. It grants nothing by itself: see
    /// [`granting_prompts`](Self::granting_prompts).
    #[must_use]
    pub fn allowed_prompts(&self) -> &[AllowedPrompt] {
        self.input.allowed_prompts.as_deref().unwrap_or_default()
    }

    /// The ways to approve that make sense: all, or without a plan only
    /// [`PlanChoice::ApproveManually`]. Keeping on planning is always possible.
    #[must_use]
    pub fn choices(&self) -> &'static [PlanChoice] {
        const ALL: [PlanChoice; 3] = [
            PlanChoice::ClearContextAndAcceptEdits,
            PlanChoice::AcceptEdits,
            PlanChoice::ApproveManually,
        ];
        if self.plan().is_some() { &ALL } else { &[PlanChoice::ApproveManually] }
    }

    /// The ask behind it.
    #[must_use]
    pub fn ask(&self) -> &PermissionAsk {
        &self.ask
    }

    /// The ask behind it, to be answered like any other.
    #[must_use]
    pub fn into_ask(self) -> PermissionAsk {
        self.ask
    }

    /// Another text for the plan. It takes the place of the model's in the answer and, from 2.1.197
    /// on, in its file; 2.1.62 ignores it where the conversation goes on.
    #[must_use]
    pub fn edited(mut self, plan: impl Into<String>) -> Self {
        self.edited = Some(plan.into());
        self
    }

    /// Allows what the model asked for with the plan, as rules of the session.
    ///
    /// The rules are those that the terminal makes of it, such as `Bash(prompt: run the tests)`.
    /// They take effect where the conversation goes on.
    #[must_use]
    pub fn granting_prompts(mut self) -> Self {
        self.grant_prompts = true;
        self
    }

    /// Approves the plan.
    ///
    /// The mode changes together with the answer, so nothing runs in between.
    ///
    /// # Errors
    /// When there is no plan to begin a new conversation with.
    pub fn approve(self, choice: PlanChoice) -> Result<PermissionAnswer, AnswerError> {
        let mode = match choice {
            PlanChoice::ClearContextAndAcceptEdits => {
                let Some(plan) = self.plan() else { return Err(AnswerError::NoPlan) };
                let fresh = FreshStart::new(plan, PermissionMode::AcceptEdits);
                let reason = "The plan is approved, and is carried out in a new conversation.";
                let mut answer = self.ask.deny_and_stop(reason);
                answer.fresh_start = Some(fresh);
                return Ok(answer);
            }
            PlanChoice::AcceptEdits => PermissionMode::AcceptEdits,
            PlanChoice::ApproveManually => PermissionMode::Default,
        };
        let rules = self.grant_prompts.then(|| rules_for(self.allowed_prompts())).flatten();
        let mut allowing = match &self.edited {
            Some(plan) => {
                let input = with_plan(self.ask.input(), plan)?;
                self.ask.allowing().input(input)?
            }
            None => self.ask.allowing(),
        };
        allowing = allowing.mode(mode, UpdateDestination::Session).updates(rules);
        Ok(allowing.answer())
    }

    /// Does not approve it; the model stays in plan mode and reads what is to change.
    pub fn keep_planning(self, feedback: impl Into<String>) -> PermissionAnswer {
        self.ask.deny(feedback)
    }

    /// [`keep_planning`](Self::keep_planning) with pictures or other content.
    ///
    /// A denial has room for text alone, so the content is a message of the user, which the CLI
    /// puts right after the feedback. It says the feedback again if it has no words of its own:
    /// the CLI would announce an empty message.
    pub fn keep_planning_with(
        self,
        feedback: impl Into<String>,
        mut content: Vec<ContentBlock>,
    ) -> PermissionAnswer {
        let feedback = feedback.into();
        let mut answer = self.ask.deny(feedback.clone());
        if !content.is_empty() {
            if !content.iter().any(|block| matches!(block, ContentBlock::Text(_))) {
                content.insert(0, TextBlock::new(feedback).into());
            }
            let mut message = UserMessage::prompt(Content::Blocks(content));
            // Like the feedback, which is no command either, whatever it begins with.
            message.client_composed = Some(true);
            answer.message = Some(Box::new(message));
        }
        answer
    }
}

/// The rules that the terminal makes of what a plan asks for.
fn rules_for(prompts: &[AllowedPrompt]) -> Option<PermissionUpdate> {
    let rules: Vec<_> = prompts
        .iter()
        .map(|asked| {
            let mut rule = PermissionRule::new(&*asked.tool);
            rule.rule_content = Some(format!("prompt: {}", asked.prompt.trim()));
            rule
        })
        .collect();
    (!rules.is_empty()).then(|| {
        let update = RulesUpdate::new(rules, RuleBehavior::Allow, UpdateDestination::Session);
        PermissionUpdate::AddRules(update)
    })
}

/// The input with another plan; the rest of it as it came.
fn with_plan(input: &RawJson, plan: &str) -> Result<RawJson, serde_json::Error> {
    use serde_json::value::RawValue;
    let mut fields: std::collections::BTreeMap<String, Box<RawValue>> =
        serde_json::from_str(input.as_str())?;
    fields.insert("plan".to_owned(), serde_json::value::to_raw_value(plan)?);
    RawJson::from_value(&fields)
}
