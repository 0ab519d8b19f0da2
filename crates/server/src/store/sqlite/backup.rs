//! A copy of the file, while it is written to.

use std::path::Path;
use std::time::Duration;

use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags};

use super::file::unavailable;
use crate::store::StoreError;

/// How many pages are copied in one go.
const PAGES: i32 = 1024;

/// Copies everything that is in the database at this moment to a new file.
///
/// The connection is in a transaction, so that what is written meanwhile is not seen: otherwise the
/// copy would have to begin again with each write. The file has its name when it is whole.
pub(super) fn backup(connection: &Connection, to: &Path) -> Result<(), StoreError> {
    let cannot = |error: &dyn std::fmt::Display| {
        unavailable(format!("cannot write the backup {}: {error}", to.display()))
    };
    if to.symlink_metadata().is_ok() {
        return Err(StoreError::Exists(to.to_owned()));
    }
    let whole = std::path::absolute(to).map_err(|error| cannot(&error))?;
    let folder = whole.parent().unwrap_or(&whole);
    // Made for its owner alone.
    let file = tempfile::Builder::new().prefix(".backup-").tempfile_in(folder);
    let file = file.map_err(|error| cannot(&error))?;
    // The snapshot is taken by the first read, not by the beginning of the transaction.
    connection.query_row("SELECT count(*) FROM runs", [], |_| Ok(()))?;
    {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut copy =
            Connection::open_with_flags(file.path(), flags).map_err(|error| cannot(&error))?;
        let backup = Backup::new(connection, &mut copy).map_err(|error| cannot(&error))?;
        backup.run_to_completion(PAGES, Duration::ZERO, None).map_err(|error| cannot(&error))?;
    }
    file.as_file().sync_all().map_err(|error| cannot(&error))?;
    match file.persist_noclobber(&whole) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(StoreError::Exists(to.to_owned()))
        }
        Err(error) => Err(cannot(&error.error)),
    }
}
