//! `install` and `list`: versions of the real CLI.

use std::pin::pin;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::time::Instant;

use super::output::{Failure, Output};
use crate::Version;
use crate::versions::{Installed, Versions};

/// Install versions of the real CLI from the npm registry
#[derive(Debug, clap::Args)]
pub(super) struct Install {
    /// Versions such as 2.1.325, or `latest`; without any, those that everything is tested with
    versions: Vec<String>,
}

pub(super) fn install(args: &Install, output: &mut Output) -> Result<(), Failure> {
    Runtime::new()?.block_on(install_all(args, output))
}

async fn install_all(args: &Install, output: &mut Output) -> Result<(), Failure> {
    let versions = Versions::in_default_folder()?;
    let mut wanted = Vec::new();
    for text in &args.versions {
        wanted.push(match text.as_str() {
            "latest" => versions.latest().await?,
            text => text.parse()?,
        });
    }
    if wanted.is_empty() {
        wanted.extend(Version::TESTED);
    }
    for version in wanted {
        let cli = ready(&versions, version, output).await?;
        output.line(format_args!("{version}  {}", cli.executable().display()))?;
    }
    Ok(())
}

/// A version, which is installed if it is not there yet.
pub(super) async fn ready(
    versions: &Versions,
    version: Version,
    output: &mut Output,
) -> Result<Installed, Failure> {
    if versions.get(version).is_none() {
        output.line(format_args!("installing {version}, up to 370 MB"))?;
    }
    let what = format!("still installing {version}");
    Ok(telling(output, &what, versions.install(version)).await??)
}

pub(super) fn list(output: &mut Output) -> Result<(), Failure> {
    let versions = Versions::in_default_folder()?;
    let installed = versions.list();
    if installed.is_empty() {
        let folder = versions.folder().display();
        output
            .line(format_args!("nothing in {folder}; `countersign-lab install` puts some there"))?;
    }
    for cli in installed {
        let tested = if Version::TESTED.contains(&cli.version()) { "  (tested)" } else { "" };
        output.line(format_args!("{}  {}{tested}", cli.version(), cli.executable().display()))?;
    }
    Ok(())
}

/// Waits for something that takes long, and says every ten seconds that it goes on.
async fn telling<T>(
    output: &mut Output,
    what: &str,
    work: impl Future<Output = T>,
) -> Result<T, Failure> {
    let mut work = pin!(work);
    let start = Instant::now();
    let mut ticks = tokio::time::interval(Duration::from_secs(10));
    ticks.tick().await;
    loop {
        tokio::select! {
            done = &mut work => return Ok(done),
            _ = ticks.tick() => {
                let seconds = start.elapsed().as_secs();
                output.line(format_args!("{what}, {seconds} s"))?;
            }
        }
    }
}
