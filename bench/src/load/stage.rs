//! Where something is measured: a laboratory, a data folder, and servers on it, one after the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use countersign_lab::script::Script;
use countersign_lab::{Lab, Program, Version};
use countersign_server::access::first::read_token;
use countersign_server::api::view::EventView;
use countersign_server::client::{Client, Followed, Following};
use countersign_server::id::{ApprovalId, SessionId};
use countersign_server::service::NewSession;
use countersign_server::session::{Happening, SessionOptions};
use tempfile::TempDir;
use tokio::task::JoinSet;

use super::{Failure, Options, report, script};
use crate::host::{
    Host, Running, free_address, simulated, simulated_with_a_clock, simulated_with_stamps,
};
use crate::random::Random;

/// How long something may take that happens soon, or never.
pub(super) const PATIENCE: Duration = Duration::from_secs(300);

/// How many requests are under way at once, where there are many to be made.
pub(super) const AT_ONCE: usize = 16;

/// Where something is measured.
pub(super) struct Stage {
    pub(super) lab: Lab,
    pub(super) folder: TempDir,
    pub(super) host: Host,
    numbers: Arc<AtomicU64>,
    keep: bool,
}

/// A server that runs on it.
pub(super) struct Served {
    running: Running,
    pub(super) client: Client,
    pub(super) address: String,
    pub(super) token: String,
    /// How long it took until it listened.
    pub(super) started: Duration,
}

impl Stage {
    /// With the simulated CLI.
    pub(super) async fn open(options: &Options) -> Result<Self, Failure> {
        Self::with(options, simulated(version())?, script::script()?).await
    }

    /// With the simulated CLI that notes when it asks and when it is answered.
    pub(super) async fn with_stamps(options: &Options) -> Result<Self, Failure> {
        Self::with(options, simulated_with_stamps(version())?, script::script()?).await
    }

    /// With the simulated CLI that says what time it is, and what its model says beside that.
    pub(super) async fn with_a_clock(options: &Options, script: Script) -> Result<Self, Failure> {
        Self::with(options, simulated_with_a_clock(version())?, script).await
    }

    async fn with(options: &Options, program: Program, script: Script) -> Result<Self, Failure> {
        let lab = Lab::builder(program, script).start().await?;
        let folder = tempfile::Builder::new().prefix("countersign-load-").tempdir()?;
        let (cli, environment) = lab.for_a_client()?;
        // The ports are others than those of a run at the same time.
        let mut random = Random::new(crate::stamps::now());
        let host = Host {
            listen: free_address(&mut random)?,
            data: folder.path().join("data"),
            root: lab.work(),
            cli,
            environment,
            live_processes: 16,
            idle_after: None,
            park_after: None,
            connections: 16_384,
            store: None,
        };
        Ok(Self { lab, folder, host, numbers: Arc::default(), keep: options.keep })
    }

    /// Starts a server.
    pub(super) async fn serve(&self, host: &Host) -> Result<Served, Failure> {
        let began = Instant::now();
        let mut running = Running::start(host, &self.folder.path().join("server.log")).await?;
        running.ready().await?;
        let started = began.elapsed();
        let token = read_token(&host.data)?.expose().to_owned();
        let address = format!("http://{}", host.listen);
        let client = Client::builder(&address, &token).answer_within(PATIENCE).build()?;
        Ok(Served { running, client, address, token, started })
    }

    /// A number that was not given before.
    pub(super) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A session that will ask once, as soon as it has a process.
    pub(super) fn asking(&self, number: u64) -> NewSession {
        self.session(Some(script::errand(number)))
    }

    /// A session.
    pub(super) fn session(&self, prompt: Option<String>) -> NewSession {
        NewSession {
            folder: self.host.root.display().to_string(),
            prompt,
            images: Vec::new(),
            title: None,
            labels: Default::default(),
            mode: None,
            model: None,
            options: SessionOptions {
                setting_sources: Some(Vec::new()),
                ..SessionOptions::default()
            },
        }
    }

    /// How many of these tokens were added exactly once.
    pub(super) fn ran_once(&self, numbers: impl IntoIterator<Item = u64>) -> Result<u64, Failure> {
        let ran = script::ran(&self.host.root)?;
        let once = |number: &u64| ran.get(&script::token(*number)) == Some(&1);
        Ok(u64::try_from(numbers.into_iter().filter(once).count())?)
    }

    pub(super) async fn close(self) -> Result<(), Failure> {
        if self.keep {
            report::kept(&self.folder.keep());
        }
        self.lab.close().await?;
        Ok(())
    }
}

const fn version() -> Version {
    Version::new(2, 1, 325)
}

impl Served {
    pub(super) fn pid(&self) -> u32 {
        self.running.pid()
    }

    pub(super) async fn stop(self) -> Result<(), Failure> {
        Ok(self.running.stop(PATIENCE).await?)
    }
}

/// Reads a stream until there was an event for which this is true, and gives it.
pub(super) async fn until(
    following: &mut Following,
    is_it: impl Fn(&EventView) -> bool,
) -> Result<EventView, Failure> {
    let read = async {
        while let Some(next) = following.next().await {
            match next? {
                Followed::Event(event) if is_it(&event) => return Ok(event),
                _ => {}
            }
        }
        Err(Failure::from("the stream has ended"))
    };
    tokio::time::timeout(PATIENCE, read).await.map_err(|_| "it did not happen")?
}

/// Waits until something is asked in a session.
pub(super) async fn asked(following: &mut Following) -> Result<ApprovalId, Failure> {
    let event = until(following, |event| event.kind == "approval.opened").await?;
    approval_of(&event).ok_or_else(|| "an approval without a name".into())
}

/// The approval that was opened.
pub(super) fn approval_of(event: &EventView) -> Option<ApprovalId> {
    match event.happening() {
        Ok(Happening::ApprovalOpened(opened)) => Some(opened.approval),
        _ => None,
    }
}

/// A session, and what it asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) number: u64,
    pub(super) session: SessionId,
    pub(super) approval: ApprovalId,
}

/// Does something so many times, some of them at once, and gives what came of each.
pub(super) async fn each<T, F, Fut>(count: u64, at_once: usize, work: F) -> Result<Vec<T>, Failure>
where
    T: Send + 'static,
    F: Fn(u64) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<T, Failure>> + Send,
{
    let (next, work) = (Arc::new(AtomicU64::new(0)), Arc::new(work));
    let mut workers = JoinSet::new();
    for _ in 0..at_once {
        let (next, work) = (Arc::clone(&next), Arc::clone(&work));
        workers.spawn(async move {
            let mut done = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return Ok::<_, Failure>(done);
                }
                done.push(work(number).await?);
            }
        });
    }
    let mut all = Vec::new();
    while let Some(done) = workers.join_next().await {
        all.extend(done??);
    }
    Ok(all)
}
