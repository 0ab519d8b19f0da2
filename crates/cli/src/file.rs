//! Files that are written for the user.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use crate::failure::Failure;

/// A new file to write to. What is there already is written over only if that is wanted.
pub(crate) fn create(path: &Path, force: bool) -> Result<File, Failure> {
    let mut options = OpenOptions::new();
    options.write(true).truncate(true);
    let options = if force { options.create(true) } else { options.create_new(true) };
    options.open(path).map_err(|error| {
        let failure = Failure::new(format!("cannot write {}: {error}", path.display()));
        match error.kind() {
            io::ErrorKind::AlreadyExists => failure.hint("--force writes over it."),
            _ => failure,
        }
    })
}
