//! A PostgreSQL server of one's own, for whoever keeps something in one: on a socket in a temporary
//! folder, and gone with its owner.

mod lossy;

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

pub use self::lossy::{Lose, Lossy};
use crate::process;

/// The user that the server runs as when we are root, which it refuses to be.
const USER: &str = "postgres";
/// How long it may take to start.
const START: Duration = Duration::from_secs(60);

/// A PostgreSQL server.
///
/// It asks nobody on its socket for a password, and loses what it has not written when the machine
/// stops: it is for tests. When this is dropped, it is ended and its folder is deleted; it ends as well
/// when the thread that started it ends, however that is.
#[derive(Debug)]
pub struct Cluster {
    folder: TempDir,
    programs: PathBuf,
    server: Option<Child>,
    secured: Option<SocketAddr>,
}

/// A certificate and its key, as PEM.
#[derive(Clone, Copy, Debug)]
pub struct Certificate<'a> {
    /// The certificate.
    pub certificate: &'a str,
    /// Its key.
    pub key: &'a str,
}

impl Cluster {
    /// Makes a server and starts it.
    ///
    /// # Errors
    ///
    /// When PostgreSQL is not installed, or does not start.
    pub async fn start() -> io::Result<Self> {
        let mut cluster = Self::make()?;
        cluster.resume().await?;
        Ok(cluster)
    }

    /// The same, and besides it listens on the loopback address, where it lets in who speaks TLS and
    /// knows the password of its user, which has to be given first.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub async fn start_secured(with: Certificate<'_>) -> io::Result<Self> {
        let mut cluster = Self::make()?;
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        cluster.secured = Some(free);
        let rules = "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n";
        for (name, text) in
            [("server.crt", with.certificate), ("server.key", with.key), ("pg_hba.conf", rules)]
        {
            let file = cluster.data().join(name);
            fs::write(&file, text)?;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600))?;
            if let Some((user, group)) = other_user()? {
                chown(&file, Some(user), Some(group))?;
            }
        }
        cluster.resume().await?;
        Ok(cluster)
    }

    fn make() -> io::Result<Self> {
        let missing = "PostgreSQL is missing: install it (apt-get install postgresql)";
        let programs = programs().ok_or_else(|| io::Error::other(missing))?;
        let folder = tempfile::tempdir()?;
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
        let cluster = Self { folder, programs, server: None, secured: None };
        let inside = cluster.socket();
        fs::create_dir(&inside)?;
        if let Some((user, group)) = other_user()? {
            chown(&inside, Some(user), Some(group))?;
        }
        let mut command = cluster.command("initdb")?;
        command.args(["--username=test", "--auth=trust", "--encoding=UTF8", "--locale=C"]);
        command.args(["--no-sync", "--pgdata"]).arg(cluster.data());
        let made = command.stdout(Stdio::null()).status()?;
        if !made.success() {
            return Err(io::Error::other(format!("initdb ended with {made}")));
        }
        Ok(cluster)
    }

    /// Starts the server again after it was stopped.
    ///
    /// # Errors
    ///
    /// When it does not start.
    pub async fn resume(&mut self) -> io::Result<()> {
        let log = fs::File::create(self.folder.path().join("log"))?;
        let mut command = self.command("postgres")?;
        command.arg("-D").arg(self.data());
        command.args(["-c", "fsync=off", "-c", "shared_buffers=16MB", "-c"]);
        command.arg(format!("unix_socket_directories={}", self.socket().display()));
        match self.secured {
            None => command.args(["-c", "listen_addresses="]),
            Some(address) => {
                command.args(["-c", "listen_addresses=127.0.0.1", "-c", "ssl=on", "-c"]);
                command.arg(format!("port={}", address.port()))
            }
        };
        let mut server = command.stdout(Stdio::null()).stderr(log).spawn()?;
        let began = Instant::now();
        while !self.is_ready(server.id()) {
            let ended = server.try_wait()?;
            if ended.is_some() || began.elapsed() > START {
                let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
                self.server = Some(server);
                return Err(io::Error::other(format!("PostgreSQL does not start: {log}")));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.server = Some(server);
        Ok(())
    }

    /// Whether it takes connections, which it writes down.
    fn is_ready(&self, pid: u32) -> bool {
        let noted = fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
        let mut lines = noted.lines();
        lines.next() == Some(&*pid.to_string()) && lines.nth(6).map(str::trim) == Some("ready")
    }

    /// Ends the server with this signal: `INT` ends all connections, `QUIT` is a crash.
    pub fn stop(&mut self, signal: Signal) {
        if let Some(mut server) = self.server.take() {
            let pid = Pid::from_child(&server);
            // If it is held, it goes on to end. Whoever has ended needs neither.
            kill_process(pid, signal).unwrap_or_default();
            kill_process(pid, Signal::CONT).unwrap_or_default();
            drop(server.wait());
        }
    }

    /// Holds all of the server, so that it answers nobody, or lets it go on: with `STOP` and `CONT`.
    pub fn freeze(&self, signal: Signal) {
        let Some(server) = &self.server else { return };
        let server = Pid::from_child(server).as_raw_nonzero().get();
        for pid in std::iter::once(server).chain(process::descendants(server)) {
            // One that has ended meanwhile does not answer either.
            Pid::from_raw(pid).and_then(|pid| kill_process(pid, signal).ok()).unwrap_or_default();
        }
    }

    /// Where a schema of this name is; the usual one if it has none.
    #[must_use]
    pub fn url(&self, schema: &str) -> String {
        self.url_through(&self.socket(), schema)
    }

    /// The same for whoever comes through a socket in another folder.
    #[must_use]
    pub fn url_through(&self, folder: &Path, schema: &str) -> String {
        let folder = folder.display().to_string().replace('/', "%2F");
        let port = self.secured.map_or_else(String::new, |at| format!(":{}", at.port()));
        let url = format!("postgresql://test@{folder}{port}/postgres");
        if schema.is_empty() {
            return url;
        }
        format!("{url}?options=-c%20search_path%3D{schema}")
    }

    /// Where it listens for those who speak TLS, if it does.
    #[must_use]
    pub const fn secured(&self) -> Option<SocketAddr> {
        self.secured
    }

    /// Makes a schema with nothing in it, and says where it is.
    ///
    /// # Errors
    ///
    /// When there is one of that name.
    pub fn schema(&self, name: &str) -> io::Result<String> {
        self.run(&format!("CREATE SCHEMA {name}"))?;
        Ok(self.url(name))
    }

    /// Runs SQL.
    ///
    /// # Errors
    ///
    /// When it fails.
    pub fn run(&self, sql: &str) -> io::Result<()> {
        let mut command = self.command("psql")?;
        command.args(["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--command", sql]);
        let ended = command.arg(self.url("")).stdout(Stdio::null()).output()?;
        if !ended.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&ended.stderr)));
        }
        Ok(())
    }

    /// The folder that its socket is in.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("postgres")
    }

    fn data(&self) -> PathBuf {
        self.socket().join("data")
    }

    /// A program of PostgreSQL, as a user that may run it. It ends when we do, however we end.
    fn command(&self, program: &str) -> io::Result<Command> {
        let mut command = process::waited_for("setpriv");
        // A crash, as PostgreSQL understands it: nothing is left running, and nothing is waited for.
        command.arg("--pdeathsig=QUIT");
        if let Some((user, group)) = other_user()? {
            command.arg(format!("--reuid={user}")).arg(format!("--regid={group}"));
            command.arg("--clear-groups");
        }
        command.arg("--").arg(self.programs.join(program));
        command.current_dir("/").stdin(Stdio::null()).env("LC_ALL", "C");
        // So that ./test finds it, should it outlive us all the same.
        command.env("COUNTERSIGN_TEST_POSTGRES", "1");
        Ok(command)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop(Signal::QUIT);
    }
}

/// The folder with the programs of PostgreSQL: where Debian has them, the newest version first, or
/// in the path.
fn programs() -> Option<PathBuf> {
    let is_there = |folder: &PathBuf| {
        ["initdb", "postgres", "psql"].iter().all(|program| folder.join(program).is_file())
    };
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
        .map(|(version, folder)| (version, folder.join("bin")))
        .collect();
    versions.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let versions = versions.into_iter().rev().map(|(_, folder)| folder);
    versions.chain(std::env::split_paths(&path)).find(is_there)
}

/// The user to be when we are root.
fn other_user() -> io::Result<Option<(u32, u32)>> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd")?;
    let line = users.lines().find(|line| line.starts_with(&format!("{USER}:")));
    let mut fields = line.unwrap_or_default().split(':').skip(2);
    let mut next = || fields.next()?.parse().ok();
    let user = next().zip(next());
    user.map(Some).ok_or_else(|| io::Error::other(format!("there is no user {USER}")))
}
