//! A store in a folder.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufReader};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use countersign_protocol::RawJson;
use countersign_protocol::ids::SessionId;
use jiff::Timestamp;

use super::error::StoreError;
use super::key::StoreKey;
use super::summary::SessionSummary;
use super::traits::{SessionStore, StoreFuture, StoredSession};
use crate::transcript::{LineReader, ProjectKey, append_lines, digest_of_file};

/// A store in a folder: one file for each transcript, one entry a line.
///
/// The files are where the CLI would have them below `projects`, and can be read by
/// [`Sessions`](crate::transcript::Sessions) if the folder has that name. Several processes may
/// use the same folder: an append holds a lock on its file. A line that was torn by a crash is
/// passed over. An entry that was written over several lines is joined to one, which is the only
/// change to its text.
#[derive(Clone, Debug)]
pub struct FileStore {
    folder: PathBuf,
    durability: Durability,
}

/// When entries have to be on the disk itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// Before an append is done, so that they survive a loss of power.
    #[default]
    Always,
    /// When the system gets to it, so that they survive the end of the process.
    System,
}

impl FileStore {
    /// A store in this folder, which is made when it is needed.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), durability: Durability::default() }
    }

    /// Waits for the disk, or not.
    #[must_use]
    pub const fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    fn file(&self, key: &StoreKey) -> PathBuf {
        let project = self.folder.join(key.project_key().as_str());
        match key.subpath() {
            None => project.join(format!("{}.jsonl", key.session_id())),
            Some(subpath) => self.session_folder(key).join(format!("{subpath}.jsonl")),
        }
    }

    fn session_folder(&self, key: &StoreKey) -> PathBuf {
        self.folder.join(key.project_key().as_str()).join(key.session_id().as_str())
    }

    /// Does work with files where waiting is no harm.
    fn blocking<'a, T: Send + 'static>(
        path: PathBuf,
        work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move {
            let named = path.clone();
            let done = tokio::task::spawn_blocking(move || work(&path)).await;
            let done = done.map_err(StoreError::backend)?;
            done.map_err(|source| StoreError::Io { path: named, source })
        })
    }
}

impl SessionStore for FileStore {
    fn append<'a>(&'a self, key: &'a StoreKey, entries: &'a [RawJson]) -> StoreFuture<'a, ()> {
        let mut lines = String::new();
        for entry in entries {
            // Between the parts of JSON a line feed is white space; inside of them it cannot be.
            lines.push_str(&entry.as_str().replace(['\n', '\r'], " "));
            lines.push('\n');
        }
        let sync = self.durability == Durability::Always;
        Self::blocking(self.file(key), move |file| append(file, &lines, sync))
    }

    fn load<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Option<Vec<RawJson>>> {
        Self::blocking(self.file(key), |file| {
            let Some(file) = absent(File::open(file))? else { return Ok(None) };
            let mut lines = LineReader::new(BufReader::new(file));
            let mut entries = Vec::new();
            while let Some(line) = lines.next()? {
                entries.extend(line.text.trim().parse::<RawJson>().ok());
            }
            Ok((!entries.is_empty()).then_some(entries))
        })
    }

    fn list_sessions<'a>(&'a self, project: &'a ProjectKey) -> StoreFuture<'a, Vec<StoredSession>> {
        Self::blocking(self.folder.join(project.as_str()), |folder| {
            let session = |(session, modified, _)| StoredSession::new(session, modified);
            Ok(sessions(folder)?.into_iter().map(session).collect())
        })
    }

    fn list_session_summaries<'a>(
        &'a self,
        project: &'a ProjectKey,
    ) -> StoreFuture<'a, Vec<SessionSummary>> {
        Self::blocking(self.folder.join(project.as_str()), |folder| {
            // The ends of a file say the same as a summary that is kept beside it, and cannot
            // disagree with it.
            let mut summaries = Vec::new();
            for (session, modified, file) in sessions(folder)? {
                let digest = absent(digest_of_file(&file))?;
                let summary = |digest| SessionSummary::from_digest(session, modified, &digest);
                summaries.extend(digest.map(summary));
            }
            Ok(summaries)
        })
    }

    fn delete<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, ()> {
        let folder = key.subpath().is_none().then(|| self.session_folder(key));
        Self::blocking(self.file(key), move |file| {
            absent(fs::remove_file(file))?;
            if let Some(folder) = folder {
                absent(fs::remove_dir_all(folder))?;
            }
            Ok(())
        })
    }

    fn list_subkeys<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Vec<String>> {
        Self::blocking(self.session_folder(key), |root| {
            let mut found = Vec::new();
            let mut folders = vec![root.to_owned()];
            while let Some(folder) = folders.pop() {
                for entry in absent(fs::read_dir(folder))?.into_iter().flatten() {
                    let entry = entry?;
                    if entry.file_type()?.is_dir() {
                        folders.push(entry.path());
                    } else if let Ok(inside) = entry.path().strip_prefix(root)
                        && let Some(name) =
                            inside.to_str().and_then(|name| name.strip_suffix(".jsonl"))
                    {
                        found.push(name.to_owned());
                    }
                }
            }
            Ok(found)
        })
    }
}

/// What is not there is nothing, and no error.
fn absent<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

fn append(path: &Path, lines: &str, sync: bool) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut file =
        OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
    file.lock()?;
    let length = append_lines(&mut file, lines)?;
    if sync {
        file.sync_data()?;
    }
    // The name of a file that is new has to be there as well.
    if sync
        && length == 0
        && let Some(folder) = path.parent()
    {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// The sessions in the folder of a project.
fn sessions(folder: &Path) -> io::Result<Vec<(SessionId, Timestamp, PathBuf)>> {
    let mut found = Vec::new();
    for entry in absent(fs::read_dir(folder))?.into_iter().flatten() {
        let entry = entry?;
        let name = entry.file_name();
        let Some(stem) = name.to_str().and_then(|name| name.strip_suffix(".jsonl")) else {
            continue;
        };
        // One that is deleted meanwhile is not there.
        let Some(metadata) = absent(entry.metadata())? else { continue };
        if metadata.is_file() {
            let modified = Timestamp::try_from(metadata.modified()?).unwrap_or_default();
            found.push((SessionId::from(stem), modified, entry.path()));
        }
    }
    Ok(found)
}
