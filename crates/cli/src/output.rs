//! Standard output and standard error: the one place that writes to them.

use std::fmt;
use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};
pub(crate) use countersign_record::plain;
use serde::Serialize;

use crate::arguments::{Colours, Shared};
use crate::failure::Failure;
use crate::progress::Progress;

/// Where a command says what it has to say.
///
/// Text has control characters of its own only for colours, which are taken out where they are
/// not wanted. What comes from outside goes through [`plain`](crate::output::plain) first.
#[derive(Debug)]
pub(crate) struct Output {
    out: BufWriter<AutoStream<io::Stdout>>,
    err: AutoStream<io::Stderr>,
    json: bool,
    quiet: bool,
}

impl Output {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that prints")]
    pub(crate) fn standard(shared: &Shared) -> Self {
        match shared.color {
            Colours::Auto => {}
            Colours::Always => ColorChoice::Always.write_global(),
            Colours::Never => ColorChoice::Never.write_global(),
        }
        Self {
            out: BufWriter::new(AutoStream::auto(io::stdout())),
            err: AutoStream::auto(io::stderr()),
            json: shared.json,
            quiet: shared.quiet,
        }
    }

    /// Whether a person can be asked here: keys come in, and what is shown can be drawn over.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that prints")]
    pub(crate) fn has_a_terminal(&self) -> bool {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        !self.json && !is_dumb && io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// Whether a person reads standard output.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that prints")]
    pub(crate) fn is_on_a_terminal(&self) -> bool {
        !self.json && io::stdout().is_terminal()
    }

    /// Whether standard output takes colours.
    pub(crate) fn has_colours(&self) -> bool {
        self.out.get_ref().current_choice() != ColorChoice::Never
    }

    /// Whether nothing is to be said besides the result.
    pub(crate) const fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether JSON is wanted in place of text.
    pub(crate) const fn is_json(&self) -> bool {
        self.json
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, line: impl fmt::Display) -> Result<(), Failure> {
        writeln!(self.out, "{line}").map_err(failure)
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.out.write_all(bytes).map_err(failure)
    }

    /// Writes a line of JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        self.bytes(&line)
    }

    /// Shows what was written until now.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.out.flush().map_err(failure)
    }

    /// Says something beside the result, on standard error.
    pub(crate) fn note(&mut self, line: impl fmt::Display) {
        // When standard error is gone there is nobody left to tell.
        drop(writeln!(self.err, "{line}"));
    }

    /// Something that takes long, of which nothing is said if that is not wanted.
    pub(crate) fn progress(&self, what: impl Into<String>) -> Progress {
        let shown = !self.quiet && !self.json;
        Progress::new(&what.into(), shown, io::stderr().is_terminal())
    }

    /// Says why a command failed, and gives what the process exits with.
    pub(crate) fn complain(&mut self, failure: &Failure) -> ExitCode {
        let Failure::Problem(problem) = failure else {
            return ExitCode::SUCCESS;
        };
        if self.json {
            let text = serde_json::to_string(problem).unwrap_or_else(|_| problem.to_string());
            self.note(text);
        } else {
            // An error may quote what a program said.
            self.note(format_args!("countersign: {}", plain(&problem.to_string())));
        }
        ExitCode::from(problem.exit())
    }
}

/// The terminal itself, for what moves the cursor. What comes from outside goes there as a line of
/// `run`, which has been through [`plain`].
#[expect(clippy::disallowed_methods, reason = "this is the one place that prints")]
pub(crate) fn terminal() -> io::Stdout {
    io::stdout()
}

/// Says something on standard error, beside what a command says.
pub(crate) fn aside(line: &str) {
    // When standard error is gone there is nobody left to tell.
    drop(writeln!(anstream::stderr(), "{line}"));
}

fn failure(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::NobodyListens,
        _ => Failure::from(error),
    }
}
