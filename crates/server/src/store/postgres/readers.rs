//! Connections that read.

use std::time::Duration;

use deadpool_postgres::{Client, Pool, PoolError};
use tokio::time::timeout;

use super::connect::unavailable;
use crate::store::{StoreError, StoreFuture};

/// Connections that read, as many as there may be at the same time.
#[derive(Clone, Debug)]
pub(super) struct Readers {
    pool: Pool,
    patience: Duration,
}

impl Readers {
    pub(super) const fn new(pool: Pool, patience: Duration) -> Self {
        Self { pool, patience }
    }

    /// Reads, within the time that there is for it.
    pub(super) fn read<'a, T, F>(
        &'a self,
        work: impl FnOnce(Client) -> F + Send + 'a,
    ) -> StoreFuture<'a, T>
    where
        T: Send + 'a,
        F: Future<Output = Result<T, StoreError>> + Send + 'a,
    {
        Box::pin(async move {
            let client = self.client().await?;
            timeout(self.patience, work(client))
                .await
                .unwrap_or_else(|_| Err(unavailable("the database did not answer in time")))
        })
    }

    async fn client(&self) -> Result<Client, StoreError> {
        self.pool.get().await.map_err(|error| match error {
            PoolError::Closed => StoreError::Closed,
            PoolError::Backend(error) => error.into(),
            error => unavailable(error),
        })
    }

    /// Lets nobody read any more.
    pub(super) fn close(&self) {
        self.pool.close();
    }
}
