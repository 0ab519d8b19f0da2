//! `countersign shim`: a script that any client takes for the CLI.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use countersign_record::replay::Speed;
use countersign_record::{ReplayStandIn, StandIn, find_cli};
use serde_json::json;

use crate::failure::{Exit, Failure};
use crate::output::Output;

/// Write a script that any client can use as Claude Code: it records each run, or plays a tape
///
/// Give its path to the client in place of `claude`. The session goes on as without it, byte for
/// byte, also when a tape cannot be written.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The script, a new file
    #[arg(value_name = "FILE")]
    out: PathBuf,
    /// Where the tapes go: a folder, which is made if it is not there
    #[arg(long, value_name = "FOLDER", default_value = "tapes", conflicts_with = "replay")]
    tapes: PathBuf,
    /// The real CLI [default: CLAUDE_CODE_PATH, or else the first claude on PATH]
    #[arg(long, value_name = "PATH", conflicts_with = "replay")]
    claude: Option<PathBuf>,
    /// Play this tape in the place of the real CLI
    #[arg(long, value_name = "TAPE")]
    replay: Option<PathBuf>,
    /// Play it lightly; see `countersign tape replay --help`
    #[arg(long, requires = "replay")]
    lenient: bool,
    /// How fast to play it: original, fast, or a number of times as fast as it was
    #[arg(long, requires = "replay")]
    speed: Option<Speed>,
    /// Where each run writes what it found, as JSON
    #[arg(long, value_name = "FILE", requires = "replay")]
    report: Option<PathBuf>,
}

impl Args {
    pub(crate) fn run(&self, output: &mut Output) -> Result<ExitCode, Failure> {
        if let Some(tape) = &self.replay {
            let stand_in = ReplayStandIn {
                player: &std::env::current_exe()?,
                words: &["tape", "replay"],
                tape,
                lenient: self.lenient,
                speed: self.speed.unwrap_or_default(),
                report: self.report.as_deref(),
            };
            stand_in.write(&self.out)?;
            if output.is_json() {
                output.json(&json!({"shim": self.out, "plays": tape}))?;
            } else {
                output.note(format_args!("{} plays {}", self.out.display(), tape.display()));
            }
        } else {
            let claude = real_cli(self.claude.as_deref())?;
            write_recorder(&claude, &self.tapes, &self.out)?;
            if output.is_json() {
                output.json(&json!({"shim": self.out, "starts": claude, "tapes": self.tapes}))?;
            } else {
                let (out, tapes) = (self.out.display(), self.tapes.display());
                let claude = claude.display();
                output.note(format_args!("{out} starts {claude} and records it in {tapes}"));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The real CLI, which a stand-in is to start.
pub(crate) fn real_cli(named: Option<&Path>) -> Result<PathBuf, Failure> {
    find_cli(named).map_err(|error| {
        Failure::of(&error)
            .hint("Name it with --claude PATH; `countersign doctor` looks closer.")
            .code(Exit::NoCli)
    })
}

/// Writes a script that starts the CLI and records it in a folder, which is there then.
pub(crate) fn write_recorder(claude: &Path, tapes: &Path, out: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(tapes).map_err(|error| {
        Failure::new(format!("cannot make the folder {}: {error}", tapes.display()))
    })?;
    let recorder = &std::env::current_exe()?;
    Ok(StandIn { recorder, words: &["tape", "tee"], tape: tapes, claude }.write(out)?)
}
