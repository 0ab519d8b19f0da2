//! `countersign sim`: the simulated CLI.

use std::process::ExitCode;

use countersign_lab::sim::{Launch, Options, versions};
use countersign_lab::{Program, Version};

use crate::failure::{Exit, Failure};

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
///
/// A version that it does not know is refused here, where it is told from the command line, and not
/// by every process that would be started.
pub(crate) fn program(version: Version) -> Result<Program, Failure> {
    let text = version.to_string();
    if !versions().contains(&text.as_str()) {
        let words = format!("version {text} cannot be simulated");
        return Err(Failure::new(words).hint(known_versions()).code(Exit::Usage));
    }
    let executable = std::env::current_exe()?;
    Ok(Program::Simulated { executable, words: vec!["sim".to_owned()], version })
}

/// Says which versions can be simulated.
pub(crate) fn known_versions() -> String {
    format!("The simulated CLI can be {}.", versions().join(", "))
}
