//! The model, how hard it thinks, and how much it may cost.

use countersign_protocol::request::{EffortLevel, ThinkingDisplay};

use super::OptionsError;
use super::draft::{Draft, reject_comma, reject_empty};
use crate::SessionBuilder;

/// The options of this topic.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    model: Option<String>,
    fallbacks: Vec<String>,
    effort: Option<EffortLevel>,
    thinking: Option<Thinking>,
    display: Option<ThinkingDisplay>,
    betas: Vec<String>,
    max_turns: Option<u32>,
    max_budget_usd: Option<f64>,
    task_budget: Option<u64>,
}

/// Whether and how much the model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinking {
    /// As much as it finds right.
    Adaptive,
    /// At most this many tokens. Zero is the same as [`Thinking::Disabled`].
    Budget(u64),
    /// Not at all.
    Disabled,
}

impl SessionBuilder {
    /// Which model answers: an alias such as `sonnet`, or the id of a model. The default is the
    /// CLI's own, which depends on the account and the settings.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.options.model.model = Some(model.into());
        self
    }

    /// A model to turn to when the first is overloaded. Several are tried in their order.
    pub fn fallback_model(mut self, model: impl Into<String>) -> Self {
        self.options.model.fallbacks.push(model.into());
        self
    }

    /// How hard the model tries. [`EffortLevel::Xhigh`] needs 2.1.197.
    pub fn effort(mut self, effort: EffortLevel) -> Self {
        self.options.model.effort = Some(effort);
        self
    }

    /// Whether and how much the model thinks.
    pub fn thinking(mut self, thinking: Thinking) -> Self {
        self.options.model.thinking = Some(thinking);
        self
    }

    /// How thinking is shown. Needs 2.1.197.
    pub fn thinking_display(mut self, display: ThinkingDisplay) -> Self {
        self.options.model.display = Some(display);
        self
    }

    /// Asks the API for a beta feature. Can be given several times. Only for accounts that pay by
    /// API key.
    pub fn beta(mut self, beta: impl Into<String>) -> Self {
        self.options.model.betas.push(beta.into());
        self
    }

    /// Ends a turn after this many requests to the model, with `error_max_turns`. It counts anew
    /// for each message.
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.options.model.max_turns = Some(turns);
        self
    }

    /// Ends a turn when the session has cost this much, with `error_max_budget_usd`. It counts for
    /// the whole process: later messages fail as well.
    pub fn max_budget_usd(mut self, dollars: f64) -> Self {
        self.options.model.max_budget_usd = Some(dollars);
        self
    }

    /// Tells the model how many tokens it has for the task. Needs 2.1.197.
    pub fn task_budget(mut self, tokens: u64) -> Self {
        self.options.model.task_budget = Some(tokens);
        self
    }
}

impl Model {
    pub(super) fn apply(&self, draft: &mut Draft) -> Result<(), OptionsError> {
        if let Some(model) = &self.model {
            reject_empty("model", model)?;
            draft.value("--model", model)?;
        }
        for model in &self.fallbacks {
            reject_comma("fallback_model", model)?;
        }
        if !self.fallbacks.is_empty() {
            draft.value("--fallback-model", self.fallbacks.join(","))?;
        }
        draft.optional("--effort", self.effort.as_ref().map(EffortLevel::as_str))?;
        match self.thinking {
            None => {}
            Some(Thinking::Adaptive) => draft.value("--thinking", "adaptive")?,
            Some(Thinking::Disabled | Thinking::Budget(0)) => {
                draft.value("--thinking", "disabled")?;
            }
            Some(Thinking::Budget(tokens)) => {
                draft.value("--max-thinking-tokens", tokens.to_string())?;
            }
        }
        draft.optional("--thinking-display", self.display.as_ref().map(ThinkingDisplay::as_str))?;
        for beta in &self.betas {
            reject_comma("beta", beta)?;
        }
        if !self.betas.is_empty() {
            draft.value("--betas", self.betas.join(","))?;
        }
        if let Some(turns) = self.max_turns {
            if turns == 0 {
                let problem = "no turn could ever run; one is the least";
                return Err(OptionsError::value("max_turns", "0", problem));
            }
            draft.value("--max-turns", turns.to_string())?;
        }
        if let Some(dollars) = self.max_budget_usd {
            if !dollars.is_finite() || dollars <= 0.0 {
                let problem = "a budget is more than nothing, and finite";
                return Err(OptionsError::value("max_budget_usd", &dollars.to_string(), problem));
            }
            draft.value("--max-budget-usd", dollars.to_string())?;
        }
        if let Some(tokens) = self.task_budget {
            if tokens == 0 {
                let problem = "a budget is more than nothing";
                return Err(OptionsError::value("task_budget", "0", problem));
            }
            draft.value("--task-budget", tokens.to_string())?;
        }
        Ok(())
    }
}
