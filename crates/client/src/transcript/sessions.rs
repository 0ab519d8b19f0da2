//! The handle on the sessions of a configuration folder.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use countersign_protocol::ids::{AgentId, SessionId};

use super::chain::Conversation;
use super::error::TranscriptError;
use super::files::{Located, checked_session};
use super::fork::{self, ForkOptions};
use super::info::{self, SessionInfo};
use super::list::{self, ListOptions};
use super::message::Parents;
use super::messages::{MessageOptions, Messages};
use super::project::ProjectKey;
use super::subagents::{self, Subagent};
use super::{edit, worktrees};

/// The sessions that the CLI keeps on disk: of all projects, or of one folder.
///
/// All of it blocks; see the [module](super).
#[derive(Clone, Debug)]
pub struct Sessions {
    home: PathBuf,
    directory: Option<PathBuf>,
    worktrees: bool,
}

impl Sessions {
    /// The sessions below this configuration folder, of all projects.
    pub fn at(config_home: impl Into<PathBuf>) -> Self {
        Self { home: config_home.into(), directory: None, worktrees: true }
    }

    /// The sessions of the user: below `CLAUDE_CONFIG_DIR`, else below `.claude` in the home
    /// folder.
    ///
    /// # Errors
    ///
    /// When neither `CLAUDE_CONFIG_DIR` nor `HOME` is set.
    pub fn of_user() -> Result<Self, TranscriptError> {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty());
        let config = set("CLAUDE_CONFIG_DIR").map(PathBuf::from);
        let home = || set("HOME").map(|home| Path::new(&home).join(".claude"));
        config.or_else(home).map(Self::at).ok_or(TranscriptError::NoHome)
    }

    /// Only the sessions that were held in this folder, or in another working tree of its git
    /// repository.
    #[must_use]
    pub fn in_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Not those of the other working trees.
    #[must_use]
    pub const fn without_worktrees(mut self) -> Self {
        self.worktrees = false;
        self
    }

    /// The configuration folder.
    #[must_use]
    pub fn config_home(&self) -> &Path {
        &self.home
    }

    /// Lists sessions, the latest first.
    ///
    /// Of each file the first and the last 64 KiB are read. Transcripts of sub-agents and those in
    /// which nobody said anything are not listed.
    ///
    /// # Errors
    ///
    /// When the folder of the projects is there and cannot be read. What is not there has no
    /// sessions.
    pub fn list(&self, options: &ListOptions) -> Result<Vec<SessionInfo>, TranscriptError> {
        list::list(&self.projects()?, options)
    }

    /// What a list shows of one session; nothing for one that a list does not show.
    ///
    /// # Errors
    ///
    /// When the id is not a UUID, there is no such session, or it cannot be read.
    pub fn info(&self, session: &SessionId) -> Result<Option<SessionInfo>, TranscriptError> {
        let files = self.locate(session)?;
        info::read(session, &files).map_err(super::io_error("read", &files.transcript))
    }

    /// Reads the conversation of a session.
    ///
    /// The transcript is read once for what is where, then message by message while the iterator
    /// is used.
    ///
    /// # Errors
    ///
    /// When the id is not a UUID, there is no such session, or it cannot be read.
    pub fn messages(
        &self,
        session: &SessionId,
        options: &MessageOptions,
    ) -> Result<Messages, TranscriptError> {
        let files = self.locate(session)?;
        Messages::open(&files.transcript, Conversation::Main, Parents::default(), options)
    }

    /// Lists the sub-agents of a session.
    ///
    /// # Errors
    ///
    /// When the id is not a UUID, or there is no such session.
    pub fn subagents(&self, session: &SessionId) -> Result<Vec<Subagent>, TranscriptError> {
        Ok(subagents::list(&self.locate(session)?.folder))
    }

    /// Reads the conversation of a sub-agent.
    ///
    /// # Errors
    ///
    /// When the id is not a UUID, there is no such session or no such sub-agent, or it cannot be
    /// read.
    pub fn subagent_messages(
        &self,
        session: &SessionId,
        agent: &AgentId,
        options: &MessageOptions,
    ) -> Result<Messages, TranscriptError> {
        let found = subagents::find(&self.locate(session)?.folder, agent);
        let Some((transcript, parents)) = found else {
            let (session, agent) = (session.clone(), agent.clone());
            return Err(TranscriptError::NoSuchAgent { session, agent });
        };
        Messages::open(&transcript, Conversation::Subagent, parents, options)
    }

    /// Gives a session a title. White space around it is taken away.
    ///
    /// A session may be renamed while it runs. Version 2.1.62 then writes the title that it began
    /// with again when it ends; 2.1.197 keeps the new one.
    ///
    /// # Errors
    ///
    /// When the title is blank, the id is not a UUID, there is no such session, or it cannot be
    /// written to.
    pub fn rename(&self, session: &SessionId, title: &str) -> Result<(), TranscriptError> {
        let line = edit::title_line(session, title)?;
        edit::append(&self.locate(session)?.transcript, &line)
    }

    /// Gives a session a tag in place of the one it has, or takes it away. Characters that cannot
    /// be seen are taken out of it.
    ///
    /// # Errors
    ///
    /// When there is nothing left of the tag, the id is not a UUID, there is no such session, or
    /// it cannot be written to.
    pub fn tag(&self, session: &SessionId, tag: Option<&str>) -> Result<(), TranscriptError> {
        let line = edit::tag_line(session, tag)?;
        edit::append(&self.locate(session)?.transcript, &line)
    }

    /// Puts a session into the archive. The CLI takes it out again with the next prompt.
    ///
    /// # Errors
    ///
    /// When the id is not a UUID, there is no such session, or it cannot be noted.
    pub fn archive(&self, session: &SessionId) -> Result<(), TranscriptError> {
        edit::archive(&self.locate(session)?, true)
    }

    /// Takes a session out of the archive.
    ///
    /// # Errors
    ///
    /// When the id is not a UUID, there is no such session, or it cannot be noted.
    pub fn unarchive(&self, session: &SessionId) -> Result<(), TranscriptError> {
        edit::archive(&self.locate(session)?, false)
    }

    /// Copies a session, so that the copy can go its own way, and says what the copy is called.
    ///
    /// The messages get ids of their own. What sub-agents wrote, and the history of files, are not
    /// copied. The copy has the same project.
    ///
    /// # Errors
    ///
    /// When the id is not a UUID, there is no such session, it has no messages or not the one it is
    /// to end with, or the copy cannot be written.
    pub fn fork(
        &self,
        session: &SessionId,
        options: &ForkOptions,
    ) -> Result<SessionId, TranscriptError> {
        fork::fork(session, &self.locate(session)?, options)
    }

    /// Removes a session for good: its transcript, and those of its sub-agents.
    ///
    /// # Errors
    ///
    /// When the id is not a UUID, there is no such session, or a file cannot be removed.
    pub fn delete(&self, session: &SessionId) -> Result<(), TranscriptError> {
        edit::delete(&self.locate(session)?)
    }

    /// Finds the files of a session: those that were written last, if there are several.
    pub(crate) fn locate(&self, session: &SessionId) -> Result<Located, TranscriptError> {
        checked_session(session)?;
        let found = self.projects()?.into_iter().filter_map(|project| {
            let files = Located::new(&project, session);
            let metadata = fs::metadata(&files.transcript).ok()?;
            // An empty file is a name without a session.
            let counts = metadata.is_file() && metadata.len() > 0;
            counts.then(|| (info::modified(&metadata), files))
        });
        let newest = found.max_by_key(|(modified, _)| *modified);
        newest.map(|(_, files)| files).ok_or_else(|| TranscriptError::NotFound {
            session: session.clone(),
            place: self.directory.clone().unwrap_or_else(|| self.home.join("projects")),
        })
    }

    /// The folders of the projects that are looked at.
    fn projects(&self) -> Result<Vec<PathBuf>, TranscriptError> {
        let folder = self.home.join("projects");
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(super::io_error("read", &folder))?,
        };
        let keys = self.directory.as_deref().map(|directory| self.keys(directory));
        let wanted =
            |name: &str| keys.as_ref().is_none_or(|keys| keys.iter().any(|key| key.matches(name)));
        let mut projects: Vec<_> = entries
            .flatten()
            .filter(|entry| entry.file_name().to_str().is_some_and(wanted))
            .map(|entry| entry.path())
            .filter(|path| path.is_dir())
            .collect();
        projects.sort();
        Ok(projects)
    }

    fn keys(&self, directory: &Path) -> Vec<ProjectKey> {
        let mut keys = vec![ProjectKey::of(directory)];
        if self.worktrees {
            let resolved = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
            keys.extend(worktrees::of(&resolved).iter().map(|root| ProjectKey::of(root)));
        }
        keys
    }
}
