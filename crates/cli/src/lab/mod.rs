//! `countersign lab`: the protocol, studied on real and simulated CLIs.

mod drift;
mod experiments;
mod fidelity;
mod scenarios;
mod script;
mod target;
mod versions;

use std::process::ExitCode;

use clap::Subcommand;

use crate::failure::Failure;
use crate::output::Output;

/// Study the protocol: the real CLI, offline, with a scripted model
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Install(versions::Install),
    List(versions::List),
    Experiments(experiments::List),
    Run(experiments::Run),
    Report(experiments::ReportArgs),
    Drift(drift::Args),
    Fidelity(fidelity::Args),
    Play(scenarios::Play),
    Scenarios(scenarios::List),
    #[command(subcommand)]
    Script(script::Command),
}

impl Command {
    pub(crate) fn run(&self, output: &mut Output) -> Result<ExitCode, Failure> {
        match self {
            Self::Experiments(args) => args.run(output),
            Self::Run(args) => args.run(output),
            Self::Report(args) => args.run(output),
            Self::Drift(args) => args.run(output),
            Self::Fidelity(args) => args.run(output),
            Self::Install(args) => args.run(output),
            Self::List(args) => args.run(output),
            Self::Play(args) => args.run(output),
            Self::Scenarios(args) => args.run(output),
            Self::Script(command) => command.run(output),
        }
    }
}
