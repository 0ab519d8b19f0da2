//! `countersign backup`: a copy of everything that a server keeps.

use std::process::ExitCode;

use crate::failure::Failure;
use crate::output::{Output, plain};
use crate::remote::Remote;
use crate::remote::told::told;

/// Copy everything that the server keeps to a file, while it is in use
///
/// The file is in the folder `backups` of the data folder, on the machine of the server.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    remote: Remote,
}

impl Args {
    pub(crate) fn run(self, output: &mut Output) -> Result<ExitCode, Failure> {
        self.remote.with(async |client| {
            let copying = output.progress("copying");
            let backup = client.backup().await.map_err(told)?;
            drop(copying);
            if output.is_json() {
                return output.json(&backup);
            }
            output.line(format_args!("backups/{}", plain(&backup.file)))
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
