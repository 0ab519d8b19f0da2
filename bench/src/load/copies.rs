//! Parked sessions without end: copies of one that was really parked.
//!
//! To have the server park a hundred thousand sessions takes as many processes, and hours. So one is
//! parked, and its log is written again under other names, with its transcript: events that a server
//! wrote, through the store that it writes to, while it does not run. Nothing about a copy is
//! different but its names and its number, so the server makes no difference either.

use std::path::Path;
use std::sync::Arc;

use countersign::store::{SessionStore, StoreKey};
use countersign::transcript::ProjectKey;
use countersign_protocol::RawJson;
use countersign_server::bus::Bus;
use countersign_server::id::SessionId;
use countersign_server::session::{By, Happening};
use countersign_server::store::{SqliteStore, Store as _, Write};

use super::Failure;
use super::script::token;
use super::stage::{Stage, each};

/// How many are written at once: they share their way to the disk.
const TOGETHER: usize = 256;

/// The name of the store in the data folder, if the configuration does not say otherwise.
const STORE: &str = "countersign.db";

/// A session that was really parked, as it is in the store.
#[derive(Clone, Debug)]
pub(super) struct Original {
    /// Kinds and bodies.
    events: Vec<(&'static str, String)>,
    /// The transcript that is kept with it.
    transcript: Vec<String>,
    project: ProjectKey,
    session: String,
    conversation: String,
    /// The names in all of this.
    names: Vec<String>,
    /// Its token, as it is said.
    token: String,
}

impl Original {
    /// Reads it from a store whose server does not run.
    pub(super) async fn read(
        stage: &Stage,
        session: SessionId,
        number: u64,
    ) -> Result<Self, Failure> {
        let store = open(stage).await?;
        let head = store.head(session).await?.ok_or("the session is not in the store")?;
        let project = ProjectKey::of(Path::new(&head.folder));
        let conversation = head.conversation.id.to_string();
        let key = StoreKey::new(project.clone(), conversation.as_str().into())?;
        let transcript = store.transcripts().load(&key).await?.unwrap_or_default();
        let transcript: Vec<_> = transcript.iter().map(|entry| entry.as_str().to_owned()).collect();
        let mut events = Vec::new();
        let mut stays = None;
        for event in store.events(session, 0, 1000).await? {
            if let Happening::Created(created) = &event.happening
                && let By::Person { token, .. } = &created.by
            {
                stays = Some(token.to_string());
            }
            events.push((event.happening.kind(), event.happening.body()?));
        }
        store.close().await?;
        let mut names = Vec::new();
        let texts = events.iter().map(|(_, body)| body).chain(&transcript);
        for name in texts.flat_map(|text| names_in(text)) {
            if !names.contains(&name) && Some(&name) != stays.as_ref() {
                names.push(name);
            }
        }
        let session = session.to_string();
        let token = token(number);
        Ok(Self { events, transcript, project, session, conversation, names, token })
    }

    /// How many events it has.
    pub(super) fn events(&self) -> u64 {
        self.events.len() as u64
    }

    /// The same under other names.
    fn copy(&self, number: u64) -> Result<Copy, Failure> {
        let others: Vec<_> = self.names.iter().map(|_| SessionId::new().to_string()).collect();
        let said = token(number);
        let names = || self.names.iter().zip(&others);
        let other = |text: &str| {
            let mut text = text.replace(&self.token, &said);
            for (name, other) in names() {
                if text.contains(name.as_str()) {
                    text = text.replace(name, other);
                }
            }
            text
        };
        let events = self.events.iter().map(|(kind, body)| Happening::read(kind, &other(body)));
        let events = events.collect::<Result<Vec<_>, _>>()?;
        let entries = self.transcript.iter().map(|entry| other(entry).parse());
        let entries = entries.collect::<Result<Vec<RawJson>, _>>()?;
        let session = names().find(|(name, _)| **name == self.session);
        // A session whose log does not name it has a name all the same.
        let session = session.map_or_else(|| Ok(SessionId::new()), |(_, other)| other.parse())?;
        let conversation = other(&self.conversation);
        let key = StoreKey::new(self.project.clone(), conversation.as_str().into())?;
        Ok(Copy { write: Write::to(session, events), key, entries })
    }

    /// Writes so many copies, while no server runs.
    pub(super) async fn write(&self, stage: &Stage, count: u64) -> Result<(), Failure> {
        let store = Arc::new(open(stage).await?);
        let transcripts: Arc<dyn SessionStore> = store.transcripts();
        let (original, writer) = (Arc::new(self.clone()), Arc::clone(&store));
        let numbers: Vec<_> = (0..count).map(|_| stage.number()).collect();
        let numbers = Arc::new(numbers);
        let written = each(count, TOGETHER, move |place| {
            let (original, store) = (Arc::clone(&original), Arc::clone(&writer));
            let (transcripts, numbers) = (Arc::clone(&transcripts), Arc::clone(&numbers));
            async move {
                let number = *numbers.get(usize::try_from(place)?).ok_or("no number")?;
                let Copy { write, key, entries } = original.copy(number)?;
                store.write(write).await?;
                transcripts.append(&key, &entries).await?;
                Ok(())
            }
        });
        written.await?;
        store.close().await?;
        Ok(())
    }
}

/// A session that is to be written.
struct Copy {
    write: Write,
    key: StoreKey,
    entries: Vec<RawJson>,
}

/// The store of a server that does not run.
pub(super) async fn open(stage: &Stage) -> Result<SqliteStore, Failure> {
    Ok(SqliteStore::open(stage.host.data.join(STORE), Arc::new(Bus::new())).await?)
}

/// What looks like a UUID.
pub(super) fn names_in(text: &str) -> Vec<String> {
    const LONG: usize = 36;
    let is_name = |window: &[u8]| {
        window.iter().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(byte),
        })
    };
    let windows = text.as_bytes().windows(LONG).filter(|window| is_name(window));
    windows.map(|window| String::from_utf8_lossy(window).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::names_in;

    #[test]
    fn names_are_found_where_they_are() {
        let name = "0197a3b0-1111-7222-8333-444455556666";
        assert_eq!(names_in(&format!(r#"{{"a":"{name}","b":"x-{name}.jsonl"}}"#)), [name, name]);
        assert!(names_in("0197a3b0-1111-7222-8333-44445555666").is_empty());
    }
}
