//! What can go wrong. No message has a secret in it, nor any other text of a tape.

use std::io;
use std::path::PathBuf;

use crate::reader::TapeError;

/// Why a redactor cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The name of a rule cannot be part of a placeholder.
    #[error(
        "{0:?} cannot be the name of a rule: use small letters, digits and hyphens, with a letter \
         in each part, such as customer-id"
    )]
    Name(String),
    /// There is a built-in rule of that name.
    #[error("there is a built-in rule {0} already: choose another name")]
    Taken(String),
    /// There is no rule of that name.
    #[error("there is no rule {name:?}; the rules are {rules}")]
    NoRule {
        /// The name that was given.
        name: String,
        /// The names that there are.
        rules: String,
    },
    /// A pattern is not a regular expression, or too large.
    #[error("the pattern of {name} is not a regular expression that can be used: {source}")]
    Pattern {
        /// The name of the rule.
        name: String,
        /// What is wrong with it.
        source: regex::Error,
    },
    /// A pattern or a text would match everywhere.
    #[error("the rule {0} matches the empty text: say more precisely what it is to find")]
    Empty(String),
}

/// Why a tape was not redacted. There is no output then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RedactError {
    /// The tape cannot be read.
    #[error("cannot redact {path}: {source}", path = path.display())]
    Tape {
        /// The tape.
        path: PathBuf,
        /// Why.
        source: TapeError,
    },
    /// A line of the tape is not a record, so nobody knows what is in it.
    #[error(
        "cannot redact {path}: line {line} is not a record; take it out, or look at what happened \
         to the tape", path = path.display()
    )]
    Broken {
        /// The tape.
        path: PathBuf,
        /// The number of the line, counting the header as 1.
        line: u64,
    },
    /// A line, or the blocks that are open at a time, are longer than can be looked at as a whole.
    #[error(
        "cannot redact {path}: the text that goes on in record {seq} is too long to be looked at \
         as a whole", path = path.display()
    )]
    TooLong {
        /// The tape.
        path: PathBuf,
        /// The number of the record at which the limit was reached.
        seq: u64,
    },
    /// The output is there already. It is never overwritten.
    #[error("{path} is there already: choose another output, or remove it", path = .0.display())]
    Exists(PathBuf),
    /// The output cannot be written.
    #[error("cannot write {path}: {source}", path = path.display())]
    Write {
        /// The output.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A secret was left in the output, which was removed.
    #[error(
        "a secret that was found elsewhere still stands in {place} of what was written, so the \
         output was removed; please report this, with the kind of secret and how it is spelled \
         there", place = record_name(*seq)
    )]
    Left {
        /// The number of the record; 0 for the header.
        seq: u64,
    },
    /// The output is not the same tape without its secrets.
    #[error("the output has {written} records instead of {read}; it was removed")]
    Records {
        /// How many records the tape has.
        read: u64,
        /// How many records the output had.
        written: u64,
    },
}

fn record_name(seq: u64) -> String {
    if seq == 0 { "the header".to_owned() } else { format!("record {seq}") }
}
