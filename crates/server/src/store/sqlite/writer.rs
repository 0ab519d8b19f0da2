//! The one thread that writes.
//!
//! It takes all that waits, writes it in one transaction, and commits once: the more wait, the less
//! each costs. Each is in a savepoint, so that what is refused leaves nothing behind and the others
//! are not touched. When the database fails, nothing of the transaction is there; each is then tried
//! once more by itself, so that one that cannot be written does not stop the others.

use std::sync::Arc;
use std::thread;

use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::file::{Lock, StoreFile, unavailable};
use super::read;
use crate::access::Clock;
use crate::bus::Bus;
use crate::id::SessionId;
use crate::session::Head;
use crate::store::StoreError;
use crate::store::clock::now;
use crate::store::memory::{Failure, Known, Memory};

/// How many may wait to be written before whoever comes next has to wait.
const QUEUE: usize = 1024;
/// How many are written in one transaction at most.
const BATCH: usize = 256;

/// Gives work to the thread that writes.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    queue: mpsc::Sender<Message>,
}

enum Message {
    Job(Box<dyn Job>),
    /// Something that breaks the connection, outside a transaction.
    #[cfg(test)]
    Break(Box<dyn FnOnce(&Connection) + Send>),
    Close(oneshot::Sender<()>),
}

impl Writer {
    /// Starts the thread. It ends when it is closed, or when nobody can give it work any more.
    pub(super) fn start(
        (file, lock): (Arc<StoreFile>, Lock),
        connection: Connection,
        bus: Arc<Bus>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, StoreError> {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let modified = read::last_modified(&connection)?;
        let memory = Memory::new();
        let thread = Thread { file, lock, connection, bus, clock, memory, modified };
        let named = thread::Builder::new().name("store-writer".into());
        named.spawn(move || thread.run(waiting)).map_err(unavailable)?;
        Ok(Self { queue })
    }

    /// Has something written, and waits until it is on disk.
    pub(super) async fn run<T, E>(
        &self,
        work: impl FnMut(&mut Scratch<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: Failure,
    {
        let (answer, answered) = oneshot::channel();
        let job = Message::Job(Box::new(Task { work, result: None, answer }));
        self.queue.send(job).await.map_err(|_| StoreError::Closed)?;
        answered.await.unwrap_or_else(|_| Err(StoreError::Closed.into()))
    }

    /// Breaks the connection, or repairs it.
    #[cfg(test)]
    pub(super) async fn tamper(&self, with: impl FnOnce(&Connection) + Send + 'static) {
        assert!(self.queue.send(Message::Break(Box::new(with))).await.is_ok(), "it has ended");
    }

    /// Ends the thread after what waits was written.
    pub(super) async fn close(&self) {
        let (answer, answered) = oneshot::channel();
        if self.queue.send(Message::Close(answer)).await.is_ok() {
            // An error means that it has ended, too.
            drop(answered.await);
        }
    }
}

/// Something to be written, whatever it is.
trait Job: Send {
    /// Writes it. It may have to be done again, when the transaction fails.
    fn run(&mut self, scratch: &mut Scratch<'_>) -> Outcome;

    /// Tells who wants it what came of it: its own result, if nothing else failed.
    fn finish(self: Box<Self>, failed: Option<StoreError>);
}

enum Outcome {
    Keep,
    Undo,
    Fail(StoreError),
}

struct Task<T, E, F> {
    work: F,
    result: Option<Result<T, E>>,
    answer: oneshot::Sender<Result<T, E>>,
}

impl<T, E, F> Job for Task<T, E, F>
where
    T: Send,
    E: Failure,
    F: FnMut(&mut Scratch<'_>) -> Result<T, E> + Send,
{
    fn run(&mut self, scratch: &mut Scratch<'_>) -> Outcome {
        match (self.work)(scratch) {
            Ok(done) => {
                self.result = Some(Ok(done));
                Outcome::Keep
            }
            Err(error) => match error.of_database() {
                Ok(error) => Outcome::Fail(error),
                Err(refused) => {
                    self.result = Some(Err(refused));
                    Outcome::Undo
                }
            },
        }
    }

    fn finish(self: Box<Self>, failed: Option<StoreError>) {
        let result = match failed {
            Some(error) => Err(error.into()),
            None => self.result.unwrap_or_else(|| Err(StoreError::Closed.into())),
        };
        // An error means that nobody waits for it any more.
        drop(self.answer.send(result));
    }
}

/// What a job has at hand.
pub(super) struct Scratch<'a> {
    /// The connection, in a transaction.
    pub(super) connection: &'a Connection,
    /// What is not in the database.
    pub(super) memory: &'a mut Memory,
    clock: &'a dyn Clock,
    modified: &'a mut Timestamp,
}

impl Scratch<'_> {
    pub(super) fn now(&self) -> Timestamp {
        now(self.clock)
    }

    /// What a session is, as far as it was written, here or before.
    pub(super) fn head(&mut self, session: SessionId) -> Result<Option<Arc<Head>>, StoreError> {
        match self.memory.head(session) {
            Known::There(head) => Ok(Some(head)),
            Known::Gone => Ok(None),
            Known::Unknown => {
                let found = read::head(self.connection, session)?;
                found.iter().for_each(|head| self.memory.was_read(session, head));
                Ok(found)
            }
        }
    }

    /// A time for a transcript that is later than that of any other.
    pub(super) fn next_modified(&mut self) -> Timestamp {
        let least = self.modified.checked_add(SignedDuration::from_micros(1));
        *self.modified = now(self.clock).max(least.unwrap_or(*self.modified));
        *self.modified
    }
}

struct Thread {
    file: Arc<StoreFile>,
    lock: Lock,
    connection: Connection,
    bus: Arc<Bus>,
    clock: Arc<dyn Clock>,
    memory: Memory,
    modified: Timestamp,
}

impl Thread {
    fn run(mut self, mut waiting: mpsc::Receiver<Message>) {
        let mut closed = None;
        while closed.is_none() {
            let Some(first) = waiting.blocking_recv() else { break };
            let (mut jobs, mut next) = (Vec::new(), Some(first));
            while let Some(message) = next {
                match message {
                    Message::Job(job) => jobs.push(job),
                    #[cfg(test)]
                    Message::Break(tamper) => tamper(&self.connection),
                    Message::Close(answer) => {
                        closed = Some(answer);
                        break;
                    }
                }
                next = if jobs.len() < BATCH { waiting.try_recv().ok() } else { None };
            }
            self.write(jobs);
        }
        // Whoever waits behind it is told that the store is closed, by the end of the queue.
        drop(waiting);
        let Self { lock, connection, .. } = self;
        if let Err((_, error)) = connection.close() {
            tracing::warn!(%error, "the database was not closed well");
        }
        drop(lock);
        if let Some(answer) = closed {
            // An error means that nobody waits for it any more.
            answer.send(()).unwrap_or_default();
        }
    }

    fn write(&mut self, mut jobs: Vec<Box<dyn Job>>) {
        if jobs.is_empty() {
            return;
        }
        // When nothing can be written at all, everybody is told at once, and not each after a wait of
        // their own.
        if let Err(error) = self.begin() {
            tracing::warn!(%error, "the store cannot be written to");
            let why = error.to_string();
            jobs.into_iter().for_each(|job| job.finish(Some(unavailable(&*why))));
            return;
        }
        match self.attempt(&mut jobs) {
            Ok(()) => jobs.into_iter().for_each(|job| job.finish(None)),
            // One of them, or the database: by itself each finds out.
            Err(_) if jobs.len() > 1 => jobs.into_iter().for_each(|job| self.write(vec![job])),
            Err(error) => {
                tracing::warn!(%error, "something could not be written to the store");
                if let Some(job) = jobs.pop() {
                    job.finish(Some(error));
                }
            }
        }
    }

    /// Begins a transaction.
    fn begin(&self) -> Result<(), StoreError> {
        self.file.is_there()?;
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(())
    }

    /// Writes all in the transaction that has begun, and tells subscribers.
    fn attempt(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
        let written = self.transact(jobs);
        if written.is_ok() {
            self.memory.commit(&self.bus);
            return Ok(());
        }
        if !self.connection.is_autocommit() {
            // An error here means that it was rolled back already.
            drop(self.connection.execute_batch("ROLLBACK"));
        }
        self.memory.roll_back();
        written
    }

    fn transact(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
        let connection = &self.connection;
        for job in jobs {
            connection.prepare_cached("SAVEPOINT job")?.execute([])?;
            let outcome = job.run(&mut Scratch {
                connection,
                memory: &mut self.memory,
                clock: &*self.clock,
                modified: &mut self.modified,
            });
            match outcome {
                Outcome::Keep => self.memory.keep_job(),
                Outcome::Undo => {
                    self.memory.undo_job();
                    connection.prepare_cached("ROLLBACK TO job")?.execute([])?;
                }
                Outcome::Fail(error) => return Err(error),
            }
            connection.prepare_cached("RELEASE job")?.execute([])?;
        }
        connection.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }
}
