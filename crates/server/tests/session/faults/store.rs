//! The store cannot be used for a while; the clock jumps.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use countersign::Environment;
use countersign_server::access::{Clock, ManualClock};
use countersign_server::bus::Bus;
use countersign_server::client::ClientError;
use countersign_server::config::Roots;
use countersign_server::hub::{Hub, Settings};
use countersign_server::id::SessionId;
use countersign_server::service::{Caller, NewMessage, Service};
use countersign_server::session::{Answer, By, Head, Stage, State, TurnEnd};
use countersign_server::store::{SqliteSettings, SqliteStore};
use jiff::SignedDuration;
use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::asking::WRITE;
use crate::kit::{Cli, Outcome, World, lab, simulated};

pub(super) fn trials() -> Vec<Trial> {
    // Only root can make a disk that is full.
    let is_root = rustix::process::geteuid().is_root();
    let full = simulated("faults::the_disk_is_full", disk_full);
    let full = full.into_iter().map(|trial| trial.with_ignored_flag(!is_root));
    [
        simulated("faults::the_store_is_locked", locked),
        simulated("faults::the_store_is_moved_away", moved_away),
        simulated("faults::the_clock_jumps", clock_jumps),
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
        tokio::time::timeout(Duration::from_secs(60), wait).await.unwrap()
    }
}

/// A session is parked, and gives up its process, by a clock that does not jump; and what happened
/// stays in its order when the clock on the wall goes back.
async fn clock_jumps(cli: Cli) -> Outcome {
    let lab = lab(cli, WRITE).await;
    let data = TempDir::new()?;
    let clock = Arc::new(ManualClock::new("2026-03-04T05:06:07Z".parse()?));
    let bus = Arc::new(Bus::new());
    let settings =
        SqliteSettings { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Default::default() };
    let store =
        SqliteStore::open_with(data.path().join("store"), Arc::clone(&bus), settings).await?;
    let (program, environment) = lab.for_a_client()?;
    let hour = Duration::from_secs(60 * 60);
    let settings = Settings {
        cli: Some(program),
        environment: Environment::replace(environment),
        roots: Roots::new(&[lab.work()])?,
        park_after: hour,
        idle_after: hour,
        shutdown_within: Duration::from_secs(5),
        ..Settings::default()
    };
    let hub = Hub::new(Arc::new(store), bus, settings);
    hub.recover().await?;
    let service = Service::new(Arc::clone(&hub), Roots::new(&[lab.work()])?);
    let caller = Caller::new(By::Server);
    let small = Small { hub, service, caller };

    let new = serde_json::json!({
        "folder": lab.work(), "prompt": "Write it.", "options": {"setting_sources": []},
    });
    let made = small.service.create(&small.caller, serde_json::from_value(new)?).await?;
    let session = made.receipt.session;
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
    small.hub.close().await;
    small.hub.store().close().await?;
    lab.close().await?;
    Ok(())
}
