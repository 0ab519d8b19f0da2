//! What the laboratory studies: a version, a program of the user's own, or the simulated CLI.

use std::path::Path;

use countersign::SessionBuilder;
use countersign::cli::{Cli, FindOptions};
use countersign_lab::{Installed, Program, Versions};

use super::versions::{ready, version};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::sim;

/// The program that a text names: a version such as 2.1.325, `latest`, or a path.
pub(super) async fn program(text: &str, output: &Output) -> Result<Program, Failure> {
    if text.contains('/') {
        return own(Path::new(text)).await;
    }
    let versions = Versions::in_default_folder()?;
    let version = version(text, &versions).await?;
    Ok(Program::Real(ready(&versions, version, output).await?))
}

/// The simulated CLI as the version that a text names.
pub(super) fn simulated(text: &str) -> Result<Program, Failure> {
    let version = text
        .parse()
        .map_err(|error| Failure::of(&error).hint(sim::known_versions()).code(Exit::Usage))?;
    sim::program(version)
}

/// A program of the user's own, which tells its version itself.
async fn own(path: &Path) -> Result<Program, Failure> {
    let mut options = FindOptions::from_env();
    options.explicit = Some(path.to_owned());
    let unusable = |error: &dyn std::error::Error| {
        Failure::of(error)
            .hint(format!("`countersign doctor --cli {}` looks closer.", path.display()))
            .code(Exit::NoCli)
    };
    let cli = Cli::find_with(&options).map_err(|error| unusable(&error))?;
    let asked = SessionBuilder::new().executable(cli.path());
    let version = asked.version().await.map_err(|error| unusable(&error))?;
    Ok(Program::Real(Installed::elsewhere(version, cli.path())))
}
