//! Redaction: a tape without its secrets, which can be shown to others.
//!
//! A [`Redactor`] takes out what it finds and puts placeholders there that keep the text valid:
//! `redacted-api-key-1`, `/home/user-1`, `user-1@example.invalid`. The same secret is the same
//! placeholder everywhere, on all tapes that one redactor is given. What is not touched stays
//! byte for byte as it was.
//!
//! ```
//! use countersign_record::redact::Redactor;
//!
//! let mut redactor = Redactor::builder()
//!     .pattern("customer", r"\bC-[0-9]{6}\b")?
//!     .literal("project", "bluebird")?
//!     .build()?;
//! let line = r#"{"cwd":"/home/jo/bluebird","env":{"API_TOKEN":"hunter22"},"note":"C-123456"}"#;
//! assert_eq!(
//!     redactor.redact_text(line),
//!     r#"{"cwd":"/home/user-1/redacted-project-1","env":{"API_TOKEN":"redacted-token-1"},"note":"redacted-customer-1"}"#,
//! );
//! // A password is the same password in the middle of a sentence.
//! assert_eq!(redactor.redact_text("it is hunter22"), "it is redacted-token-1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//!
//! A tape is read three times. First all secrets on it are found; then all places where they
//! stand, also in pieces: over records of a long line, over the deltas of a stream; then the tape
//! is written. At last what was written is read again, and if any value that was found is still
//! there, in any spelling, the output is removed.
//!
//! Memory is bounded by the secrets, the longest line and the blocks that are open at a time, not
//! by the tape, but for some fifty bytes for each place in a delta or in a line of several records.

mod address;
mod anchors;
mod assignment;
mod blocks;
mod builder;
mod codings;
mod edit;
mod error;
mod find;
mod home;
mod json;
mod known;
mod ledger;
mod manifest;
mod names;
mod patterns;
mod pem;
mod pieces;
mod placeholder;
mod plan;
mod rules;
mod secret;
mod stream;
mod survey;
mod verify;
mod view;
mod write;

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

pub use self::builder::RedactorBuilder;
pub use self::error::{BuildError, RedactError};
pub use self::manifest::{Manifest, ManifestEntry};
pub use self::placeholder::{PLACEHOLDER_PATTERN, is_placeholder};

use self::edit::{Place, changed};
use self::find::Finder;
use self::known::Known;
use self::ledger::Ledger;
use self::placeholder::placeholders;
use self::plan::{Plan, edits};
use self::rules::Rules;
use self::stream::StreamEvent;
use self::survey::{open, survey, unreadable};
use self::verify::Verifier;
use self::write::Writer;

/// Takes secrets out of tapes, and remembers which placeholder each one has.
///
/// A clone has the same memory; after that each goes on for itself.
#[derive(Clone, Debug)]
pub struct Redactor {
    rules: Rules,
    ledger: Ledger,
    /// What the ledger knew at a revision.
    known: (u64, Known),
}

impl Redactor {
    /// Begins to make a redactor.
    pub fn builder() -> RedactorBuilder {
        RedactorBuilder::default()
    }

    fn new(rules: Rules) -> Self {
        Self { rules, ledger: Ledger::default(), known: (0, Known::default()) }
    }

    /// Takes the secrets out of a text, such as a line of a log or of a recording.
    ///
    /// A text that is JSON stays JSON.
    pub fn redact_text<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        let bytes = text.as_bytes();
        self.learn(bytes, look(&Finder { rules: &self.rules, known: None }, bytes));
        self.refresh();
        let places = look(&Finder { rules: &self.rules, known: Some(&self.known.1) }, bytes);
        let edits = edits(&self.rules, &mut self.ledger, places);
        if edits.is_empty() {
            return Cow::Borrowed(text);
        }
        edits.iter().filter_map(|edit| edit.with).for_each(|with| self.ledger.number(with.secret));
        let changes = edits.iter().map(|edit| self.ledger.change(&self.rules, edit)).collect();
        let redacted = changed(bytes, changes);
        // Whole characters are replaced by ASCII, so this loses nothing.
        Cow::Owned(String::from_utf8_lossy(&redacted).into_owned())
    }

    /// Takes the secrets out of a tape, and writes it to a file that must not exist.
    ///
    /// A record that was cut off at the end of the tape is left out.
    ///
    /// # Errors
    ///
    /// When the tape cannot be read or the output cannot be written, and when a secret was left
    /// in the output. Then there is no output.
    pub fn redact_file(
        &mut self,
        input: impl AsRef<Path>,
        output: impl AsRef<Path>,
    ) -> Result<Manifest, RedactError> {
        let (input, output) = (input.as_ref(), output.as_ref());
        let rules = &self.rules;
        let ledger = &mut self.ledger;
        survey(input, &Finder { rules, known: None }, |source, places| {
            learn(rules, ledger, source.text(), places);
        })?;
        self.refresh();
        let known = &self.known.1;
        let finder = Finder { rules: &self.rules, known: Some(known) };
        let mut plan = Plan::default();
        let summary = survey(input, &finder, |source, places| {
            plan.take(&self.rules, &mut self.ledger, source, places);
        })?;
        plan.complete(&mut self.ledger);

        let file = create(output)?;
        let failed = |source| RedactError::Write { path: output.to_owned(), source };
        let guard = RemoveUnlessKept { path: output, kept: false };
        let mut writer =
            Writer { finder, ledger: &mut self.ledger, plan: &plan, out: BufWriter::new(file) };
        let mut reader = open(input)?;
        writer.header(reader.raw_line()).map_err(failed)?;
        let mut index = 0;
        while let Some(record) = reader.next() {
            let record = record.map_err(|error| unreadable(input, error))?;
            index += 1;
            writer.record(index, reader.raw_line(), &record).map_err(failed)?;
        }
        writer.out.flush().map_err(failed)?;
        drop(writer);

        let verifier = Verifier { rules: &self.rules, ledger: &self.ledger, known };
        let written = verifier.tape(output)?;
        if written != summary.records {
            return Err(RedactError::Records { read: summary.records, written });
        }
        guard.keep();
        Ok(plan.manifest(&self.rules, &self.ledger, summary.torn))
    }

    fn learn(&mut self, text: &[u8], places: Vec<Place>) {
        learn(&self.rules, &mut self.ledger, text, places);
    }

    /// Makes what the ledger knows ready to be looked for.
    fn refresh(&mut self) {
        if self.known.0 != self.ledger.revision() {
            self.known = (self.ledger.revision(), self.ledger.known(&self.rules));
        }
    }
}

/// Remembers what was found in a text, and which numbers are taken in it.
fn learn(rules: &Rules, ledger: &mut Ledger, text: &[u8], places: Vec<Place>) {
    for placeholder in placeholders(text) {
        if let Some(kind) = rules.kind_named(placeholder.kind) {
            ledger.reserve(kind, placeholder.number);
        }
    }
    for place in places {
        ledger.learn(rules, place.identity);
    }
}

/// Finds everything in a text that stands for itself, with the part of a stream in it.
fn look(finder: &Finder<'_>, text: &[u8]) -> Vec<Place> {
    let mut places = Vec::new();
    if let Some(StreamEvent::Part(part)) = finder.line(text, &mut places) {
        let mut parts = Vec::new();
        finder.string(&part.text, &mut parts);
        places.extend(parts.into_iter().map(|place| {
            let source = part.map.source(&place.range);
            Place { range: source.start + part.span.start..source.end + part.span.start, ..place }
        }));
    }
    places
}

/// Creates a file that is not there. Nobody else may read it until somebody has looked at it.
fn create(path: &Path) -> Result<File, RedactError> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(|source| {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::AlreadyExists => RedactError::Exists(path),
            _ => RedactError::Write { path, source },
        }
    })
}

/// Removes a file again, unless it turned out well.
struct RemoveUnlessKept<'a> {
    path: &'a Path,
    kept: bool,
}

impl RemoveUnlessKept<'_> {
    fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for RemoveUnlessKept<'_> {
    fn drop(&mut self) {
        if !self.kept {
            // Whatever is wrong is being reported already.
            drop(std::fs::remove_file(self.path));
        }
    }
}
