//! From disk into a store.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use countersign_protocol::RawJson;
use countersign_protocol::ids::SessionId;
use tokio::sync::mpsc;

use super::error::StoreSessionError;
use super::key::{StoreKey, Subpath};
use super::traits::SessionStore;
use crate::transcript::{
    LineReader, ProjectKey, Sessions, agent_metadata, agent_transcripts, io_error,
};

/// How many bytes are appended at once.
const BATCH_BYTES: usize = 1 << 20;

/// How a session is brought into a store. By default with its sub-agents, 500 entries at a time.
#[derive(Clone, Debug)]
#[must_use = "pass it to `import_session`"]
#[non_exhaustive]
pub struct ImportOptions {
    batch: usize,
    subagents: bool,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl ImportOptions {
    /// With its sub-agents, 500 entries at a time.
    pub const fn new() -> Self {
        Self { batch: 500, subagents: true }
    }

    /// This many entries at a time, at least one. Above 1 MiB they are fewer.
    pub const fn batch(mut self, entries: usize) -> Self {
        self.batch = if entries == 0 { 1 } else { entries };
        self
    }

    /// Without its sub-agents.
    pub const fn without_subagents(mut self) -> Self {
        self.subagents = false;
        self
    }
}

/// What was brought into a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// How many entries.
    pub entries: usize,
    /// How many lines were none: torn, broken, or nested too deeply to be carried.
    pub skipped: usize,
    /// How many transcripts of sub-agents.
    pub subagents: usize,
}

/// Brings a session from disk into a store, under the key that a [`Mirror`](super::Mirror) would
/// have given it.
///
/// It may be done again, after a mirror had lost something for instance: readers drop what they
/// have seen.
///
/// # Errors
///
/// When there is no such session, it cannot be read, or the store fails. What was appended by then
/// stays.
pub async fn import_session(
    sessions: &Sessions,
    session: &SessionId,
    store: &dyn SessionStore,
    options: &ImportOptions,
) -> Result<Imported, StoreSessionError> {
    let (sender, mut batches) = mpsc::channel(1);
    let (sessions, session, options) = (sessions.clone(), session.clone(), options.clone());
    let reader = tokio::task::spawn_blocking(move || {
        let mut reader = Reader { sender, options, imported: Imported::default() };
        reader.read_session(&sessions, &session).map(|()| reader.imported)
    });
    while let Some((key, entries)) = batches.recv().await {
        // When this fails, the reader finds nobody to read for, and ends.
        let entries: Vec<RawJson> = entries;
        store.append(&key, &entries).await?;
    }
    match reader.await {
        Ok(imported) => imported,
        Err(panicked) => Err(super::StoreError::backend(panicked).into()),
    }
}

struct Reader {
    sender: mpsc::Sender<(StoreKey, Vec<RawJson>)>,
    options: ImportOptions,
    imported: Imported,
}

impl Reader {
    fn read_session(
        &mut self,
        sessions: &Sessions,
        session: &SessionId,
    ) -> Result<(), StoreSessionError> {
        let files = sessions.locate(session)?;
        let (transcript, folder) = (files.transcript, files.folder);
        let name = files.project.file_name().unwrap_or_default().to_string_lossy();
        let project = ProjectKey::from_name(&name).unwrap_or_else(|| ProjectKey::of_text(&name));
        let key = StoreKey::new(project, session.clone())?;
        self.read_file(&transcript, &key).map_err(io_error("read", &transcript))?;
        if !self.options.subagents {
            return Ok(());
        }
        for (_, file) in agent_transcripts(&folder.join("subagents")) {
            let inside = file.strip_prefix(&folder).unwrap_or(&file).with_extension("");
            let subpath = Subpath::new(&inside.to_string_lossy())?;
            let key = key.with_subpath(subpath);
            self.read_file(&file, &key).map_err(io_error("read", &file))?;
            self.send(key, metadata(&file).into_iter().collect());
            self.imported.subagents += 1;
        }
        Ok(())
    }

    fn read_file(&mut self, file: &Path, key: &StoreKey) -> io::Result<()> {
        let mut lines = LineReader::new(BufReader::new(File::open(file)?));
        let mut batch = Vec::new();
        let mut bytes = 0;
        while let Some(line) = lines.next()? {
            match line.text.trim().parse::<RawJson>() {
                Ok(entry) if entry.is_object() => {
                    bytes += entry.as_str().len();
                    batch.push(entry);
                }
                _ => self.imported.skipped += 1,
            }
            if batch.len() >= self.options.batch || bytes >= BATCH_BYTES {
                bytes = 0;
                if !self.send(key.clone(), std::mem::take(&mut batch)) {
                    return Ok(());
                }
            }
        }
        self.send(key.clone(), batch);
        Ok(())
    }

    /// Hands entries on, and says whether anybody wants more.
    fn send(&mut self, key: StoreKey, entries: Vec<RawJson>) -> bool {
        self.imported.entries += entries.len();
        entries.is_empty() || self.sender.blocking_send((key, entries)).is_ok()
    }
}

/// What is known about a sub-agent, as the entry that a mirror would have got.
fn metadata(transcript: &Path) -> Option<RawJson> {
    let text = agent_metadata(transcript)?;
    let mut fields: serde_json::Map<_, _> = serde_json::from_str(&text).ok()?;
    fields.insert("type".to_owned(), "agent_metadata".into());
    Some(RawJson::from(serde_json::Value::Object(fields)))
}
