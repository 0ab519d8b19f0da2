//! The simulated CLI.
//!
//! `countersign-sim --script FILE [--as VERSION] [--set NAME=VALUE]... [--state DIR] -- ARGS` where
//! ARGS are those of `claude`. To stand in for `claude` itself, set `COUNTERSIGN_SIM_SCRIPT` (and
//! `COUNTERSIGN_SIM_AS`): then all arguments are those of `claude`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use countersign_lab::sim::{DEFAULT_VERSION, Launch};

/// A simulated Claude Code that plays a script.
#[derive(Debug, Parser)]
#[command(name = "countersign-sim", version)]
struct Options {
    /// The script of the model's answers; without one it says what it was told
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// The version to imitate
    #[arg(long = "as", value_name = "VERSION", default_value = DEFAULT_VERSION)]
    imitate: String,
    /// Gives a variable of the script a value
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    set: Vec<(String, String)>,
    /// The config home, instead of ~/.claude
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// The arguments of claude
    #[arg(last = true, value_name = "ARGS")]
    claude_args: Vec<String>,
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn main() -> ExitCode {
    let script = std::env::var_os("COUNTERSIGN_SIM_SCRIPT");
    let version = std::env::var("COUNTERSIGN_SIM_AS").ok();
    let mut launch = Launch::new();
    if script.is_some() || version.is_some() {
        launch.script = script.filter(|script| !script.is_empty()).map(PathBuf::from);
        launch.version = version.unwrap_or_else(|| DEFAULT_VERSION.to_owned());
        // What is not text is no flag of the CLI; it is shown in the complaint about it.
        let words = std::env::args_os().skip(1);
        launch.claude_args = words.map(|word| word.to_string_lossy().into_owned()).collect();
    } else {
        let options = Options::parse();
        launch.script = options.script;
        launch.version = options.imitate;
        launch.variables = options.set;
        launch.state = options.state;
        launch.claude_args = options.claude_args;
    }
    launch.run()
}
