//! Sub-agents.

use std::collections::BTreeMap;

use countersign_protocol::request::AgentDefinition;

use super::OptionsError;
use super::draft::{Draft, reject_empty};
use crate::SessionBuilder;

/// The options of this topic.
#[derive(Clone, Default)]
pub(super) struct Agents {
    definitions: BTreeMap<String, AgentDefinition>,
    main: Option<String>,
    per_task_stop: bool,
}

impl SessionBuilder {
    /// Defines a sub-agent. One of the same name is replaced.
    ///
    /// ```
    /// use countersign::SessionBuilder;
    /// use countersign::protocol::request::AgentDefinition;
    ///
    /// let reviewer = AgentDefinition::new("Reviews a change.", "You review changes.");
    /// let builder = SessionBuilder::default().agent("reviewer", reviewer);
    /// ```
    pub fn agent(mut self, name: impl Into<String>, definition: AgentDefinition) -> Self {
        self.options.agents.definitions.insert(name.into(), definition);
        self
    }

    /// Lets the main conversation be led by this agent, one that was defined or one from the
    /// settings.
    pub fn main_agent(mut self, name: impl Into<String>) -> Self {
        self.options.agents.main = Some(name.into());
        self
    }

    /// Says that this program can stop single tasks. An interrupt then spares agents in the
    /// background. Needs 2.1.325.
    pub fn stops_single_tasks(mut self) -> Self {
        self.options.agents.per_task_stop = true;
        self
    }
}

impl Agents {
    pub(super) fn apply(&self, draft: &mut Draft) -> Result<(), OptionsError> {
        for name in self.definitions.keys().chain(&self.main) {
            reject_empty("agent", name)?;
        }
        draft.optional("--agent", self.main.as_deref())?;
        if !self.definitions.is_empty() {
            draft.initialize.agents = Some(self.definitions.clone());
        }
        draft.initialize.per_task_stop_affordance = self.per_task_stop.then_some(true);
        Ok(())
    }
}
