//! A server is killed while it writes: what it acknowledged is there, and the log explains the rest.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use countersign_server::bus::Bus;
use countersign_server::id::{ApprovalId, MessageId, SessionId, TurnId};
use countersign_server::session::*;
use countersign_server::store::conformance::agrees;
use countersign_server::store::{SqliteStore, Store as _, StoreError, Write, Written};
use tokio::task::JoinSet;

use crate::random::{answered, created, opened, queued, started};

/// Where the child finds its store.
const STORE: &str = "COUNTERSIGN_TEST_STORE";

/// What one session does, one write at a time.
fn life() -> Vec<Vec<Happening>> {
    let (message, turn) = (MessageId::new(), TurnId::new());
    let mut all = vec![vec![created(), queued(message, "Begin")], started(1).to_vec()];
    let sent = MessageSent { message, turn }.into();
    all.push(vec![TurnBegan { turn, cause: TurnCause::Message }.into(), sent]);
    for number in 0..20 {
        let approval = ApprovalId::new();
        all.push(vec![opened(approval, 1, Some(turn))]);
        all.push(vec![answered(approval, false)]);
        let delivered = ApprovalDelivered { approval, generation: 1, how: Delivery::Live };
        let closed = ApprovalClosed { approval, end: ApprovalEnd::Done, why: None };
        all.push(vec![delivered.into(), Noted { text: "x".repeat(number * 1000) }.into()]);
        all.push(vec![closed.into()]);
    }
    all
}

/// Writes until it is killed, and says of each event that it is written. It is started by the test
/// below.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "it is started by the test that kills it"]
async fn a_server_that_writes() {
    let Some(path) = std::env::var_os(STORE) else { return };
    let store = Arc::new(SqliteStore::open(path, Arc::new(Bus::new())).await.unwrap());
    let mut tasks = JoinSet::new();
    for _ in 0..8 {
        let store = Arc::clone(&store);
        tasks.spawn(async move {
            loop {
                let session = SessionId::new();
                for happenings in life() {
                    let written = store.write(Write::to(session, happenings)).await.unwrap();
                    let Written::Now { events, .. } = written else { return };
                    let lines: Vec<_> = events
                        .iter()
                        .map(|e| format!("written {} {} {}\n", e.session, e.seq, e.position))
                        .collect();
                    std::io::stderr().write_all(lines.concat().as_bytes()).unwrap();
                }
            }
        });
    }
    tasks.join_next().await.unwrap().unwrap();
}

/// Runs a server until it has said so many times that something is written, kills it, and gives all
/// that it said.
#[expect(clippy::disallowed_methods, reason = "the process is killed here, which is the test")]
fn run_and_kill(path: &Path, after: usize) -> BTreeSet<(SessionId, u64, u64)> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["killed::a_server_that_writes", "--exact", "--ignored", "--nocapture"])
        .env(STORE, path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BTreeSet::new();
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        let line = line.unwrap();
        let mut words = line.split(' ');
        if words.next() != Some("written") {
            // Of the last one there may be a part only.
            continue;
        }
        let mut next = || words.next().unwrap_or_default();
        let (session, seq, position) = (next().parse(), next().parse(), next().parse());
        if let (Ok(session), Ok(seq), Ok(position)) = (session, seq, position) {
            said.insert((session, seq, position));
        }
        if said.len() == after {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(said.len() >= after, "the server ended by itself after {} events", said.len());
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_server_acknowledged_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let mut said = BTreeSet::new();
    for round in 0..10 {
        let (of, after) = (path.clone(), 1 + round * 60);
        let run = tokio::task::spawn_blocking(move || run_and_kill(&of, after));
        said.extend(run.await.unwrap());
        let store = SqliteStore::open(&path, Arc::new(Bus::new())).await.unwrap();
        let log = store.all_events(0, &[], usize::MAX).await.unwrap();
        let there: BTreeSet<_> = log.iter().map(|e| (e.session, e.seq, e.position)).collect();
        let lost: Vec<_> = said.difference(&there).collect();
        assert!(lost.is_empty(), "acknowledged, and not there: {lost:?}");
        let sessions: BTreeSet<_> = log.iter().map(|event| event.session).collect();
        for session in sessions {
            agrees(&store, session).await.unwrap();
        }
        store.check().await.unwrap();
        store.close().await.unwrap();
    }
}

#[tokio::test]
async fn the_lock_of_a_killed_server_is_not_in_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let of = path.clone();
    tokio::task::spawn_blocking(move || run_and_kill(&of, 1)).await.unwrap();
    let store = SqliteStore::open(&path, Arc::new(Bus::new())).await.unwrap();
    let second = SqliteStore::open(&path, Arc::new(Bus::new())).await;
    assert!(matches!(second, Err(StoreError::InUse(_))), "{second:?}");
    store.close().await.unwrap();
}
