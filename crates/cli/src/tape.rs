//! `countersign tape`: what can be done with tapes.

use std::process::ExitCode;

use clap::Subcommand;
use countersign_record::command;

/// Show, compare, redact and play tapes
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Any(command::Command),
}

impl Command {
    pub(crate) fn run(self) -> ExitCode {
        match self {
            Self::Any(command) => command.run(),
        }
    }
}
