//! `tape html`: a tape as a page.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use countersign_record::page::{Diagram, page};
use serde_json::json;

use crate::failure::{Exit, Failure};
use crate::file::create;
use crate::output::Output;

/// Write tapes as one HTML page: the sequence diagram of the conversation
///
/// The page needs nothing else and can be opened from the disk. A tape has secrets on it, and so has
/// its page: `countersign tape redact` takes them out of the tape first.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The tapes
    #[arg(required = true, value_name = "FILE")]
    tapes: Vec<PathBuf>,
    /// The page [default: the name of the first tape with .html]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write over a page that is there already
    #[arg(long)]
    force: bool,
}

impl Args {
    pub(crate) fn run(&self, output: &mut Output) -> Result<ExitCode, Failure> {
        let first = self.tapes.first().map(PathBuf::as_path).unwrap_or(Path::new("tape"));
        let out = self.output.clone().unwrap_or_else(|| first.with_extension("html"));
        let is_out = |tape: &PathBuf| match (tape.canonicalize(), out.canonicalize()) {
            (Ok(tape), Ok(out)) => tape == out,
            _ => *tape == out,
        };
        if self.tapes.iter().any(is_out) {
            return Err(Failure::new(format!("{} is the tape itself", out.display()))
                .hint("Name the page with -o FILE.")
                .code(Exit::Usage));
        }
        let drawing = output.progress("reading").of(self.tapes.len());
        let mut diagrams = Vec::new();
        for tape in &self.tapes {
            drawing.doing(format!("reading {}", tape.display()));
            diagrams.push(opened(tape)?);
            drawing.done();
        }
        let title = first.file_name().unwrap_or_default().to_string_lossy();
        page(create(&out, self.force)?, &title, &diagrams)?;
        drop(drawing);
        let frames: u64 = diagrams.iter().map(Diagram::frames).sum();
        if output.is_json() {
            output.json(&json!({"page": out, "frames": frames}))?;
        } else {
            output.line(out.display())?;
            output.note(format_args!("{frames} frames; open it in a browser"));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The diagram of a tape.
pub(crate) fn opened(tape: &Path) -> Result<Diagram, Failure> {
    Diagram::open(tape).map_err(|error| {
        let why = error.to_string();
        let path = tape.display().to_string();
        // Some errors name the file themselves.
        let words = if why.contains(&path) { why } else { format!("{path}: {why}") };
        Failure::new(words)
    })
}
