//! Versions of the real CLI, installed from the npm registry into a cache folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::Version;
use crate::npm::{Package, npm};

/// The package that the CLI is published as.
const PACKAGE: &str = "@anthropic-ai/claude-code";

/// A folder of installed versions of the CLI.
///
/// Each version is installed once. Several programs may use one folder at the same time: who comes
/// second waits for the first.
///
/// ```no_run
/// # async fn example() -> Result<(), countersign_lab::InstallError> {
/// use countersign_lab::{Version, Versions};
///
/// let versions = Versions::in_default_folder()?;
/// let cli = versions.install(Version::TESTED[0]).await?;
/// println!("{} is at {}", cli.version(), cli.executable().display());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Versions {
    folder: PathBuf,
}

/// A version of the CLI that can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    version: Version,
    executable: PathBuf,
}

impl Installed {
    /// A CLI that is somewhere else, said to be of this version.
    #[must_use]
    pub fn elsewhere(version: Version, executable: impl Into<PathBuf>) -> Self {
        Self { version, executable: executable.into() }
    }

    /// The version.
    #[must_use]
    pub const fn version(&self) -> Version {
        self.version
    }

    /// The program to run.
    #[must_use]
    pub fn executable(&self) -> &Path {
        &self.executable
    }
}

impl Versions {
    /// The versions in this folder, which need not exist yet.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The versions in the usual folder: `COUNTERSIGN_CLI_CACHE`, or `countersign/cli` in the
    /// user's cache folder.
    ///
    /// # Errors
    ///
    /// When neither the variable nor a home folder is set.
    pub fn in_default_folder() -> Result<Self, InstallError> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        variable("COUNTERSIGN_CLI_CACHE")
            .map(PathBuf::from)
            .or_else(|| {
                let cache = variable("XDG_CACHE_HOME").map(PathBuf::from);
                let cache = cache.or_else(|| Some(Path::new(&variable("HOME")?).join(".cache")));
                cache.map(|cache| cache.join("countersign").join("cli"))
            })
            .map(Self::in_folder)
            .ok_or(InstallError::NoFolder)
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What is installed, the newest first.
    #[must_use]
    pub fn list(&self) -> Vec<Installed> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let mut found: Vec<_> = entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(|version| self.get(version))
            .collect();
        found.sort_by_key(|cli| std::cmp::Reverse(cli.version));
        found
    }

    /// This version, if it is installed.
    #[must_use]
    pub fn get(&self, version: Version) -> Option<Installed> {
        let executable = program_in(&self.place(version), version)?;
        Some(Installed { version, executable })
    }

    /// The newest version that the registry has.
    ///
    /// # Errors
    ///
    /// When npm is missing, or the registry does not answer.
    pub async fn latest(&self) -> Result<Version, InstallError> {
        let answer = npm(["view", PACKAGE, "version", "--loglevel=error"]).await?;
        let said = answer.trim();
        said.parse().map_err(|_| InstallError::Latest { said: said.to_owned() })
    }

    /// This version; installed now, if it was not yet. That takes some seconds and about 350 MB.
    ///
    /// # Errors
    ///
    /// When npm is missing, the registry does not have the version, or the disk is full.
    pub async fn install(&self, version: Version) -> Result<Installed, InstallError> {
        // The package's own install script would only link the program that is taken from the
        // platform's package here.
        let package = Package {
            cache: &self.folder,
            folder: &version.to_string(),
            spec: &format!("{PACKAGE}@{version}"),
            flags: &[],
        };
        let executable = package.install(|folder| program_in(folder, version)).await?;
        let executable = executable.ok_or(InstallError::NoProgram { version })?;
        Ok(Installed { version, executable })
    }

    fn place(&self, version: Version) -> PathBuf {
        self.folder.join(version.to_string())
    }
}

#[derive(Deserialize)]
struct Manifest {
    version: String,
}

fn package_version(modules: &Path) -> Option<Version> {
    let text = fs::read(modules.join(PACKAGE).join("package.json")).ok()?;
    let manifest: Manifest = serde_json::from_slice(&text).ok()?;
    manifest.version.parse().ok()
}

/// The program of the package that is installed in a folder, if it is of this version.
fn program_in(folder: &Path, version: Version) -> Option<PathBuf> {
    let modules = folder.join("node_modules");
    let executable = executable(&modules)?;
    (package_version(&modules)? == version).then_some(executable)
}

/// The program of an installed package: the one of the platform's own package in newer versions,
/// the script of the package itself in older ones.
fn executable(modules: &Path) -> Option<PathBuf> {
    let platform = fs::read_dir(modules.join("@anthropic-ai")).ok()?;
    let native = platform
        .filter_map(|entry| Some(entry.ok()?.path().join("claude")))
        .filter(|file| file.is_file())
        // An old npm installs a second one, for another C library, whose name is longer.
        .min();
    native.or_else(|| Some(modules.join(PACKAGE).join("cli.js"))).filter(|file| file.is_file())
}

/// Why a version could not be installed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// There is nowhere to install to.
    #[error("no folder for the CLI: set COUNTERSIGN_CLI_CACHE to one")]
    NoFolder,
    /// The package manager is missing.
    #[error("npm is not on the PATH: install Node.js, which brings it")]
    NoNpm,
    /// The package manager could not be started.
    #[error("npm could not be started")]
    Start {
        /// Why.
        source: io::Error,
    },
    /// The package manager failed.
    #[error("npm failed: {said}")]
    Npm {
        /// What it said.
        said: String,
    },
    /// The registry has a newest version whose number cannot be read.
    #[error(
        "npm says that the newest version is {said:?}, which is none: name the version to install"
    )]
    Latest {
        /// What it said.
        said: String,
    },
    /// The registry has a list of versions of the SDK that cannot be read.
    #[error("npm does not say which versions of the TypeScript SDK there are")]
    SdkVersions {
        /// Why.
        source: serde_json::Error,
    },
    /// The cache folder cannot be used.
    #[error("the folder {} cannot be used", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The package has no program for this machine.
    #[error(
        "version {version} has no program for this machine: \
             npm may have been told to leave out optional packages"
    )]
    NoProgram {
        /// The version.
        version: Version,
    },
}
