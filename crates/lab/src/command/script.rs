//! `countersign-lab script`: work on scripts without playing them.

use std::path::PathBuf;

use clap::Subcommand;

use super::output::{Failure, Output};
use crate::script::{LoadError, Script};

/// Work on scripts.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Check scripts, and say what is wrong with them
    Check {
        /// The script files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

pub(super) fn run(command: &Command, output: &mut Output) -> Result<(), Failure> {
    let Command::Check { files } = command;
    let mut broken = 0_usize;
    for file in files {
        match Script::load(file) {
            Ok(script) => {
                let answers = script.entries.len();
                let plural = if answers == 1 { "" } else { "s" };
                output.line(format!("{}: {answers} answer{plural}, fine", file.display()))?;
            }
            Err(error) => {
                broken += 1;
                output.complain(&match error {
                    LoadError::Script(error) => Failure::new(error.to_string()),
                    other => Failure::from(other),
                });
            }
        }
    }
    match broken {
        0 => Ok(()),
        1 => Err(Failure::new("1 script is broken")),
        _ => Err(Failure::new(format!("{broken} scripts are broken"))),
    }
}
