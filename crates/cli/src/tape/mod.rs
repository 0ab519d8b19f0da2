//! `countersign tape`: what can be done with tapes.

mod html;

use std::process::ExitCode;

use clap::Subcommand;
use countersign_record::command;

use crate::failure::Failure;
use crate::output::Output;

/// Show, compare, redact and play tapes
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Html(html::Args),
    #[command(flatten)]
    Other(command::Command),
}

impl Command {
    pub(crate) fn run(self, output: &mut Output) -> Result<ExitCode, Failure> {
        match self {
            Self::Html(args) => args.run(output),
            Self::Other(command) => Ok(command.run()),
        }
    }
}
