//! The results of experiments, side by side: what each version does, and what changed between them.
//!
//! A [`Report`] is made of the [`Results`] of several programs. It is written as Markdown, to be read
//! and compared, and as one HTML page with the sequence diagram of every conversation.
//!
//! ```no_run
//! use std::fs;
//!
//! use countersign_lab::report::Report;
//!
//! # fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let report = Report::read("out")?;
//! fs::write("out/report.md", report.markdown())?;
//! report.page(fs::File::create("out/report.html")?)?;
//! # Ok(())
//! # }
//! ```

mod block;
mod changes;
mod content;
mod markdown;
mod page;

use std::fs;
use std::path::{Path, PathBuf};

pub use self::changes::{Change, changes};
pub(crate) use self::markdown::inert;
use crate::Version;
use crate::experiment::{Expected, Observed, Results, ResultsError};

/// The results of several programs, the oldest version first.
#[derive(Clone, Debug)]
pub struct Report {
    folder: PathBuf,
    results: Vec<Results>,
    /// What is known to differ.
    known: Option<Expected>,
}

impl Report {
    /// A report of these results, whose tapes are in this folder.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>, mut results: Vec<Results>) -> Self {
        results.sort_by_key(|results| {
            let version: Option<Version> = results.version.parse().ok();
            (version, results.simulated)
        });
        // A test sees to it that they can be read; without them nothing is known to differ.
        Self { folder: folder.into(), results, known: Expected::committed().ok() }
    }

    /// A report of all results that are in a folder: see [`run`](crate::experiment::run()).
    ///
    /// # Errors
    ///
    /// When the folder cannot be read, or holds a file of results that is none.
    pub fn read(folder: impl AsRef<Path>) -> Result<Self, ResultsError> {
        let folder = folder.as_ref();
        let failed = |source| ResultsError::File { path: folder.to_owned(), source };
        let mut results = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            // The report itself lies beside the folders of the programs.
            if path.is_dir() {
                results.extend(Results::read(&path)?);
            }
        }
        Ok(Self::new(folder, results))
    }

    /// The results, the oldest version first.
    #[must_use]
    pub fn results(&self) -> &[Results] {
        &self.results
    }

    /// Why an experiment differs on this program, if it is known to.
    fn reason(&self, observed: &Observed, results: &Results) -> Option<&str> {
        self.known.as_ref()?.reason(observed, &results.version)
    }

    /// The report as Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        markdown::write(&content::of(self))
    }

    /// Writes the report as one HTML page that needs nothing else. A tape that is not there any more
    /// is named in its place.
    ///
    /// # Errors
    ///
    /// When the page cannot be written.
    pub fn page(&self, out: impl std::io::Write) -> std::io::Result<()> {
        page::write(&content::of(self), &self.folder, out)
    }
}
