//! `countersign-tape stand-in`: makes a script that any client takes for the CLI.

use std::path::PathBuf;
use std::process::ExitCode;

use super::Failure;
use crate::{StandIn, find_cli};

/// Write a script that any client can use as the CLI, and that records each run
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Where the tapes go, as for tee: best a folder
    #[arg(long, value_name = "FILE")]
    tape: PathBuf,
    /// The real CLI
    #[arg(long, value_name = "PATH")]
    claude: PathBuf,
    /// The script, a new file
    out: PathBuf,
}

impl Args {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let recorder = std::env::current_exe()?;
        let claude = find_cli(Some(&self.claude))?;
        let stand_in = StandIn { recorder: &recorder, tape: &self.tape, claude: &claude };
        stand_in.write(&self.out)?;
        Ok(ExitCode::SUCCESS)
    }
}
