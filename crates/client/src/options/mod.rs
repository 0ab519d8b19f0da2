//! What the CLI is told: flags, environment, and the fields of `initialize`.
//!
//! Each file has the options of one topic: what is kept, the methods of
//! [`SessionBuilder`](crate::SessionBuilder) that set it, and what it adds to the [`Launch`].

mod agents;
mod draft;
mod environment;
mod error;
mod launch;
mod mcp;
mod model;
mod output;
mod permissions;
mod process;
mod prompt;
mod session;
mod settings;
mod tools;

use self::agents::Agents;
use self::draft::Draft;
use self::mcp::Mcp;
use self::model::Model;
use self::output::Output;
use self::permissions::Permissions;
use self::process::Process;
use self::prompt::Prompt;
use self::session::Conversation;
use self::settings::Settings;
use self::tools::Tools;

pub use self::environment::Environment;
pub use self::error::OptionsError;
pub use self::launch::{ChildEnvironment, Launch};
pub use self::model::Thinking;
pub use self::permissions::PermissionPrompts;
pub use self::settings::SettingSource;
pub use self::tools::{PreviewFormat, Skills, ToolSet};

use std::fmt;
use std::path::Path;

use countersign_protocol::ids::SessionId;
use countersign_protocol::permission::PermissionMode;

/// What the CLI is told.
///
/// Topics that may hold secrets have no debug form, so that none is shown by mistake.
#[derive(Clone, Default)]
pub(crate) struct Options {
    model: Model,
    prompt: Prompt,
    tools: Tools,
    agents: Agents,
    permissions: Permissions,
    settings: Settings,
    mcp: Mcp,
    conversation: Conversation,
    output: Output,
    process: Process,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("model", &self.model)
            .field("mode", &self.mode())
            .field("conversation", &self.conversation)
            .field("process", &self.process)
            .finish_non_exhaustive()
    }
}

impl Options {
    /// Has the CLI repeat what it writes to the transcript, for a session store.
    pub(crate) fn mirror_session(&mut self) {
        self.conversation.mirror = true;
    }

    /// What is to be started, and what it is told first. Looks for the CLI, but starts nothing.
    pub(crate) fn launch(&self) -> Result<Launch, OptionsError> {
        self.draft()?.finish(&self.process)
    }

    /// Looks at everything but for where the CLI is.
    pub(crate) fn check(&self) -> Result<(), OptionsError> {
        self.draft().map(drop)
    }

    fn draft(&self) -> Result<Draft, OptionsError> {
        let mut draft = Draft::new();
        self.permissions.apply(&mut draft)?;
        self.model.apply(&mut draft)?;
        self.prompt.apply(&mut draft)?;
        self.tools.apply(&mut draft)?;
        self.agents.apply(&mut draft)?;
        self.settings.apply(&mut draft)?;
        self.mcp.apply(&mut draft)?;
        self.conversation.apply(&mut draft)?;
        self.output.apply(&mut draft)?;
        // Last, because what is given raw may not repeat what is there.
        self.process.apply(&mut draft)?;
        Ok(draft)
    }

    /// The id that the session will have, if it is known before it begins.
    pub(crate) fn known_session(&self) -> Option<SessionId> {
        self.conversation.known_id()
    }

    /// The mode that the session begins in.
    pub(crate) fn mode(&self) -> PermissionMode {
        self.permissions.begins_in()
    }

    /// Whether the CLI is launched so that permissions may be bypassed.
    pub(crate) const fn may_bypass(&self) -> bool {
        self.permissions.allows_bypass()
    }

    /// Whether a session goes on.
    pub(crate) const fn resumes(&self) -> bool {
        self.conversation.goes_on()
    }

    /// Goes on with this session, in its mode unless another was chosen.
    pub(crate) fn go_on(&mut self, session: &SessionId, mode: Option<PermissionMode>) {
        self.conversation.set_resumed(session);
        if let Some(mode) = mode {
            self.permissions.begin_in(mode);
        }
    }

    /// Begins a new session in this mode.
    pub(crate) fn begin_anew(&mut self, mode: PermissionMode) {
        self.conversation.set_new();
        self.permissions.set_mode(mode);
    }

    /// The folder to work in, unless one was chosen.
    pub(crate) fn work_in(&mut self, folder: &Path) {
        self.process.work_in(folder);
    }
}

#[cfg(test)]
mod tests {
    use crate::SessionBuilder;

    fn mirrored(mut builder: SessionBuilder) -> SessionBuilder {
        builder.options.mirror_session();
        builder.executable("/bin/sh")
    }

    #[test]
    fn a_mirrored_session_keeps_its_transcript_and_no_files() {
        let launch = mirrored(SessionBuilder::default()).preview().unwrap();
        assert!(launch.arguments.iter().any(|argument| argument == "--session-mirror"));
        assert_eq!(
            launch.needs.iter().map(|need| need.name()).collect::<Vec<_>>(),
            ["--session-mirror"]
        );
        for (builder, words) in [
            (SessionBuilder::default().without_persistence(), "`without_persistence`"),
            (SessionBuilder::default().file_checkpointing(), "`file_checkpointing`"),
        ] {
            let error = mirrored(builder).preview().unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
