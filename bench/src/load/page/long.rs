//! Sessions with messages without end.
//!
//! To have the server run a session with ten thousand messages takes a CLI that takes part in all of
//! them. So one session is run with two turns, and its log is written again under another name, with its
//! second turn in it as often as is needed: events that a server wrote, through the store that it writes
//! to, while it does not run. The CLI's own transcript is not continued: no process is started for
//! such a session.

use std::collections::HashSet;

use countersign_server::id::SessionId;
use countersign_server::service::NewMessage;
use countersign_server::session::{By, Happening};
use countersign_server::store::{Store as _, Write};

use super::script::ERRANDS;
use crate::load::Failure;
use crate::load::copies::{names_in, open};
use crate::load::stage::{Served, Stage, until};

/// How many events are written at once.
const TOGETHER: usize = 1000;

/// A session that was written.
pub(super) struct Long {
    pub(super) session: SessionId,
    /// What a person and the model said, without results of calls.
    pub(super) messages: u64,
    /// How many events are in its log.
    pub(super) events: u64,
}

/// Runs the session that long ones are made of, until it has no process any more.
pub(super) async fn run(stage: &Stage, served: &Served) -> Result<SessionId, Failure> {
    let mut new = stage.session(None);
    new.title = Some("The list of the harbour".to_owned());
    // Nobody is asked.
    new.mode = Some("acceptEdits".into());
    let session = served.client.create_session(&new).await?.session;
    let mut following = served.client.follow(session, Some(0)).await?;
    for errand in ERRANDS {
        let message = NewMessage { text: errand.to_owned(), ..NewMessage::default() };
        served.client.send(session, &message).await?;
        until(&mut following, |event| event.kind == "turn.ended").await?;
    }
    until(&mut following, |event| event.kind == "process.ended").await?;
    Ok(session)
}

/// Kinds and bodies of events.
type Bodies = Vec<(&'static str, String)>;

/// A session with two turns, as it is in the store.
pub(super) struct Template {
    session: SessionId,
    /// What comes before the second turn, the second turn, and what comes after it.
    parts: [Part; 3],
}

#[derive(Default)]
struct Part {
    bodies: Bodies,
    /// The names in it that are in no part before it.
    names: Vec<String>,
    /// How many messages are in it.
    messages: u64,
}

impl Template {
    /// Reads it from a store whose server does not run.
    pub(super) async fn read(stage: &Stage, session: SessionId) -> Result<Self, Failure> {
        let store = open(stage).await?;
        let events = store.events(session, 0, 1000).await?;
        store.close().await?;
        let mut parts: [Part; 3] = Default::default();
        let (mut turns, mut known) = (0, HashSet::from([session.to_string()]));
        for event in &events {
            if let Happening::Created(created) = &event.happening
                && let By::Person { token, .. } = &created.by
            {
                // It stays what it is.
                known.insert(token.to_string());
            }
            let (kind, body) = (event.happening.kind(), event.happening.body()?);
            let part = parts.get_mut(turns).ok_or("a session of more turns than it was told")?;
            let new = names(&body).into_iter().filter(|name| known.insert(name.clone()));
            part.names.extend(new);
            part.bodies.push((kind, body));
            part.messages += u64::from(is_message(&event.happening));
            turns += usize::from(kind == "turn.ended");
        }
        match parts {
            [_, Part { messages: 1.., .. }, _] if turns == ERRANDS.len() => {
                Ok(Self { session, parts })
            }
            _ => Err("the session has another log than it should".into()),
        }
    }

    /// Writes a session with at least so many messages, while no server runs.
    pub(super) async fn write(&self, stage: &Stage, messages: u64) -> Result<Long, Failure> {
        let store = open(stage).await?;
        let [beginning, turn, end] = &self.parts;
        let session = SessionId::new();
        let mut own = vec![(self.session.to_string(), session.to_string())];
        own.extend(others(&beginning.names));
        let mut long = Long { session, messages: beginning.messages, events: 0 };
        let mut log = beginning.happenings(&own)?;
        while long.messages < messages {
            let names: Vec<_> = own.iter().cloned().chain(others(&turn.names)).collect();
            log.extend(turn.happenings(&names)?);
            long.messages += turn.messages;
            if log.len() >= TOGETHER {
                long.events += log.len() as u64;
                store.write(Write::to(session, std::mem::take(&mut log))).await?;
            }
        }
        log.extend(end.happenings(&own)?);
        long.events += log.len() as u64;
        store.write(Write::to(session, log)).await?;
        store.close().await?;
        Ok(long)
    }
}

impl Part {
    /// What happens in it, under other names.
    fn happenings(&self, names: &[(String, String)]) -> Result<Vec<Happening>, Failure> {
        let happening = |(kind, body): &(&'static str, String)| {
            let mut body = body.clone();
            for (name, other) in names {
                if body.contains(name.as_str()) {
                    body = body.replace(name, other);
                }
            }
            Ok(Happening::read(kind, &body)?)
        };
        self.bodies.iter().map(happening).collect()
    }
}

/// Whether somebody says something: a person, or the model.
fn is_message(happening: &Happening) -> bool {
    match happening {
        Happening::MessageSent(_) => true,
        // It is the first key of every frame.
        Happening::Frame(frame) => frame.line.as_str().starts_with(r#"{"type":"assistant""#),
        _ => false,
    }
}

/// What the CLI puts before names that are no UUIDs: of calls, and of messages.
const KINDS: [&str; 2] = ["toolu_", "msg_"];

/// The names in an event.
fn names(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let words = words.filter(|word| KINDS.iter().any(|kind| word.starts_with(kind)));
    words.map(str::to_owned).chain(names_in(text)).collect()
}

/// Each name with another one of its kind.
fn others(names: &[String]) -> Vec<(String, String)> {
    let other = |name: &String| {
        let new = SessionId::new().to_string();
        let kind = KINDS.iter().find(|kind| name.starts_with(**kind));
        let other = kind.map(|kind| format!("{kind}{}", new.replace('-', "")));
        (name.clone(), other.unwrap_or(new))
    };
    names.iter().map(other).collect()
}

#[cfg(test)]
mod tests {
    use super::{names, others};

    #[test]
    fn names_of_calls_and_messages_are_names() {
        let uuid = "0197a3b0-1111-7222-8333-444455556666";
        let text =
            format!(r#"{{"id":"msg_a1","call":"toolu_lab01","uuid":"{uuid}","a":"tool_x"}}"#);
        assert_eq!(names(&text), ["msg_a1", "toolu_lab01", uuid]);
        let others = others(&names(&text));
        let is_other = |(name, other): &(String, String)| name != other && !other.is_empty();
        assert!(others.iter().all(is_other), "{others:?}");
        assert!(matches!(&*others, [(_, message), ..] if message.starts_with("msg_")));
    }
}
