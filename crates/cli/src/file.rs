//! Files that are written for the user.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use crate::failure::Failure;

/// A new file that only its owner can read; one that is written over becomes so.
pub(crate) fn create_private(path: &Path, force: bool) -> Result<File, Failure> {
    let file = open(path, force, 0o600)?;
    let failed = |error| Failure::new(format!("cannot write {}: {error}", path.display()));
    file.set_permissions(Permissions::from_mode(0o600)).map_err(failed)?;
    Ok(file)
}

/// A new file to write to. What is there already is written over only if that is wanted.
pub(crate) fn create(path: &Path, force: bool) -> Result<File, Failure> {
    open(path, force, 0o666)
}

fn open(path: &Path, force: bool, mode: u32) -> Result<File, Failure> {
    let mut options = OpenOptions::new();
    options.write(true).truncate(true).mode(mode);
    let options = if force { options.create(true) } else { options.create_new(true) };
    options.open(path).map_err(|error| {
        let failure = Failure::new(format!("cannot write {}: {error}", path.display()));
        match error.kind() {
            io::ErrorKind::AlreadyExists => failure.hint("--force writes over it."),
            _ => failure,
        }
    })
}
