//! `countersign tape redact`: a tape without its secrets.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;

use super::output::Output;
use super::{Failure, Working};
use crate::redact::{BuildError, Manifest, RedactError, Redactor};

/// What the process exits with when the command line is wrong.
const WRONG_USE: u8 = 2;

/// What the process exits with when a secret was left, and the output was removed.
const SECRET_LEFT: u8 = 3;

/// The name of the rule for the texts that are given on the command line.
const LITERAL: &str = "literal";

/// Take the secrets out of tapes, so that they can be shown to others
///
/// Keys, tokens, passwords, private keys, homes and e-mail addresses are replaced by placeholders,
/// the same secret by the same one in all tapes of one run. What was taken out is listed in
/// OUT.manifest.json, without the secrets. Nothing is overwritten.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 all is well; 1 a tape cannot be read or written; 2 the \
                        command line is wrong; 3 a secret was left, and the output was removed.")]
pub struct Args {
    /// The tapes
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<PathBuf>,
    /// The redacted tape: a new file, or a folder in which each gets the name of its original
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Look for a regular expression, too; of a match with a group only the group is replaced
    #[arg(long, value_name = "NAME=REGEX")]
    pattern: Vec<String>,
    /// Look for a text, too
    #[arg(long, value_name = "TEXT")]
    literal: Vec<String>,
    /// Do not use a built-in rule
    #[arg(long, value_name = "RULE")]
    keep: Vec<String>,
    /// What was taken out of each tape, as a JSON object a line
    #[arg(long)]
    json: bool,
}

/// Why the command cannot do what it is asked for.
#[derive(Debug, thiserror::Error)]
enum UseError {
    #[error("{0:?} is not NAME=REGEX, such as customer=C-[0-9]+")]
    NotAPattern(String),
    #[error("{path} is not a folder: several tapes can only be written to a folder", path = .0.display())]
    NotAFolder(PathBuf),
    #[error("{path} has no file name", path = .0.display())]
    NoName(PathBuf),
    #[error("two of the tapes would be written to {path}", path = .0.display())]
    Twice(PathBuf),
    #[error("{path} is there already: choose another output, or remove it", path = .0.display())]
    Exists(PathBuf),
}

impl Args {
    pub(super) fn run(self, out: &mut Output, working: Working<'_>) -> Result<ExitCode, Failure> {
        let mut redactor = self.redactor()?;
        let outputs = self.outputs().map_err(wrong_use)?;
        if self.to_folder() && !self.output.exists() {
            std::fs::create_dir(&self.output)
                .map_err(|source| cannot_write(&self.output, source))?;
        }
        for (input, output) in self.inputs.iter().zip(&outputs) {
            let redacting = working(format!("redacting {}", input.display()));
            let manifest = redactor.redact_file(input, output).map_err(|error| match error {
                RedactError::Left { .. } => Failure::with_code(error, SECRET_LEFT),
                error => error.into(),
            })?;
            drop(redacting);
            write_manifest(&manifest_of(output), &manifest)?;
            if self.json {
                let (from, to) = (input.to_string_lossy(), output.to_string_lossy());
                let done = json!({"from": from, "to": to, "manifest": manifest});
                out.bytes(&serde_json::to_vec(&done)?)?;
                out.bytes(b"\n")?;
            } else {
                show(input, output, &manifest, out)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn redactor(&self) -> Result<Redactor, Failure> {
        let mut builder = Redactor::builder();
        for pattern in &self.pattern {
            let (name, regex) = pattern
                .split_once('=')
                .ok_or_else(|| wrong_use(UseError::NotAPattern(pattern.clone())))?;
            builder = builder.pattern(name, regex).map_err(wrong_build)?;
        }
        for literal in &self.literal {
            builder = builder.literal(LITERAL, literal).map_err(wrong_build)?;
        }
        for rule in &self.keep {
            builder = builder.without(rule);
        }
        builder.build().map_err(wrong_build)
    }

    /// Whether the output is a folder. A pattern such as `tapes/*.tape` may stand for one tape only,
    /// so a slash at the end says it as well as several tapes do.
    fn to_folder(&self) -> bool {
        self.inputs.len() > 1
            || self.output.is_dir()
            || self.output.as_os_str().as_bytes().ends_with(b"/")
    }

    /// Where each tape goes. What is there already, or would be there twice, is found here, before
    /// anything is written.
    fn outputs(&self) -> Result<Vec<PathBuf>, UseError> {
        let to_folder = self.to_folder();
        if to_folder && self.output.exists() && !self.output.is_dir() {
            return Err(UseError::NotAFolder(self.output.clone()));
        }
        let mut seen = HashSet::new();
        let output_of = |input: &PathBuf| {
            let output = if to_folder {
                let name = input.file_name().ok_or_else(|| UseError::NoName(input.clone()))?;
                self.output.join(name)
            } else {
                self.output.clone()
            };
            if !seen.insert(output.clone()) {
                return Err(UseError::Twice(output));
            }
            for path in [output.clone(), manifest_of(&output)] {
                if path.exists() {
                    return Err(UseError::Exists(path));
                }
            }
            Ok(output)
        };
        self.inputs.iter().map(output_of).collect()
    }
}

/// The file that says what was taken out of a tape.
fn manifest_of(output: &Path) -> PathBuf {
    let mut name = OsString::from(output);
    name.push(".manifest.json");
    name.into()
}

fn write_manifest(path: &Path, manifest: &Manifest) -> Result<(), Failure> {
    let mut text = serde_json::to_vec_pretty(manifest)?;
    text.push(b'\n');
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    file.and_then(|mut file| file.write_all(&text)).map_err(|source| cannot_write(path, source))
}

/// Says what was done with a tape.
fn show(input: &Path, output: &Path, manifest: &Manifest, out: &mut Output) -> Result<(), Failure> {
    let (input, output) = (input.display(), output.display());
    let (total, secrets) = (manifest.total, manifest.placeholders.len());
    out.line(format_args!("{input} -> {output}: {total} places, {secrets} secrets"))?;
    for entry in &manifest.placeholders {
        let first = match entry.first {
            0 => "the header".to_owned(),
            seq => format!("record {seq}"),
        };
        let (placeholder, rule, count) = (&entry.placeholder, &entry.rule, entry.count);
        out.line(format_args!("  {placeholder:<32} {rule:<18} {count:>8}, first in {first}"))?;
    }
    if manifest.torn > 0 {
        out.line(format_args!("  left out: {} bytes of a record that was cut", manifest.torn))?;
    }
    Ok(())
}

fn wrong_use(error: UseError) -> Failure {
    Failure::with_code(error, WRONG_USE)
}

fn wrong_build(error: BuildError) -> Failure {
    Failure::with_code(error, WRONG_USE)
}

fn cannot_write(path: &Path, source: io::Error) -> Failure {
    RedactError::Write { path: path.to_owned(), source }.into()
}
