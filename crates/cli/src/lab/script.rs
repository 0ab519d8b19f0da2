//! `lab script`: work on scripts without playing them.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use countersign_lab::script::{LoadError, Script};
use serde_json::json;

use crate::failure::Failure;
use crate::output::{Output, plain};

/// Work on scripts of the model
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check scripts, and say what is wrong with them
    Check {
        /// The script files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

impl Command {
    pub(super) fn run(&self, output: &mut Output) -> Result<ExitCode, Failure> {
        let Self::Check { files } = self;
        let mut broken = 0_usize;
        for file in files {
            match Script::load(file) {
                Ok(script) => {
                    let answers = script.entries.len();
                    if output.is_json() {
                        output.json(&json!({"file": file, "fine": true, "answers": answers}))?;
                        continue;
                    }
                    let plural = if answers == 1 { "" } else { "s" };
                    let name = plain(&file.display().to_string());
                    output.line(format!("{name}: {answers} answer{plural}, fine"))?;
                }
                Err(error) => {
                    broken += 1;
                    let words = match error {
                        LoadError::Script(error) => error.to_string().trim_end().to_owned(),
                        other => Failure::from(other).to_string(),
                    };
                    if output.is_json() {
                        output.json(&json!({"file": file, "fine": false, "error": words}))?;
                    } else {
                        output.note(plain(&words));
                    }
                }
            }
        }
        match broken {
            0 => Ok(ExitCode::SUCCESS),
            1 => Err(Failure::new("1 script is broken")),
            _ => Err(Failure::new(format!("{broken} scripts are broken"))),
        }
    }
}
