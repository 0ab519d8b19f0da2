//! Stand-ins: scripts that look like the CLI to any client, and record it or play a tape.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::replay::Speed;

/// What a stand-in is told by: ours say what they are, and whoever wrote one by hand starts the
/// recorder in it.
pub(crate) const MARKS: [&str; 2] = ["A stand-in for Claude Code", "tee --tape"];

/// A script that starts the real CLI through the recorder.
///
/// Written somewhere, it can be given to any client as the path of the CLI:
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let (tapes, script) = (folder.path(), folder.path().join("claude"));
/// use countersign_record::StandIn;
///
/// let stand_in = StandIn {
///     recorder: "/usr/local/bin/countersign".as_ref(),
///     words: &["tape", "tee"],
///     tape: tapes,
///     claude: "/usr/local/bin/claude".as_ref(),
/// };
/// stand_in.write(&script)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StandIn<'a> {
    /// The program that records.
    pub recorder: &'a Path,
    /// The words that have it record, which come before the other arguments: `tape tee` for
    /// `countersign`, `tee` for `countersign-tape`.
    pub words: &'a [&'a str],
    /// Where the tapes go, as in [`Tee::new`](crate::Tee::new): best a folder.
    pub tape: &'a Path,
    /// The real CLI.
    pub claude: &'a Path,
}

/// Why there is no stand-in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StandInError {
    /// The script would replace the CLI that it is to start.
    #[error(
        "{path} is the CLI itself; write the stand-in to another file",
        path = path.display()
    )]
    IsTheCli {
        /// The file.
        path: PathBuf,
    },
    /// A path cannot be made absolute.
    #[error("cannot tell where {path} is: {source}", path = path.display())]
    NoPlace {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The script cannot be written, or there is something already.
    #[error("cannot write the stand-in {path}: {source}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl StandIn<'_> {
    /// Writes the script, as a new file.
    ///
    /// The paths in it are absolute, because a client may start it anywhere.
    ///
    /// # Errors
    ///
    /// When the file exists or cannot be written, or a path cannot be made absolute.
    pub fn write(&self, out: &Path) -> Result<(), StandInError> {
        if let (Ok(out), Ok(claude)) = (out.canonicalize(), self.claude.canonicalize())
            && out == claude
        {
            return Err(StandInError::IsTheCli { path: out });
        }
        write_new(out, &self.script()?)
    }

    /// The text of the script.
    fn script(&self) -> Result<Vec<u8>, StandInError> {
        let mut script = Vec::new();
        script.extend_from_slice(b"#!/bin/sh\n# A stand-in for Claude Code, made by countersign: it starts the CLI below and records the session.\nexec");
        quote(self.recorder, &mut script)?;
        for word in self.words {
            quote_text(word.as_bytes(), &mut script);
        }
        script.extend_from_slice(b" --tape");
        quote(self.tape, &mut script)?;
        script.extend_from_slice(b" --claude");
        quote(self.claude, &mut script)?;
        script.extend_from_slice(b" -- \"$@\"\n");
        Ok(script)
    }
}

/// A script that plays a tape in place of the CLI: see [`replay`](crate::replay).
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let (tape, script) = (folder.path().join("session.tape"), folder.path().join("claude"));
/// use countersign_record::ReplayStandIn;
/// use countersign_record::replay::Speed;
///
/// let stand_in = ReplayStandIn {
///     player: "/usr/local/bin/countersign".as_ref(),
///     words: &["tape", "replay"],
///     tape: &tape,
///     lenient: false,
///     speed: Speed::Fast,
///     report: None,
/// };
/// stand_in.write(&script)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ReplayStandIn<'a> {
    /// The program that plays.
    pub player: &'a Path,
    /// The words that have it play, which come before the other arguments: `tape replay` for
    /// `countersign`, `replay` for `countersign-tape`.
    pub words: &'a [&'a str],
    /// The tape.
    pub tape: &'a Path,
    /// Take order and details lightly.
    pub lenient: bool,
    /// How fast to play it.
    pub speed: Speed,
    /// Where each run writes what it found.
    pub report: Option<&'a Path>,
}

impl ReplayStandIn<'_> {
    /// Writes the script, as a new file. The paths in it are absolute.
    ///
    /// # Errors
    ///
    /// When the file exists or cannot be written, or a path cannot be made absolute.
    pub fn write(&self, out: &Path) -> Result<(), StandInError> {
        write_new(out, &self.script()?)
    }

    /// The text of the script.
    fn script(&self) -> Result<Vec<u8>, StandInError> {
        let mut script = Vec::new();
        script.extend_from_slice(
            b"#!/bin/sh\n# A stand-in for Claude Code, made by countersign: it plays a tape.\nexec",
        );
        quote(self.player, &mut script)?;
        for word in self.words {
            quote_text(word.as_bytes(), &mut script);
        }
        script.extend_from_slice(b" --tape");
        quote(self.tape, &mut script)?;
        if self.lenient {
            script.extend_from_slice(b" --lenient");
        }
        script.extend_from_slice(format!(" --speed {}", self.speed).as_bytes());
        if let Some(report) = self.report {
            script.extend_from_slice(b" --report");
            quote(report, &mut script)?;
        }
        script.extend_from_slice(b" -- \"$@\"\n");
        Ok(script)
    }
}

/// Writes a script that must not be there yet.
fn write_new(out: &Path, script: &[u8]) -> Result<(), StandInError> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o755)
        .open(out)
        .and_then(|mut file| file.write_all(script))
        .map_err(|source| StandInError::Write { path: out.to_owned(), source })
}

/// Adds the absolute path to a script, quoted for the shell.
fn quote(path: &Path, script: &mut Vec<u8>) -> Result<(), StandInError> {
    let absolute = std::path::absolute(path)
        .map_err(|source| StandInError::NoPlace { path: path.to_owned(), source })?;
    quote_text(absolute.as_os_str().as_bytes(), script);
    Ok(())
}

/// Adds a word to a script, quoted for the shell.
fn quote_text(text: &[u8], script: &mut Vec<u8>) {
    script.extend_from_slice(b" '");
    for byte in text {
        // Between single quotes the shell knows no escapes, so a single quote stands outside.
        match byte {
            b'\'' => script.extend_from_slice(br"'\''"),
            byte => script.push(*byte),
        }
    }
    script.push(b'\'');
}
