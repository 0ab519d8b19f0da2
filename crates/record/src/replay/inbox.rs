//! What the client does: the lines it writes, that it closes its end, the signals it sends.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use countersign_protocol::{LineSplitter, Piece};

/// How many lines may wait here, and how many bytes. A client that writes more has to wait, as it
/// would before a full pipe.
const MAX_LINES: usize = 1024;
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// How much is read at a time.
const CHUNK: usize = 64 * 1024;

/// How long after a signal a line is still waited for: it may have been written before the signal
/// was sent, and be on its way.
const GRACE: Duration = Duration::from_secs(1);

/// What the client did, in the order in which it is to be looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inbox {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    /// The client has closed its end; nothing follows the lines that are here.
    closed: bool,
    /// The signals that were not waited for yet.
    signals: VecDeque<i32>,
    /// When the first of them came.
    signalled: Option<Instant>,
    /// Nobody looks here any more.
    done: bool,
}

/// What the player is told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Line(Vec<u8>),
    /// There are no more lines.
    Closed,
    /// The client wants us to end.
    Signal(i32),
}

impl Inbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(
        &'s self,
        state: MutexGuard<'s, State>,
        until: Option<Instant>,
    ) -> MutexGuard<'s, State> {
        let Some(until) = until else {
            return self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        let time = until.saturating_duration_since(Instant::now());
        let waited = self.shared.changed.wait_timeout(state, time);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Reads lines on a thread of its own until the client closes its end.
    pub(crate) fn read(&self, input: impl Read + Send + 'static) -> io::Result<()> {
        let inbox = self.clone();
        let work = move || inbox.read_all(input);
        std::thread::Builder::new().name("client".into()).spawn(work).map(drop)
    }

    fn read_all(&self, mut input: impl Read) {
        let mut splitter = LineSplitter::new();
        let mut chunk = vec![0; CHUNK];
        let take = |piece: Piece<'_>| match piece {
            Piece::Line { bytes, .. } => self.push(bytes.to_vec()),
            // The CLI passes over an empty line, and does not read one that is too long.
            Piece::TooLong { head, .. } => self.push(head.to_vec()),
            _ => {}
        };
        loop {
            match input.read(&mut chunk) {
                Ok(0) => break,
                Ok(length) => splitter.feed(chunk.get(..length).unwrap_or_default(), take),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
            if self.state().done {
                return;
            }
        }
        splitter.finish(take);
        self.state().closed = true;
        self.shared.changed.notify_all();
    }

    fn push(&self, line: Vec<u8>) {
        let mut state = self.state();
        while !state.done
            && !state.lines.is_empty()
            && (state.lines.len() >= MAX_LINES || state.bytes + line.len() > MAX_BYTES)
        {
            state = self.wait(state, None);
        }
        state.bytes += line.len();
        state.lines.push_back(line);
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Takes note of a signal.
    pub(crate) fn signal(&self, number: i32) {
        let mut state = self.state();
        state.signalled.get_or_insert_with(Instant::now);
        state.signals.push_back(number);
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Waits for the next line or the end of all lines. A signal comes through only when neither
    /// follows.
    pub(crate) fn next(&self) -> Event {
        let mut state = self.state();
        loop {
            if let Some(line) = state.lines.pop_front() {
                state.bytes -= line.len();
                drop(state);
                self.shared.changed.notify_all();
                return Event::Line(line);
            }
            if state.closed {
                return Event::Closed;
            }
            let until = state.signalled.map(|signalled| signalled + GRACE);
            if until.is_some_and(|until| until <= Instant::now())
                && let Some(number) = state.signals.front()
            {
                return Event::Signal(*number);
            }
            state = self.wait(state, until);
        }
    }

    /// Waits for a signal, if possible with this number, or for a line. Where it would be news
    /// that the client has closed its end, that comes through when no signal follows.
    pub(crate) fn next_signal(&self, number: i32, close_is_news: bool) -> Event {
        let mut state = self.state();
        let mut closed: Option<Instant> = None;
        loop {
            if let Some(at) = state.signals.iter().position(|signal| *signal == number) {
                state.signals.remove(at);
                if state.signals.is_empty() {
                    state.signalled = None;
                }
                self.shared.changed.notify_all();
                return Event::Signal(number);
            }
            if let Some(number) = state.signals.front() {
                return Event::Signal(*number);
            }
            if let Some(line) = state.lines.pop_front() {
                state.bytes -= line.len();
                drop(state);
                self.shared.changed.notify_all();
                return Event::Line(line);
            }
            if close_is_news && state.closed {
                let until = *closed.get_or_insert_with(|| Instant::now() + GRACE);
                if until <= Instant::now() {
                    return Event::Closed;
                }
            }
            state = self.wait(state, closed);
        }
    }

    /// The first signal that came before this and that nobody has waited for.
    pub(crate) fn signal_before(&self, time: Instant) -> Option<i32> {
        let state = self.state();
        let signalled = state.signalled.filter(|signalled| *signalled < time);
        signalled.and_then(|_| state.signals.front().copied())
    }

    /// Whether the signals that came are dealt with before so much time has passed.
    pub(crate) fn is_attended(&self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        let mut state = self.state();
        while !state.signals.is_empty() && !state.done {
            if until <= Instant::now() {
                return false;
            }
            state = self.wait(state, Some(until));
        }
        true
    }

    /// Waits until a point in time; not, when the client wants us to end.
    pub(crate) fn pause(&self, until: Instant) {
        let mut state = self.state();
        while state.signals.is_empty() && until > Instant::now() {
            state = self.wait(state, Some(until));
        }
    }

    /// The lines that nobody has looked at.
    pub(crate) fn rest(&self) -> Vec<Vec<u8>> {
        let mut state = self.state();
        state.bytes = 0;
        state.lines.drain(..).collect()
    }

    /// Says that nobody will look here any more, so that nobody waits for it.
    pub(crate) fn finish(&self) {
        self.state().done = true;
        self.shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_before_the_end_and_before_a_signal() {
        let inbox = Inbox::default();
        inbox.signal(15);
        inbox.read_all(&b"a\n\r\n\nb"[..]);
        assert_eq!(inbox.next(), Event::Line(b"a".to_vec()));
        assert_eq!(inbox.next(), Event::Line(b"b".to_vec()));
        assert_eq!(inbox.next(), Event::Closed);
        assert_eq!(inbox.next_signal(15, true), Event::Signal(15));
    }

    #[test]
    fn a_client_that_writes_too_much_has_to_wait() {
        let inbox = Inbox::default();
        let text = b"x\n".repeat(3 * MAX_LINES);
        inbox.read(io::Cursor::new(text)).unwrap();
        let mut count = 0;
        while inbox.next() != Event::Closed {
            assert!(inbox.state().lines.len() <= MAX_LINES);
            count += 1;
        }
        assert_eq!(count, 3 * MAX_LINES);
    }

    #[test]
    fn an_end_that_nobody_expects_comes_through_when_no_signal_follows() {
        let inbox = Inbox::default();
        inbox.read_all(&b"a\n"[..]);
        assert_eq!(inbox.next_signal(15, true), Event::Line(b"a".to_vec()));
        assert_eq!(inbox.next_signal(15, true), Event::Closed);
    }

    #[test]
    fn a_signal_alone_comes_through() {
        let inbox = Inbox::default();
        inbox.signal(2);
        inbox.pause(Instant::now() + Duration::from_secs(3600));
        assert_eq!(inbox.next(), Event::Signal(2));
    }
}
