//! `countersign-tape stand-in`: makes a script that any client takes for the CLI.

use std::path::PathBuf;
use std::process::ExitCode;

use super::Failure;
use crate::replay::Speed;
use crate::{ReplayStandIn, StandIn, find_cli};

/// Write a script that any client can use as the CLI: it records each run, or plays a tape
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Where the tapes go, as for tee: best a folder
    #[arg(long, value_name = "FILE", required_unless_present = "replay")]
    tape: Option<PathBuf>,
    /// The real CLI
    #[arg(long, value_name = "PATH", required_unless_present = "replay")]
    claude: Option<PathBuf>,
    /// The tape to be played, instead of the real CLI
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tape", "claude"])]
    replay: Option<PathBuf>,
    /// Play it lightly; see replay --help
    #[arg(long, requires = "replay")]
    lenient: bool,
    /// How fast to play it: original, fast, or a number of times as fast as it was
    #[arg(long, requires = "replay")]
    speed: Option<Speed>,
    /// Where each run writes what it found, as JSON
    #[arg(long, value_name = "FILE", requires = "replay")]
    report: Option<PathBuf>,
    /// The script, a new file
    out: PathBuf,
}

impl Args {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let program = std::env::current_exe()?;
        let Self { tape, claude, replay, lenient, speed, report, out } = &self;
        if let Some(tape) = replay {
            let (speed, report) = (speed.unwrap_or_default(), report.as_deref());
            let lenient = *lenient;
            ReplayStandIn { player: &program, tape, lenient, speed, report }.write(out)?;
        } else if let (Some(tape), Some(claude)) = (tape, claude) {
            let claude = find_cli(Some(claude))?;
            StandIn { recorder: &program, tape, claude: &claude }.write(out)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
