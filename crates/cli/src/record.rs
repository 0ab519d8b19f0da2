//! `countersign record`: tapes of whatever a command does with the CLI.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use countersign_record::{End, end_as};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::process::{Child, Command};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::Failure;
use crate::output::Output;
use crate::shim::{real_cli, write_recorder};

/// What a process exits with when the program it stands for cannot be started.
const CANNOT_START: u8 = 127;

/// Run a command, and record every Claude Code that it starts
///
/// The command may be any client of Claude Code, or `claude` itself. It finds a stand-in for
/// `claude` first on its PATH, and in CLAUDE_CODE_PATH. A client that has the path of the CLI from
/// elsewhere is recorded with a `countersign shim`. Ends as the command ends.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where the tapes go: a folder, which is made if it is not there
    #[arg(long, short, value_name = "FOLDER", default_value = "tapes")]
    output: PathBuf,
    /// The real CLI [default: CLAUDE_CODE_PATH, or else the first claude on PATH]
    #[arg(long, value_name = "PATH")]
    claude: Option<PathBuf>,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Args {
    pub(crate) fn run(&self, output: &mut Output) -> Result<ExitCode, Failure> {
        let claude = real_cli(self.claude.as_deref())?;
        let folder = tempfile::Builder::new().prefix("countersign-record-").tempdir()?;
        let stand_in = folder.path().join("claude");
        write_recorder(&claude, &self.output, &stand_in)?;
        let before = tapes_in(&self.output);
        let status = Runtime::new()?.block_on(self.wait_for(&claude, &stand_in))?;
        let new: Vec<_> = tapes_in(&self.output).difference(&before).cloned().collect();
        report(&new, output);
        // Before this process ends, which may be by a signal.
        folder.close()?;
        Ok(end_as(end(status)))
    }

    async fn wait_for(&self, claude: &Path, stand_in: &Path) -> Result<ExitStatus, Failure> {
        let mut child = self.start(claude, stand_in)?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut hang_up = signal(SignalKind::hangup())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        // The terminal sends Ctrl-C to the command as well; once is enough.
        let from_terminal = io::stdin().is_terminal();
        loop {
            let passed_on = tokio::select! {
                status = child.wait() => return Ok(status?),
                _ = terminate.recv() => Signal::TERM,
                _ = hang_up.recv() => Signal::HUP,
                _ = interrupt.recv() => if from_terminal { continue } else { Signal::INT },
            };
            if let Some(pid) = child.id().and_then(|pid| Pid::from_raw(pid.cast_signed())) {
                // It may have ended just now.
                let _ = kill_process(pid, passed_on);
            }
        }
    }

    /// Starts the command where it finds the stand-in for the CLI.
    #[expect(
        clippy::disallowed_methods,
        reason = "the command is the user's own, and is waited for"
    )]
    fn start(&self, claude: &Path, stand_in: &Path) -> Result<Child, Failure> {
        let (program, arguments) =
            self.command.split_first().ok_or_else(|| Failure::new("there is no command"))?;
        // By its path, the CLI would be started past the stand-in.
        let same = |named: &OsString| match (Path::new(named).canonicalize(), claude.canonicalize())
        {
            (Ok(named), Ok(claude)) => named == claude,
            _ => false,
        };
        let program = if same(program) { stand_in.as_os_str() } else { program.as_os_str() };
        let own = stand_in.parent().map(Path::to_owned);
        let others = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(own.into_iter().chain(std::env::split_paths(&others)))?;
        let mut command = Command::new(program);
        command.args(arguments).env("PATH", path).env("CLAUDE_CODE_PATH", stand_in);
        command.spawn().map_err(|error| {
            let program = program.display();
            Failure::new(format!("cannot start {program}: {error}")).code(CANNOT_START)
        })
    }
}

/// The tapes in a folder.
fn tapes_in(folder: &Path) -> BTreeSet<PathBuf> {
    let files = std::fs::read_dir(folder).into_iter().flatten();
    let paths = files.filter_map(|file| Some(file.ok()?.path()));
    paths.filter(|path| path.extension().is_some_and(|kind| kind == "tape")).collect()
}

/// Says which tapes there are now, on standard error: standard output is the command's.
fn report(new: &[PathBuf], output: &mut Output) {
    if output.is_json() {
        output.note(json!({"recorded": new}));
        return;
    }
    if new.is_empty() {
        output.note(
            "countersign: nothing was recorded: the command did not start `claude` from its PATH\n\
             If it has the path of the CLI from elsewhere, give it a `countersign shim`.",
        );
    }
    for tape in new {
        output.note(format_args!("recorded: {}", tape.display()));
    }
}

fn end(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Code(code),
        (None, signal) => End::Signal(signal.unwrap_or_default()),
    }
}
