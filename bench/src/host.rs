//! A server as a process of its own, and a CLI: both are the program that measures, started again.
//!
//! A server that is to be killed cannot be part of the program that kills it; and a program that
//! needs no other one beside it can be run from wherever it was built.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use clap::Parser;
use countersign::process::Mark;
use countersign_lab::sim::{Launch, Options};
use countersign_lab::{Program, Version};
use countersign_server::config::{Cli, Config, Limits, Restarts, Secret, Store};
use countersign_server::server::Server;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio_util::sync::CancellationToken;

use crate::programs::command;
use crate::random::Random;
use crate::{clocked, stamps};

/// The word with which this program is a server.
const SERVER: &str = "be-the-server";
/// The word with which it is a CLI.
const CLI: &str = "be-the-cli";
/// The word with which it is a CLI that notes when it asks and when it is answered.
const STAMPED_CLI: &str = "be-the-stamped-cli";
/// The word with which it is a CLI that says what time it is.
const CLOCKED_CLI: &str = "be-the-clocked-cli";

/// How a server is set up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Host {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Where it keeps everything.
    pub data: PathBuf,
    /// The URL of a database of PostgreSQL in which it keeps sessions; a file in its folder without.
    pub store: Option<String>,
    /// The folder that sessions may use.
    pub root: PathBuf,
    /// The CLI.
    pub cli: PathBuf,
    /// The whole environment of the CLI.
    pub environment: BTreeMap<String, String>,
    /// How many processes of the CLI there may be.
    pub live_processes: usize,
    /// How long a session keeps its process without anything to do.
    pub idle_after: Option<Duration>,
    /// How long it does while a person is asked.
    pub park_after: Option<Duration>,
    /// How many may be connected.
    pub connections: usize,
}

impl Host {
    fn config(&self) -> Config {
        let set = self.environment.iter();
        let set = set.map(|(name, value)| (name.clone(), Secret::new(value))).collect();
        let store = self.store.as_ref().map(|url| Store::Postgres(Secret::new(url)));
        Config {
            listen: self.listen,
            data: self.data.clone(),
            store: store.unwrap_or_default(),
            roots: vec![self.root.clone()],
            cli: Cli { path: Some(self.cli.clone()), home: None, pass: Vec::new(), set },
            limits: Limits {
                live_processes: self.live_processes,
                idle_after: self.idle_after,
                park_after: self.park_after,
                restarts: Restarts { count: 3, within: Duration::from_secs(600) },
                connections: self.connections,
                streams: self.connections,
                shutdown_within: Duration::from_secs(10),
                ..Limits::default()
            },
            ..Config::default()
        }
    }
}

/// Is a server or a CLI, if that is what this program was started for.
#[must_use]
pub fn as_a_child() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    let first = words.next()?;
    if first == SERVER {
        return Some(serve(&PathBuf::from(words.next()?)));
    }
    let run = match first.to_str()? {
        CLI => Launch::run,
        STAMPED_CLI => stamps::run,
        CLOCKED_CLI => clocked::run,
        _ => return None,
    };
    let words = std::env::args_os().take(1).chain(words);
    Some(run(&Launch::from(Simulated::parse_from(words).options)))
}

/// The simulated CLI, for a laboratory.
///
/// # Errors
///
/// When it is not known where this program is.
pub fn simulated(version: Version) -> io::Result<Program> {
    this_program(CLI, version)
}

/// The simulated CLI, which notes when it asks and when it is answered: see [`stamps`].
///
/// # Errors
///
/// When it is not known where this program is.
pub fn simulated_with_stamps(version: Version) -> io::Result<Program> {
    this_program(STAMPED_CLI, version)
}

/// The simulated CLI, which says what time it is where the script says so: see [`clocked`].
///
/// # Errors
///
/// When it is not known where this program is.
pub fn simulated_with_a_clock(version: Version) -> io::Result<Program> {
    this_program(CLOCKED_CLI, version)
}

fn this_program(word: &str, version: Version) -> io::Result<Program> {
    let executable = std::env::current_exe()?;
    Ok(Program::Simulated { executable, words: vec![word.to_owned()], version })
}

#[derive(Debug, Parser)]
struct Simulated {
    #[command(flatten)]
    options: Options,
}

/// What a server says on its standard output, a line each.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Said {
    /// What all that it starts carries.
    Mark(Mark),
    /// It listens.
    Ready,
}

fn serve(file: &Path) -> ExitCode {
    let run = || -> Result<(), Box<dyn std::error::Error>> {
        let host: Host = serde_json::from_slice(&fs::read(file)?)?;
        tracing_subscriber::fmt()
            .with_writer(io::stderr)
            .with_ansi(false)
            .with_max_level(tracing::Level::INFO)
            .init();
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        runtime.enable_all().build()?.block_on(run(&host))
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(%error, "the server does not start");
            ExitCode::FAILURE
        }
    }
}

async fn run(host: &Host) -> Result<(), Box<dyn std::error::Error>> {
    say(&Said::Mark(Mark::of_this_process()))?;
    let server = Server::start_with(&host.config(), countersign_page::routes).await?;
    say(&Said::Ready)?;
    let stop = CancellationToken::new();
    let told = stop.clone();
    let listen = async move {
        // Whoever started us holds the other end: it ends us when it ends.
        let mut nothing = Vec::new();
        drop(tokio::io::stdin().read_to_end(&mut nothing).await);
        told.cancel();
    };
    tokio::join!(listen, server.run(stop));
    Ok(())
}

#[expect(clippy::print_stdout, reason = "it is read by who has started this")]
fn say(what: &Said) -> Result<(), serde_json::Error> {
    println!("{}", serde_json::to_string(what)?);
    Ok(())
}

/// A server that runs.
#[derive(Debug)]
pub struct Running {
    child: Child,
    says: Lines<BufReader<ChildStdout>>,
    leash: Option<ChildStdin>,
    mark: Mark,
}

impl Running {
    /// Starts a server, and waits until it has said its name, which is the first that it does. What
    /// it complains about goes to this file, after what is there.
    ///
    /// # Errors
    ///
    /// When it does not start.
    pub async fn start(host: &Host, log: &Path) -> io::Result<Self> {
        let settings = log.with_extension("json");
        fs::write(&settings, serde_json::to_vec(host)?)?;
        let log = OpenOptions::new().create(true).append(true).open(log)?;
        let mut command = Command::from(command(&std::env::current_exe()?));
        command.arg(SERVER).arg(settings).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        // Of what runs us only this is of use to it.
        command.env_clear().envs(std::env::vars_os().filter(|(name, _)| name == "PATH"));
        let mut child = command.spawn()?;
        let leash = child.stdin.take();
        let stdout = child.stdout.take().ok_or_else(|| io::Error::other("no pipe"))?;
        let mut says = BufReader::new(stdout).lines();
        match heard(&mut says).await? {
            Said::Mark(mark) => Ok(Self { child, says, leash, mark }),
            Said::Ready => Err(io::Error::other("the server has no name")),
        }
    }

    /// Waits until it listens.
    ///
    /// # Errors
    ///
    /// When it ends first.
    pub async fn ready(&mut self) -> io::Result<()> {
        heard(&mut self.says).await.map(drop)
    }

    /// What all that it starts carries.
    #[must_use]
    pub const fn mark(&self) -> Mark {
        self.mark
    }

    /// Its number.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id().unwrap_or_default()
    }

    /// Kills it with a signal that it cannot notice, and waits until it is gone. Says whether it was
    /// alive until then.
    ///
    /// # Errors
    ///
    /// When the system does not do it.
    pub async fn kill(mut self) -> io::Result<bool> {
        let was_alive = self.child.try_wait()?.is_none();
        self.child.kill().await?;
        Ok(was_alive)
    }

    /// Has it end in order, and waits for that.
    ///
    /// # Errors
    ///
    /// When it does not end in order, or takes too long.
    pub async fn stop(mut self, within: Duration) -> io::Result<()> {
        drop(self.leash.take());
        let ended = tokio::time::timeout(within, self.child.wait()).await;
        let ended = ended.map_err(|_| io::Error::other("the server does not stop"))??;
        if ended.success() {
            return Ok(());
        }
        Err(io::Error::other(format!("the server ended with {ended}")))
    }
}

async fn heard(says: &mut Lines<BufReader<ChildStdout>>) -> io::Result<Said> {
    let line = says.next_line().await?;
    let line = line.ok_or_else(|| io::Error::other("the server has ended: its log says why"))?;
    Ok(serde_json::from_str(&line)?)
}

/// An address on this machine that is free now, and stays so while its server is gone: the system
/// takes none of these for connections, which could otherwise come to be connected to themselves.
///
/// # Errors
///
/// When there is none.
pub fn free_address(random: &mut Random) -> io::Result<SocketAddr> {
    let mut tries = 0;
    loop {
        let port = 10_000 + u16::try_from(random.below(20_000)).unwrap_or_default();
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(listener) => return listener.local_addr(),
            Err(error) if tries > 100 => return Err(error),
            Err(_) => tries += 1,
        }
    }
}
