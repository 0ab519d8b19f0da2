//! What the CLI writes, sent to a store as well.

use std::collections::BTreeMap;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_protocol::RawJson;
use countersign_protocol::event::TranscriptMirror;
use futures_util::FutureExt as _;
use tokio::sync::{Notify, watch};

use super::error::StoreError;
use super::key::StoreKey;
use super::traits::SessionStore;

/// How long is waited before the second and the third attempt.
const BACK_OFF: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(800)];

/// Sends what the CLI writes to a store, and never lets it wait.
///
/// The CLI says what it wrote in `transcript_mirror` frames if it was started with
/// `--session-mirror`. [`push`](Self::push) takes a frame and returns at once; the future that
/// [`new`](Self::new) gives does the work, and ends after the mirror was dropped and everything was
/// sent. An append that fails or panics is tried three times; one that takes too long is not tried
/// again, because it may still take effect. What could not be sent is dropped and reported. Nothing is
/// lost by that but the copy: the CLI has its own file, and
/// [`import_session`](super::import_session) can catch up.
#[derive(Debug)]
pub struct Mirror {
    shared: Arc<Shared>,
    done: watch::Receiver<u64>,
}

/// How a mirror works. By default entries are sent when it is flushed, or when there are more than
/// 500 or 1 MiB of them.
#[derive(Clone)]
pub struct MirrorOptions {
    entries: usize,
    bytes: usize,
    most_bytes: usize,
    timeout: Duration,
    on_error: Arc<dyn Fn(MirrorError) + Send + Sync>,
}

impl fmt::Debug for MirrorOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MirrorOptions")
            .field("entries", &self.entries)
            .field("bytes", &self.bytes)
            .field("most_bytes", &self.most_bytes)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl Default for MirrorOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl MirrorOptions {
    /// As the official SDKs do it. Errors go to the log alone.
    #[must_use]
    pub fn new() -> Self {
        Self {
            entries: 500,
            bytes: 1 << 20,
            most_bytes: 64 << 20,
            timeout: Duration::from_secs(60),
            on_error: Arc::new(|error| tracing::warn!(%error, "a session store lacks something")),
        }
    }

    /// Sends each frame as soon as the one before it is sent.
    #[must_use]
    pub const fn eager(mut self) -> Self {
        (self.entries, self.bytes) = (0, 0);
        self
    }

    /// How long an append may take.
    #[must_use]
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How much is held while the store is slow, in bytes. What comes above that is dropped and
    /// reported; by default that is 64 MiB.
    #[must_use]
    pub const fn hold_at_most(mut self, bytes: usize) -> Self {
        self.most_bytes = bytes;
        self
    }

    /// Is told what did not reach the store. It must not wait for anything: it may be called while
    /// a frame is taken. When it panics, that is in the log, and all goes on.
    #[must_use]
    pub fn on_error(mut self, report: impl Fn(MirrorError) + Send + Sync + 'static) -> Self {
        self.on_error = Arc::new(report);
        self
    }
}

/// Something did not reach the store.
#[derive(Debug, thiserror::Error)]
#[error("{entries} entries of {} did not reach the session store: {failure}", key.as_ref().map_or("an unknown transcript".into(), ToString::to_string))]
#[non_exhaustive]
pub struct MirrorError {
    /// The transcript, if it has a key.
    pub key: Option<StoreKey>,
    /// How many entries were dropped.
    pub entries: usize,
    /// Why.
    #[source]
    pub failure: MirrorFailure,
}

/// Why something did not reach the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MirrorFailure {
    /// The store failed, or took too long.
    #[error(transparent)]
    Store(StoreError),
    /// The file is not a transcript below the configuration folder of the mirror.
    #[error("{0:?} is not a transcript below the configuration folder: check CLAUDE_CONFIG_DIR")]
    NotATranscript(String),
    /// The store is too slow: more is waiting than may be held.
    #[error("the session store is too slow, and {0} bytes wait already")]
    Full(usize),
}

struct Shared {
    store: Arc<dyn SessionStore>,
    options: MirrorOptions,
    /// The folder of the projects, as it was given and as it really is.
    projects: [PathBuf; 2],
    queue: Mutex<Queue>,
    wake: Notify,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("projects", &self.projects).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Queue {
    waiting: BTreeMap<StoreKey, Vec<RawJson>>,
    entries: usize,
    bytes: usize,
    /// What is being sent is held, too.
    sending: usize,
    /// How many flushes were asked for, each up to what was pushed by then.
    flushes: u64,
    closed: bool,
}

/// A flush that was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flush(u64);

impl Mirror {
    /// A mirror of the CLI with this configuration folder, and the future that does its work.
    ///
    /// The future has to be polled; spawn it where the session is owned.
    pub fn new(
        store: Arc<dyn SessionStore>,
        config_home: &Path,
        options: MirrorOptions,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let given = config_home.join("projects");
        let real = config_home.canonicalize().unwrap_or_else(|_| config_home.to_owned());
        let projects = [given, real.join("projects")];
        let shared = Arc::new(Shared {
            store,
            options,
            projects,
            queue: Mutex::default(),
            wake: Notify::new(),
        });
        let (sender, done) = watch::channel(0);
        (Self { shared: Arc::clone(&shared), done }, work(shared, sender))
    }

    /// Takes a frame, and returns at once.
    pub fn push(&self, frame: TranscriptMirror) {
        let TranscriptMirror { file_path, entries, .. } = frame;
        if entries.is_empty() {
            return;
        }
        let Some(key) = self.shared.key(Path::new(&file_path)) else {
            let failure = MirrorFailure::NotATranscript(file_path);
            return self.shared.report(None, entries.len(), failure);
        };
        let bytes = entries.iter().map(|entry| entry.as_str().len()).sum::<usize>();
        let mut queue = self.shared.queue();
        let held = queue.bytes + queue.sending;
        if held > 0 && held.saturating_add(bytes) > self.shared.options.most_bytes {
            drop(queue);
            return self.shared.report(Some(key), entries.len(), MirrorFailure::Full(held));
        }
        queue.entries += entries.len();
        queue.bytes += bytes;
        queue.waiting.entry(key).or_default().extend(entries);
        let full = self.shared.is_full(&queue);
        drop(queue);
        if full {
            self.shared.wake.notify_one();
        }
    }

    /// Sends what was pushed until now, and waits until it is in the store, or was reported.
    ///
    /// Returns at once when nobody polls the future any more.
    ///
    /// # Cancel safety
    ///
    /// When this is dropped, what was pushed is sent all the same.
    pub async fn flush(&self) {
        let mine = self.begin_flush();
        self.flushed(mine).await;
    }

    /// Has what was pushed until now sent, and gives what [`flushed`](Self::flushed) waits for.
    pub(crate) fn begin_flush(&self) -> Flush {
        let mut queue = self.shared.queue();
        queue.flushes += 1;
        let mine = Flush(queue.flushes);
        drop(queue);
        self.shared.wake.notify_one();
        mine
    }

    /// Waits until what was pushed before a flush is in the store, or was reported. Whoever gives up
    /// waiting and begins again has not lost anything.
    pub(crate) async fn flushed(&self, Flush(mine): Flush) {
        // An error says that the work is over.
        self.done.clone().wait_for(|done| *done >= mine).await.ok();
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        self.shared.queue().closed = true;
        self.shared.wake.notify_one();
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_full(&self, queue: &Queue) -> bool {
        queue.entries > self.options.entries || queue.bytes > self.options.bytes
    }

    fn key(&self, file: &Path) -> Option<StoreKey> {
        let mut inside = self.projects.iter().filter_map(|folder| file.strip_prefix(folder).ok());
        inside.next().and_then(StoreKey::from_path)
    }

    fn report(&self, key: Option<StoreKey>, entries: usize, failure: MirrorFailure) {
        let error = MirrorError { key, entries, failure };
        tracing::warn!(%error, "a transcript was not mirrored");
        // Frames are taken where the session is read, which must not end because of it.
        if catch_unwind(AssertUnwindSafe(|| (self.options.on_error)(error))).is_err() {
            tracing::error!("who is told of what was not mirrored panicked");
        }
    }

    /// Appends, and tries again what failed.
    async fn send(&self, key: StoreKey, entries: &[RawJson]) {
        let timeout = self.options.timeout;
        let mut pauses = BACK_OFF.iter();
        let error = loop {
            // The call is within, because a store may panic before it gives a future.
            let append = async { self.store.append(&key, entries).await };
            let append = AssertUnwindSafe(append).catch_unwind();
            let appended = match tokio::time::timeout(timeout, append).await {
                Ok(Ok(appended)) => appended,
                Ok(Err(_)) => Err(StoreError::backend("it panicked")),
                Err(_) => break StoreError::Timeout { operation: "append", after: timeout },
            };
            match appended {
                Ok(()) => return,
                Err(error) => match pauses.next() {
                    Some(pause) => tokio::time::sleep(*pause).await,
                    None => break error,
                },
            }
        };
        self.report(Some(key), entries.len(), MirrorFailure::Store(error));
    }
}

/// Sends what is waiting whenever there is reason to, until the mirror is gone.
async fn work(shared: Arc<Shared>, done: watch::Sender<u64>) {
    loop {
        let (waiting, flushes, closed) = {
            let mut queue = shared.queue();
            let due = queue.closed || queue.flushes > *done.borrow() || shared.is_full(&queue);
            let waiting = if due { mem::take(&mut queue.waiting) } else { BTreeMap::new() };
            if due {
                queue.sending = mem::take(&mut queue.bytes);
                queue.entries = 0;
            }
            (due.then_some(waiting), queue.flushes, queue.closed)
        };
        let Some(waiting) = waiting else {
            shared.wake.notified().await;
            continue;
        };
        for (key, entries) in waiting {
            shared.send(key, &entries).await;
        }
        shared.queue().sending = 0;
        done.send_replace(flushes);
        if closed {
            return;
        }
    }
}
