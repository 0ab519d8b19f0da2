//! `tape html`: a tape as a page.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use countersign_record::page::{Diagram, page};
use serde_json::json;

use crate::failure::{Exit, Failure};
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
        if self.tapes.contains(&out) {
            return Err(Failure::new(format!("{} is the tape itself", out.display()))
                .hint("Name the page with -o FILE.")
                .code(Exit::Usage));
        }
        let drawing = output.progress("reading").of(self.tapes.len());
        let mut diagrams = Vec::new();
        for tape in &self.tapes {
            drawing.doing(format!("reading {}", tape.display()));
            diagrams.push(Diagram::open(tape)?);
            drawing.done();
        }
        let mut options = OpenOptions::new();
        options.write(true).truncate(true);
        let file = if self.force { options.create(true) } else { options.create_new(true) };
        let file = file.open(&out).map_err(|error| {
            let failure = Failure::new(format!("cannot write {}: {error}", out.display()));
            match error.kind() {
                std::io::ErrorKind::AlreadyExists => failure.hint("--force writes over it."),
                _ => failure,
            }
        })?;
        let title = first.file_name().unwrap_or_default().to_string_lossy();
        page(file, &title, &diagrams)?;
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
