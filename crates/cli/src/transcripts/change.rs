//! `transcripts fork`, `rename` and `delete`.

use std::io::{self, BufRead as _, IsTerminal as _};

use countersign::transcript::{ForkOptions, Sessions};
use serde_json::json;

use super::named;
use crate::failure::{Exit, Failure};
use crate::output::{Output, plain};
use crate::words::one_line;

/// Copy a session under another id, whole or up to a message
#[derive(Debug, clap::Args)]
pub(crate) struct Fork {
    /// The session: its id, the beginning of it, or `latest`
    session: String,
    /// The last message of the copy, by its uuid; `transcripts search --json` shows those
    #[arg(long, value_name = "MESSAGE")]
    at: Option<String>,
    /// The title of the copy
    #[arg(long)]
    title: Option<String>,
}

impl Fork {
    pub(super) fn run(&self, output: &mut Output) -> Result<(), Failure> {
        let info = named(&self.session)?;
        let mut options = ForkOptions::new();
        if let Some(message) = &self.at {
            options = options.up_to_message(message.as_str());
        }
        if let Some(title) = &self.title {
            options = options.title(title);
        }
        let copy = Sessions::of_user()?.fork(&info.session_id, &options)?;
        if output.is_json() {
            return output.json(&json!({
                "session_id": copy.as_str(), "forked_from": info.session_id.as_str(),
            }));
        }
        output.line(&copy)?;
        output.note(format_args!("go on with it: countersign run --resume {copy} -i"));
        Ok(())
    }
}

/// Give a session a title
#[derive(Debug, clap::Args)]
pub(crate) struct Rename {
    /// The session: its id, the beginning of it, or `latest`
    session: String,
    /// The title
    title: String,
}

impl Rename {
    pub(super) fn run(&self, output: &mut Output) -> Result<(), Failure> {
        let info = named(&self.session)?;
        Sessions::of_user()?.rename(&info.session_id, &self.title)?;
        if output.is_json() {
            return output
                .json(&json!({"session_id": info.session_id.as_str(), "title": self.title}));
        }
        output.note(format_args!("{} is {:?} now", info.session_id, plain(&self.title)));
        Ok(())
    }
}

/// Remove a session for good
#[derive(Debug, clap::Args)]
pub(crate) struct Delete {
    /// The session: its id, the beginning of it, or `latest`
    session: String,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

impl Delete {
    pub(super) fn run(&self, output: &mut Output) -> Result<(), Failure> {
        const LENGTH: usize = 60;
        let info = named(&self.session)?;
        let (id, summary) = (&info.session_id, one_line(&info.summary, LENGTH));
        if !self.yes {
            if !io::stdin().is_terminal() {
                return Err(Failure::new(format!(
                    "{id} ({summary}) is not deleted: nobody can be asked"
                ))
                .hint("With --yes it is deleted without asking.")
                .code(Exit::NobodyToAsk));
            }
            output.note(format_args!("Delete {id} ({summary}) for good? Type yes:"));
            let mut answer = String::new();
            io::stdin().lock().read_line(&mut answer)?;
            if answer.trim() != "yes" {
                return Err(Failure::new("it is kept"));
            }
        }
        Sessions::of_user()?.delete(id)?;
        if output.is_json() {
            return output.json(&json!({"session_id": id.as_str(), "deleted": true}));
        }
        output.note(format_args!("{id} is deleted"));
        Ok(())
    }
}
