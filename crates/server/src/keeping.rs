//! How long things are kept: what is of no use any more is forgotten, now and then.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::config::Retention;
use crate::session::By;
use crate::store::{SessionFilter, Store, StoreError, WriteError};

/// How often is looked.
const LOOK: Duration = Duration::from_secs(60 * 60);

/// How many sessions are deleted before others who want to write are let in.
const AT_ONCE: usize = 100;

/// Forgets what nobody wants to be kept any more.
pub(crate) struct Keeping {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) access: Arc<Access>,
    pub(crate) retention: Retention,
}

impl Keeping {
    /// Looks at once, and then every hour until it is told to stop.
    pub(crate) async fn run(self, stop: CancellationToken) {
        loop {
            self.forget(Timestamp::now()).await;
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = stop.cancelled() => return,
            }
        }
    }

    async fn forget(&self, now: Timestamp) {
        if let Err(error) = self.access.forget_expired().await {
            tracing::warn!(%error, "links and cookies that are over could not be forgotten");
        }
        if let Some(before) = ago(now, self.retention.idempotency_keys)
            && let Err(error) = self.store.forget_commands(before).await
        {
            tracing::warn!(%error, "old commands could not be forgotten");
        }
        if let Some(before) = self.retention.audit.and_then(|kept| ago(now, kept)) {
            match self.store.forget_audit(before).await {
                Ok(0) => {}
                Ok(gone) => tracing::info!(gone, "old entries of the audit were forgotten"),
                Err(error) => tracing::warn!(%error, "the old audit could not be forgotten"),
            }
        }
        if let Some(before) = self.retention.archived_sessions.and_then(|kept| ago(now, kept)) {
            match self.forget_sessions(before).await {
                Ok(0) => {}
                Ok(gone) => tracing::info!(gone, "old sessions in the archive were deleted"),
                Err(error) => tracing::warn!(%error, "old sessions could not be deleted"),
            }
        }
    }

    /// Deletes what is in the archive and was not touched since this time.
    async fn forget_sessions(&self, before: Timestamp) -> Result<u64, StoreError> {
        let mut gone = 0;
        let mut filter = SessionFilter {
            archived: Some(true),
            untouched_since: Some(before),
            limit: AT_ONCE,
            ..SessionFilter::default()
        };
        loop {
            let page = self.store.sessions(filter.clone()).await?;
            for head in &page.items {
                match self.store.delete(head.id, By::Server).await {
                    Ok(()) => gone += 1,
                    // Somebody has begun to use it, or was faster.
                    Err(WriteError::Store(error)) => return Err(error),
                    Err(error) => tracing::info!(session = %head.id, %error, "it is kept"),
                }
            }
            match page.next {
                Some(next) => filter.after = Some(next),
                None => return Ok(gone),
            }
        }
    }
}

/// So long before a time; none if that is before all times.
fn ago(now: Timestamp, time: Duration) -> Option<Timestamp> {
    now.checked_sub(SignedDuration::try_from(time).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use jiff::{SignedDuration, Timestamp};

    use super::Keeping;
    use crate::access::{Access, Cookies, MemoryAccess, SystemClock};
    use crate::bus::Bus;
    use crate::config::{Config, Retention};
    use crate::id::{ConversationId, SessionId};
    use crate::session::{Archived, By, Created, Happening};
    use crate::store::{AuditFilter, Command, SqliteStore, Store, Write, Written};

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    fn created() -> Happening {
        let created = Created {
            folder: "/work".into(),
            title: "kept".into(),
            labels: Default::default(),
            mode: countersign_protocol::permission::PermissionMode::Default,
            model: None,
            options: Default::default(),
            conversation: ConversationId::new(),
            parent: None,
            by: By::Server,
        };
        created.into()
    }

    /// What is left of two sessions, one of them in the archive: which sessions, how much of the
    /// audit, and whether the command is known.
    async fn left(retention: Retention, later: Duration) -> (bool, bool, usize, bool) {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("store"), Arc::new(Bus::new())).await;
        let store: Arc<dyn Store> = Arc::new(store.unwrap());
        let (put_away, in_use) = (SessionId::new(), SessionId::new());
        let command = Command {
            owner: "one".into(),
            key: "key".into(),
            fingerprint: "f".into(),
            response: "{}".into(),
        };
        let archive = Archived { archived: true, by: By::Server };
        let write = Write::to(put_away, vec![created(), archive.into()]);
        store.write(write.because_of(Some(command.clone()))).await.unwrap();
        store.write(Write::to(in_use, vec![created()])).await.unwrap();
        let config = Config::default();
        let access = Access::new(
            Arc::new(MemoryAccess::default()),
            Arc::new(SystemClock),
            Cookies::of(&config, config.listen),
            "http://localhost".to_owned(),
        );
        let keeping = Keeping { store: Arc::clone(&store), access: Arc::new(access), retention };
        keeping.forget(Timestamp::now() + SignedDuration::try_from(later).unwrap()).await;
        let audit = store.audit(AuditFilter::default()).await.unwrap().items.len();
        let (put_away, used) = (store.head(put_away).await.unwrap(), store.head(in_use).await);
        let again = Write::default().because_of(Some(command));
        let known = matches!(store.write(again).await, Ok(Written::Before { .. }));
        store.close().await.unwrap();
        (put_away.is_some(), used.unwrap().is_some(), audit, known)
    }

    #[tokio::test]
    async fn nothing_is_deleted_unless_somebody_wants_it() {
        let (put_away, in_use, audit, known) = left(Retention::default(), 10_000 * DAY).await;
        assert!(put_away && in_use && !known);
        assert_eq!(audit, 3);
    }

    #[tokio::test]
    async fn what_is_old_is_forgotten_and_what_is_in_use_is_kept() {
        let retention = Retention {
            archived_sessions: Some(90 * DAY),
            audit: Some(365 * DAY),
            idempotency_keys: 120 * DAY,
        };
        assert_eq!(left(retention.clone(), 89 * DAY).await, (true, true, 3, true));
        // The audit has one more entry: that the session was deleted.
        assert_eq!(left(retention.clone(), 91 * DAY).await, (false, true, 4, true));
        assert_eq!(left(retention.clone(), 121 * DAY).await, (false, true, 4, false));
        assert_eq!(left(retention, 366 * DAY).await, (false, true, 1, false));
    }
}
