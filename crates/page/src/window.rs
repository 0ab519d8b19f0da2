//! A part of a transcript, made of a part of the log.

use std::sync::Arc;

use countersign_server::api::Api;
use countersign_server::id::SessionId;
use countersign_server::session::{Event, Happening};
use countersign_server::web::Problem;

use crate::past;
use crate::transcript::Transcript;

/// How many events are read at once.
const AT_ONCE: usize = 300;

/// With how many things in the transcript a part is long enough.
const ENOUGH: usize = 60;

/// How many events are read at most for one part: a turn can have very many that show nothing.
const MOST: usize = 3_000;

/// How many events after a part are looked at, at most, for the results of its calls: an agent can take
/// its time.
const AFTER: usize = 5_000;

/// How many calls before a part are known, so that their results can be shown where they stand.
const EARLIER: usize = 60;

/// A part of a transcript.
#[derive(Debug)]
pub(crate) struct Window {
    /// The events, oldest first.
    events: Vec<Arc<Event>>,
    /// The number of the first; 0 if there is nothing before it.
    pub(crate) before: u64,
}

impl Window {
    /// The part that ends before this number, long enough to be looked at.
    pub(crate) async fn before(api: &Api, session: SessionId, end: u64) -> Result<Self, Problem> {
        let store = api.service.hub().store();
        let mut events: Vec<Arc<Event>> = Vec::new();
        let mut from = end;
        loop {
            let mut more = store.events_before(session, from, AT_ONCE).await?;
            let is_all = more.is_empty();
            more.append(&mut events);
            events = more;
            from = events.first().map_or(0, |event| event.seq);
            let shown = events.iter().filter(|event| is_shown(event)).count();
            if is_all || from <= 1 || shown >= ENOUGH || events.len() >= MOST {
                let before = if from <= 1 { 0 } else { from };
                return Ok(Self { events, before });
            }
        }
    }

    /// The transcript of it.
    pub(crate) async fn transcript(&self, api: &Api, folder: &str) -> Result<Transcript, Problem> {
        let store = api.service.hub().store();
        let mut transcript = Transcript::new(folder);
        for (message, content) in past::messages(store, &self.events).await? {
            transcript.know(message, content);
        }
        for event in &self.events {
            transcript.event(event);
        }
        Ok(transcript)
    }

    /// Adds the results of its calls that came after it.
    pub(crate) async fn with_results(
        &self,
        api: &Api,
        session: SessionId,
        transcript: &mut Transcript,
    ) -> Result<(), Problem> {
        let Some(mut last) = self.events.last().map(|last| last.seq) else { return Ok(()) };
        let store = api.service.hub().store();
        let end = last + AFTER as u64;
        while transcript.has_open_calls() && last < end {
            let events = store.events(session, last, AT_ONCE).await?;
            let Some(newest) = events.last() else { break };
            last = newest.seq;
            for event in &events {
                transcript.results(event);
            }
        }
        Ok(())
    }

    /// Adds what is known of before it: calls whose results may come, and messages that wait.
    pub(crate) async fn with_earlier(
        &self,
        api: &Api,
        session: SessionId,
        transcript: &mut Transcript,
    ) -> Result<(), Problem> {
        let store = api.service.hub().store();
        for event in store.events_of(session, &["tool.called"], self.before, EARLIER).await? {
            if let Happening::ToolCalled(called) = &event.happening
                && let Some(input) = &called.input
            {
                transcript.know_call(&called.tool_use_id, &called.tool, input.clone());
            }
        }
        for message in store.queued_messages(session).await? {
            transcript.know(message.id, message.content);
        }
        Ok(())
    }
}

/// Whether an event shows something of its own, as most do.
fn is_shown(event: &Event) -> bool {
    matches!(event.happening.kind(), "cli.frame" | "message.sent" | "session.noted" | "turn.ended")
}
