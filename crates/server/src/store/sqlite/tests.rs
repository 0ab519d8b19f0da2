//! What becomes of a store when things go wrong under it.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::mpsc::{self, SyncSender};

use futures_util::StreamExt as _;
use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::bus::News;
use crate::session::{Created, Happening, Noted};
use crate::store::conformance::agrees;

/// A store in a folder, and who is told of what is written.
struct Fixture {
    folder: TempDir,
    store: SqliteStore,
    news: tokio::sync::broadcast::Receiver<News>,
}

fn settings() -> SqliteSettings {
    SqliteSettings { patience: Duration::from_millis(20), ..SqliteSettings::default() }
}

impl Fixture {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bus = Arc::new(Bus::new());
        let news = bus.subscribe_all();
        let path = folder.path().join("store");
        let store = SqliteStore::open_with(path, bus, settings()).await.unwrap();
        Self { folder, store, news }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    async fn create(&mut self) -> SessionId {
        let session = SessionId::new();
        let created = Created {
            folder: "/work".into(),
            title: "A session".into(),
            labels: Default::default(),
            mode: "default".into(),
            model: None,
            options: Box::default(),
            conversation: Default::default(),
            parent: None,
            by: By::Server,
        };
        self.store.write(Write::to(session, vec![created.into()])).await.unwrap();
        self.news.recv().await.unwrap();
        session
    }

    async fn note(&self, session: SessionId, text: &str) -> Result<Written, WriteError> {
        self.store.write(Write::to(session, vec![noted(text)])).await
    }

    /// Runs SQL on the connection that writes.
    async fn sql(&self, sql: &'static str) {
        let run = move |connection: &Connection| {
            // Some pragmas give a row, and some do not.
            let mut statement = connection.prepare(sql).unwrap();
            let mut rows = statement.query([]).unwrap();
            while rows.next().unwrap().is_some() {}
        };
        self.store.writer.tamper(run).await;
    }

    /// Holds the thread that writes until what is given back is dropped.
    async fn hold(&self) -> SyncSender<()> {
        let (release, held) = mpsc::sync_channel::<()>(0);
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let mut begun = Some(begun);
        let writer = self.store.writer.clone();
        let job = async move {
            let wait = move |_: &mut Scratch<'_>| -> Result<(), StoreError> {
                begun.take().map(|begun| begun.send(())).transpose().unwrap();
                // It ends with an error, because nothing is ever sent.
                held.recv().unwrap_err();
                Ok(())
            };
            drop(writer.run(wait).await);
        };
        tokio_util::task::TaskTracker::new().spawn(job);
        has_begun.await.unwrap();
        release
    }
}

fn noted(text: &str) -> Happening {
    Noted { text: text.into() }.into()
}

#[track_caller]
fn is_unavailable<T: std::fmt::Debug>(result: &Result<T, WriteError>) {
    assert!(
        matches!(result, Err(WriteError::Store(StoreError::Unavailable(_)))),
        "should be unavailable: {result:?}"
    );
}

/// Nothing can be written, and everything can be when the cause is gone.
async fn fails_and_recovers(
    mut fixture: Fixture,
    session: SessionId,
    repair: impl AsyncFnOnce(&Fixture),
) {
    let large = "x".repeat(2 << 20);
    let before = fixture.store.head(session).await.unwrap();
    for _ in 0..3 {
        is_unavailable(&fixture.note(session, &large).await);
    }
    let (one, two) = tokio::join!(fixture.note(session, &large), fixture.note(session, &large));
    is_unavailable(&one);
    is_unavailable(&two);
    // What was there can be read, and nothing else is there.
    assert_eq!(fixture.store.head(session).await.unwrap(), before);
    assert!(fixture.news.try_recv().is_err(), "subscribers were told of what is not on disk");
    agrees(&fixture.store, session).await.unwrap();
    repair(&fixture).await;
    let Written::Now { events, .. } = fixture.note(session, &large).await.unwrap() else {
        panic!("it was never written before");
    };
    assert_eq!(events[0].seq, 2, "the head in memory was ahead of the disk");
    agrees(&fixture.store, session).await.unwrap();
    fixture.store.check().await.unwrap();
}

#[tokio::test]
async fn a_full_disk_loses_nothing_and_is_survived() {
    let mut fixture = Fixture::new().await;
    let session = fixture.create().await;
    fixture.sql("PRAGMA max_page_count = 100").await;
    let repair = async |fixture: &Fixture| fixture.sql("PRAGMA max_page_count = 100000").await;
    fails_and_recovers(fixture, session, repair).await;
}

#[tokio::test]
async fn all_who_wait_for_a_locked_file_are_told_at_once() {
    let mut fixture = Fixture::new().await;
    let session = fixture.create().await;
    let other = Connection::open(fixture.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    // All of them wait before the first is tried.
    let (release, held) = mpsc::sync_channel::<()>(0);
    // It ends with an error, because nothing is ever sent.
    fixture.store.writer.tamper(move |_| assert!(held.recv().is_err())).await;
    let mut writes: futures_util::stream::FuturesUnordered<_> =
        (0..20).map(|_| fixture.note(session, "waits")).collect();
    assert!(futures_util::poll!(writes.next()).is_pending());
    drop(release);
    assert!(writes.next().await.unwrap().is_err());
    other.execute_batch("COMMIT").unwrap();
    while let Some(written) = writes.next().await {
        assert!(written.is_err());
    }
    drop(writes);
    fixture.note(session, "goes on").await.unwrap();
}

#[tokio::test]
async fn a_lock_of_another_process_is_waited_for_and_then_survived() {
    let mut fixture = Fixture::new().await;
    let session = fixture.create().await;
    let other = Connection::open(fixture.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(matches!(fixture.store.check().await, Err(StoreError::Unavailable(_))));
    let repair = async |_: &Fixture| other.execute_batch("ROLLBACK").unwrap();
    fails_and_recovers(fixture, session, repair).await;
}

#[tokio::test]
async fn a_file_that_may_not_be_written_is_survived() {
    let mut fixture = Fixture::new().await;
    let session = fixture.create().await;
    fixture.sql("PRAGMA query_only = TRUE").await;
    let repair = async |fixture: &Fixture| fixture.sql("PRAGMA query_only = FALSE").await;
    fails_and_recovers(fixture, session, repair).await;
}

#[tokio::test]
async fn a_file_that_was_moved_is_not_written_to_until_it_is_back() {
    let mut fixture = Fixture::new().await;
    let session = fixture.create().await;
    let (path, away) = (fixture.path(), fixture.folder.path().join("away"));
    std::fs::rename(&path, &away).unwrap();
    is_unavailable(&fixture.note(session, "nowhere").await);
    // Another file in its place is not it.
    std::fs::write(&path, "").unwrap();
    is_unavailable(&fixture.note(session, "elsewhere").await);
    let read = fixture.store.head(session).await;
    assert!(matches!(read, Err(StoreError::Unavailable(_))), "{read:?}");
    std::fs::rename(&away, &path).unwrap();
    let Written::Now { events, .. } = fixture.note(session, "here").await.unwrap() else {
        panic!("it was never written before");
    };
    assert_eq!((events[0].seq, events[0].position), (2, 2));
    agrees(&fixture.store, session).await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_committed_does_not_stop_what_waits_beside_it() {
    let mut fixture = Fixture::new().await;
    let session = fixture.create().await;
    fixture.news = fixture.news.resubscribe();
    let release = fixture.hold().await;
    // Found out by the commit only: a label of a session that is not there.
    let broken = fixture.store.change(|scratch| {
        scratch.connection.pragma_update(None, "defer_foreign_keys", true)?;
        let sql = "INSERT INTO labels (label, session) VALUES ('of none', 999)";
        scratch.connection.execute(sql, [])?;
        Ok(())
    });
    let (first, broken, second, ()) = tokio::join!(
        fixture.note(session, "before"),
        broken,
        fixture.note(session, "after"),
        async move {
            tokio::task::yield_now().await;
            drop(release);
        }
    );
    first.unwrap();
    assert!(matches!(broken, Err(StoreError::Unavailable(_))), "{broken:?}");
    second.unwrap();
    let head = fixture.store.head(session).await.unwrap().unwrap();
    assert_eq!(head.seq, 3);
    for expected in [2, 3] {
        let Ok(News::Event { event, head }) = fixture.news.try_recv() else {
            panic!("subscribers were not told of everything");
        };
        assert_eq!((event.seq, head.seq), (expected, expected));
    }
    assert!(fixture.news.try_recv().is_err(), "subscribers were told of something twice");
    agrees(&fixture.store, session).await.unwrap();
}

#[tokio::test]
async fn whoever_reads_does_not_wait_for_whoever_writes() {
    let mut fixture = Fixture::new().await;
    let session = fixture.create().await;
    let release = fixture.hold().await;
    assert!(fixture.store.head(session).await.unwrap().is_some());
    assert_eq!(fixture.store.last_position().await.unwrap(), 1);
    drop(release);
    fixture.note(session, "later").await.unwrap();
}

#[tokio::test]
async fn the_files_are_for_their_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made").join("store");
    std::fs::create_dir(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let store = SqliteStore::open(&path, Arc::default()).await.unwrap();
    store.check().await.unwrap();
    let mut names = Vec::new();
    for entry in std::fs::read_dir(path.parent().unwrap()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", entry.path());
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    assert_eq!(names, ["store", "store-shm", "store-wal", "store.lock"]);
}

#[tokio::test]
async fn a_second_server_is_told_which_process_to_stop() {
    let fixture = Fixture::new().await;
    let link = fixture.folder.path().join("link");
    std::os::unix::fs::symlink(fixture.path(), &link).unwrap();
    for path in [fixture.path(), link] {
        let error = SqliteStore::open(path, Arc::default()).await.unwrap_err();
        let StoreError::InUse(message) = error else { panic!("{error:?}") };
        assert!(message.contains(&format!("process {}", std::process::id())), "{message}");
    }
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_refused_and_left_alone() {
    let fixture = Fixture::new().await;
    fixture.store.close().await.unwrap();
    let path = fixture.path();
    let connection = Connection::open(&path).unwrap();
    let version: i64 =
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 2);
    connection.pragma_update(None, "user_version", 1000).unwrap();
    drop(connection);
    let error = SqliteStore::open(&path, Arc::default()).await.unwrap_err();
    assert!(matches!(&error, StoreError::Version(why) if why.contains("1000")), "{error}");
}

#[tokio::test]
async fn a_file_of_something_else_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE mine (a); INSERT INTO mine VALUES (1)").unwrap();
    let error = SqliteStore::open(&path, Arc::default()).await.unwrap_err();
    assert!(matches!(error, StoreError::Version(_)), "{error}");
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 1);
    let text = folder.path().join("text");
    std::fs::write(
        &text,
        "not a database at all, but a text that is longer than a header".repeat(99),
    )
    .unwrap();
    let error = SqliteStore::open(&text, Arc::default()).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_whole_while_others_write() {
    let mut fixture = Fixture::new().await;
    let session = fixture.create().await;
    let text = "x".repeat(100_000);
    for _ in 0..50 {
        fixture.note(session, &text).await.unwrap();
    }
    let to = fixture.folder.path().join("copy");
    let is_done = std::sync::atomic::AtomicBool::new(false);
    let write = async {
        let mut written = 0;
        while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
            fixture.note(session, "meanwhile").await.unwrap();
            written += 1;
        }
        written
    };
    let backup = async {
        for number in 0..5 {
            let copy = to.with_extension(number.to_string());
            fixture.store.backup(copy).await.unwrap();
        }
        is_done.store(true, std::sync::atomic::Ordering::Relaxed);
    };
    let (written, ()) = tokio::join!(write, backup);
    assert!(written > 0, "nothing was written meanwhile");
    let mut lengths = Vec::new();
    for number in 0..5 {
        let copy = to.with_extension(number.to_string());
        let mode = copy.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let copy = SqliteStore::open(copy, Arc::default()).await.unwrap();
        agrees(&copy, session).await.unwrap();
        lengths.push(copy.head(session).await.unwrap().unwrap().seq);
        copy.close().await.unwrap();
    }
    assert!(lengths.is_sorted() && lengths[0] >= 51, "{lengths:?}");
}

#[tokio::test]
async fn a_backup_writes_over_nothing_and_leaves_no_part() {
    let mut fixture = Fixture::new().await;
    fixture.create().await;
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().join("there");
    std::fs::write(&there, "mine").unwrap();
    let error = fixture.store.backup(there.clone()).await.unwrap_err();
    assert!(matches!(error, StoreError::Exists(_)), "{error}");
    assert_eq!(std::fs::read(&there).unwrap(), b"mine");
    let nowhere = folder.path().join("no/such/folder");
    assert!(fixture.store.backup(nowhere).await.is_err());
    fixture.store.backup(folder.path().join("copy")).await.unwrap();
    let mut names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["copy", "there"]);
}

#[tokio::test]
async fn a_file_of_the_first_version_is_brought_to_the_newest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(include_str!("schema.sql")).unwrap();
    connection.pragma_update(None, "application_id", 0x4374_736e_i64).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
    drop(connection);
    let store = SqliteStore::open(&path, Arc::default()).await.unwrap();
    assert_eq!(store.totals().await.unwrap(), Totals::default());
    store.close().await.unwrap();
    let connection = Connection::open(&path).unwrap();
    let version: i64 =
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 2);
}
