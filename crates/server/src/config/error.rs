//! What is wrong with a configuration, and where it was written.

use std::fmt;
use std::io;
use std::path::PathBuf;

use serde::{Serialize, Serializer};
use thiserror::Error;

/// Where a value was set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// Nowhere.
    Default,
    /// In the file.
    File {
        /// Which.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// In the environment, by this variable.
    Environment(String),
    /// On the command line.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { file, line } => write!(f, "{}:{line}", file.display()),
            Self::Environment(name) => f.write_str(name),
            Self::Flag => f.write_str("command line"),
        }
    }
}

impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// Why there is no configuration.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file was asked for and cannot be read.
    #[error("the configuration file {file} cannot be read: {source}")]
    Read {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The file says something that is not understood.
    #[error("{file}:{line}: {}{message}", key.as_ref().map(|key| format!("`{key}`: ")).unwrap_or_default())]
    File {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The key, where there is one.
        key: Option<String>,
        /// What is wrong, and what to do.
        message: String,
    },
    /// A variable says something that is not understood.
    #[error("the environment variable {name}: {message}")]
    Environment {
        /// The variable.
        name: String,
        /// What is wrong, and what to do.
        message: String,
    },
    /// A flag says something that is not understood.
    #[error("the command line: `{key}`: {message}")]
    Flag {
        /// The key that the flag sets.
        key: &'static str,
        /// What is wrong, and what to do.
        message: String,
    },
    /// It is not known whose server it is.
    #[error("there is no home folder to keep data in; set HOME, or `data` to a folder")]
    NoHome,
}
