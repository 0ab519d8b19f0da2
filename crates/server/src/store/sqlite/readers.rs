//! Connections that read. The writer never holds them up, nor they the writer.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::{Semaphore, oneshot};

use super::file::{StoreFile, unavailable};
use crate::store::StoreError;

/// Connections that read, as many as there may be at the same time.
#[derive(Debug)]
pub(super) struct Readers {
    file: Arc<StoreFile>,
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
    count: u32,
}

/// Reads from a connection, and sends the result elsewhere.
type Work = Box<dyn FnOnce(&Connection) -> Result<(), StoreError> + Send>;

impl Readers {
    pub(super) fn new(file: Arc<StoreFile>, count: u32) -> Self {
        let permits = usize::try_from(count).unwrap_or(1);
        Self { file, idle: Arc::default(), permits: Arc::new(Semaphore::new(permits)), count }
    }

    /// Reads, away from the threads that must not wait. All that `work` reads is of one moment.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (send, mut receive) = oneshot::channel();
        let work = move |connection: &Connection| {
            // The receiver is gone if nobody waits for the result any more.
            drop(send.send(work(connection)?));
            Ok(())
        };
        self.run(Box::new(work)).await?;
        receive.try_recv().map_err(unavailable)
    }

    /// The body of [`read`](Self::read), which is compiled once for all that is read.
    async fn run(&self, work: Work) -> Result<(), StoreError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(|_| StoreError::Closed)?;
        let (file, idle) = (Arc::clone(&self.file), Arc::clone(&self.idle));
        let reading = tokio::task::spawn_blocking(move || {
            let found = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let connection = match found {
                Some(connection) => connection,
                None => file.reader()?,
            };
            let transaction = connection.unchecked_transaction()?;
            work(&transaction)?;
            // Nothing was written, so there is nothing that could be lost with it.
            transaction.finish()?;
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            drop(permit);
            Ok(())
        });
        reading.await.map_err(unavailable)?
    }

    /// Waits for everybody who reads, and lets nobody read any more.
    pub(super) async fn close(&self) {
        let all = self.permits.acquire_many(self.count).await.is_ok();
        self.permits.close();
        if all {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }
}
