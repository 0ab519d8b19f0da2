//! The command `countersign`, as a library with one function.
//!
//! # What is where
//!
//! Each subcommand is a module with an `Args`, which clap reads, and a `run`. What they share:
//!
//! | | |
//! |---|---|
//! | `arguments` | the command line as a whole |
//! | `output` | standard output: text for people, JSON for programs |
//! | `failure` | why a command failed, what to do about it, and the exit codes |
//! | `file` | files that are written for the user |
//! | `progress` | what is said while something takes long |
//! | `pages` | shell completions and man pages |
//! | `run` | a session in the terminal |
//! | `serve` | the session server |
//! | `remote` | what the commands have in common that ask a server |

#![warn(missing_docs)]

mod arguments;
mod audit;
mod backup;
mod browsers;
mod decide;
mod demo;
mod doctor;
mod failure;
mod file;
mod inbox;
mod lab;
mod login_link;
mod model;
mod output;
mod pages;
mod progress;
mod record;
mod remote;
mod run;
mod send;
mod serve;
mod sessions;
mod shim;
mod sim;
mod tape;
mod token;
mod tour;
mod transcripts;
mod watch;
mod words;

use std::process::ExitCode;

use clap::Parser as _;

use self::arguments::Arguments;
use self::failure::Failure;
use self::output::Output;

/// Runs the command that the arguments of the process name.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(told) => return arguments::told(&told),
    };
    let mut output = Output::standard(&arguments.shared);
    let outcome = arguments.command.run(&mut output);
    // What was said before a failure is said before the failure.
    let flushed = output.flush();
    match outcome.and_then(|code| flushed.map(|()| code).or_else(|failure| kept(code, failure))) {
        Ok(code) => code,
        Err(failure) => output.complain(&failure),
    }
}

/// An exit code that says what went wrong is better than one that says that nothing can be written.
fn kept(code: ExitCode, failure: Failure) -> Result<ExitCode, Failure> {
    if code == ExitCode::SUCCESS { Err(failure) } else { Ok(code) }
}
