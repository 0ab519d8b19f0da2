//! The store cannot be used for a while; the clock jumps.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use countersign::Environment;
use countersign::park::ParkingToken;
use countersign::process::Mark;
use countersign::store::SessionStore;
use countersign_lab::Lab;
use countersign_server::access::{Clock, ManualClock};
use countersign_server::bus::Bus;
use countersign_server::client::ClientError;
use countersign_server::config::{Config, Roots};
use countersign_server::hub::{Hub, Settings};
use countersign_server::id::{ApprovalId, MessageId, SessionId};
use countersign_server::service::{Caller, NewMessage, Service};
use countersign_server::session::{Answer, Approval, By, Event, Head, Stage, State, TurnEnd};
use countersign_server::store::{
    ApprovalFilter, AuditEntry, AuditFilter, Command, Page, ServerRun, SessionFilter,
    SqliteSettings, SqliteStore, Store, StoreError, StoreFuture, StoredMessage, Totals, Write,
    WriteError, Written,
};
use jiff::{SignedDuration, Timestamp};
use libtest_mimic::{Failed, Trial};
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::asking::WRITE;
use crate::kit::{Cli, Outcome, World, lab, simulated};

pub(super) fn trials() -> Vec<Trial> {
    // Only root can make a disk that is full.
    let is_root = rustix::process::geteuid().is_root();
    let full = simulated("faults::the_disk_is_full", disk_full);
    let full = full.into_iter().map(|trial| trial.with_ignored_flag(!is_root));
    [
        simulated("faults::the_store_is_locked", locked),
        simulated("faults::who_answers_goes_away_before_it_is_written", goes_away),
        simulated("faults::the_store_is_moved_away", moved_away),
        simulated("faults::the_clock_jumps", clock_jumps),
        simulated("faults::the_clock_jumps_while_somebody_may_answer", clock_and_expiry),
        simulated("faults::an_answer_cannot_be_read_at_first", unread_answer),
        simulated("faults::the_task_of_a_session_panics", panics),
    ]
    .into_iter()
    .flatten()
    .chain(full)
    .collect()
}

fn is_unavailable<T: std::fmt::Debug>(outcome: Result<T, ClientError>) {
    let error = outcome.unwrap_err();
    let problem = error.problem().unwrap_or_else(|| panic!("{error}"));
    assert_eq!((problem.kind(), problem.status()), ("unavailable", 503), "{problem:?}");
    assert!(problem.retry_after().is_some());
}

/// What a session does through a time in which nothing can be written: it waits, and loses nothing.
async fn through(world: &World, begin: impl FnOnce(), end: impl FnOnce()) -> Outcome {
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    let before = world.head(session).await;
    let impatient = world.impatient();
    begin();
    is_unavailable(impatient.answer(asked.id, Answer::allow()).await);
    let said = NewMessage { text: "Lost?".to_owned(), ..NewMessage::default() };
    is_unavailable(impatient.send(session, &said).await);
    is_unavailable(impatient.create_session(&world.new_session("Lost?")).await);
    let ready = world.raw("GET /readyz", &[], "").await;
    assert!(ready.starts_with("HTTP/1.1 503"), "{ready}");
    assert!(!world.has_file("new.txt"));
    end();
    let after = world.head(session).await;
    assert_eq!((after.approvals, after.queue), (before.approvals, before.queue));
    world.answer(&asked, Answer::allow()).await;
    let head = world.at_rest(session).await;
    assert!(world.has_file("new.txt"));
    assert_eq!((head.generation, head.failures.len()), (1, 0), "its process was kept");
    assert_eq!(world.stages(session).await, [Stage::Done]);
    assert_eq!(world.turn_ends(session).await, [TurnEnd::Done]);
    Ok(())
}

/// Another program has the file for itself for longer than is waited for it.
async fn locked(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let other = rusqlite::Connection::open(world.store_file())?;
    // Briefly, and commands wait for it.
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    other.execute_batch("BEGIN IMMEDIATE")?;
    let release = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        other.execute_batch("COMMIT").unwrap();
    };
    let impatient = world.impatient();
    let (answered, ()) = tokio::join!(impatient.answer(asked.id, Answer::deny("no")), release);
    answered?;
    world.at_rest(session).await;
    world.close().await?;
    // For longer.
    let world = World::new(cli, WRITE).await;
    let other = rusqlite::Connection::open(world.store_file())?;
    let begin = || other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    through(&world, begin, || other.execute_batch("COMMIT").unwrap()).await?;
    world.close().await
}

/// An answer that the store has is acted on, though nobody waits for what comes of it.
async fn goes_away(cli: Cli) -> Outcome {
    let park = |config: &mut Config| config.limits.park_after = Some(Duration::from_millis(50));
    let world = World::with(cli, WRITE, park).await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    world.until(session, "parked", |head| head.state() == State::Parked).await;
    let other = rusqlite::Connection::open(world.store_file())?;
    other.execute_batch("BEGIN IMMEDIATE")?;
    let path = format!("POST /api/v1/approvals/{}/answer", asked.id);
    let body = serde_json::to_string(&serde_json::json!({ "answer": Answer::allow() }))?;
    let connection = world.open_raw(&path, &[], &body).await;
    // Long enough for it to wait for the store, and shorter than the store waits for the file.
    tokio::time::sleep(Duration::from_secs(2)).await;
    drop(connection);
    tokio::time::sleep(Duration::from_millis(200)).await;
    other.execute_batch("COMMIT")?;
    world.at_rest(session).await;
    assert!(world.has_file("new.txt"));
    assert_eq!(world.stages(session).await, [Stage::Done]);
    world.close().await
}

/// What would be written to a file that nobody finds again is not written.
async fn moved_away(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let (here, there) = (world.store_file(), world.config.data.join("elsewhere"));
    let begin = || std::fs::rename(&here, &there).unwrap();
    through(&world, begin, || std::fs::rename(&there, &here).unwrap()).await?;
    world.close().await
}

/// A disk that can be full.
struct Disk(TempDir);

impl Disk {
    fn new(size: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().display().to_string();
        run("mount", &["-t", "tmpfs", "-o", &format!("size={size},mode=0700"), "none", &path]);
        Self(folder)
    }

    fn ballast(&self) -> PathBuf {
        self.0.path().join("ballast")
    }

    /// Leaves no room.
    fn fill(&self) {
        use std::io::Write as _;
        let mut file = std::fs::File::create(self.ballast()).unwrap();
        while file.write_all(&[0; 4096]).is_ok() {}
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        run("umount", &["-l", &self.0.path().display().to_string()]);
    }
}

#[expect(clippy::disallowed_methods, reason = "it is over at once")]
fn run(program: &str, arguments: &[&str]) {
    let done = std::process::Command::new(program).args(arguments).status().unwrap();
    assert!(done.success(), "{program} {arguments:?}");
}

async fn disk_full(cli: Cli) -> Outcome {
    let disk = Disk::new("8m");
    let data = disk.0.path().join("data");
    let world = World::with(cli, WRITE, |config| config.data = data).await;
    through(&world, || disk.fill(), || std::fs::remove_file(disk.ballast()).unwrap()).await?;

    // What happens meanwhile is written when there is room.
    let session = world.create("Write it again.").await;
    let asked = world.asked(session).await;
    disk.fill();
    world.kill_cli(session).await;
    is_unavailable(world.impatient().create_session(&world.new_session("Lost?")).await);
    std::fs::remove_file(disk.ballast())?;
    world.until(session, "parked", |head| head.state() == State::Parked).await;
    world.answer(&asked, Answer::allow()).await;
    world.at_rest(session).await;
    assert_eq!(world.stages(session).await, [Stage::Done]);
    world.close().await
}

/// Everything of a server but its network, with a clock of its own.
struct Small {
    hub: Arc<Hub>,
    service: Service,
    caller: Caller,
}

impl Small {
    async fn new(
        lab: &Lab,
        data: &TempDir,
        settings: SqliteSettings,
        wrap: impl FnOnce(Arc<dyn Store>) -> Arc<dyn Store>,
        change: impl FnOnce(&mut Settings),
    ) -> Result<Self, Failed> {
        let bus = Arc::new(Bus::new());
        let file = data.path().join("store");
        let store = SqliteStore::open_with(file, Arc::clone(&bus), settings).await?;
        let (program, environment) = lab.for_a_client()?;
        let roots = Roots::new(&[lab.work()])?;
        let mut settings = Settings {
            cli: Some(program),
            environment: Environment::replace(environment),
            roots: roots.clone(),
            shutdown_within: Duration::from_secs(5),
            ..Settings::default()
        };
        change(&mut settings);
        let hub = Hub::new(wrap(Arc::new(store)), bus, settings);
        hub.recover().await?;
        let service = Service::new(Arc::clone(&hub), roots);
        Ok(Self { hub, service, caller: Caller::new(By::Server) })
    }

    /// A session that begins with a prompt.
    async fn create(&self, lab: &Lab) -> Result<SessionId, Failed> {
        let new = serde_json::json!({
            "folder": lab.work(), "prompt": "Write it.", "options": {"setting_sources": []},
        });
        let made = self.service.create(&self.caller, serde_json::from_value(new)?).await?;
        Ok(made.receipt.session)
    }

    async fn close(self, lab: Lab) -> Outcome {
        self.hub.close().await;
        self.hub.store().close().await?;
        lab.close().await?;
        Ok(())
    }

    async fn until(&self, session: SessionId, is_so: impl Fn(&Head) -> bool) -> Arc<Head> {
        let mut news = self.hub.bus().subscribe(session);
        let wait = async {
            loop {
                let head = self.service.session(session).await.unwrap();
                if is_so(&head) {
                    return head;
                }
                news.recv().await.ok();
            }
        };
        match tokio::time::timeout(Duration::from_secs(240), wait).await {
            Ok(head) => head,
            Err(_) => {
                let events = self.hub.store().events(session, 0, usize::MAX).await.unwrap();
                let kinds = events.iter().map(|event| format!("{:?}", event.happening));
                panic!("the session does not get there:\n{}", kinds.collect::<Vec<_>>().join("\n"))
            }
        }
    }
}

/// A session is parked, and gives up its process, by a clock that does not jump; and what happened
/// stays in its order when the clock on the wall goes back.
async fn clock_jumps(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let data = TempDir::new()?;
    let clock = Arc::new(ManualClock::new("2026-03-04T05:06:07Z".parse()?));
    let settings =
        SqliteSettings { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Default::default() };
    let hour = Duration::from_secs(60 * 60);
    let change = |settings: &mut Settings| {
        (settings.park_after, settings.idle_after) = (hour, hour);
    };
    let small = Small::new(&lab, &data, settings, |store| store, change).await?;
    let session = small.create(&lab).await?;
    let head = small.until(session, Head::is_asking).await;
    let approval = *head.approvals.keys().next().unwrap();
    // A year on. Everybody looks again, and nothing is done for it.
    clock.pass(SignedDuration::from_hours(24 * 365));
    small.service.rename(&small.caller, session, "A year later".to_owned()).await?;
    small.service.set_mode(&small.caller, session, "plan".into()).await?;
    let head = small.until(session, |head| head.mode.as_str() == "plan").await;
    assert_eq!(head.state(), State::Waiting);
    // Two years back.
    clock.pass(-SignedDuration::from_hours(2 * 24 * 365));
    small.service.answer(&small.caller, approval, Answer::deny("no")).await?;
    let head = small.until(session, |head| head.turn.is_none()).await;
    assert_eq!(head.state(), State::Ready, "it is kept, too");
    let events = small.hub.store().events(session, 0, usize::MAX).await?;
    let seqs: Vec<_> = events.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (1..=head.seq).collect::<Vec<_>>());
    assert!(events.is_sorted_by_key(|event| event.position));
    assert!(!events.is_sorted_by_key(|event| event.at), "times are what the clock said");
    small.close(lab).await
}

/// A store in which approvals cannot be read for a while.
struct Unread {
    store: Arc<dyn Store>,
    /// How often it still fails.
    left: AtomicUsize,
    /// How often a message that is looked for is a defect.
    defects: AtomicUsize,
}

impl Unread {
    fn new(store: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self { store, left: AtomicUsize::new(0), defects: AtomicUsize::new(0) })
    }
}

/// Counts down. Whether there was anything left.
fn take_one(left: &AtomicUsize) -> bool {
    let less = |left: usize| left.checked_sub(1);
    left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok()
}

/// What goes to the store as it is.
macro_rules! forward {
    ($(fn $name:ident(&self $(, $argument:ident: $of:ty)*) -> $made:ty;)*) => {
        $(fn $name(&self $(, $argument: $of)*) -> StoreFuture<'_, $made> {
            self.store.$name($($argument),*)
        })*
    };
}

impl Store for Unread {
    fn approval(&self, approval: ApprovalId) -> StoreFuture<'_, Option<Approval>> {
        if take_one(&self.left) {
            let error = std::io::Error::other("the disk is asleep");
            return Box::pin(async { Err(StoreError::Unavailable(error.into())) });
        }
        self.store.approval(approval)
    }

    fn message(&self, message: MessageId) -> StoreFuture<'_, Option<StoredMessage>> {
        assert!(!take_one(&self.defects), "this is a defect");
        self.store.message(message)
    }

    fn write(&self, write: Write) -> StoreFuture<'_, Written, WriteError> {
        self.store.write(write)
    }

    fn carried_out(&self, command: Command) -> StoreFuture<'_, Option<String>, WriteError> {
        self.store.carried_out(command)
    }

    fn delete(&self, session: SessionId, by: By) -> StoreFuture<'_, (), WriteError> {
        self.store.delete(session, by)
    }

    fn events_of<'a>(
        &'a self,
        session: SessionId,
        kinds: &'a [&'a str],
        before: u64,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<Event>>> {
        self.store.events_of(session, kinds, before, limit)
    }

    fn count_open(&self) -> StoreFuture<'_, u64> {
        self.store.count_open()
    }

    fn all_events<'a>(
        &'a self,
        after: u64,
        kinds: &'a [&'a str],
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<Event>>> {
        self.store.all_events(after, kinds, limit)
    }

    fn cursor<'a>(&'a self, name: &'a str) -> StoreFuture<'a, Option<u64>> {
        self.store.cursor(name)
    }

    fn set_cursor<'a>(&'a self, name: &'a str, position: u64) -> StoreFuture<'a, ()> {
        self.store.set_cursor(name, position)
    }

    fn transcripts(&self) -> Arc<dyn SessionStore> {
        self.store.transcripts()
    }

    forward! {
        fn head(&self, session: SessionId) -> Option<Arc<Head>>;
        fn sessions(&self, filter: SessionFilter) -> Page<Arc<Head>>;
        fn unsettled(&self) -> Vec<SessionId>;
        fn open_since_before(
            &self, time: Timestamp, limit: usize
        ) -> Vec<(SessionId, ApprovalId)>;
        fn events(&self, session: SessionId, after: u64, limit: usize) -> Vec<Arc<Event>>;
        fn events_before(&self, session: SessionId, before: u64, limit: usize) -> Vec<Arc<Event>>;
        fn last_position(&self) -> u64;
        fn parking_token(&self, approval: ApprovalId) -> Option<ParkingToken>;
        fn approvals(&self, filter: ApprovalFilter) -> Page<Approval>;
        fn queued_messages(&self, session: SessionId) -> Vec<StoredMessage>;
        fn audit(&self, filter: AuditFilter) -> Page<AuditEntry>;
        fn note_in_audit(&self, entry: AuditEntry) -> ();
        fn totals(&self) -> Totals;
        fn begin_run(&self, run: ServerRun) -> Vec<ServerRun>;
        fn end_run(&self, mark: Mark) -> ();
        fn forget_commands(&self, before: Timestamp) -> u64;
        fn forget_audit(&self, before: Timestamp) -> u64;
        fn backup(&self, to: PathBuf) -> ();
        fn check(&self) -> ();
        fn close(&self) -> ();
    }
}

/// An answer that is on disk and cannot be read is not forgotten: neither when its call comes back, nor
/// when the model is told of it.
async fn unread_answer(cli: Cli) -> Outcome {
    const AGAIN: &str = r#"
otherwise = "That was it."

[[answer]]
when = { text = '/Write it|Make the call again/' }
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }
"#;
    for is_brought_back in [true, false] {
        let lab = lab(cli, AGAIN).await;
        let data = TempDir::new()?;
        let mut unread = None;
        let wrap = |store| unread.insert(Unread::new(store)).clone() as Arc<dyn Store>;
        let change = |settings: &mut Settings| settings.park_after = Duration::ZERO;
        let small = Small::new(&lab, &data, Default::default(), wrap, change).await?;
        let session = small.create(&lab).await?;
        let head = small.until(session, |head| head.state() == State::Parked).await;
        if !is_brought_back {
            std::fs::remove_dir_all(lab.home().join(".claude/projects"))?;
            let store = rusqlite::Connection::open(data.path().join("store"))?;
            store.execute("DELETE FROM transcripts", ())?;
        }
        let approval = *head.approvals.keys().next().unwrap();
        small.service.answer(&small.caller, approval, Answer::allow()).await?;
        // The one that answers has read it already.
        unread.unwrap().left.store(2, Ordering::SeqCst);
        small.until(session, |head| head.turn.is_none() && head.approvals.is_empty()).await;
        assert!(lab.work().join("new.txt").exists(), "brought back: {is_brought_back}");
        let stored = small.service.approval(approval).await?;
        assert_eq!(stored.stage, Stage::Done);
        small.close(lab).await?;
    }
    Ok(())
}

/// What waits for a person through restarts goes by the clock on the wall. When that jumps forward, what
/// nobody could answer is refused, once; when it goes back, there is more time, and nothing is refused.
async fn clock_and_expiry(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let data = TempDir::new()?;
    let clock = Arc::new(ManualClock::new("2026-03-04T05:06:07Z".parse()?));
    let settings =
        SqliteSettings { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Default::default() };
    let wall = Arc::clone(&clock) as Arc<dyn Clock>;
    let limit = Duration::from_millis(200);
    let change = |settings: &mut Settings| {
        (settings.clock, settings.expiry) = (wall, Some(limit));
    };
    let small = Small::new(&lab, &data, settings, |store| store, change).await?;
    let (hub, mut expiring) = (Arc::clone(&small.hub), JoinSet::new());
    expiring.spawn(async move { hub.expire().await });
    let session = small.create(&lab).await?;
    let head = small.until(session, Head::is_asking).await;
    let approval = *head.approvals.keys().next().unwrap();
    clock.pass(-SignedDuration::from_hours(24));
    // Several looks are taken meanwhile.
    tokio::time::sleep(limit * 2).await;
    assert_eq!(small.service.approval(approval).await?.stage, Stage::Open);
    clock.pass(SignedDuration::from_hours(48));
    small.until(session, |head| head.turn.is_none() && head.approvals.is_empty()).await;
    assert_eq!(small.service.approval(approval).await?.stage, Stage::Expired);
    assert!(!lab.work().join("new.txt").exists());
    small.close(lab).await?;
    expiring.join_next().await;
    Ok(())
}

/// A defect of the server costs a session its process, and no more.
async fn panics(cli: Cli) -> Outcome {
    let lab = lab(cli, "otherwise = \"I say.\"").await;
    let data = TempDir::new()?;
    let mut store = None;
    let wrap = |inner| {
        let broken = store.insert(Unread::new(inner));
        broken.defects.store(1, Ordering::SeqCst);
        broken.clone() as Arc<dyn Store>
    };
    let small = Small::new(&lab, &data, Default::default(), wrap, |_| {}).await?;
    let session = small.create(&lab).await?;
    let head = small.until(session, |head| head.usage.turns == 1).await;
    // The second finds no conversation, because the first had been given nothing of it.
    assert_eq!((head.generation, head.failures.len(), head.failure.as_ref()), (3, 0, None));
    small.close(lab).await
}
