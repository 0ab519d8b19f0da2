//! `countersign tape replay`: plays a tape in place of the CLI.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rustix::stdio;

use super::output::Output;
use super::{Failure, warn};
use crate::replay::{
    NO_MORE_TAPE, ReplayError, ReplayOptions, ReplayReport, Speed, recorded_version, replay,
};
use crate::tee::end_as;

/// Play a tape in place of the CLI, and check the client against it
///
/// Ends as the recorded CLI ended. Exits with 70 when the client departs from the tape, and with 74
/// when the tape cannot be read or does not say how the CLI ended.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The tape
    #[arg(long, value_name = "FILE")]
    tape: PathBuf,
    /// Let the client's lines come in another order, pass over lines that the tape does not have,
    /// and let what does not matter to the CLI differ
    #[arg(long)]
    lenient: bool,
    /// How fast: original, fast, or a number of times as fast as it was
    #[arg(long, default_value_t)]
    speed: Speed,
    /// Where to write what was found, as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// What the client gave the CLI
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<OsString>,
}

/// Why there is no version to tell.
#[derive(Debug, thiserror::Error)]
#[error("the tape {} does not say which version of the CLI was recorded", .0.display())]
struct NoVersion(PathBuf);

impl Args {
    pub(super) fn run(self, out: &mut Output) -> Result<ExitCode, Failure> {
        let failed = |error: ReplayError| Failure::with_code(error, NO_MORE_TAPE);
        let args: Vec<String> =
            self.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
        if let Some("-v" | "--version") = args.first().map(String::as_str) {
            let version = recorded_version(&self.tape).map_err(failed)?;
            let version =
                version.ok_or_else(|| Failure::with_code(NoVersion(self.tape), NO_MORE_TAPE))?;
            out.line(format_args!("{version} (Claude Code)"))?;
            return Ok(ExitCode::SUCCESS);
        }
        let options = ReplayOptions {
            lenient: self.lenient,
            speed: self.speed,
            args,
            cwd: std::env::current_dir().ok(),
            signals: true,
        };
        // The streams as they are, without the buffer of the command's own output.
        let input = File::from(stdio::stdin().try_clone_to_owned()?);
        let output = File::from(stdio::stdout().try_clone_to_owned()?);
        let replayed = replay(&self.tape, &options, input, output, io::stderr()).map_err(failed)?;
        if let Some(path) = &self.report
            && let Err(error) = write_report(path, &replayed.report)
        {
            warn(&format!("cannot write the report {}: {error}", path.display()));
        }
        Ok(end_as(replayed.end))
    }
}

fn write_report(path: &Path, report: &ReplayReport) -> io::Result<()> {
    let mut json = serde_json::to_vec_pretty(report)?;
    json.push(b'\n');
    std::fs::write(path, json)
}
