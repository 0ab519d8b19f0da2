//! Standard output, the only place that writes to it.

use std::fmt;
use std::io::{self, BufWriter, StdoutLock, Write as _};

use super::Failure;

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

    /// Writes a line.
    pub(super) fn line(&mut self, text: fmt::Arguments<'_>) -> Result<(), Failure> {
        self.out.write_fmt(text).and_then(|()| self.out.write_all(b"\n")).map_err(failure)
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
