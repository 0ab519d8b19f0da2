//! `countersign transcripts`: what is on disk, without starting the CLI.

mod change;
mod list;
mod search;
mod show;
mod words;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use countersign::protocol::ids::SessionId;
use countersign::transcript::{ListOptions, SessionInfo, Sessions, TranscriptError};

use crate::failure::{Exit, Failure};
use crate::output::Output;

/// List, read and change the sessions that are on disk
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::Args),
    Show(show::Args),
    Search(search::Args),
    Fork(change::Fork),
    Rename(change::Rename),
    Delete(change::Delete),
}

impl Command {
    pub(crate) fn run(&self, output: &mut Output) -> Result<ExitCode, Failure> {
        match self {
            Self::List(args) => args.run(output),
            Self::Show(args) => args.run(output),
            Self::Search(args) => args.run(output),
            Self::Fork(args) => args.run(output),
            Self::Rename(args) => args.run(output),
            Self::Delete(args) => args.run(output),
        }?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Which sessions are looked at.
#[derive(Debug, clap::Args)]
pub(crate) struct Where {
    /// The sessions of all folders, not only of this one and its other git working trees
    #[arg(long, short)]
    all: bool,
    /// The sessions of this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "all")]
    cwd: Option<PathBuf>,
}

impl Where {
    fn sessions(&self) -> Result<Sessions, Failure> {
        let sessions = Sessions::of_user()?;
        match &self.cwd {
            Some(folder) => Ok(sessions.in_directory(folder)),
            None if self.all => Ok(sessions),
            None => Ok(sessions.in_directory(std::env::current_dir()?)),
        }
    }

    /// What to say when there is none.
    fn none(&self, sessions: &Sessions) -> String {
        if self.all {
            return format!("there is no session in {}", sessions.config_home().display());
        }
        "there is no session of this folder; --all shows those of all folders".to_owned()
    }
}

/// The session that a text names: its id, the beginning of its id, or `latest` for the one of this
/// folder that was written last.
fn named(text: &str) -> Result<SessionInfo, Failure> {
    const ENOUGH: usize = 4;
    let all = Sessions::of_user()?;
    if text == "latest" {
        // Of this folder alone, and none that the list would hide: it may be there to be deleted.
        let here = all.in_directory(std::env::current_dir()?).without_worktrees();
        let mut there = here.list(&ListOptions::new())?.into_iter();
        let latest = there.find(|info| !info.archived);
        return latest.ok_or_else(|| wrong("there is no session of this folder"));
    }
    // What has the form of an id, but is none, is not found; what cannot be read is told.
    match whole_id(text).map(|id| all.info(&id)) {
        Some(Ok(Some(info))) => return Ok(info),
        Some(Err(error @ TranscriptError::Io { .. })) => return Err(error.into()),
        _ => {}
    }
    if text.len() < ENOUGH {
        return Err(wrong(format!("{text:?} is too short to tell sessions apart")));
    }
    let begins = |info: &SessionInfo| info.session_id.as_str().starts_with(text);
    let mut fitting = all.list(&ListOptions::new())?.into_iter().filter(begins);
    match (fitting.next(), fitting.next()) {
        (Some(info), None) => Ok(info),
        (Some(_), Some(_)) => Err(wrong(format!("several sessions begin with {text}"))),
        (None, _) => Err(wrong(format!("there is no session {text:?}"))),
    }
}

/// A text as a session id, where it has the form of one.
fn whole_id(text: &str) -> Option<SessionId> {
    const LENGTH: usize = 36;
    (text.len() == LENGTH).then(|| SessionId::from(text))
}

fn wrong(words: impl Into<String>) -> Failure {
    Failure::new(words)
        .hint("`countersign transcripts list --all` shows the ids; the beginning of one is enough.")
        .code(Exit::Usage)
}
