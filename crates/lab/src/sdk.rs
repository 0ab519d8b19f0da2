//! The TypeScript SDK of a release of the CLI, for its published types.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::Version;
use crate::npm::{Package, npm};
use crate::versions::{InstallError, Versions};

/// The package that the SDK is published as.
const PACKAGE: &str = "@anthropic-ai/claude-agent-sdk";

/// What the folders of the SDK in the cache begin with.
const FOLDER: &str = "typescript-sdk-";

/// A version of the TypeScript SDK, installed for its types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sdk {
    version: String,
    folder: PathBuf,
}

impl Sdk {
    /// The version of the package.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The folder of the package.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    version: String,
    claude_code_version: Option<String>,
}

impl Versions {
    /// The TypeScript SDK that was released together with a version of the CLI, installed now if it
    /// was not yet; nothing, if there is none.
    ///
    /// # Errors
    ///
    /// When npm is missing, the registry does not answer, or the disk is full.
    pub async fn sdk(&self, cli: Version) -> Result<Option<Sdk>, InstallError> {
        if let Some(sdk) = self.installed_sdk(cli) {
            return Ok(Some(sdk));
        }
        for version in candidates(&versions().await?, cli) {
            let spec = format!("{PACKAGE}@{version}");
            let said = npm(["view", &spec, "claudeCodeVersion", "--loglevel=error"]).await?;
            if said.trim().parse() != Ok(cli) {
                continue;
            }
            let package = Package {
                cache: self.folder(),
                folder: &format!("{FOLDER}{version}"),
                spec: &spec,
                // The optional packages are the CLI itself, once more.
                flags: &["--omit=optional", "--omit=peer"],
            };
            return package.install(|folder| sdk_in(folder, cli)).await;
        }
        Ok(None)
    }

    fn installed_sdk(&self, cli: Version) -> Option<Sdk> {
        let entries = fs::read_dir(self.folder()).ok()?;
        entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(FOLDER))
            .find_map(|entry| sdk_in(&entry.path(), cli))
    }
}

/// The package that is installed in a folder, if it belongs to this version of the CLI.
fn sdk_in(folder: &Path, cli: Version) -> Option<Sdk> {
    let folder = folder.join("node_modules").join(PACKAGE);
    let text = fs::read(folder.join("package.json")).ok()?;
    let manifest: Manifest = serde_json::from_slice(&text).ok()?;
    let is_of_cli = manifest.claude_code_version?.parse() == Ok(cli);
    is_of_cli.then_some(Sdk { version: manifest.version, folder })
}

/// All versions of the package that the registry has.
async fn versions() -> Result<Vec<String>, InstallError> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Said {
        Many(Vec<String>),
        One(String),
    }
    let said = npm(["view", PACKAGE, "versions", "--json", "--loglevel=error"]).await?;
    match serde_json::from_str(&said) {
        Ok(Said::Many(versions)) => Ok(versions),
        Ok(Said::One(version)) => Ok(vec![version]),
        Err(source) => Err(InstallError::SdkVersions { source }),
    }
}

/// The versions of the SDK that may belong to this version of the CLI, the newest first: both are
/// released together and share the last of their numbers.
fn candidates(all: &[String], cli: Version) -> Vec<Version> {
    let last = |version: &Version| version.to_string().rsplit('.').next().map(ToOwned::to_owned);
    let parsed = all.iter().filter_map(|text| text.parse().ok());
    let mut found: Vec<Version> = parsed.filter(|version| last(version) == last(&cli)).collect();
    found.sort_by(|a, b| b.cmp(a));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_number_tells_which_versions_are_asked_for() {
        let all = ["0.1.62", "0.2.62", "0.2.620", "0.3.6", "1.0.62-beta"].map(ToOwned::to_owned);
        let found = candidates(&all, Version::new(2, 1, 62));
        assert_eq!(found, [Version::new(0, 2, 62), Version::new(0, 1, 62)]);
    }
}
