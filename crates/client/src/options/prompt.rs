//! What the model is told before the conversation.

use std::path::PathBuf;

use countersign_protocol::request::SystemPrompt;

use super::OptionsError;
use super::draft::Draft;
use crate::SessionBuilder;
use crate::cli::Capability;

/// The options of this topic.
#[derive(Clone, Default)]
pub(super) struct Prompt {
    system: Option<SystemPrompt>,
    system_file: Option<PathBuf>,
    append: Option<String>,
    append_file: Option<PathBuf>,
    append_subagents: Option<String>,
    exclude_dynamic: bool,
    snapshot: Option<bool>,
    plan_mode: Option<String>,
    verbatim: bool,
}

impl SessionBuilder {
    /// The system prompt, in place of the whole of the CLI's own. The empty string replaces it
    /// with nothing. Without this the CLI's own is used.
    ///
    /// Several blocks need 2.1.197. The block [`SystemPrompt::DYNAMIC_BOUNDARY`] ends the part
    /// that is the same for every session and worth caching.
    pub fn system_prompt(mut self, prompt: impl Into<SystemPrompt>) -> Self {
        self.options.prompt.system = Some(prompt.into());
        self
    }

    /// A file with the system prompt. A relative path begins in the working folder of the session.
    pub fn system_prompt_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.prompt.system_file = Some(path.into());
        self
    }

    /// What is added to the system prompt.
    pub fn append_system_prompt(mut self, text: impl Into<String>) -> Self {
        self.options.prompt.append = Some(text.into());
        self
    }

    /// A file with what is added to the system prompt.
    pub fn append_system_prompt_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.prompt.append_file = Some(path.into());
        self
    }

    /// What is added to the system prompt of sub-agents. Needs 2.1.197. *Unstable.*
    pub fn append_subagent_system_prompt(mut self, text: impl Into<String>) -> Self {
        self.options.prompt.append_subagents = Some(text.into());
        self
    }

    /// Keeps folder, memory and git status out of the CLI's own system prompt, which then is the
    /// same for every session and can be cached. Needs 2.1.197.
    pub fn exclude_dynamic_sections(mut self) -> Self {
        self.options.prompt.exclude_dynamic = true;
        self
    }

    /// Whether the system prompt is recorded once and used again by later turns and resumes. The
    /// CLI does so by default. Needs 2.1.325.
    pub fn system_prompt_snapshot(mut self, snapshot: bool) -> Self {
        self.options.prompt.snapshot = Some(snapshot);
        self
    }

    /// What the model is told to do in plan mode, in place of the CLI's own text. Needs 2.1.197.
    pub fn plan_mode_instructions(mut self, text: impl Into<String>) -> Self {
        self.options.prompt.plan_mode = Some(text.into());
        self
    }

    /// Sends every message as it is: no command is run because it begins with `/`, and no file is
    /// attached because it is named with `@`. Needs 2.1.248.
    ///
    /// A message that says otherwise itself, with `client_composed` set to `false`, is read as usual.
    pub fn verbatim_prompts(mut self) -> Self {
        self.options.prompt.verbatim = true;
        self
    }
}

impl Prompt {
    pub(super) fn apply(&self, draft: &mut Draft) -> Result<(), OptionsError> {
        if self.system.is_some() && self.system_file.is_some() {
            return Err(OptionsError::contradiction(
                "there are two system prompts",
                "use `system_prompt` or `system_prompt_file`, not both",
            ));
        }
        if self.append.is_some() && self.append_file.is_some() {
            return Err(OptionsError::contradiction(
                "two texts are added to the system prompt",
                "use `append_system_prompt` or `append_system_prompt_file`, not both",
            ));
        }
        if self.exclude_dynamic && (self.system.is_some() || self.system_file.is_some()) {
            return Err(OptionsError::contradiction(
                "a system prompt of your own has no dynamic sections",
                "leave out `exclude_dynamic_sections` or the prompt",
            ));
        }
        if matches!(self.system, Some(SystemPrompt::Blocks(_))) {
            draft.need(Capability::SYSTEM_PROMPT_BLOCKS);
        }
        if self.verbatim {
            draft.need(Capability::VERBATIM_MESSAGES);
        }
        draft.optional("--system-prompt-file", self.system_file.as_deref())?;
        draft.optional("--append-system-prompt-file", self.append_file.as_deref())?;
        draft.verbatim_prompts = self.verbatim;
        let initialize = &mut draft.initialize;
        initialize.system_prompt = self.system.clone();
        initialize.append_system_prompt = self.append.clone();
        initialize.append_subagent_system_prompt = self.append_subagents.clone();
        initialize.exclude_dynamic_sections = self.exclude_dynamic.then_some(true);
        initialize.system_prompt_snapshot = self.snapshot;
        initialize.plan_mode_instructions = self.plan_mode.clone();
        Ok(())
    }
}
