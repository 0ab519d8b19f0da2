//! From a builder to a session.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::Version;
use countersign_protocol::request::Initialize;
use countersign_record::Recorder;
use tokio::net::unix::pipe::Receiver;
use tokio::time::Instant;
use tracing::Instrument as _;

use super::Session;
use super::handle::read_answer;
use super::intake::Intake;
use super::owner::Owner;
use super::place::Place;
use super::serve::Server;
use super::shared::{Setup, Shared};
use super::snapshot::Snapshot;
use super::spans;
use super::stderr::{LastWords, drain};
use crate::builder::SessionBuilder;
use crate::cli::{Capability, VersionError};
use crate::counters::Counters;
use crate::error::{ConnectError, ControlError};
use crate::limits::Watchdog;
use crate::link::{Framing, Mailbox, Outbox};
use crate::options::{ChildEnvironment, Launch, OptionsError};
use crate::process::{self, Environment, ShutdownTimes, SpawnSpec, Spawned};

/// How long the CLI may take to tell its version.
const VERSION: Duration = Duration::from_secs(30);

impl SessionBuilder {
    /// Starts the CLI and opens the session.
    ///
    /// It returns when the CLI has answered `initialize`. Requests that the CLI makes before that
    /// are answered all the same. When the future is dropped before, the CLI and all that it started
    /// is killed.
    ///
    /// # Errors
    /// When options contradict each other, the CLI is not found, cannot be started, lacks something
    /// that was asked for, or does not answer.
    pub async fn connect(self) -> Result<Session, ConnectError> {
        let mut launch = self.options.launch()?;
        let version = self.check(&mut launch).await?;
        let initialize = self.initialize(launch.initialize.clone(), version);
        let mut place = Place::of(&launch);
        self.mirroring.check(&place)?;
        let recorder = self.tape.as_ref().map(|tape| tape.create(&launch)).transpose()?;
        let setup = Setup {
            verbatim: launch.verbatim_prompts,
            may_bypass: self.options.may_bypass(),
            in_process_mcp: initialize.sdk_mcp_servers.clone().unwrap_or_default(),
            initialize: initialize.clone(),
        };
        // Before anything runs: a CLI may never come to read its input, and then does not learn that it
        // has ended.
        process::call_keeper();
        let spawned = process::spawn(&spec(launch))?;
        place.mark = Some(spawned.process.mark());
        let known = Snapshot {
            version,
            session_id: self.options.known_session(),
            permission_mode: Some(self.options.mode()),
            ..Snapshot::default()
        };
        let elsewhere = self.exact_cwd.then(|| elsewhere(&spawned, &place.cwd)).flatten();
        let wanted = place.cwd.clone();
        let session = self.attach(spawned, recorder, known, place, setup);
        if let Some(found) = elsewhere {
            session.handle().kill().await;
            return Err(ConnectError::Elsewhere { wanted, found });
        }
        match session.open(initialize, self.times.initialize).await {
            Ok(()) => Ok(session),
            Err(ControlError::SessionEnded { .. }) => {
                // It has ended, or reads no more and is about to.
                Err(ConnectError::Ended(Box::new(session.close().await)))
            }
            Err(error) => {
                session.handle().kill().await;
                Err(ConnectError::Initialize(error))
            }
        }
    }

    /// The version of the CLI that would be started. It is started for that only when its files do
    /// not tell.
    ///
    /// # Errors
    /// When options contradict each other, the CLI is not found, or it does not tell.
    pub async fn version(&self) -> Result<Version, ConnectError> {
        let launch = self.options.launch()?;
        Ok(version_of(&launch).await?)
    }

    /// Where a session of this builder would be.
    pub(crate) fn place(&self) -> Result<Place, OptionsError> {
        Ok(Place::of(&self.options.launch()?))
    }

    /// Makes sure that the version has what is asked of it. It is only looked up for that when
    /// something is asked that not every version has.
    async fn check(&self, launch: &mut Launch) -> Result<Option<Version>, ConnectError> {
        let events = self.handlers.hooks.iter().filter_map(|hook| {
            Capability::hook_event(hook.event()).filter(|event| !event.in_every_version())
        });
        launch.needs.extend(events);
        // Without waiting, a call that was put off can be raised before the hooks are known.
        let should_wait = self.options.resumes() && !self.handlers.hooks.is_empty();
        let version = if launch.needs.is_empty() && !should_wait {
            launch.program.version_if_cheap()
        } else {
            let version = version_of(launch).await?;
            launch.check(version)?;
            Some(version)
        };
        let can_wait =
            version.is_some_and(|version| Capability::AWAIT_INITIALIZE.in_version(version));
        if should_wait && can_wait {
            launch.arguments.push("--await-initialize".into());
        }
        Ok(version)
    }

    /// What the CLI is told first, with who answers here.
    #[cfg_attr(
        not(feature = "mcp"),
        expect(unused_variables, reason = "only servers depend on the version")
    )]
    fn initialize(&self, mut initialize: Initialize, version: Option<Version>) -> Initialize {
        let hooks = self.handlers.registrations();
        if !hooks.is_empty() {
            initialize.hooks = Some(hooks);
        }
        if let Some(dialogs) = &self.handlers.dialogs {
            initialize.supported_dialog_kinds = Some(dialogs.kinds.clone());
        }
        #[cfg(feature = "mcp")]
        for (name, server) in &self.handlers.mcp {
            initialize.sdk_mcp_servers.get_or_insert_default().push(name.clone());
            if let Some(settings) = server.settings() {
                let all = initialize.sdk_mcp_server_configs.get_or_insert_default();
                all.insert(name.clone(), settings);
            }
            // Saves the CLI the handshake, where it is known to understand it.
            let manifests = Capability::initialize_field("sdkMcpServerManifests")
                .is_some_and(|field| version.is_some_and(|version| field.in_version(version)));
            if let Some(manifest) = server.manifest().filter(|_| manifests) {
                let all = initialize.sdk_mcp_server_manifests.get_or_insert_default();
                all.insert(name.clone(), manifest);
            }
        }
        initialize
    }

    /// Makes a session of a process that is running.
    fn attach(
        &self,
        spawned: Spawned,
        recorder: Option<Recorder>,
        known: Snapshot,
        place: Place,
        setup: Setup,
    ) -> Session {
        let Spawned { stdin, stdout, stderr, process } = spawned;
        let home = place.config_home.clone();
        let counters = Arc::new(Counters::default());
        let outbox = Outbox::new(stdin, recorder.clone(), self.on_line.clone());
        let span = spans::session(&known);
        let shared = Shared::new(
            outbox,
            span.clone(),
            Arc::clone(&counters),
            known,
            place,
            setup,
            self.times.request,
        );
        let mailbox = Mailbox::new(self.delivery.clone(), Arc::clone(&counters));
        let messages = mailbox.reader();
        let words = LastWords::default();
        let told = self.on_stderr.clone();
        let stderr = drain(stderr, words.clone(), counters, recorder.clone(), told);
        #[expect(clippy::disallowed_methods, reason = "the owner waits for it")]
        let stderr = tokio::task::spawn(stderr.instrument(span.clone()));
        let server = Server::new(Arc::clone(&shared), self.handlers.clone());
        let mirror = self.mirroring.start(home.as_ref()).map(|(mirror, work)| {
            #[expect(
                clippy::disallowed_methods,
                reason = "it ends when the session does, after it has sent what there is"
            )]
            drop(tokio::task::spawn(work.instrument(span.clone())));
            mirror
        });
        let intake = Intake {
            stdout,
            framing: Framing::new(self.max_line),
            mailbox,
            server,
            shared: Arc::clone(&shared),
            recorder: recorder.clone(),
            on_line: self.on_line.clone(),
            mirror: mirror.clone(),
            errors: Vec::new(),
            ended: false,
        };
        let owner = Owner {
            shared: Arc::clone(&shared),
            process: Some(process),
            intake,
            words,
            stderr,
            recorder,
            times: self.times.clone(),
            watchdog: Watchdog::new(self.limits.clone(), Instant::now()),
            config: self.mirroring.config.clone(),
            limit: None,
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "it ends when the session is dropped, and who closes a session waits for it"
        )]
        drop(tokio::task::spawn(owner.run().instrument(span)));
        Session::new(shared, messages, mirror, self.clone())
    }
}

impl Session {
    async fn open(&self, initialize: Initialize, limit: Duration) -> Result<(), ControlError> {
        let payload = self.ask(initialize, limit).await?;
        let response = match read_answer::<Initialize>(payload.as_ref()) {
            Ok(response) => response,
            // A session needs nothing of what it says, and versions differ.
            Err(error) if payload.is_some_and(|payload| payload.is_object()) => {
                tracing::warn!(%error, "what the CLI says of itself cannot be read");
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        self.shared().snapshot.send_if_modified(|snapshot| {
            let version = response.claude_code_version.as_deref();
            if let (None, Some(Ok(version))) = (snapshot.version, version.map(str::parse)) {
                snapshot.version = Some(version);
            }
            false
        });
        let shared = self.shared();
        let version = shared.snapshot.borrow().version.map(tracing::field::display);
        tracing::debug!(parent: &shared.span, version, "session opened");
        if let Some(said) = payload {
            shared.initialized(said);
        }
        Ok(())
    }
}

/// The folder that a process is in, if that is known and is another one than this.
fn elsewhere(spawned: &Spawned, wanted: &Path) -> Option<PathBuf> {
    let pid = spawned.process.id()?.pid();
    // The kernel knows it; that is no disk that could keep anybody waiting.
    let found = std::fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
    (found != wanted).then_some(found)
}

fn spec(launch: Launch) -> SpawnSpec {
    let ChildEnvironment { clear, remove, set } = launch.environment;
    SpawnSpec {
        program: launch.program.path().to_owned(),
        arguments: launch.arguments,
        environment: Environment { clear, remove, set },
        cwd: launch.cwd,
    }
}

async fn version_of(launch: &Launch) -> Result<Version, VersionError> {
    let ChildEnvironment { clear, remove, set } = launch.environment.clone();
    let environment = Environment { clear, remove, set };
    let run = |program: PathBuf, argument: &'static str| async move {
        let arguments = vec![argument.into()];
        let spec = SpawnSpec { program, arguments, environment, cwd: None };
        process::call_keeper();
        let Spawned { stdin, stdout, stderr, process } =
            process::spawn(&spec).map_err(io::Error::other)?;
        drop(stdin);
        // A program that warns of something must not be ended by that.
        let said = async { tokio::join!(read_to_end(stdout), passed_over(stderr)).0 };
        let said = tokio::time::timeout(VERSION, said).await;
        process.end(ShutdownTimes::default()).await;
        said.map_err(|_| io::Error::other("it did not tell in time"))?
    };
    launch.program.version_by(run).await
}

/// More than a version is none.
const LONGEST: usize = 4096;

/// Reads all that comes, however much, and keeps nothing of it.
async fn passed_over(pipe: Receiver) {
    let mut piece = Vec::with_capacity(LONGEST);
    while pipe.readable().await.is_ok() {
        piece.clear();
        match pipe.try_read_buf(&mut piece) {
            Ok(0) => break,
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => break,
            _ => {}
        }
    }
}

async fn read_to_end(pipe: Receiver) -> io::Result<Vec<u8>> {
    let mut said = Vec::new();
    while said.len() < LONGEST {
        pipe.readable().await?;
        match pipe.try_read_buf(&mut said) {
            Ok(0) => break,
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            _ => {}
        }
    }
    Ok(said)
}
