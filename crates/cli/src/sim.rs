//! `countersign sim`: the simulated CLI.

use std::process::ExitCode;

use countersign_lab::sim::{Launch, Options};
use countersign_lab::{Program, Version};

use crate::failure::Failure;

/// Be a simulated Claude Code that plays a script
///
/// It speaks the protocol on standard input and output, starts no processes and calls no network. A
/// client takes it for the CLI with a script that starts it; `countersign-sim` is the same as a
/// program of its own.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    options: Options,
}

impl Args {
    pub(crate) fn run(self) -> ExitCode {
        Launch::from(self.options).run()
    }
}

/// The simulated CLI as a program for the laboratory: it is this very one.
pub(crate) fn program(version: Version) -> Result<Program, Failure> {
    let executable = std::env::current_exe()?;
    Ok(Program::Simulated { executable, words: vec!["sim".to_owned()], version })
}
