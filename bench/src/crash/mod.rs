//! The crash test: a server is killed again and again, while sessions run, ask and are answered.
//!
//! One data folder and one laboratory see all of it. Clients send every command until there is an
//! answer, under the same key; subscribers open their streams again where they were. In the end
//! everything is let come to rest, and what clients know, what subscribers were shown and what
//! commands really did is held against the log.

mod eyes;
mod hands;
mod judge;
mod ledger;
mod record;
mod report;
mod script;
#[cfg(test)]
mod tests;
mod wire;

use std::error::Error;
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use countersign::SessionBuilder;
use countersign::process::{Leftovers, Mark};
use countersign_lab::postgres::Cluster;
use countersign_lab::{Installed, Lab, Program, Version, Versions};
use countersign_server::access::first::read_token;
use countersign_server::api::view::ListSessions;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::eyes::{About, Eye, Reader};
use self::hands::{Decider, Driver, Plan};
use self::judge::{Findings, Wrong, is_at_rest, judge};
use self::ledger::Ledger;
use self::record::Record;
use self::wire::Wire;
use crate::host::{Host, Running, free_address, simulated};
use crate::random::Random;

/// Why the test could not be made.
pub type Failure = Box<dyn Error + Send + Sync>;

/// How long what a server started may outlive it.
const KEEPER: Duration = Duration::from_secs(10);

/// Kill a server while sessions run, ask and are answered, and count what was lost or done twice
#[derive(Clone, Debug, Parser)]
pub struct Options {
    /// How often the server is killed
    #[arg(long, default_value_t = 200)]
    runs: u64,
    /// The CLI that sessions run: `sim`, a version of the real one, or a program
    #[arg(long, default_value = "sim", value_name = "sim|VERSION|PATH")]
    cli: String,
    /// Where the server keeps sessions; PostgreSQL is started for it
    #[arg(long, value_enum, default_value_t = Kept::Sqlite)]
    store: Kept,
    /// Where random numbers begin; another place each time if it is not said
    #[arg(long)]
    seed: Option<u64>,
    /// How many sessions there are
    #[arg(long, default_value_t = 24)]
    sessions: u64,
    /// Write JSON
    #[arg(long)]
    json: bool,
    /// Keep what the server kept, and say where
    #[arg(long)]
    keep: bool,
}

/// Where sessions are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kept {
    Sqlite,
    Postgres,
}

impl Kept {
    const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

/// How fast everything is.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// How long a server lives at most, after it has started.
    life: Duration,
    park_after: Duration,
    idle_after: Duration,
    pause: Duration,
    thinking: Duration,
    live_processes: usize,
    /// How long it may take in the end until all is at rest.
    rest: Duration,
}

impl Pace {
    const fn of(is_real: bool) -> Self {
        if is_real {
            return Self {
                life: Duration::from_secs(8),
                park_after: Duration::from_millis(700),
                idle_after: Duration::from_secs(4),
                pause: Duration::from_millis(500),
                thinking: Duration::from_secs(3),
                live_processes: 3,
                rest: Duration::from_secs(300),
            };
        }
        Self {
            life: Duration::from_millis(1200),
            park_after: Duration::from_millis(120),
            idle_after: Duration::from_millis(500),
            pause: Duration::from_millis(90),
            thinking: Duration::from_millis(500),
            live_processes: 5,
            rest: Duration::from_secs(120),
        }
    }
}

/// Makes the test, prints what came of it, and says whether nothing was wrong.
///
/// # Errors
///
/// When it cannot be made.
pub async fn run(options: &Options) -> Result<bool, Failure> {
    let began = Instant::now();
    let seed = options.seed.unwrap_or_else(|| RandomState::new().build_hasher().finish() >> 32);
    let program = program(&options.cli).await?;
    let is_real = matches!(program, Program::Real(_));
    let script = script::script(is_real)?;
    let lab = Lab::builder(program, script).start().await?;
    for name in ["one.txt", "two.txt"] {
        fs::write(lab.home().join(name), name)?;
    }
    let at_first = lab.processes();
    let cluster = match options.store {
        Kept::Sqlite => None,
        Kept::Postgres => Some(Cluster::start().await?),
    };
    let test = Test::new(options, seed, is_real, &lab, cluster.as_ref())?;
    let mut found = Findings::default();
    let outcome = test.run(&mut found).await;
    for pid in lab.processes().into_iter().filter(|pid| !at_first.contains(pid)) {
        let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        found.add(Wrong::Orphan, format!("{pid} ({}) runs in the end", line.replace('\0', " ")));
    }
    test.errors_in_log(&mut found);
    if options.keep {
        let work = test.data.path().join("work");
        fs::create_dir_all(&work)?;
        for entry in [lab.work().join(script::RAN), lab.home().join(".claude")] {
            copy(&entry, &work.join(entry.file_name().unwrap_or_default()))?;
        }
        report::kept(&test.data.keep());
    }
    lab.close().await?;
    outcome?;
    report::print(&found, options, seed, began.elapsed());
    Ok(found.is_clean())
}

/// Copies a file, or a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
    } else if from.exists() {
        fs::copy(from, to)?;
    }
    Ok(())
}

async fn program(cli: &str) -> Result<Program, Failure> {
    let newest = Version::new(2, 1, 325);
    if cli == "sim" {
        return Ok(simulated(newest)?);
    }
    if let Ok(version) = cli.parse::<Version>() {
        return Ok(Program::Real(Versions::in_default_folder()?.install(version).await?));
    }
    let path = std::path::absolute(cli)?;
    let version = SessionBuilder::new().executable(&path).version().await?;
    Ok(Program::Real(Installed::elsewhere(version, path)))
}

/// What is there for all of the test.
struct Test {
    pace: Pace,
    runs: u64,
    sessions: u64,
    random: Mutex<Random>,
    host: Host,
    data: TempDir,
    home: PathBuf,
    orphans: Arc<Mutex<Vec<String>>>,
}

impl Test {
    fn new(
        options: &Options,
        seed: u64,
        is_real: bool,
        lab: &Lab,
        cluster: Option<&Cluster>,
    ) -> Result<Self, Failure> {
        let data = tempfile::Builder::new().prefix("countersign-crash-").tempdir()?;
        let (cli, environment) = lab.for_a_client()?;
        let pace = Pace::of(is_real);
        let mut random = Random::new(seed);
        let host = Host {
            listen: free_address(&mut random)?,
            data: data.path().join("data"),
            store: cluster.map(|cluster| cluster.schema("crash")).transpose()?,
            root: lab.work(),
            cli,
            environment,
            live_processes: pace.live_processes,
            idle_after: Some(pace.idle_after),
            park_after: Some(pace.park_after),
            connections: 1024,
        };
        Ok(Self {
            pace,
            runs: options.runs,
            sessions: options.sessions,
            random: Mutex::new(random),
            host,
            data,
            home: lab.home(),
            orphans: Arc::default(),
        })
    }

    fn random<T>(&self, choose: impl FnOnce(&mut Random) -> T) -> T {
        choose(&mut self.random.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn log(&self) -> PathBuf {
        self.data.path().join("server.log")
    }

    async fn start(&self) -> Result<Running, Failure> {
        Ok(Running::start(&self.host, &self.log()).await?)
    }

    async fn run(&self, found: &mut Findings) -> Result<(), Failure> {
        let mut first = self.start().await?;
        let began = Instant::now();
        first.ready().await?;
        let starting = began.elapsed();
        let token = read_token(&self.host.data)?;
        let address = format!("http://{}", self.host.listen);
        let (over, no_more) = (CancellationToken::new(), CancellationToken::new());
        let ledger = Arc::new(Ledger::default());
        let wire = Wire::new(&address, token.expose(), Arc::clone(&ledger), over.clone())?;
        let plan = Plan {
            work: self.host.root.display().to_string(),
            sessions: self.sessions,
            pause: self.pace.pause,
            thinking: self.pace.thinking,
            no_more: no_more.clone(),
        };
        let watching = Watching::new(wire.clone());
        watching.add(Eye::from_the_beginning(About::All, Reader::Bare));
        watching.add(Eye::from_the_beginning(About::Inbox, Reader::Bare));
        watching.add(Eye::from_the_beginning(About::All, Reader::Typed));
        let mut drivers = tokio::task::JoinSet::new();
        for _ in 0..3 {
            let watching = watching.clone();
            let driver = Driver {
                wire: wire.clone(),
                plan: plan.clone(),
                random: self.random(Random::fork),
                eyes: Arc::new(move |eye| watching.add(eye)),
            };
            drivers.spawn(driver.work());
        }
        let mut deciders = tokio::task::JoinSet::new();
        for _ in 0..2 {
            let random = self.random(Random::fork);
            deciders.spawn(Decider::new(wire.clone(), plan.clone(), random).work());
        }
        self.kill_again_and_again(first, starting, found).await?;
        let mut last = self.start().await?;
        last.ready().await?;
        no_more.cancel();
        while let Some(driver) = drivers.join_next().await {
            driver??;
        }
        self.come_to_rest(&wire, found).await;
        let record = Record::read(&wire, &self.host.root, &self.home).await?;
        watching.catch_up(&record).await;
        over.cancel();
        while let Some(decider) = deciders.join_next().await {
            decider??;
        }
        let eyes = watching.close().await;
        let mark = last.mark();
        if let Err(error) = last.stop(Duration::from_secs(30)).await {
            found.add(Wrong::Complaint, error.to_string());
        }
        self.look_for_orphans(mark).await;
        judge(found, &record, &ledger.noted(), &eyes);
        for text in self.orphans.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            found.add(Wrong::Orphan, text);
        }
        Ok(())
    }

    async fn kill_again_and_again(
        &self,
        first: Running,
        starting: Duration,
        found: &mut Findings,
    ) -> Result<(), Failure> {
        let tracker = TaskTracker::new();
        let mut next = Some(first);
        for _ in 0..self.runs {
            let server = match next.take() {
                Some(first) => first,
                None => self.start().await?,
            };
            // Some die while they go on from what the last one left.
            let life = self.random(|random| {
                let most = if random.percent(25) { starting } else { starting + self.pace.life };
                random.up_to(most)
            });
            tokio::time::sleep(life).await;
            let mark = server.mark();
            if !server.kill().await? {
                found.add(Wrong::Complaint, "the server ended by itself: its log says why");
            }
            found.count("kills", 1);
            let (orphans, looking) = (Arc::clone(&self.orphans), mark);
            // Whether the next server or the keeper is faster must not make a difference.
            if self.random(|random| random.percent(50)) {
                self.look_for_orphans(mark).await;
            } else {
                tracker.spawn(async move { look_for_orphans(looking, &orphans).await });
            }
        }
        tracker.close();
        tracker.wait().await;
        Ok(())
    }

    async fn look_for_orphans(&self, mark: Mark) {
        look_for_orphans(mark, &self.orphans).await;
    }

    /// Waits until nothing happens any more. Whoever is asked is answered meanwhile.
    async fn come_to_rest(&self, wire: &Wire, found: &mut Findings) {
        let until = Instant::now() + self.pace.rest;
        loop {
            let wanted = ListSessions { limit: Some(500), ..ListSessions::default() };
            let all = wire.read(async |client| client.sessions(&wanted).await).await;
            let all = all.map(|page| page.items).unwrap_or_default();
            let busy: Vec<_> = all.iter().filter(|view| !is_at_rest(&view.head)).collect();
            if busy.is_empty() && !all.is_empty() {
                return;
            }
            for view in &busy {
                let is_stopped = view.head.stop || view.head.failure.is_some();
                if is_stopped && !view.head.queue.is_empty() {
                    let session = view.head.id;
                    wire.read(async |client| client.resume(session).await).await;
                }
            }
            if Instant::now() > until {
                for view in busy {
                    let text = format!("{} is {}: {:?}", view.head.id, view.state, view.head);
                    found.add(Wrong::Stuck, text);
                }
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// What the server itself takes for an error.
    fn errors_in_log(&self, found: &mut Findings) {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        let is_error = |line: &&str| line.contains(" ERROR ") || line.contains("panicked at");
        for line in log.lines().filter(is_error) {
            found.add(Wrong::Complaint, line);
        }
        found.count("warnings of the server", log.matches(" WARN ").count() as u64);
    }
}

/// Looks until nothing carries this mark any more. What is there after a while was left behind.
async fn look_for_orphans(mark: Mark, orphans: &Mutex<Vec<String>>) {
    let until = Instant::now() + KEEPER;
    loop {
        let looked = tokio::task::spawn_blocking(move || Leftovers::of_mark(mark).find()).await;
        let left = looked.unwrap_or_default();
        if left.is_empty() {
            return;
        }
        if Instant::now() > until {
            let mut orphans = orphans.lock().unwrap_or_else(PoisonError::into_inner);
            orphans.extend(left.iter().map(|process| format!("{process:?} of {mark}")));
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Those who watch.
#[derive(Clone)]
struct Watching {
    wire: Wire,
    eyes: Arc<Mutex<Vec<Eye>>>,
    tasks: TaskTracker,
}

impl Watching {
    fn new(wire: Wire) -> Self {
        Self { wire, eyes: Arc::default(), tasks: TaskTracker::new() }
    }

    fn eyes(&self) -> Vec<Eye> {
        self.eyes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn add(&self, eye: Eye) {
        self.eyes.lock().unwrap_or_else(PoisonError::into_inner).push(eye.clone());
        self.tasks.spawn(eye.watch(self.wire.clone()));
    }

    /// Waits until everybody was shown what there is. Who is not within this time has missed it.
    async fn catch_up(&self, record: &Record) {
        let until = Instant::now() + Duration::from_secs(20);
        let is_there = |eye: &Eye| eye.last() >= eye.last_expected(record);
        while !self.eyes().iter().all(is_there) && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        // Something that should not come would come now.
        tokio::time::sleep(Duration::from_millis(300)).await;
    }

    async fn close(self) -> Vec<Eye> {
        self.tasks.close();
        self.tasks.wait().await;
        self.eyes()
    }
}
