//! `countersign tape tee`: runs the CLI and records it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use super::Failure;
use crate::{Tee, end_as, find_cli};

/// What a process exits with when the program it stands for cannot be started.
const CANNOT_START: u8 = 127;

/// Run the CLI in place of this command, and record what goes over its streams
///
/// Bytes go through as they are, signals are passed on, and the command ends as the CLI ends.
/// When the tape cannot be written the session goes on, and one line on standard error says so.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The tape: a new file, in whose name {pid} and {time} are filled in, or a folder in which
    /// each run gets a file of its own
    #[arg(long, value_name = "FILE")]
    tape: PathBuf,
    /// The CLI [default: CLAUDE_CODE_PATH, or else the first claude on PATH that is no stand-in]
    #[arg(long, value_name = "PATH")]
    claude: Option<PathBuf>,
    /// The arguments for the CLI
    #[arg(last = true)]
    args: Vec<OsString>,
}

impl Args {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let cannot_start = |error| Failure::with_code(error, CANNOT_START);
        let program = find_cli(self.claude.as_deref()).map_err(cannot_start)?;
        let end = Tee::new(program, self.args, self.tape)
            .run()
            .map_err(|error| Failure::with_code(error, CANNOT_START))?;
        Ok(end_as(end))
    }
}
