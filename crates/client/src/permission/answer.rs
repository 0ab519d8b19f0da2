//! What is answered.

use countersign_protocol::RawJson;
use countersign_protocol::ids::ToolUseId;
use countersign_protocol::message::UserMessage;
use countersign_protocol::permission::{
    Allow, DecisionClassification, PermissionMode, PermissionResult, PermissionRule,
    PermissionUpdate, RuleBehavior, RulesUpdate, SetMode, UpdateDestination,
};

use super::ask::PermissionAsk;
use super::handler::AnswerError;

/// The answer to a [`PermissionAsk`]. It can only be made from one.
#[derive(Debug)]
#[must_use = "an answer that is not returned is a denial"]
pub struct PermissionAnswer {
    pub(crate) tool_use_id: ToolUseId,
    pub(crate) result: PermissionResult,
    /// Whether the tool runs with another input than it was called with.
    pub(crate) input_changed: bool,
    /// What the user says besides, right before the answer.
    pub(crate) message: Option<Box<UserMessage>>,
    /// What is to happen once the turn has ended.
    pub(crate) fresh_start: Option<FreshStart>,
}

impl PermissionAnswer {
    pub(super) fn new(tool_use_id: ToolUseId, result: PermissionResult) -> Self {
        Self { tool_use_id, result, input_changed: false, message: None, fresh_start: None }
    }

    /// Whether the tool runs.
    #[must_use]
    pub fn allows(&self) -> bool {
        matches!(self.result, PermissionResult::Allow(_))
    }

    /// What goes to the CLI.
    #[must_use]
    pub fn result(&self) -> &PermissionResult {
        &self.result
    }

    /// Says what the answer meant, for the CLI's statistics.
    pub fn classified(mut self, classification: DecisionClassification) -> Self {
        match &mut self.result {
            PermissionResult::Allow(allow) => allow.decision_classification = Some(classification),
            PermissionResult::Deny(deny) => deny.decision_classification = Some(classification),
            _ => {}
        }
        self
    }
}

/// A plan that is to be carried out in a conversation that begins anew.
///
/// The terminal's "clear context and accept edits". It comes with the outcome of the turn in which
/// the plan was approved; [`Session::begin_fresh`](crate::Session::begin_fresh) does it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FreshStart {
    /// The plan.
    pub plan: String,
    /// The mode to carry it out in.
    pub mode: PermissionMode,
}

impl FreshStart {
    /// A plan to be carried out in a conversation of its own.
    #[must_use]
    pub fn new(plan: impl Into<String>, mode: PermissionMode) -> Self {
        Self { plan: plan.into(), mode }
    }

    /// What the new conversation begins with.
    #[must_use]
    pub fn prompt(&self) -> String {
        format!("Implement the following plan:\n\n{}", self.plan)
    }
}

/// An answer that lets a tool run, while it is made.
///
/// ```
/// # use countersign::permission::{PermissionAsk, PermissionAnswer};
/// use countersign::protocol::permission::{PermissionMode, UpdateDestination};
///
/// fn allow_and_accept_edits(ask: PermissionAsk) -> PermissionAnswer {
///     ask.allowing().mode(PermissionMode::AcceptEdits, UpdateDestination::Session).answer()
/// }
/// ```
#[derive(Debug)]
#[must_use = "an answer that is not returned is a denial"]
pub struct Allowing {
    tool_use_id: ToolUseId,
    input: RawJson,
    input_changed: bool,
    updates: Vec<PermissionUpdate>,
}

impl Allowing {
    pub(super) fn new(ask: &PermissionAsk) -> Self {
        let request = &*ask.request;
        Self {
            tool_use_id: request.tool_use_id.clone(),
            input: request.input.clone(),
            input_changed: false,
            updates: Vec::new(),
        }
    }

    /// The tool runs with this input instead of the one that was asked about.
    ///
    /// # Errors
    /// When the input is not an object. The CLI would refuse the call then.
    pub fn input(mut self, input: RawJson) -> Result<Self, AnswerError> {
        if !input.is_object() {
            return Err(AnswerError::NotAnObject);
        }
        self.input_changed |= self.input != input;
        self.input = input;
        Ok(self)
    }

    /// Changes rules, mode or folders, before the tool runs.
    ///
    /// The CLI drops the whole list without a word when one entry is malformed, so an update of a
    /// kind that is not known here is left out, and said in the log.
    ///
    /// An answer that sets the mode `bypassPermissions` is a denial, unless the session was launched
    /// with [`allow_dangerously_skip_permissions`](crate::SessionBuilder::allow_dangerously_skip_permissions).
    pub fn updates(mut self, updates: impl IntoIterator<Item = PermissionUpdate>) -> Self {
        for update in updates {
            if let PermissionUpdate::Other(other) = &update {
                tracing::warn!(kind = %other.name(), "a permission update of an unknown kind is left out");
                continue;
            }
            self.updates.push(update);
        }
        self
    }

    /// Changes the mode, before the tool runs.
    pub fn mode(self, mode: PermissionMode, destination: UpdateDestination) -> Self {
        self.updates([SetMode::new(mode, destination).into()])
    }

    /// Adds a rule: the tool is allowed from now on, all of it or what `content` says, such as
    /// `npm test:*`.
    pub fn rule(
        self,
        tool: impl Into<String>,
        content: Option<&str>,
        destination: UpdateDestination,
    ) -> Self {
        let mut rule = PermissionRule::new(tool);
        rule.rule_content = content.map(str::to_owned);
        let rules = RulesUpdate::new(vec![rule], RuleBehavior::Allow, destination);
        self.updates([PermissionUpdate::AddRules(rules)])
    }

    /// The answer.
    pub fn answer(self) -> PermissionAnswer {
        let mut allow = Allow::new(self.input);
        if !self.updates.is_empty() {
            allow.updated_permissions = Some(self.updates);
        }
        let mut answer = PermissionAnswer::new(self.tool_use_id, allow.into());
        answer.input_changed = self.input_changed;
        answer
    }
}
