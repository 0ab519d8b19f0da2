//! Why a command failed, what to do about it, and the exit codes.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

use serde::Serialize;

/// What the exit codes mean, at the end of every help text.
pub(crate) const EXIT_CODES: &str = "\
Exit codes: 0 all went well; 1 something went wrong, or what was compared differs; 2 the command \
line is wrong; 4 something was refused because nobody could be asked; 5 there is no Claude Code \
that can be used; 130 ended by Ctrl-C. Commands that run a program in the place of another end as \
that program ends.";

/// What a failed command exits with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Something went wrong, or what was compared differs.
    Failed = 1,
    /// The command line is wrong, in a way that shows late.
    Usage = 2,
    /// Something was refused because nobody could be asked.
    NobodyToAsk = 4,
    /// There is no CLI that can be used.
    NoCli = 5,
    /// Ctrl-C.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Standard output was closed, as by `head`. Nobody wants to hear more.
    NobodyListens,
    /// Something is wrong.
    Problem(Problem),
}

/// Something that is wrong, in words for the person who ran the command.
#[derive(Debug, Serialize)]
pub(crate) struct Problem {
    /// What is wrong.
    #[serde(rename = "error")]
    words: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// What the process exits with.
    #[serde(rename = "exit")]
    code: u8,
}

impl Failure {
    /// A failure in these words.
    pub(crate) fn new(words: impl Into<String>) -> Self {
        let words = words.into().trim_end().to_owned();
        Self::Problem(Problem { words, hint: None, code: Exit::Failed as u8 })
    }

    /// An error with all its causes.
    pub(crate) fn of(error: &dyn Error) -> Self {
        let mut words = error.to_string().trim_end().to_owned();
        let mut cause = error.source();
        while let Some(next) = cause {
            let text = next.to_string();
            let text = text.trim_end();
            // Some errors include the text of their cause.
            if !words.contains(text) {
                words = format!("{words}: {text}");
            }
            cause = next.source();
        }
        Self::new(words)
    }

    /// The same, with what to do about it.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        if let Self::Problem(problem) = &mut self {
            problem.hint = Some(hint.into());
        }
        self
    }

    /// The same, with an exit code of its own.
    #[must_use]
    pub(crate) fn code(mut self, code: impl Into<u8>) -> Self {
        if let Self::Problem(problem) = &mut self {
            problem.code = code.into();
        }
        self
    }
}

impl From<Exit> for u8 {
    fn from(exit: Exit) -> Self {
        exit as Self
    }
}

/// Any error is a failure, with all its causes.
impl<E: Error + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::of(&error)
    }
}

impl Problem {
    /// What the process exits with.
    pub(crate) const fn exit(&self) -> u8 {
        self.code
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NobodyListens => f.write_str("standard output was closed"),
            Self::Problem(problem) => problem.fmt(f),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.words)?;
        match &self.hint {
            Some(hint) => write!(f, "\n{hint}"),
            None => Ok(()),
        }
    }
}
