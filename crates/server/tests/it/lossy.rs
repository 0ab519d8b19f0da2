//! Stands between a store and its database, and loses the connection in the middle of a commit.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

/// What is lost of the next commit, and with it the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lose {
    /// The commit itself: the database never sees it.
    Commit = 1,
    /// The answer: the database commits.
    Answer = 2,
}

/// A socket that leads to another one.
pub(crate) struct Lossy {
    folder: TempDir,
    next: Arc<AtomicU8>,
    _ends: DropGuard,
}

/// What the socket of PostgreSQL is called in its folder.
const SOCKET: &str = ".s.PGSQL.5432";

impl Lossy {
    /// Leads to the database whose socket is in this folder.
    pub(crate) fn to(database: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join(SOCKET)).unwrap();
        let (next, end) = (Arc::new(AtomicU8::new(0)), CancellationToken::new());
        let (database, tasks) = (database.join(SOCKET), TaskTracker::new());
        let (serving, losing, ends) = (tasks.clone(), Arc::clone(&next), end.clone().drop_guard());
        tasks.spawn(end.clone().run_until_cancelled_owned(async move {
            while let Ok((store, _)) = listener.accept().await {
                let Ok(database) = UnixStream::connect(&database).await else { continue };
                let carried = carry(store, database, Arc::clone(&losing));
                serving.spawn(end.clone().run_until_cancelled_owned(carried));
            }
        }));
        Self { folder, next, _ends: ends }
    }

    /// The folder that the store finds the socket in.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Loses the next commit that comes by.
    pub(crate) fn lose(&self, what: Lose) {
        self.next.store(what as u8, Ordering::SeqCst);
    }

    /// Whether a commit was lost since.
    pub(crate) fn has_lost(&self) -> bool {
        self.next.load(Ordering::SeqCst) == 0
    }
}

/// Carries bytes both ways, until either side ends or a commit is lost.
async fn carry(mut store: UnixStream, mut database: UnixStream, losing: Arc<AtomicU8>) {
    let (mut asked, mut answered) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    loop {
        tokio::select! {
            read = store.read(&mut asked) => {
                let Ok(count @ 1..) = read else { return };
                let asked = asked.get(..count).unwrap_or_default();
                let commits = asked.windows(7).any(|part| part == b"COMMIT\0");
                let lose = if commits { losing.swap(0, Ordering::SeqCst) } else { 0 };
                if lose == Lose::Commit as u8 || database.write_all(asked).await.is_err() {
                    return;
                }
                if lose == Lose::Answer as u8 {
                    // It has answered, so it has committed.
                    database.readable().await.unwrap();
                    return;
                }
            }
            read = database.read(&mut answered) => {
                let Ok(count @ 1..) = read else { return };
                let answered = answered.get(..count).unwrap_or_default();
                if store.write_all(answered).await.is_err() {
                    return;
                }
            }
        }
    }
}
