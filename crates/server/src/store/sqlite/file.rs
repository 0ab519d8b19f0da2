//! The file of a store: whose it is, who may read it, and which version it has.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::store::StoreError;

/// What each version adds. It is never changed, only added to.
const MIGRATIONS: [&str; 2] = [include_str!("schema.sql"), include_str!("deleted.sql")];

/// Says that a file of SQLite is a store of this program: `Ctsn`.
const APPLICATION: i64 = 0x4374_736e;

/// How many pages the file of the log has before they are put where they belong. When more is
/// there for a while, it is cut off again at this many bytes.
const LOG_BYTES: i64 = 64 << 20;

/// The file of a store.
#[derive(Debug)]
pub(super) struct StoreFile {
    path: PathBuf,
    /// Which file it was when it was opened: device and number.
    identity: (u64, u64),
    patience: Duration,
}

/// Keeps other servers away from the file for as long as it lives.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl StoreFile {
    /// Takes the file, and makes it if it is not there. Nobody but its owner can read it.
    pub(super) fn take(path: &Path, patience: Duration) -> Result<(Self, Lock), StoreError> {
        let path = absolute(path).map_err(unavailable)?;
        let lock = lock(&path)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(|error| cannot_open(&path, &error))?;
        let about = file.metadata().map_err(unavailable)?;
        if about.permissions().mode() & 0o077 != 0 {
            file.set_permissions(Permissions::from_mode(0o600)).map_err(unavailable)?;
        }
        let identity = (about.dev(), about.ino());
        Ok((Self { path, identity, patience }, lock))
    }

    /// Looks whether the file is still where it was. What is written to a file that was deleted or
    /// moved would be written for nobody.
    pub(super) fn is_there(&self) -> Result<(), StoreError> {
        let about =
            std::fs::metadata(&self.path).map_err(|error| cannot_open(&self.path, &error))?;
        if (about.dev(), about.ino()) == self.identity {
            return Ok(());
        }
        let path = self.path.display();
        Err(unavailable(format!("{path} is another file than it was: put it back, or restart")))
    }

    /// A connection that writes, with everything that is in the newest version.
    pub(super) fn writer(&self) -> Result<Connection, StoreError> {
        let mut connection = self.connect()?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
        migrate(&mut connection, &self.path)?;
        // The file itself has to be found again after the power was lost.
        let folder = self.path.parent().map(File::open).transpose().map_err(unavailable)?;
        folder.map(|folder| folder.sync_all()).transpose().map_err(unavailable)?;
        Ok(connection)
    }

    /// A connection that reads.
    pub(super) fn reader(&self) -> Result<Connection, StoreError> {
        let connection = self.connect()?;
        connection.pragma_update(None, "query_only", true)?;
        // Another file in its place would be read as if nothing had ever been written.
        self.is_there()?;
        Ok(connection)
    }

    fn connect(&self) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_EXRESCODE;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        connection.busy_timeout(self.patience)?;
        connection.set_prepared_statement_cache_capacity(128);
        Ok(connection)
    }
}

/// The path without links in its folder, so that a file has one lock by whatever way it is found.
fn absolute(path: &Path) -> io::Result<PathBuf> {
    if let Ok(found) = path.canonicalize() {
        return Ok(found);
    }
    let path = std::path::absolute(path)?;
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(path) };
    if !folder.is_dir() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    Ok(folder.canonicalize()?.join(name))
}

fn lock(path: &Path) -> Result<Lock, StoreError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let mut file = options.open(&name).map_err(|error| cannot_open(path, &error))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut owner = String::new();
            let read = file.take(20).read_to_string(&mut owner).ok();
            let owner = read.and_then(|_| owner.trim().parse::<u32>().ok());
            let owner = owner.map_or_else(String::new, |pid| format!(" (process {pid})"));
            return Err(StoreError::InUse(format!(
                "{} is in use by another server{owner}: stop that one first, or give this one a \
                 file of its own",
                path.display()
            )));
        }
        Err(TryLockError::Error(error)) => return Err(cannot_open(path, &error)),
    }
    let note = |file: &mut File| {
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())
    };
    note(&mut file).map_err(|error| cannot_open(path, &error))?;
    Ok(Lock { _file: file })
}

/// Brings a file to the newest version, step by step. There is no way back.
fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let application: i64 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let path = path.display();
    if application != APPLICATION && (tables > 0 || version != 0 || application != 0) {
        return Err(StoreError::Version(format!(
            "{path} is a database of something else: give the server a file of its own"
        )));
    }
    let known = MIGRATIONS.len();
    let done = usize::try_from(version).unwrap_or(usize::MAX);
    if done > known {
        return Err(StoreError::Version(format!(
            "{path} has version {version}, and this program knows versions up to {known}: use the \
             newer program that wrote it, or a backup from before"
        )));
    }
    for (number, step) in MIGRATIONS.iter().enumerate().skip(done) {
        let transaction = connection.transaction()?;
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", super::to_i64(number + 1))?;
        transaction.commit()?;
    }
    Ok(())
}

fn cannot_open(path: &Path, error: &io::Error) -> StoreError {
    unavailable(format!("cannot use {}: {error}", path.display()))
}

/// A store that cannot be used now.
pub(super) fn unavailable(
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> StoreError {
    StoreError::Unavailable(error.into())
}
