//! Standard input and output, and signals: the only threads besides the main one.
//!
//! What is written is queued and written by a thread of its own, as the real CLI does: a client
//! that does not read does not stop a turn. The queue holds [`MOST_QUEUED`] bytes; beyond that
//! the turn waits for the client.

use std::io::{self, BufRead as _, Write as _};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// As much output as is kept for a client that does not read.
const MOST_QUEUED: usize = 256 << 20;
/// Lines of input that wait to be looked at. When there are more, the client waits.
const MOST_WAITING: usize = 256;
/// These threads only move bytes.
const SMALL_STACK: usize = 128 << 10;

/// Something from outside.
#[derive(Debug)]
pub(crate) enum Event {
    /// Lines of standard input that came together, without their ends.
    Lines(Vec<Vec<u8>>),
    /// Standard input has ended.
    End,
    /// A signal.
    Signal(i32),
}

/// Where events come from.
#[derive(Debug)]
pub(crate) struct Input {
    events: Receiver<Event>,
    frozen: Arc<AtomicBool>,
}

impl Input {
    /// Starts to read standard input and to take signals.
    pub(crate) fn start() -> io::Result<Self> {
        let (sender, events) = mpsc::sync_channel(MOST_WAITING);
        let frozen = Arc::new(AtomicBool::new(false));
        let signals = signal_hook::iterator::Signals::new([
            signal_hook::consts::SIGTERM,
            signal_hook::consts::SIGINT,
            signal_hook::consts::SIGHUP,
        ])?;
        let reader = (sender.clone(), Arc::clone(&frozen));
        small_thread("stdin", move || read_lines(&reader.0, &reader.1))?;
        small_thread("signals", move || take_signals(signals, &sender))?;
        Ok(Self { events, frozen })
    }

    /// The events, in order.
    pub(crate) fn events(&self) -> &Receiver<Event> {
        &self.events
    }

    /// Stops reading for good. What is on the way already may still be taken from the pipe.
    pub(crate) fn freeze(&self) {
        self.frozen.store(true, Ordering::Relaxed);
    }
}

fn small_thread(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).stack_size(SMALL_STACK).spawn(body)
}

fn read_lines(events: &SyncSender<Event>, frozen: &AtomicBool) {
    let mut input = io::BufReader::new(io::stdin().lock());
    loop {
        let mut lines = Vec::new();
        // What was written in one go is taken in one go, so that its order decides and not our
        // speed.
        while lines.is_empty() || input.buffer().contains(&b'\n') {
            let mut line = Vec::new();
            let read = input.read_until(b'\n', &mut line);
            if line.is_empty() || read.is_err() {
                break;
            }
            if line.ends_with(b"\n") {
                line.pop();
            }
            lines.push(line);
        }
        while frozen.load(Ordering::Relaxed) {
            thread::park();
        }
        let ended = lines.is_empty();
        let event = if ended { Event::End } else { Event::Lines(lines) };
        if events.send(event).is_err() || ended {
            return;
        }
    }
}

fn take_signals(mut signals: signal_hook::iterator::Signals, events: &SyncSender<Event>) {
    for signal in signals.forever() {
        if events.send(Event::Signal(signal)).is_err() {
            return;
        }
    }
}

/// Standard output.
#[derive(Debug)]
pub(crate) struct Output {
    shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    bytes: Vec<u8>,
    /// Nothing more comes.
    closed: bool,
    /// The client has closed its end. The real CLI goes on without it.
    broken: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, queue: MutexGuard<'a, Queue>) -> MutexGuard<'a, Queue> {
        self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner)
    }
}

impl Output {
    /// Starts to write to standard output.
    pub(crate) fn start() -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let writer = small_thread("stdout", move || write_all(&theirs))?;
        Ok(Self { shared, writer: Some(writer) })
    }

    /// Writes bytes, in order.
    pub(crate) fn write(&self, bytes: &[u8]) {
        let mut queue = self.shared.lock();
        while queue.bytes.len() > MOST_QUEUED && !queue.broken {
            queue = self.shared.wait(queue);
        }
        if !queue.broken {
            queue.bytes.extend_from_slice(bytes);
        }
        drop(queue);
        self.shared.changed.notify_all();
    }

    /// Waits until everything is written.
    pub(crate) fn finish(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
        if let Some(writer) = self.writer.take() {
            // A writer that panicked has nothing more to write.
            drop(writer.join());
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the place that writes to standard output")]
fn write_all(shared: &Shared) {
    let mut output = io::stdout().lock();
    loop {
        let mut queue = shared.lock();
        while queue.bytes.is_empty() && !queue.closed {
            queue = shared.wait(queue);
        }
        let bytes = mem::take(&mut queue.bytes);
        drop(queue);
        if bytes.is_empty() {
            return;
        }
        let written = output.write_all(&bytes).and_then(|()| output.flush());
        shared.lock().broken |= written.is_err();
        shared.changed.notify_all();
    }
}

/// Writes a line to standard error. An error there has nobody to be told.
pub(crate) fn complain(text: &str) {
    drop(writeln!(io::stderr().lock(), "{text}"));
}

/// Writes this many bytes to standard error.
pub(crate) fn flood_stderr(bytes: usize) {
    let line = [b"flood ".repeat(13), b"\n".to_vec()].concat();
    let mut errors = io::stderr().lock();
    let mut left = bytes;
    while left > 0 {
        let part = line.get(..left.min(line.len())).unwrap_or(&line);
        if errors.write_all(part).is_err() {
            return;
        }
        left -= part.len();
    }
}

/// Prints text to standard output, before the protocol begins.
#[expect(clippy::disallowed_methods, reason = "this is the place that writes to standard output")]
pub(crate) fn print(text: &str) {
    drop(writeln!(io::stdout().lock(), "{text}"));
}
