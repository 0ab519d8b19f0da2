//! The command line of the simulated CLI.

use std::path::PathBuf;

use super::{DEFAULT_VERSION, Launch};

/// How the simulated CLI is started at a terminal.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
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

/// Reads `name=value`.
fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl From<Options> for Launch {
    fn from(options: Options) -> Self {
        let Options { script, imitate, set, state, claude_args } = options;
        Self { script, version: imitate, variables: set, state, claude_args }
    }
}
