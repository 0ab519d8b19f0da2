//! A PostgreSQL server of our own: on a socket in a temporary folder, and gone with the test.
#![expect(
    clippy::disallowed_methods,
    reason = "the one place that starts the database, and ends it with the test"
)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio_postgres::NoTls;

/// A PostgreSQL server.
pub(crate) struct Cluster {
    folder: TempDir,
    programs: PathBuf,
    server: Option<Child>,
}

/// The user that the server runs as when we are root, which it refuses to be.
const USER: &str = "postgres";

impl Cluster {
    /// Makes a server and starts it.
    ///
    /// Whoever asked for these tests wants them to run: without PostgreSQL they fail.
    pub(crate) async fn start() -> Self {
        let programs = programs();
        assert!(
            programs.is_some(),
            "PostgreSQL is missing: install it (apt-get install postgresql), or run without the \
             feature postgres-tests"
        );
        let programs = programs.unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut cluster = Self { folder, programs, server: None };
        let inside = cluster.socket();
        fs::create_dir(&inside).unwrap();
        if let Some((user, group)) = other_user() {
            chown(&inside, Some(user), Some(group)).unwrap();
        }
        let data = cluster.data();
        let made = cluster
            .command("initdb")
            .args(["--username=test", "--auth=trust", "--encoding=UTF8", "--locale=C"])
            .args(["--no-sync", "--pgdata"])
            .arg(data)
            .stdout(Stdio::null())
            .status();
        assert!(made.unwrap().success(), "initdb failed");
        cluster.resume().await;
        cluster
    }

    /// Starts the server again after it was stopped.
    pub(crate) async fn resume(&mut self) {
        let socket = self.socket();
        let log = fs::File::create(self.folder.path().join("log")).unwrap();
        let data = self.data();
        let server = self
            .command("postgres")
            .arg("-D")
            .arg(data)
            .args(["-c", "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=16MB"])
            .arg("-c")
            .arg(format!("unix_socket_directories={}", socket.display()))
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        self.server = Some(server.unwrap());
        while let Err(error) = tokio_postgres::connect(&self.url(""), NoTls).await {
            let ended = self.server.as_mut().unwrap().try_wait().unwrap();
            assert!(ended.is_none(), "the server ended: {error}: {}", self.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Ends the server with this signal: `INT` ends all connections, `QUIT` is a crash.
    pub(crate) fn stop(&mut self, signal: Signal) {
        if let Some(mut server) = self.server.take() {
            let pid = Pid::from_child(&server);
            kill_process(pid, signal).unwrap();
            // If it is held, it goes on to end.
            kill_process(pid, Signal::CONT).unwrap();
            server.wait().unwrap();
        }
    }

    /// Holds all of the server, so that it answers nobody, or lets it go on.
    pub(crate) fn freeze(&self, signal: Signal) {
        let server = Pid::from_child(self.server.as_ref().unwrap());
        kill_process(server, signal).unwrap();
        for process in fs::read_dir("/proc").unwrap() {
            let path = process.unwrap().path();
            let Ok(stat) = fs::read_to_string(path.join("stat")) else { continue };
            let after_name = stat.rsplit(") ").next().unwrap_or_default();
            let parent = after_name.split(' ').nth(1).and_then(|parent| parent.parse().ok());
            if parent == Some(server.as_raw_nonzero().get())
                && let Some(pid) = stat.split(' ').next().and_then(|pid| pid.parse().ok())
            {
                kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
            }
        }
    }

    /// Where a schema of this name is.
    pub(crate) fn url(&self, schema: &str) -> String {
        let socket = self.socket();
        let path = if schema.is_empty() {
            String::new()
        } else {
            format!(" options='-c search_path={schema}'")
        };
        format!("host={} user=test dbname=postgres{path}", socket.display())
    }

    /// Makes a schema with nothing in it.
    pub(crate) async fn schema(&self, name: &str) -> String {
        self.run(&format!("CREATE SCHEMA {name}")).await;
        self.url(name)
    }

    /// Runs SQL.
    pub(crate) async fn run(&self, sql: &str) {
        let (client, connection) = tokio_postgres::connect(&self.url(""), NoTls).await.unwrap();
        let driven = tokio_util::task::TaskTracker::new().spawn(connection);
        client.batch_execute(sql).await.unwrap();
        drop(client);
        driven.await.unwrap().unwrap();
    }

    /// The folder that its socket is in.
    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("postgres")
    }

    fn data(&self) -> PathBuf {
        self.socket().join("data")
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// A program of PostgreSQL, as a user that may run it. It ends when we do, however we end.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new("setpriv");
        // A crash, as PostgreSQL understands it: nothing is left running, and nothing is waited for.
        command.arg("--pdeathsig=QUIT");
        if let Some((user, group)) = other_user() {
            command.arg(format!("--reuid={user}")).arg(format!("--regid={group}"));
            command.arg("--clear-groups");
        }
        command.arg("--").arg(self.programs.join(program));
        command.current_dir("/").stdin(Stdio::null()).env("LC_ALL", "C");
        // So that ./test finds it, should it outlive us all the same.
        command.env("COUNTERSIGN_TEST_POSTGRES", "1");
        command
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
        ["initdb", "postgres"].iter().all(|program| folder.join(program).is_file())
    };
    let debian = Path::new("/usr/lib/postgresql");
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir(debian)
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
fn other_user() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let line = users.lines().find(|line| line.starts_with(&format!("{USER}:")));
    let mut fields = line.unwrap().split(':').skip(2);
    let mut next = || fields.next().unwrap().parse().unwrap();
    Some((next(), next()))
}
