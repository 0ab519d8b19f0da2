//! Transcripts of the CLI, in the same database.

use countersign::store::{
    SessionStore, SessionSummary, StoreError as TranscriptError, StoreFuture, StoreKey,
    StoredSession, fold_summary,
};
use countersign::transcript::ProjectKey;
use countersign_protocol::RawJson;
use countersign_protocol::ids::SessionId;
use deadpool_postgres::ClientWrapper;
use futures_util::future::BoxFuture;
use tokio_postgres::Row;
use uuid::Uuid;

use super::connect::{Value, execute, query, query_one, query_opt};
use super::read::json;
use super::readers::Readers;
use super::writer::{Scratch, Writer};
use crate::store::StoreError;
use crate::store::clock::{from_number, to_number};

/// Transcripts, in the database of the store.
#[derive(Debug)]
pub(super) struct Transcripts {
    pub(super) writer: Writer,
    pub(super) readers: Readers,
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

    fn values(&self) -> [Value<'_>; 3] {
        [&self.project, &self.session, &self.subpath]
    }
}

/// Says what went wrong as a store of transcripts does.
fn told<'a, T: 'a>(
    result: impl Future<Output = Result<T, StoreError>> + Send + 'a,
) -> StoreFuture<'a, T> {
    Box::pin(async move { result.await.map_err(TranscriptError::backend) })
}

impl SessionStore for Transcripts {
    fn append<'a>(&'a self, key: &'a StoreKey, entries: &'a [RawJson]) -> StoreFuture<'a, ()> {
        told(async move {
            if entries.is_empty() {
                return Ok(());
            }
            self.writer.run((key.clone(), entries.to_vec()), append).await
        })
    }

    fn load<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Option<Vec<RawJson>>> {
        let parts = Parts::of(key);
        told(self.readers.read(move |client| async move { load(&client, &parts).await }))
    }

    fn list_sessions<'a>(&'a self, project: &'a ProjectKey) -> StoreFuture<'a, Vec<StoredSession>> {
        told(self.readers.read(move |client| async move { sessions(&client, project).await }))
    }

    fn list_session_summaries<'a>(
        &'a self,
        project: &'a ProjectKey,
    ) -> StoreFuture<'a, Vec<SessionSummary>> {
        told(self.readers.read(move |client| async move { summaries(&client, project).await }))
    }

    fn delete<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, ()> {
        told(self.writer.run(Parts::of(key), delete))
    }

    fn list_subkeys<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Vec<String>> {
        let parts = Parts::of(key);
        told(self.readers.read(move |client| async move { subkeys(&client, &parts).await }))
    }
}

fn append<'a>(
    (key, entries): &'a (StoreKey, Vec<RawJson>),
    scratch: &'a mut Scratch<'_>,
) -> BoxFuture<'a, Result<(), StoreError>> {
    Box::pin(async move {
        let now = scratch.next_modified();
        let client = scratch.client;
        let parts = Parts::of(key);
        let modified = to_number(now);
        let sql = "INSERT INTO transcripts (project, session, subpath, modified)
                   VALUES ($1, $2, $3, $4)
                   ON CONFLICT (project, session, subpath) DO UPDATE SET modified = $4
                   RETURNING key, summary";
        let [project, session, subpath] = parts.values();
        let row = query_one(client, sql, &[project, session, subpath, &modified]).await?;
        let transcript: i64 = row.try_get(0)?;
        if key.subpath().is_none() {
            let previous = match row.try_get::<_, Option<&str>>(1)? {
                Some(_) => Some(json("the summary of a transcript", &row, 1)?),
                None => None,
            };
            let id = key.session_id();
            let previous = previous.map(|data| SessionSummary::new(id.clone(), now, data));
            let summary = fold_summary(previous.as_ref(), key, entries);
            let sql = "UPDATE transcripts SET summary = $2 WHERE key = $1";
            execute(client, sql, &[&transcript, &summary.data.as_str()]).await?;
        }
        let sql = "INSERT INTO transcript_entries (transcript, number, entry)
                   SELECT $1, number + (
                       SELECT coalesce(max(number), 0) FROM transcript_entries
                       WHERE transcript = $1), entry
                   FROM unnest($2::text[]) WITH ORDINALITY AS new (entry, number)";
        let entries: Vec<&str> = entries.iter().map(RawJson::as_str).collect();
        execute(client, sql, &[&transcript, &entries]).await?;
        Ok(())
    })
}

async fn load(client: &ClientWrapper, parts: &Parts) -> Result<Option<Vec<RawJson>>, StoreError> {
    let sql = "SELECT key FROM transcripts WHERE project = $1 AND session = $2 AND subpath = $3";
    let Some(row) = query_opt(client, sql, &parts.values()).await? else { return Ok(None) };
    let key: i64 = row.try_get(0)?;
    let sql = "SELECT entry FROM transcript_entries WHERE transcript = $1 ORDER BY number";
    let rows = query(client, sql, &[&key]).await?;
    // Deleted since: there are no transcripts without entries.
    if rows.is_empty() {
        return Ok(None);
    }
    let entries = rows.iter().map(|row| json("an entry of a transcript", row, 0));
    entries.collect::<Result<_, _>>().map(Some)
}

async fn sessions(
    client: &ClientWrapper,
    project: &ProjectKey,
) -> Result<Vec<StoredSession>, StoreError> {
    let sql = "SELECT session, modified FROM transcripts WHERE project = $1 AND subpath = ''";
    let stored = |row: &Row| {
        let session: String = row.try_get(0)?;
        Ok(StoredSession::new(SessionId::from(session), from_number(row.try_get(1)?)))
    };
    query(client, sql, &[&project.as_ref()]).await?.iter().map(stored).collect()
}

async fn summaries(
    client: &ClientWrapper,
    project: &ProjectKey,
) -> Result<Vec<SessionSummary>, StoreError> {
    let sql = "SELECT session, modified, summary FROM transcripts
               WHERE project = $1 AND subpath = '' AND summary IS NOT NULL";
    let summary = |row: &Row| {
        let session: String = row.try_get(0)?;
        let data = json("the summary of a transcript", row, 2)?;
        Ok(SessionSummary::new(SessionId::from(session), from_number(row.try_get(1)?), data))
    };
    query(client, sql, &[&project.as_ref()]).await?.iter().map(summary).collect()
}

fn delete<'a>(
    parts: &'a Parts,
    scratch: &'a mut Scratch<'_>,
) -> BoxFuture<'a, Result<(), StoreError>> {
    Box::pin(async move {
        let sql = "DELETE FROM transcripts
                   WHERE project = $1 AND session = $2 AND ($3 = '' OR subpath = $3)";
        execute(scratch.client, sql, &parts.values()).await?;
        Ok(())
    })
}

/// Deletes the transcripts of a conversation, in whatever project.
pub(super) async fn delete_session(
    client: &ClientWrapper,
    session: Uuid,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM transcripts WHERE session = $1";
    execute(client, sql, &[&session.to_string()]).await?;
    Ok(())
}

async fn subkeys(client: &ClientWrapper, parts: &Parts) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT subpath FROM transcripts
               WHERE project = $1 AND session = $2 AND subpath <> ''";
    let rows = query(client, sql, &[&parts.project, &parts.session]).await?;
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}
