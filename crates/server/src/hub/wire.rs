//! The last lines that passed between the server and a CLI, as they were.
//!
//! The log has what a session is made of; this has also what it is not made of: requests and their
//! answers. It is for people who look for a fault, so it is kept in memory only, and not much of it.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign::Way;
use jiff::Timestamp;
use lru::LruCache;
use serde::{Deserialize, Serialize};

use crate::id::SessionId;

/// How many lines are kept of a session, and how many bytes.
const LINES: usize = 200;
const BYTES: usize = 96 * 1024;

/// How long a line may be; of a longer one, this much of its beginning is kept.
const LONGEST: usize = 16 * 1024;

/// Of how many sessions lines are kept: those whose processes began last.
const SESSIONS: NonZeroUsize = NonZeroUsize::new(256).unwrap();

/// A line that passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WireLine {
    /// When.
    pub at: Timestamp,
    /// Whether it went to the CLI; else it came from there.
    pub to_cli: bool,
    /// The line, or the beginning of a long one.
    pub text: String,
    /// How many bytes of it are not kept.
    pub left_out: usize,
}

/// The last lines of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WireLines {
    /// The lines, oldest first.
    pub lines: Vec<WireLine>,
    /// How many passed before them, and are not kept.
    pub earlier: u64,
    /// How many pieces of what the model was saying passed. They are not kept: the whole comes after
    /// them.
    pub pieces: u64,
}

/// What is kept of a session.
#[derive(Debug, Default)]
pub(crate) struct Wire(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    lines: VecDeque<WireLine>,
    bytes: usize,
    earlier: u64,
    pieces: u64,
}

impl Wire {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A line has passed.
    pub(crate) fn passed(&self, way: Way, line: &[u8]) {
        // As the CLI writes it, first of all.
        if line.starts_with(b"{\"type\":\"stream_event\"") {
            self.kept().pieces += 1;
            return;
        }
        let shown = line.get(..LONGEST).unwrap_or(line);
        let left_out = line.len() - shown.len();
        let text = String::from_utf8_lossy(shown).into_owned();
        let line = WireLine { at: Timestamp::now(), to_cli: way == Way::ToCli, text, left_out };
        let mut kept = self.kept();
        kept.bytes += line.text.len();
        kept.lines.push_back(line);
        while kept.lines.len() > LINES || kept.bytes > BYTES {
            let Some(first) = kept.lines.pop_front() else { break };
            kept.bytes -= first.text.len();
            kept.earlier += 1;
        }
    }

    fn lines(&self) -> WireLines {
        let kept = self.kept();
        let lines = kept.lines.iter().cloned().collect();
        WireLines { lines, earlier: kept.earlier, pieces: kept.pieces }
    }
}

/// What is kept of all sessions.
#[derive(Debug)]
pub(super) struct Wires(Mutex<LruCache<SessionId, Arc<Wire>>>);

impl Default for Wires {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(SESSIONS)))
    }
}

impl Wires {
    fn all(&self) -> MutexGuard<'_, LruCache<SessionId, Arc<Wire>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For the lines of a process that is to begin.
    pub(super) fn of(&self, session: SessionId) -> Arc<Wire> {
        Arc::clone(self.all().get_or_insert(session, Arc::default))
    }

    pub(super) fn lines(&self, session: SessionId) -> WireLines {
        self.all().peek(&session).map(|wire| wire.lines()).unwrap_or_default()
    }

    pub(super) fn forget(&self, session: SessionId) {
        self.all().pop(&session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_is_kept_and_the_rest_is_counted() {
        let wire = Wire::default();
        wire.passed(Way::FromCli, br#"{"type":"stream_event","event":{}}"#);
        for number in 0..LINES + 5 {
            wire.passed(Way::ToCli, format!("{number}").as_bytes());
        }
        let WireLines { lines, earlier, pieces } = wire.lines();
        assert_eq!((lines.len(), earlier, pieces), (LINES, 5, 1));
        assert_eq!(lines.first().map(|line| &*line.text), Some("5"));
        assert!(lines.iter().all(|line| line.to_cli && line.left_out == 0));
        // A long line is cut, also in the middle of a character, and many of them push others out.
        for _ in 0..10 {
            wire.passed(Way::FromCli, "ä".repeat(LONGEST).as_bytes());
        }
        let kept = wire.lines();
        assert!(kept.lines.iter().map(|line| line.text.len()).sum::<usize>() <= BYTES);
        assert_eq!(kept.lines.last().map(|line| line.left_out), Some(LONGEST));
        assert_eq!(kept.earlier + kept.lines.len() as u64, (LINES + 15) as u64);
    }

    #[test]
    fn sessions_are_kept_apart_and_forgotten() {
        let (wires, session) = (Wires::default(), SessionId::new());
        wires.of(session).passed(Way::ToCli, b"one");
        wires.of(session).passed(Way::ToCli, b"two");
        wires.of(SessionId::new()).passed(Way::ToCli, b"other");
        assert_eq!(wires.lines(session).lines.len(), 2);
        wires.forget(session);
        assert_eq!(wires.lines(session), WireLines::default());
    }
}
