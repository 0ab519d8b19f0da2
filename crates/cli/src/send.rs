//! `countersign send`: says something in a session.

use std::path::PathBuf;
use std::process::ExitCode;

use countersign_server::service::NewMessage;
use countersign_server::session::State;

use crate::failure::Failure;
use crate::output::Output;
use crate::remote::told::told;
use crate::remote::{Remote, file, named, next};
use crate::words::short;

/// Say something in a session
///
/// It waits for the end of the turn that is running. A session that has no process gets one.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session: its id, the beginning or the end of it, or `latest`
    session: String,
    /// What to say; - reads it from standard input
    text: String,
    /// A picture; several times
    #[arg(long, value_name = "FILE")]
    image: Vec<PathBuf>,
    /// Say it into the turn that is running, in the place of waiting for its end
    #[arg(long)]
    now: bool,
    #[command(flatten)]
    remote: Remote,
}

impl Args {
    pub(crate) fn run(self, output: &mut Output) -> Result<ExitCode, Failure> {
        let message = NewMessage {
            text: file::words(&self.text)?,
            images: file::images(&self.image)?,
            now: self.now,
        };
        self.remote.with(async |client| {
            let view = named::session(client, &self.session).await?;
            let taken = client.send(view.head.id, &message).await.map_err(told)?;
            if output.is_json() {
                return output.json(&taken);
            }
            let id = short(taken.session.uuid());
            let waits = matches!(view.state, State::Running | State::Waiting | State::Parked);
            if waits && !self.now {
                next(&format!("it waits: countersign sessions queue list {id}"), output);
            }
            next(&format!("what comes of it: countersign watch {id}"), output);
            Ok(())
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
