//! What can be done with tapes at a terminal: the command `countersign-tape`, and `countersign tape`.
//!
//! Each subcommand is a module with its arguments, which say how they are run; to add one, add
//! the module and a line to [`Command`].

mod diff;
mod output;
mod redact;
mod replay;
mod show;
mod stats;
mod tee;

use std::any::Any;
use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser;

use self::output::Output;
use crate::plain;

/// Records, shows, redacts and compares sessions with Claude Code.
#[derive(Debug, Parser)]
#[command(
    name = "countersign-tape",
    version,
    after_help = "Exit codes: 0 all is well; 1 a tape cannot be read or written; 2 the command line \
                  is wrong; 3 \"redact\" left a secret, and removed its output. \"tee\" ends as the \
                  CLI ended, by the same code or signal, or with 127 when the CLI cannot be started. \
                  \"diff\" exits with 0 when two tapes say the same, 1 when they differ, 2 when one \
                  cannot be read. \"replay\" ends as the CLI ended, or with 70 when the client \
                  departs from the tape, 74 when there is no more tape."
)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

/// A subcommand with its arguments, to be part of a command line.
#[derive(Debug, clap::Subcommand)]
#[non_exhaustive]
#[expect(missing_docs, reason = "what is said here would replace the help of the arguments")]
pub enum Command {
    Tee(tee::Args),
    Show(show::Args),
    Stats(stats::Args),
    Redact(redact::Args),
    Diff(diff::Args),
    Replay(replay::Args),
}

/// Shows that something takes long: what, and for as long as the value is kept that it returns.
pub type Working<'a> = &'a dyn Fn(String) -> Box<dyn Any>;

impl Command {
    /// Runs it, says on standard error what went wrong, and gives what the process is to exit with.
    #[must_use]
    pub fn run(self) -> ExitCode {
        match self.run_telling(&|_| Box::new(())) {
            Ok(code) => code,
            Err(Failure::NobodyListens) => ExitCode::SUCCESS,
            Err(Failure::Failed { error, code }) => {
                warn(&error.to_string());
                ExitCode::from(code)
            }
        }
    }

    /// Runs it as part of another command, which shows that something takes long, and says what
    /// went wrong.
    ///
    /// # Errors
    ///
    /// When it cannot do what it is asked for.
    pub fn run_telling(self, working: Working<'_>) -> Result<ExitCode, Failure> {
        let mut out = Output::new();
        let outcome = match self {
            Self::Tee(args) => args.run(),
            Self::Show(args) => args.run(&mut out),
            Self::Stats(args) => args.run(&mut out, working),
            Self::Redact(args) => args.run(&mut out, working),
            Self::Diff(args) => args.run(&mut out, working),
            Self::Replay(args) => args.run(&mut out),
        };
        // What was said before a failure is said before the failure.
        let flushed = out.flush();
        outcome.and_then(|code| flushed.map(|()| code))
    }
}

/// Runs the command with the arguments of this process.
#[must_use]
pub fn main() -> ExitCode {
    CommandLine::parse().command.run()
}

/// Why a subcommand ended early.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// Standard output was closed, as by `head`. Nobody wants to hear more.
    NobodyListens,
    /// Something is wrong.
    Failed {
        /// What.
        error: Box<dyn Error + Send + Sync>,
        /// What the process exits with.
        code: u8,
    },
}

impl<E: Error + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Failed { error: Box::new(error), code: 1 }
    }
}

impl Failure {
    /// A failure with an exit code of its own.
    fn with_code(error: impl Error + Send + Sync + 'static, code: u8) -> Self {
        Self::Failed { error: Box::new(error), code }
    }
}

/// Says on standard error what is wrong.
fn warn(text: &str) {
    // When standard error is gone there is nobody left to tell.
    let text = format!("countersign: {}\n", plain(text));
    drop(io::stderr().write_all(text.as_bytes()));
}
