//! `countersign tape`: what can be done with tapes.

mod html;

use std::any::Any;
use std::process::ExitCode;

use clap::Subcommand;
use countersign_record::command;

pub(crate) use self::html::opened;
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
            Self::Other(command) => {
                let working = |what: String| Box::new(output.progress(what)) as Box<dyn Any>;
                command.run_telling(&working).map_err(failed)
            }
        }
    }
}

fn failed(failure: command::Failure) -> Failure {
    match failure {
        command::Failure::Failed { error, code } => Failure::of(&*error).code(code),
        // It was standard output that nobody reads any more.
        _ => Failure::NobodyListens,
    }
}
