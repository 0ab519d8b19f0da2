//! The one task that writes, on a connection of its own.
//!
//! It takes all that waits, writes it in one transaction, each in a savepoint, and commits once. The
//! connection has the lock of the server: whoever writes has it. When it is lost, nothing can be
//! written until there is another one with the lock.
//!
//! When it is lost in the middle of a commit, nobody knows whether that was done. The database does: a
//! transaction leaves its name in it. So it is asked as soon as it can be; those whose commit it was wait
//! until then. Whoever asks has the lock, so the connection that was lost is over for the database, too.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::ClientWrapper;
use futures_util::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_postgres::error::{DbError, Severity};
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::connect::{self, Database, Value, execute, query_opt, unavailable};
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
/// How long is waited before a database that is gone is tried again.
const AGAIN: Duration = Duration::from_millis(250);

/// Gives work to the task that writes.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    queue: mpsc::Sender<Message>,
}

enum Message {
    Job(Box<dyn Job>),
    Close(oneshot::Sender<()>),
}

/// How something is written: with what it needs, and with what is at hand.
pub(super) type Work<I, T, E> =
    for<'a> fn(&'a I, &'a mut Scratch<'_>) -> BoxFuture<'a, Result<T, E>>;

impl Writer {
    /// Starts the task. It ends when it is closed, or when nobody can give it work any more.
    pub(super) async fn start(
        client: ClientWrapper,
        database: Database,
        bus: Arc<Bus>,
        clock: Arc<dyn Clock>,
        patience: Duration,
        tasks: &TaskTracker,
    ) -> Result<Self, StoreError> {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let modified = read::last_modified(&client).await?;
        // Of those who are gone for so long nobody wants to know anything any more.
        let sql = "DELETE FROM writers WHERE at < now() - interval '30 days'";
        execute(&client, sql, &[]).await?;
        let task = Task {
            link: Link { client: Some(client), database, tasks: tasks.clone() },
            bus,
            clock,
            patience,
            memory: Memory::new(),
            modified,
            name: Uuid::new_v4(),
        };
        tasks.spawn(task.run(waiting));
        Ok(Self { queue })
    }

    /// Has something written, and waits until it is on disk.
    pub(super) async fn run<I, T, E>(&self, input: I, work: Work<I, T, E>) -> Result<T, E>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
        E: Failure,
    {
        let (answer, answered) = oneshot::channel();
        let job = Message::Job(Box::new(Wanted { input, work, result: None, answer }));
        self.queue.send(job).await.map_err(|_| StoreError::Closed)?;
        answered.await.unwrap_or_else(|_| Err(StoreError::Closed.into()))
    }

    /// Ends the task after what waits was written.
    pub(super) async fn close(&self) {
        let (answer, answered) = oneshot::channel();
        if self.queue.send(Message::Close(answer)).await.is_ok() {
            // An error means that it has ended, too.
            answered.await.unwrap_or_default();
        }
    }
}

/// Something to be written, whatever it is.
trait Job: Send {
    /// Writes it.
    fn run<'a>(&'a mut self, scratch: &'a mut Scratch<'_>) -> BoxFuture<'a, Outcome>;

    /// Tells who wants it what came of it: its own result, if nothing else failed.
    fn finish(self: Box<Self>, failed: Option<StoreError>);
}

#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    Keep,
    Undo,
}

struct Wanted<I, T, E> {
    input: I,
    work: Work<I, T, E>,
    result: Option<Result<T, E>>,
    answer: oneshot::Sender<Result<T, E>>,
}

impl<I, T, E> Job for Wanted<I, T, E>
where
    I: Send + Sync,
    T: Send,
    E: Failure,
{
    fn run<'a>(&'a mut self, scratch: &'a mut Scratch<'_>) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let result = (self.work)(&self.input, scratch).await;
            let outcome = if result.is_ok() { Outcome::Keep } else { Outcome::Undo };
            self.result = Some(result);
            outcome
        })
    }

    fn finish(self: Box<Self>, failed: Option<StoreError>) {
        let result = match (failed, self.result) {
            // What is refused is refused, whatever became of the others.
            (Some(error), Some(Err(refused))) => match refused.of_database() {
                Ok(_) => Err(error.into()),
                Err(refused) => Err(refused),
            },
            (Some(error), _) => Err(error.into()),
            (None, Some(result)) => result,
            (None, None) => Err(StoreError::Closed.into()),
        };
        // An error means that nobody waits for it any more.
        drop(self.answer.send(result));
    }
}

/// What a job has at hand.
pub(super) struct Scratch<'a> {
    /// The connection, in a transaction.
    pub(super) client: &'a ClientWrapper,
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
    pub(super) async fn head(
        &mut self,
        session: SessionId,
    ) -> Result<Option<Arc<Head>>, StoreError> {
        match self.memory.head(session) {
            Known::There(head) => Ok(Some(head)),
            Known::Gone => Ok(None),
            Known::Unknown => {
                let found = read::head(self.client, session).await?;
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

/// The connection, while there is one.
struct Link {
    client: Option<ClientWrapper>,
    database: Database,
    tasks: TaskTracker,
}

struct Task {
    link: Link,
    bus: Arc<Bus>,
    clock: Arc<dyn Clock>,
    patience: Duration,
    memory: Memory,
    modified: Timestamp,
    /// What this one is called among those who write.
    name: Uuid,
}

/// What came of a transaction.
enum End {
    Committed,
    /// Nothing is there.
    Failed(StoreError),
    /// The connection was lost in the middle of the commit of this transaction.
    Unsure(Uuid),
}

impl Task {
    async fn run(mut self, mut waiting: mpsc::Receiver<Message>) {
        let mut closed = None;
        while closed.is_none() {
            let Some(first) = waiting.recv().await else { break };
            let (mut jobs, mut next) = (Vec::new(), Some(first));
            while let Some(message) = next {
                match message {
                    Message::Job(job) => jobs.push(job),
                    Message::Close(answer) => {
                        closed = Some(answer);
                        break;
                    }
                }
                next = if jobs.len() < BATCH { waiting.try_recv().ok() } else { None };
            }
            if jobs.is_empty() {
                continue;
            }
            let mut end = self.write(&mut jobs).await;
            let was_unsure = if let End::Unsure(transaction) = end {
                end = self.find_out(transaction, &mut waiting, &mut closed).await;
                true
            } else {
                false
            };
            self.finish(jobs, end);
            if was_unsure {
                // Somebody else may have written between the commit and now.
                self.memory.forget();
            }
        }
        // Whoever waits behind it is told that the store is closed, by the end of the queue.
        drop(waiting);
        if let Some(client) = self.link.client.take() {
            connect::give_back(client, self.patience).await;
        }
        if let Some(answer) = closed {
            // An error means that nobody waits for it any more.
            answer.send(()).unwrap_or_default();
        }
    }

    fn finish(&mut self, jobs: Vec<Box<dyn Job>>, end: End) {
        let error = match end {
            End::Committed => {
                self.memory.commit(&self.bus);
                jobs.into_iter().for_each(|job| job.finish(None));
                return;
            }
            End::Failed(error) => error,
            End::Unsure(_) => unavailable("nobody knows whether it was written"),
        };
        self.memory.roll_back();
        tracing::warn!(%error, "something could not be written to the store");
        let why = error.to_string();
        jobs.into_iter().for_each(|job| job.finish(Some(unavailable(why.clone()))));
    }

    /// Writes all in one transaction.
    async fn write(&mut self, jobs: &mut [Box<dyn Job>]) -> End {
        if let Err(error) = self.connect().await {
            return End::Failed(error);
        }
        let patience = self.patience;
        let transaction = match timeout(patience, self.transact(jobs)).await {
            Ok(Ok(transaction)) => transaction,
            Ok(Err(error)) => {
                // Nothing was committed, and the connection may be in the middle of anything.
                self.link.client = None;
                return End::Failed(error);
            }
            Err(_) => {
                self.link.client = None;
                return End::Failed(slow());
            }
        };
        let Some(client) = &self.link.client else { return End::Failed(slow()) };
        match timeout(patience, client.batch_execute("COMMIT")).await {
            Ok(Ok(())) => End::Committed,
            Ok(Err(error)) if is_refusal(&error) => End::Failed(error.into()),
            _ => {
                self.link.client = None;
                End::Unsure(transaction)
            }
        }
    }

    /// Connects again if the connection is lost, and takes the lock again.
    async fn connect(&mut self) -> Result<&ClientWrapper, StoreError> {
        if self.link.client.as_ref().is_none_or(|client| client.is_closed()) {
            self.link.client = None;
            let connecting = connect::take(&self.link.database, &self.link.tasks);
            let client = match timeout(self.patience, connecting).await {
                Ok(Ok(client)) => client,
                // Another server, or our own connection that the database does not know to be lost.
                Ok(Err(StoreError::InUse(who))) => return Err(unavailable(who)),
                Ok(Err(error)) => return Err(error),
                Err(_) => return Err(slow()),
            };
            // Somebody else may have had it meanwhile.
            self.memory.forget();
            self.modified = read::last_modified(&client).await?.max(self.modified);
            self.link.client = Some(client);
        }
        self.link.client.as_ref().ok_or(StoreError::Closed)
    }

    /// Runs all jobs, and gives the name of the transaction.
    async fn transact(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<Uuid, StoreError> {
        let Self { link, clock, memory, modified, name, .. } = self;
        let client = link.client.as_ref().ok_or(StoreError::Closed)?;
        client.batch_execute("BEGIN").await?;
        let transaction = Uuid::new_v4();
        let sql = "INSERT INTO writers (id, last, at) VALUES ($1, $2, now())
                   ON CONFLICT (id) DO UPDATE SET last = $2, at = now()";
        execute(client, sql, &[&*name, &transaction]).await?;
        for job in jobs {
            client.batch_execute("SAVEPOINT job").await?;
            let clock = &**clock;
            let mut scratch = Scratch { client, memory, clock, modified };
            // Whatever went wrong with it: when the savepoint can be undone, the others go on.
            if job.run(&mut scratch).await == Outcome::Keep {
                memory.keep_job();
                client.batch_execute("RELEASE job").await?;
            } else {
                memory.undo_job();
                client.batch_execute("ROLLBACK TO job; RELEASE job").await?;
            }
        }
        Ok(transaction)
    }

    /// Asks the database whether a transaction was committed, as soon as it can be asked. Whoever
    /// wants something else meanwhile is told that it cannot be had.
    async fn find_out(
        &mut self,
        transaction: Uuid,
        waiting: &mut mpsc::Receiver<Message>,
        closed: &mut Option<oneshot::Sender<()>>,
    ) -> End {
        loop {
            match self.has_committed(transaction).await {
                Ok(true) => return End::Committed,
                Ok(false) => {
                    return End::Failed(unavailable("the connection was lost before the commit"));
                }
                Err(error) => tracing::warn!(%error, "the database cannot be asked"),
            }
            let deadline = tokio::time::sleep(AGAIN);
            tokio::pin!(deadline);
            loop {
                tokio::select! {
                    () = &mut deadline => break,
                    message = waiting.recv() => match message {
                        Some(Message::Job(job)) => job.finish(Some(unavailable(
                            "the connection to the database is lost",
                        ))),
                        Some(Message::Close(answer)) => {
                            *closed = Some(answer);
                            return End::Unsure(transaction);
                        }
                        None => return End::Unsure(transaction),
                    },
                }
            }
        }
    }

    /// Whether the transaction was committed that was the last one to be begun.
    async fn has_committed(&mut self, transaction: Uuid) -> Result<bool, StoreError> {
        let (patience, name) = (self.patience, self.name);
        let client = self.connect().await?;
        let values: [Value<'_>; 1] = [&name];
        let asking = query_opt(client, "SELECT last FROM writers WHERE id = $1", &values);
        let last = match timeout(patience, asking).await {
            Ok(row) => row?.map(|row| row.try_get::<_, Uuid>(0)).transpose()?,
            Err(_) => {
                self.link.client = None;
                return Err(slow());
            }
        };
        Ok(last == Some(transaction))
    }
}

/// Whether the database says that it does not commit, as opposed to being gone.
fn is_refusal(error: &tokio_postgres::Error) -> bool {
    let severity = error.as_db_error().and_then(DbError::parsed_severity);
    severity == Some(Severity::Error)
}

fn slow() -> StoreError {
    unavailable("the database did not answer in time")
}
