//! What is wrong with a set of options.

use countersign_protocol::RawJsonError;

use crate::cli::FindError;

/// The options make no sense, and nothing was started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// The CLI was not found.
    #[error(transparent)]
    Find(#[from] FindError),
    /// Two options exclude each other, or one needs another.
    #[error("{what}: {change}")]
    Contradiction {
        /// What does not go together.
        what: &'static str,
        /// What to change.
        change: &'static str,
    },
    /// The value of an option cannot be used.
    #[error("`{option}` cannot be {value:?}: {problem}")]
    Value {
        /// The method that set it.
        option: &'static str,
        /// The value, or the beginning of it.
        value: String,
        /// What is wrong with it, and what to do.
        problem: &'static str,
    },
    /// A flag would be longer than the operating system lets one be.
    #[error(
        "the value of `{flag}` is {bytes} bytes, and an argument may have {most}: write it to a \
         file and name the file"
    )]
    TooLong {
        /// The flag.
        flag: String,
        /// How long it would be.
        bytes: usize,
        /// How long it may be.
        most: usize,
    },
    /// A field of `initialize` was given twice, or has another type there.
    #[error("the fields given by `initialize_field` do not fit: {0}")]
    InitializeField(#[source] serde_json::Error),
    /// A value cannot be written as JSON.
    #[error("`{option}` cannot be written as JSON: {source}")]
    Json {
        /// The method that set it.
        option: &'static str,
        /// Why.
        source: serde_json::Error,
    },
    /// A text is not JSON.
    #[error("`{option}`: {source}")]
    RawJson {
        /// The method that set it.
        option: &'static str,
        /// Why.
        source: RawJsonError,
    },
}

impl OptionsError {
    pub(super) fn value(option: &'static str, value: &str, problem: &'static str) -> Self {
        // A secret may have been put in the wrong place: no more is shown than helps to find it.
        let value = value.chars().take(40).collect();
        Self::Value { option, value, problem }
    }

    pub(super) const fn contradiction(what: &'static str, change: &'static str) -> Self {
        Self::Contradiction { what, change }
    }
}
