//! Stands between somebody and a database, and loses the connection in the middle of a commit.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;

/// What is lost of a commit, and with it the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lose {
    /// The commit itself: the database never sees it.
    Commit,
    /// The answer: the database commits.
    Answer,
}

/// A socket that leads to that of a database.
#[derive(Debug)]
pub struct Lossy {
    folder: TempDir,
    plan: Arc<Mutex<Plan>>,
    _carrying: JoinSet<()>,
}

/// What is lost next.
#[derive(Debug, Default)]
struct Plan {
    next: Option<Lose>,
    /// What has to be in the transaction.
    with: Vec<u8>,
    /// Whether nobody gets through once it is lost.
    shuts: bool,
    is_shut: bool,
}

/// What the socket of PostgreSQL is called in its folder.
const SOCKET: &str = ".s.PGSQL.5432";

impl Lossy {
    /// Leads to the database whose socket is in this folder.
    ///
    /// # Errors
    ///
    /// When there can be no socket.
    pub fn to(database: &Path) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let listener = UnixListener::bind(folder.path().join(SOCKET))?;
        let plan: Arc<Mutex<Plan>> = Arc::default();
        let (database, losing) = (database.join(SOCKET), Arc::clone(&plan));
        let mut accepting = JoinSet::new();
        accepting.spawn(async move {
            let mut carried = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                while carried.try_join_next().is_some() {}
                if planned(&losing).is_shut {
                    continue;
                }
                let Ok(database) = UnixStream::connect(&database).await else { continue };
                carried.spawn(carry(client, database, Arc::clone(&losing)));
            }
        });
        Ok(Self { folder, plan, _carrying: accepting })
    }

    /// The folder that the socket is found in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Loses the next commit that comes by.
    pub fn lose(&self, what: Lose) {
        self.lose_one_with(what, "");
    }

    /// Loses the next commit of a transaction that has this in it.
    pub fn lose_one_with(&self, what: Lose, text: &str) {
        let with = text.as_bytes().to_vec();
        *planned(&self.plan) = Plan { next: Some(what), with, ..Plan::default() };
    }

    /// Loses the next commit that comes by, and then lets nobody through until it is told to.
    pub fn lose_and_shut(&self, what: Lose) {
        *planned(&self.plan) = Plan { next: Some(what), shuts: true, ..Plan::default() };
    }

    /// Lets everybody through again.
    pub fn let_through(&self) {
        planned(&self.plan).is_shut = false;
    }

    /// Whether a commit was lost since.
    #[must_use]
    pub fn has_lost(&self) -> bool {
        planned(&self.plan).next.is_none()
    }
}

fn planned(plan: &Mutex<Plan>) -> MutexGuard<'_, Plan> {
    plan.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Carries bytes both ways, until either side ends or a commit is lost.
async fn carry(mut client: UnixStream, mut database: UnixStream, plan: Arc<Mutex<Plan>>) {
    let (mut asked, mut answered) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    let mut transaction = Vec::new();
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(count @ 1..) = read else { return };
                let asked = asked.get(..count).unwrap_or_default();
                transaction.extend_from_slice(asked);
                let lose = if has(asked, b"COMMIT\0") {
                    let whole = std::mem::take(&mut transaction);
                    lost(&mut planned(&plan), &whole)
                } else {
                    None
                };
                if lose == Some(Lose::Commit) || database.write_all(asked).await.is_err() {
                    return;
                }
                if lose == Some(Lose::Answer) {
                    // When it has answered, it has committed.
                    drop(database.readable().await);
                    return;
                }
            }
            read = database.read(&mut answered) => {
                let Ok(count @ 1..) = read else { return };
                let answered = answered.get(..count).unwrap_or_default();
                if client.write_all(answered).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// What is lost of the commit of this transaction.
fn lost(plan: &mut Plan, transaction: &[u8]) -> Option<Lose> {
    if !has(transaction, &plan.with) {
        return None;
    }
    let lose = plan.next.take()?;
    plan.is_shut = plan.shuts;
    Some(lose)
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    part.is_empty() || bytes.windows(part.len()).any(|found| found == part)
}
