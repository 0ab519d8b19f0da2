//! The one place that prints.

use std::error::Error;
use std::fmt;
use std::io::{self, Write as _};

/// Why a command failed, in words for the person who ran it.
#[derive(Debug)]
pub(super) struct Failure(String);

impl Failure {
    /// A failure in these words.
    pub(super) fn new(words: impl Into<String>) -> Self {
        Self(words.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.trim_end())
    }
}

/// An error becomes a failure with all its causes.
impl<E: Error> From<E> for Failure {
    fn from(error: E) -> Self {
        let mut words = error.to_string();
        let mut cause = error.source();
        while let Some(next) = cause {
            words = format!("{}: {next}", words.trim_end());
            cause = next.source();
        }
        Self(words)
    }
}

/// Where a command prints.
#[derive(Debug)]
pub(super) struct Output {
    out: io::Stdout,
    err: io::Stderr,
}

impl Output {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that prints")]
    pub(super) fn standard() -> Self {
        Self { out: io::stdout(), err: io::stderr() }
    }

    /// Prints a line.
    ///
    /// # Errors
    ///
    /// When standard output is closed.
    pub(super) fn line(&mut self, line: impl fmt::Display) -> Result<(), io::Error> {
        writeln!(self.out, "{line}")?;
        self.out.flush()
    }

    /// Prints a failure. When nobody can read it, the exit code has to do.
    pub(super) fn complain(&mut self, failure: &Failure) {
        drop(writeln!(self.err, "{failure}"));
    }
}
