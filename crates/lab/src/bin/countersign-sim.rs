//! The simulated CLI.
//!
//! `countersign-sim --script FILE [--as VERSION] [--set NAME=VALUE]... [--state DIR] -- ARGS` where
//! ARGS are those of `claude`. To stand in for `claude` itself, set `COUNTERSIGN_SIM_SCRIPT` (and
//! `COUNTERSIGN_SIM_AS`): then all arguments are those of `claude`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use countersign_lab::sim::{DEFAULT_VERSION, Launch, Options};

/// A simulated Claude Code that plays a script.
#[derive(Debug, Parser)]
#[command(name = "countersign-sim", version)]
struct Arguments {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    let script = std::env::var_os("COUNTERSIGN_SIM_SCRIPT");
    let version = std::env::var("COUNTERSIGN_SIM_AS").ok();
    if script.is_none() && version.is_none() {
        return Launch::from(Arguments::parse().options).run();
    }
    let mut launch = Launch::new();
    launch.script = script.filter(|script| !script.is_empty()).map(PathBuf::from);
    launch.version = version.unwrap_or_else(|| DEFAULT_VERSION.to_owned());
    // What is not text is no flag of the CLI; it is shown in the complaint about it.
    let words = std::env::args_os().skip(1);
    launch.claude_args = words.map(|word| word.to_string_lossy().into_owned()).collect();
    launch.run()
}
