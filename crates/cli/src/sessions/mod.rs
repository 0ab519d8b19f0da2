//! `countersign sessions`: the sessions of a server.

mod change;
mod list;
mod new;
mod plans;
mod queue;
mod show;
mod usage;

use std::process::ExitCode;

use clap::Subcommand;

use crate::failure::Failure;
use crate::output::Output;
use crate::remote::Remote;

/// The sessions of a server: list, start, steer, stop
///
/// A session is named by its id, by the beginning or the end of it, or as `latest`: the one in which
/// something happened last. Lists show the end.
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(flatten)]
    remote: Remote,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
    New(Box<new::Args>),
    Stop(change::Stop),
    Resume(change::Resume),
    Interrupt(change::Interrupt),
    Fork(change::Fork),
    Rename(change::Rename),
    Label(change::Label),
    Archive(change::Archive),
    Delete(change::Delete),
    Mode(change::Mode),
    Model(change::Model),
    #[command(subcommand)]
    Queue(queue::Command),
    Plans(plans::Args),
    Usage(usage::Args),
}

impl Args {
    pub(crate) fn run(self, output: &mut Output) -> Result<ExitCode, Failure> {
        let command = self.command;
        self.remote.with(async |client| match &command {
            Command::List(args) => args.run(client, output).await,
            Command::Show(args) => args.run(client, output).await,
            Command::New(args) => args.run(client, output).await,
            Command::Stop(args) => args.run(client, output).await,
            Command::Resume(args) => args.run(client, output).await,
            Command::Interrupt(args) => args.run(client, output).await,
            Command::Fork(args) => args.run(client, output).await,
            Command::Rename(args) => args.run(client, output).await,
            Command::Label(args) => args.run(client, output).await,
            Command::Archive(args) => args.run(client, output).await,
            Command::Delete(args) => args.run(client, output).await,
            Command::Mode(args) => args.run(client, output).await,
            Command::Model(args) => args.run(client, output).await,
            Command::Queue(command) => command.run(client, output).await,
            Command::Plans(args) => args.run(client, output).await,
            Command::Usage(args) => args.run(client, output).await,
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
