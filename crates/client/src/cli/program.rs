//! A CLI that was found.

use std::path::{Path, PathBuf};

use countersign_protocol::Version;

use super::find::{FindError, FindOptions};
use super::version::{self, VersionError};

/// A CLI that can be started: an absolute path to a program.
///
/// ```no_run
/// use countersign::cli::Cli;
///
/// let cli = Cli::find()?;
/// println!("{}", cli.path().display());
/// # Ok::<(), countersign::cli::FindError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cli {
    path: PathBuf,
}

impl Cli {
    /// Looks for the CLI in the usual places; [`FindOptions`] says which, and in which order.
    ///
    /// # Errors
    ///
    /// When it is in none of them.
    pub fn find() -> Result<Self, FindError> {
        Self::find_with(&FindOptions::from_env())
    }

    /// Looks for the CLI where these options say.
    ///
    /// # Errors
    ///
    /// When it is in none of those places.
    pub fn find_with(options: &FindOptions) -> Result<Self, FindError> {
        options.find().map(|path| Self { path })
    }

    /// The CLI at this path. A relative one begins in the working folder of this process.
    ///
    /// # Errors
    ///
    /// When there is no program.
    pub fn at(path: impl Into<PathBuf>) -> Result<Self, FindError> {
        let options = FindOptions {
            explicit: Some(path.into()),
            cwd: std::env::current_dir().ok(),
            ..FindOptions::default()
        };
        Self::find_with(&options)
    }

    /// The program, as an absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The version, when it can be told without starting the program: from the package that an
    /// npm install consists of, from the name of the file in a native install, or because it was
    /// asked for before.
    ///
    /// `None` means that only the program can tell: see [`Cli::version_by`]. A wrapper script is
    /// such a case.
    #[must_use]
    pub fn version_if_cheap(&self) -> Option<Version> {
        version::known(&self.path)
    }

    /// The version. Has the program run with `--version` when it cannot be told otherwise.
    ///
    /// An answer is kept for the life of this process, for as long as the file stays the same.
    ///
    /// `run` is given a program and its one argument, and returns what the program wrote to
    /// standard output. Programs that do not end are for `run` to end.
    ///
    /// # Errors
    ///
    /// When the program cannot be run, or says something else than a version.
    pub async fn version_by<R, F>(&self, run: R) -> Result<Version, VersionError>
    where
        R: FnOnce(PathBuf, &'static str) -> F,
        F: Future<Output = std::io::Result<Vec<u8>>>,
    {
        if let Some(version) = self.version_if_cheap() {
            return Ok(version);
        }
        version::ask(&self.path, run).await
    }
}
