//! Shell completions and man pages, made from the command line itself.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::Shell;
use serde_json::json;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::output::Output;

/// Print the completions for a shell
///
/// For bash: countersign completions bash > ~/.local/share/bash-completion/completions/countersign
#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self, output: &mut Output) -> Result<ExitCode, Failure> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "countersign", &mut text);
        output.bytes(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Write the man pages into a folder, one for each command
///
/// For yourself: countersign man ~/.local/share/man/man1
#[derive(Debug, clap::Args)]
pub(crate) struct Man {
    /// The folder; it is made if it is not there
    folder: PathBuf,
}

impl Man {
    pub(crate) fn run(&self, output: &mut Output) -> Result<ExitCode, Failure> {
        let folder = self.folder.display();
        let failed =
            |error| Failure::new(format!("cannot write the man pages to {folder}: {error}"));
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        clap_mangen::generate_to(Arguments::command(), &self.folder).map_err(failed)?;
        if output.is_json() {
            output.json(&json!({"folder": self.folder}))?;
        } else {
            output.note(format_args!("the man pages are in {folder}"));
        }
        Ok(ExitCode::SUCCESS)
    }
}
