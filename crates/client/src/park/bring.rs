//! A transcript that is brought from another home folder.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::Path;

use super::mark::{MarkError, MarkPlace};
use crate::transcript::{Fields, LineReader};

/// Sees to it that the transcript with the call is here, with what belongs to it.
///
/// What is here stays if it has the call, and gives way if it is an earlier state of what is there:
/// a session may go to and fro between two home folders.
pub(super) fn bring(there: &MarkPlace, here: &MarkPlace) -> Result<(), MarkError> {
    let (from, to) = (there.transcript(), here.transcript());
    if from == to || here.has_call()? {
        return Ok(());
    }
    let failed = |source| MarkError::Io { path: from.to_owned(), source };
    if to.exists() {
        if !there.has_call()? {
            // Neither has it, and this one is in its place.
            return Ok(());
        }
        if !is_earlier(to, from).map_err(failed)? {
            return Err(MarkError::Diverged { here: to.to_owned(), there: from.to_owned() });
        }
    }
    copy(from, to).map_err(failed)
}

/// Whether all that was said in one transcript was said in the other, too.
///
/// Entries are only ever added, each after the one that it continues. So the last one tells.
fn is_earlier(one: &Path, other: &Path) -> io::Result<bool> {
    let mut last = None;
    each_spoken(one, |uuid| last = Some(uuid.to_owned()))?;
    let mut is_there = last.is_none();
    each_spoken(other, |uuid| is_there |= last.as_deref() == Some(uuid))?;
    Ok(is_there)
}

/// Visits the ids of what the user and the model said.
fn each_spoken(transcript: &Path, mut visit: impl FnMut(&str)) -> io::Result<()> {
    let mut lines = LineReader::new(BufReader::new(File::open(transcript)?));
    while let Some(line) = lines.next()? {
        let Some(fields) = Fields::parse(&line.text) else { continue };
        let kind = fields.text("type");
        if matches!(kind.as_deref(), Some("user" | "assistant"))
            && let Some(uuid) = fields.id("uuid")
        {
            visit(&uuid);
        }
    }
    Ok(())
}

/// Copies a transcript. What belongs to it comes first, and it has its name only when it is
/// complete: whoever finds it finds all of it.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let folder = to.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    copy_folder(&from.with_extension(""), &to.with_extension(""))?;
    let mut part = tempfile::NamedTempFile::new_in(folder)?;
    io::copy(&mut File::open(from)?, &mut part)?;
    part.persist(to)?;
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy_folder(&from, &to)?;
        } else {
            fs::copy(&from, &to)?;
        }
    }
    Ok(())
}
