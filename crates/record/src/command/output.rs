//! Standard output, the only place that writes to it.

use std::fmt;
use std::io::{self, BufWriter, StdoutLock, Write as _};

use super::Failure;
use crate::plain;

/// Standard output, buffered.
#[derive(Debug)]
pub(super) struct Output {
    out: BufWriter<StdoutLock<'static>>,
}

impl Output {
    #[expect(clippy::disallowed_methods, reason = "this is the output module of the command")]
    pub(super) fn new() -> Self {
        Self { out: BufWriter::new(io::stdout().lock()) }
    }

    /// Writes a line, which cannot control a terminal.
    pub(super) fn line(&mut self, text: fmt::Arguments<'_>) -> Result<(), Failure> {
        self.text(&text.to_string())?;
        self.bytes(b"\n")
    }

    /// Writes lines, which cannot control a terminal.
    pub(super) fn text(&mut self, text: &str) -> Result<(), Failure> {
        self.bytes(plain(text).as_bytes())
    }

    /// Writes bytes as they are.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.out.write_all(bytes).map_err(failure)
    }

    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        self.out.flush().map_err(failure)
    }
}

fn failure(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::NobodyListens,
        _ => Failure::with_code(error, 1),
    }
}
