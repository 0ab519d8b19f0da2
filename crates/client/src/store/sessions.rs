//! Sessions in a store: the same as on disk.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use countersign_protocol::RawJson;
use countersign_protocol::ids::{AgentId, SessionId};
use jiff::Timestamp;
use serde_json::json;
use uuid::Uuid;

use super::error::{StoreError, StoreSessionError};
use super::key::{StoreKey, Subpath};
use super::summary::{SessionSummary, fold_summary};
use super::traits::SessionStore;
use crate::transcript::{
    Conversation, Digest, Fields, Fork, ForkOptions, Index, ListOptions, MessageOptions, Parents,
    ProjectKey, SessionInfo, StoredMessage, Subagent, TranscriptError, tag_line, title_line,
    visible,
};

/// The sessions of a project in a store: list, read, rename, tag, fork and delete them, as
/// [`Sessions`](crate::transcript::Sessions) does on disk.
///
/// A store gives a transcript as a whole, so reading one holds it in memory.
#[derive(Clone)]
pub struct StoreSessions {
    store: Arc<dyn SessionStore>,
    project: ProjectKey,
}

impl fmt::Debug for StoreSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreSessions").field("project", &self.project).finish_non_exhaustive()
    }
}

impl StoreSessions {
    /// The sessions of a project in this store.
    pub fn new(store: Arc<dyn SessionStore>, project: ProjectKey) -> Self {
        Self { store, project }
    }

    /// Lists sessions, the latest first.
    ///
    /// Summaries are used where the store has them and they are up to date; the other sessions are
    /// loaded, one after the other.
    ///
    /// # Errors
    ///
    /// When the store fails, or lists neither sessions nor summaries.
    pub async fn list(&self, options: &ListOptions) -> Result<Vec<SessionInfo>, StoreSessionError> {
        let summaries = supported(self.store.list_session_summaries(&self.project).await)?;
        let has_summaries = summaries.is_some();
        let mut known: HashMap<SessionId, SessionSummary> = HashMap::new();
        for summary in summaries.into_iter().flatten() {
            known.insert(summary.session_id.clone(), summary);
        }
        match self.store.list_sessions(&self.project).await {
            Ok(sessions) => {
                let there: HashSet<_> = sessions.iter().map(|s| s.session_id.clone()).collect();
                known.retain(|id, _| there.contains(id));
                for session in sessions {
                    let fresh = known.get(&session.session_id);
                    if fresh.is_some_and(|summary| summary.modified >= session.modified) {
                        continue;
                    }
                    let Ok(key) = self.key(&session.session_id) else { continue };
                    let entries = self.store.load(&key).await?.unwrap_or_default();
                    let mut summary = fold_summary(None, &key, &entries);
                    summary.modified = session.modified;
                    known.insert(session.session_id, summary);
                }
            }
            Err(error) if error.is_unsupported() && has_summaries => {}
            Err(error) => return Err(error.into()),
        }
        let mut infos: Vec<_> =
            known.values().filter_map(|summary| summary.info(&self.project)).collect();
        infos.sort_by(|a, b| {
            b.last_modified.cmp(&a.last_modified).then_with(|| a.session_id.cmp(&b.session_id))
        });
        options.page(infos.into_iter().map(Ok))
    }

    /// What a list shows of one session; nothing for one that a list does not show.
    ///
    /// The time of the last change is that of the latest entry: a store says it only in lists.
    ///
    /// # Errors
    ///
    /// When the store fails, or there is no such session.
    pub async fn info(
        &self,
        session: &SessionId,
    ) -> Result<Option<SessionInfo>, StoreSessionError> {
        let (key, entries) = self.load(session).await?;
        let times = entries.iter().rev().filter_map(|entry| {
            Fields::parse(entry.as_str())?.text("timestamp")?.parse::<Timestamp>().ok()
        });
        let mut summary = fold_summary(None, &key, &entries);
        summary.modified = times.take(1).next().unwrap_or_default();
        Ok(summary.info(&self.project))
    }

    /// Reads the conversation of a session.
    ///
    /// # Errors
    ///
    /// When the store fails, or there is no such session.
    pub async fn messages(
        &self,
        session: &SessionId,
        options: &MessageOptions,
    ) -> Result<Vec<StoredMessage>, StoreSessionError> {
        let (_, entries) = self.load(session).await?;
        Ok(read(&entries, Conversation::Main, &Parents::default(), options))
    }

    /// Lists the sub-agents of a session. Each is loaded for what is known about it.
    ///
    /// # Errors
    ///
    /// When the store fails, or does not list subkeys.
    pub async fn subagents(&self, session: &SessionId) -> Result<Vec<Subagent>, StoreSessionError> {
        let mut found = Vec::new();
        for key in self.agents(session).await? {
            let Some(agent) = key.subpath().and_then(Subpath::agent) else { continue };
            let entries = self.store.load(&key).await?.unwrap_or_default();
            let (metadata, _) = split_metadata(entries);
            found.push(Subagent::new(AgentId::from(agent), metadata.as_ref().map(RawJson::as_str)));
        }
        Ok(found)
    }

    /// Reads the conversation of a sub-agent.
    ///
    /// # Errors
    ///
    /// When the store fails or does not list subkeys, or there is no such sub-agent.
    pub async fn subagent_messages(
        &self,
        session: &SessionId,
        agent: &AgentId,
        options: &MessageOptions,
    ) -> Result<Vec<StoredMessage>, StoreSessionError> {
        let agents = self.agents(session).await?;
        let of = |key: &&StoreKey| key.subpath().and_then(Subpath::agent) == Some(agent.as_str());
        let Some(key) = agents.iter().find(of) else {
            let (session, agent) = (session.clone(), agent.clone());
            return Err(TranscriptError::NoSuchAgent { session, agent }.into());
        };
        let entries = deduplicated(self.store.load(key).await?.unwrap_or_default());
        let (metadata, entries) = split_metadata(entries);
        let parents = Parents::from_metadata(metadata.as_ref().map_or("", RawJson::as_str));
        Ok(read(&entries, Conversation::Subagent, &parents, options))
    }

    /// Gives a session a title. It is not checked that the session is there.
    ///
    /// # Errors
    ///
    /// When the title is blank, or the store fails.
    pub async fn rename(&self, session: &SessionId, title: &str) -> Result<(), StoreSessionError> {
        let line = title_line(session, title)?;
        self.add(session, &line).await
    }

    /// Gives a session a tag in place of the one it has, or takes it away. It is not checked that
    /// the session is there.
    ///
    /// # Errors
    ///
    /// When there is nothing left of the tag, or the store fails.
    pub async fn tag(
        &self,
        session: &SessionId,
        tag: Option<&str>,
    ) -> Result<(), StoreSessionError> {
        let line = tag_line(session, tag)?;
        self.add(session, &line).await
    }

    /// Removes a session for good, with its sub-agents.
    ///
    /// # Errors
    ///
    /// When the store fails, or does not delete.
    pub async fn delete(&self, session: &SessionId) -> Result<(), StoreSessionError> {
        Ok(self.store.delete(&self.key(session)?).await?)
    }

    /// Copies a session, so that the copy can go its own way, and says what the copy is called.
    ///
    /// # Errors
    ///
    /// When the store fails, there is no such session, or it has no messages or not the one it is
    /// to end with.
    pub async fn fork(
        &self,
        session: &SessionId,
        options: &ForkOptions,
    ) -> Result<SessionId, StoreSessionError> {
        let (_, entries) = self.load(session).await?;
        let mut digest = Digest::default();
        for entry in &entries {
            digest.add(entry.as_str());
        }
        let mut fork = Fork::plan(&index(&entries), session, options, &digest)?;
        let mut lines = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            lines.extend(fork.line(entry.as_str(), at as u64));
        }
        lines.extend(fork.ending());
        let parsed: Result<Vec<RawJson>, _> = lines.iter().map(|line| line.parse()).collect();
        let copies = parsed.map_err(StoreError::backend)?;
        self.store.append(&self.key(&fork.session)?, &copies).await?;
        Ok(fork.session)
    }

    fn key(&self, session: &SessionId) -> Result<StoreKey, StoreSessionError> {
        Ok(StoreKey::new(self.project.clone(), session.clone())?)
    }

    async fn load(
        &self,
        session: &SessionId,
    ) -> Result<(StoreKey, Vec<RawJson>), StoreSessionError> {
        let key = self.key(session)?;
        match self.store.load(&key).await? {
            Some(entries) if !entries.is_empty() => Ok((key, deduplicated(entries))),
            _ => Err(StoreSessionError::NotFound { key }),
        }
    }

    /// The transcripts of sub-agents. A subpath that leads elsewhere is none.
    async fn agents(&self, session: &SessionId) -> Result<Vec<StoreKey>, StoreSessionError> {
        let key = self.key(session)?;
        let mut subpaths = self.store.list_subkeys(&key).await?;
        subpaths.sort();
        let safe = subpaths.iter().filter_map(|subpath| Subpath::new(subpath).ok());
        let agents = safe.filter(|subpath| subpath.agent().is_some());
        Ok(agents.map(|subpath| key.with_subpath(subpath)).collect())
    }

    /// Appends a line with what a store can tell it by.
    async fn add(&self, session: &SessionId, line: &str) -> Result<(), StoreSessionError> {
        let (uuid, now) = (Uuid::new_v4(), Timestamp::now());
        let fields = line.strip_suffix('}').unwrap_or(line);
        let line = format!(r#"{fields},"uuid":"{uuid}","timestamp":"{now:.3}"}}"#);
        let entry = line.parse().map_err(StoreError::backend)?;
        Ok(self.store.append(&self.key(session)?, &[entry]).await?)
    }
}

/// What a store does not offer is nothing; what went wrong is an error.
fn supported<T>(result: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match result {
        Err(error) if error.is_unsupported() => Ok(None),
        result => result.map(Some),
    }
}

fn index(entries: &[RawJson]) -> Index {
    let mut index = Index::default();
    for (at, entry) in entries.iter().enumerate() {
        index.add(entry.as_str(), at as u64, 0);
    }
    index
}

fn read(
    entries: &[RawJson],
    conversation: Conversation,
    parents: &Parents,
    options: &MessageOptions,
) -> Vec<StoredMessage> {
    let index = index(entries);
    let shown = options.page(visible(&index, conversation, options.system));
    let places = shown.into_iter().filter_map(|at| index.entries().get(at));
    let lines = places.filter_map(|place| entries.get(usize::try_from(place.offset).ok()?));
    lines.filter_map(|line| StoredMessage::read(line.as_str(), parents)).collect()
}

/// Drops what was appended twice: an entry that has a `uuid` and stands there already, letter for
/// letter.
pub(super) fn deduplicated(entries: Vec<RawJson>) -> Vec<RawJson> {
    let mut seen: HashSet<&str> = HashSet::new();
    let has_uuid =
        |entry: &str| Fields::parse(entry).is_some_and(|fields| fields.id("uuid").is_some());
    let keep: Vec<bool> = entries
        .iter()
        .map(|entry| seen.insert(entry.as_str()) || !has_uuid(entry.as_str()))
        .collect();
    entries.into_iter().zip(keep).filter_map(|(entry, keep)| keep.then_some(entry)).collect()
}

/// Takes the entries about a sub-agent out of those by it. The last one counts, and comes as the
/// CLI keeps it on disk: without the type that it has as an entry.
pub(super) fn split_metadata(entries: Vec<RawJson>) -> (Option<RawJson>, Vec<RawJson>) {
    let is_metadata = |entry: &RawJson| {
        let fields = Fields::parse(entry.as_str());
        fields.is_some_and(|fields| fields.raw("type") == Some("\"agent_metadata\""))
    };
    let (mut metadata, lines): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_metadata);
    let metadata = metadata.pop().and_then(|entry| {
        let fields = Fields::parse(entry.as_str())?;
        let kept = fields.iter().filter(|(name, _)| *name != "type");
        let kept: Vec<_> = kept.map(|(name, value)| format!("{}:{value}", json!(name))).collect();
        format!("{{{}}}", kept.join(",")).parse().ok()
    });
    (metadata, lines)
}
