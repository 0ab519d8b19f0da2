//! The `countersign-lab` command.
//!
//! Each subcommand is a module with an `Args`, which clap reads, and a `run`. The exit codes are
//! the same for all of them: 0 when all went well (also when a server was ended with Ctrl-C), 1
//! when something went wrong, which is then said on standard error, and 2 when the command line
//! cannot be understood.

mod fidelity;
mod model;
mod output;
mod scenarios;
mod script;
mod versions;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use self::output::Output;

/// Try out the Claude Code protocol: the real CLI, offline, with a scripted model.
#[derive(Debug, Parser)]
#[command(name = "countersign-lab", version, after_help = EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str =
    "Exit codes: 0 all went well, 1 something went wrong, 2 the command line is wrong.";

#[derive(Debug, Subcommand)]
enum Command {
    Fidelity(fidelity::Args),
    Install(versions::Install),
    /// List the versions of the real CLI that are installed
    List,
    Model(model::Args),
    Play(scenarios::Play),
    /// List the scenarios, and what each of them shows
    Scenarios,
    #[command(subcommand)]
    Script(script::Command),
}

/// Runs the command that the arguments of the process name.
#[must_use]
pub fn main() -> ExitCode {
    // clap says what is wrong with the arguments, and ends the process with code 2.
    let arguments = Arguments::parse();
    let mut output = Output::standard();
    let result = match arguments.command {
        Command::Fidelity(args) => fidelity::run(&args, &mut output),
        Command::Install(args) => versions::install(&args, &mut output),
        Command::List => versions::list(&mut output),
        Command::Model(args) => model::run(&args, &mut output),
        Command::Play(args) => scenarios::play(&args, &mut output),
        Command::Scenarios => scenarios::list(&mut output),
        Command::Script(command) => script::run(&command, &mut output),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output.complain(&failure);
            ExitCode::FAILURE
        }
    }
}
