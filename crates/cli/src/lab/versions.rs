//! `lab install` and `lab list`: versions of the real CLI.

use std::process::ExitCode;

use countersign_lab::{Installed, Version, Versions};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::failure::{Exit, Failure};
use crate::output::Output;

/// Install versions of the real CLI from the npm registry
#[derive(Debug, clap::Args)]
pub(crate) struct Install {
    /// Versions such as 2.1.325, or `latest`; without any, those that everything is tested with
    versions: Vec<String>,
}

impl Install {
    pub(super) fn run(&self, output: &mut Output) -> Result<ExitCode, Failure> {
        Runtime::new()?.block_on(self.install(output))?;
        Ok(ExitCode::SUCCESS)
    }

    async fn install(&self, output: &mut Output) -> Result<(), Failure> {
        let versions = Versions::in_default_folder()?;
        let mut wanted = Vec::new();
        for text in &self.versions {
            wanted.push(version(text, &versions).await?);
        }
        if wanted.is_empty() {
            wanted.extend(Version::TESTED);
        }
        for version in wanted {
            let cli = ready(&versions, version, output).await?;
            show(&cli, output)?;
        }
        Ok(())
    }
}

/// List the versions of the real CLI that are installed
#[derive(Debug, clap::Args)]
pub(crate) struct List {}

impl List {
    pub(super) fn run(&self, output: &mut Output) -> Result<ExitCode, Failure> {
        let versions = Versions::in_default_folder()?;
        let installed = versions.list();
        if installed.is_empty() {
            let folder = versions.folder().display();
            output.note(format_args!(
                "nothing in {folder}; `countersign lab install` puts some there"
            ));
        }
        for cli in installed {
            show(&cli, output)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn show(cli: &Installed, output: &mut Output) -> Result<(), Failure> {
    let (version, program) = (cli.version(), cli.executable().display());
    let tested = Version::TESTED.contains(&version);
    if output.is_json() {
        let version = version.to_string();
        let program = program.to_string();
        return output.json(&json!({"version": version, "program": program, "tested": tested}));
    }
    let tested = if tested { "  (tested)" } else { "" };
    output.line(format_args!("{version}  {program}{tested}"))
}

/// The version that a text names: a number, or `latest`.
pub(super) async fn version(text: &str, versions: &Versions) -> Result<Version, Failure> {
    match text {
        "latest" => Ok(versions.latest().await?),
        text => text.parse().map_err(|error| {
            Failure::of(&error)
                .hint("Name a version such as 2.1.325, or `latest`.")
                .code(Exit::Usage)
        }),
    }
}

/// A version, which is installed if it is not there yet.
pub(super) async fn ready(
    versions: &Versions,
    version: Version,
    output: &Output,
) -> Result<Installed, Failure> {
    let progress = output.progress(format!("{version}"));
    if versions.get(version).is_none() {
        progress.doing(format!("installing {version}, up to 370 MB"));
    }
    Ok(versions.install(version).await?)
}
