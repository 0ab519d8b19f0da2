//! What the CLI reports besides the conversation itself.

use countersign_protocol::RawJson;

use super::OptionsError;
use super::draft::Draft;
use crate::SessionBuilder;

/// The options of this topic.
#[derive(Clone, Default)]
pub(super) struct Output {
    partial_messages: bool,
    hook_events: bool,
    suggestions: bool,
    summaries: bool,
    subagent_text: bool,
    state_events: bool,
    auth_status: bool,
    schema: Option<RawJson>,
}

impl SessionBuilder {
    /// Reports what the model writes while it writes it.
    pub fn partial_messages(mut self) -> Self {
        self.options.output.partial_messages = true;
        self
    }

    /// Reports when hooks of the settings begin and end. Hooks of this program are not meant.
    /// Needs 2.1.197.
    pub fn hook_events(mut self) -> Self {
        self.options.output.hook_events = true;
        self
    }

    /// Suggests the next prompt after a turn.
    pub fn prompt_suggestions(mut self) -> Self {
        self.options.output.suggestions = true;
        self
    }

    /// Reports in words what sub-agents are doing. Needs 2.1.197.
    pub fn progress_summaries(mut self) -> Self {
        self.options.output.summaries = true;
        self
    }

    /// Reports what sub-agents write and think, and not their tool calls alone. Needs 2.1.197.
    pub fn forward_subagent_text(mut self) -> Self {
        self.options.output.subagent_text = true;
        self
    }

    /// Reports whether the session runs, waits or is idle. 2.1.325 does so for this library anyway;
    /// earlier versions have to be asked. Needs 2.1.197.
    pub fn session_state_events(mut self) -> Self {
        self.options.output.state_events = true;
        self
    }

    /// Reports how a login goes.
    pub fn auth_status(mut self) -> Self {
        self.options.output.auth_status = true;
        self
    }

    /// The JSON schema that the result of each turn has to follow, an object. The value is in
    /// `structured_output` of the result.
    ///
    /// It has to be of draft 7. A schema with a keyword that the CLI does not know, with another
    /// `$schema`, or, before 2.1.325, with a `format`, is passed over by the CLI without a word.
    pub fn output_schema(mut self, schema: impl Into<RawJson>) -> Self {
        self.options.output.schema = Some(schema.into());
        self
    }
}

impl Output {
    pub(super) fn apply(&self, draft: &mut Draft) -> Result<(), OptionsError> {
        draft.flag_if("--include-partial-messages", self.partial_messages);
        draft.flag_if("--include-hook-events", self.hook_events);
        // A turn knows by the echo of its message that the CLI has taken it up.
        draft.flag("--replay-user-messages");
        draft.flag_if("--enable-auth-status", self.auth_status);
        if self.state_events {
            draft.set_needed("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1");
        }
        if let Some(schema) = &self.schema {
            if !schema.is_object() {
                let problem = "it has to be a JSON object";
                return Err(OptionsError::value("output_schema", schema.as_str(), problem));
            }
            draft.initialize.json_schema = Some(schema.clone());
        }
        draft.initialize.prompt_suggestions = self.suggestions.then_some(true);
        draft.initialize.agent_progress_summaries = self.summaries.then_some(true);
        draft.initialize.forward_subagent_text = self.subagent_text.then_some(true);
        Ok(())
    }
}
