//! Transcripts of the CLI, in the same file.

use std::sync::Arc;

use countersign::store::{
    SessionStore, SessionSummary, StoreError as TranscriptError, StoreFuture, StoreKey,
    StoredSession, fold_summary,
};
use countersign::transcript::ProjectKey;
use countersign_protocol::RawJson;
use countersign_protocol::ids::SessionId;
use rusqlite::{Connection, OptionalExtension as _, params};
use uuid::Uuid;

use super::read::json;
use super::readers::Readers;
use super::writer::{Scratch, Writer};
use crate::store::StoreError;
use crate::store::clock::{from_number, to_number};

/// Transcripts, in the file of the store.
#[derive(Debug)]
pub(super) struct Transcripts {
    pub(super) writer: Writer,
    pub(super) readers: Arc<Readers>,
}

/// The parts of a key. The transcript of the session itself has an empty subpath.
struct Parts {
    project: String,
    session: String,
    subpath: String,
}

impl Parts {
    fn of(key: &StoreKey) -> Self {
        Self {
            project: key.project_key().to_string(),
            session: key.session_id().to_string(),
            subpath: key.subpath().map_or_else(String::new, ToString::to_string),
        }
    }

    fn as_params(&self) -> [&str; 3] {
        [&self.project, &self.session, &self.subpath]
    }
}

impl SessionStore for Transcripts {
    fn append<'a>(&'a self, key: &'a StoreKey, entries: &'a [RawJson]) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            if entries.is_empty() {
                return Ok(());
            }
            let (key, entries) = (key.clone(), entries.to_vec());
            let write = move |scratch: &mut Scratch<'_>| append(scratch, &key, &entries);
            self.writer.run(write).await.map_err(TranscriptError::backend)
        })
    }

    fn load<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Option<Vec<RawJson>>> {
        let parts = Parts::of(key);
        Box::pin(async move {
            let read = self.readers.read(move |connection| load(connection, &parts));
            read.await.map_err(TranscriptError::backend)
        })
    }

    fn list_sessions<'a>(&'a self, project: &'a ProjectKey) -> StoreFuture<'a, Vec<StoredSession>> {
        let project = project.to_string();
        Box::pin(async move {
            let read = self.readers.read(move |connection| sessions(connection, &project));
            read.await.map_err(TranscriptError::backend)
        })
    }

    fn list_session_summaries<'a>(
        &'a self,
        project: &'a ProjectKey,
    ) -> StoreFuture<'a, Vec<SessionSummary>> {
        let project = project.to_string();
        Box::pin(async move {
            let read = self.readers.read(move |connection| summaries(connection, &project));
            read.await.map_err(TranscriptError::backend)
        })
    }

    fn delete<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, ()> {
        let parts = Parts::of(key);
        Box::pin(async move {
            let write = move |scratch: &mut Scratch<'_>| delete(scratch.connection, &parts);
            self.writer.run(write).await.map_err(TranscriptError::backend)
        })
    }

    fn list_subkeys<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Vec<String>> {
        let parts = Parts::of(key);
        Box::pin(async move {
            let read = self.readers.read(move |connection| subkeys(connection, &parts));
            read.await.map_err(TranscriptError::backend)
        })
    }
}

fn append(
    scratch: &mut Scratch<'_>,
    key: &StoreKey,
    entries: &[RawJson],
) -> Result<(), StoreError> {
    let connection = scratch.connection;
    let now = scratch.next_modified();
    let parts = Parts::of(key);
    let [project, session, subpath] = parts.as_params();
    let mut put = connection.prepare_cached(
        "INSERT INTO transcripts (project, session, subpath, modified) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (project, session, subpath) DO UPDATE SET modified = ?4
         RETURNING key, summary",
    )?;
    let (transcript, summary): (i64, Option<String>) = put
        .query_row(params![project, session, subpath, to_number(now)], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    if key.subpath().is_none() {
        let id = key.session_id();
        let previous = summary.map(|text| json("the summary of a transcript", &text));
        let previous = previous.transpose()?;
        let previous = previous.map(|data| SessionSummary::new(id.clone(), now, data));
        let summary = fold_summary(previous.as_ref(), key, entries);
        let sql = "UPDATE transcripts SET summary = ?2 WHERE key = ?1";
        connection.prepare_cached(sql)?.execute(params![transcript, summary.data.as_str()])?;
    }
    let sql = "SELECT coalesce(max(number), 0) FROM transcript_entries WHERE transcript = ?1";
    let mut last: i64 =
        connection.prepare_cached(sql)?.query_row([transcript], |row| row.get(0))?;
    let sql = "INSERT INTO transcript_entries (transcript, number, entry) VALUES (?1, ?2, ?3)";
    let mut put = connection.prepare_cached(sql)?;
    for entry in entries {
        last += 1;
        put.execute(params![transcript, last, entry.as_str()])?;
    }
    Ok(())
}

fn load(connection: &Connection, parts: &Parts) -> Result<Option<Vec<RawJson>>, StoreError> {
    let sql = "SELECT key FROM transcripts WHERE project = ?1 AND session = ?2 AND subpath = ?3";
    let mut found = connection.prepare_cached(sql)?;
    let key: Option<i64> = found.query_row(parts.as_params(), |row| row.get(0)).optional()?;
    let Some(key) = key else { return Ok(None) };
    let sql = "SELECT entry FROM transcript_entries WHERE transcript = ?1 ORDER BY number";
    let mut found = connection.prepare_cached(sql)?;
    let mut rows = found.query([key])?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        let text = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        entries.push(json("an entry of a transcript", text)?);
    }
    Ok(Some(entries))
}

fn sessions(connection: &Connection, project: &str) -> Result<Vec<StoredSession>, StoreError> {
    let sql = "SELECT session, modified FROM transcripts WHERE project = ?1 AND subpath = ''";
    let mut found = connection.prepare_cached(sql)?;
    let rows = found.query_map([project], |row| {
        let (session, modified): (String, _) = (row.get(0)?, from_number(row.get(1)?));
        Ok(StoredSession::new(SessionId::from(session), modified))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn summaries(connection: &Connection, project: &str) -> Result<Vec<SessionSummary>, StoreError> {
    let sql = "SELECT session, modified, summary FROM transcripts
               WHERE project = ?1 AND subpath = '' AND summary IS NOT NULL";
    let mut found = connection.prepare_cached(sql)?;
    let mut rows = found.query([project])?;
    let mut summaries = Vec::new();
    while let Some(row) = rows.next()? {
        let (session, modified): (String, _) = (row.get(0)?, from_number(row.get(1)?));
        let text = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
        let data = json("the summary of a transcript", text)?;
        summaries.push(SessionSummary::new(SessionId::from(session), modified, data));
    }
    Ok(summaries)
}

fn delete(connection: &Connection, parts: &Parts) -> Result<(), StoreError> {
    let sql = "DELETE FROM transcripts
               WHERE project = ?1 AND session = ?2 AND (?3 = '' OR subpath = ?3)";
    connection.prepare_cached(sql)?.execute(parts.as_params())?;
    Ok(())
}

/// Deletes the transcripts of a conversation, in whatever project.
pub(super) fn delete_session(connection: &Connection, session: Uuid) -> Result<(), StoreError> {
    let sql = "DELETE FROM transcripts WHERE session = ?1";
    connection.prepare_cached(sql)?.execute([session.to_string()])?;
    Ok(())
}

fn subkeys(connection: &Connection, parts: &Parts) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT subpath FROM transcripts
               WHERE project = ?1 AND session = ?2 AND subpath <> ''";
    let mut found = connection.prepare_cached(sql)?;
    let rows = found.query_map([&parts.project, &parts.session], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
