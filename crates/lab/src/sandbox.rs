//! A place of its own for the processes of one experiment, from which nothing escapes.
//!
//! Where it is permitted, processes run in namespaces: a network that has nothing but loopback,
//! and a process table that ends as a whole. Elsewhere they carry a mark in their environment and
//! are found by it.
//!
//! In both cases a *keeper* process stands behind the sandbox. It holds the namespaces, or waits
//! to sweep, and reads its standard input, which this process holds open. When this process ends,
//! in whatever way, the keeper reads the end of its input, ends everything, and removes the
//! scratch folder.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStdin, Command};

use crate::process::{bare, descendants, in_the_table_of, marked, on_path, signal};

/// How processes are kept in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Isolation {
    /// Namespaces for network, processes and mounts. Needs the right to make them, which root
    /// usually has.
    Namespaces,
    /// A mark in the environment. The network is the machine's own: the CLI is told not to use
    /// it, but nothing stops it.
    Mark,
}

/// A place for processes that all end with it.
#[derive(Debug)]
pub(crate) struct Sandbox {
    isolation: Isolation,
    keeper: Child,
    keeper_pid: i32,
    /// Held open; its end is the keeper's signal.
    leash: Option<ChildStdin>,
    mark: String,
    tools: Tools,
}

/// Programs of the system that the sandbox is built with.
#[derive(Clone, Debug)]
struct Tools {
    shell: PathBuf,
    namespaces: Option<NamespaceTools>,
}

#[derive(Clone, Debug)]
struct NamespaceTools {
    unshare: PathBuf,
    nsenter: PathBuf,
    ip: PathBuf,
}

impl Tools {
    fn find() -> Self {
        let ip = || {
            // Not everybody has the folders of the administrator on the PATH.
            let usual = ["/usr/sbin/ip", "/sbin/ip"].map(PathBuf::from);
            on_path("ip").or_else(|| usual.into_iter().find(|file| file.is_file()))
        };
        let namespaces = (|| {
            Some(NamespaceTools {
                unshare: on_path("unshare")?,
                nsenter: on_path("nsenter")?,
                ip: ip()?,
            })
        })();
        Self { shell: PathBuf::from("/bin/sh"), namespaces }
    }
}

impl Sandbox {
    /// The best sandbox that this machine permits.
    pub(crate) async fn open(mark: String, scratch: &Path) -> io::Result<Self> {
        Self::open_best(Tools::find(), mark, scratch).await
    }

    async fn open_best(tools: Tools, mark: String, scratch: &Path) -> io::Result<Self> {
        match Self::build(tools.clone(), Isolation::Namespaces, mark.clone(), scratch).await {
            Ok(sandbox) => Ok(sandbox),
            Err(_) => Self::build(tools, Isolation::Mark, mark, scratch).await,
        }
    }

    /// A sandbox of this kind. `mark` is an entry of the environment, `NAME=value`, that no other
    /// sandbox has; `scratch` is a folder that goes when the sandbox goes.
    pub(crate) async fn open_with(
        isolation: Isolation,
        mark: String,
        scratch: &Path,
    ) -> io::Result<Self> {
        Self::build(Tools::find(), isolation, mark, scratch).await
    }

    async fn build(
        tools: Tools,
        isolation: Isolation,
        mark: String,
        scratch: &Path,
    ) -> io::Result<Self> {
        let mut command = match isolation {
            Isolation::Namespaces => {
                let Some(programs) = &tools.namespaces else {
                    return Err(io::Error::other(
                        "namespaces need unshare, nsenter and ip, and not all of them are there: \
                         install util-linux and iproute2",
                    ));
                };
                keeper_of_namespaces(programs, &tools.shell, scratch)
            }
            Isolation::Mark => keeper_of_mark(&tools.shell, &mark, scratch),
        };
        let mut keeper = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // A signal from the terminal is for us; the keeper goes when we go.
            .process_group(0)
            .spawn()?;
        let leash = keeper.stdin.take();
        let mut ready = [0];
        if let Some(mut says) = keeper.stdout.take() {
            says.read_exact(&mut ready).await.map_err(|_| {
                io::Error::other(match isolation {
                    Isolation::Namespaces => "namespaces are not permitted here: run as root",
                    Isolation::Mark => "the shell that watches over the processes ended at once",
                })
            })?;
        }
        let keeper_pid = keeper.id().and_then(|pid| i32::try_from(pid).ok()).unwrap_or_default();
        Ok(Self { isolation, keeper, keeper_pid, leash, mark, tools })
    }

    pub(crate) const fn isolation(&self) -> Isolation {
        self.isolation
    }

    /// A command that will run in here, in `folder`, with these variables and the mark, and no
    /// others.
    pub(crate) fn command(
        &self,
        program: &Path,
        folder: &Path,
        variables: &BTreeMap<String, String>,
    ) -> io::Result<Command> {
        let mut command = match (self.isolation, &self.tools.namespaces) {
            (Isolation::Namespaces, Some(tools)) => {
                let mut command = bare(&tools.nsenter);
                command
                    .args(["--net", "--pid", "--mount", "--target"])
                    .arg(self.init()?.to_string())
                    .arg(path_argument("--wd=", folder))
                    .arg("--")
                    .arg(program);
                command
            }
            _ => {
                let mut command = bare(program);
                command.current_dir(folder);
                command
            }
        };
        command.envs(variables);
        // The last, so that no variable takes its place.
        if let Some((name, value)) = self.mark() {
            command.env(name, value);
        }
        command.process_group(0);
        Ok(command)
    }

    /// Tells the process that runs a program from the one that was started for it.
    pub(crate) const fn inner(&self) -> fn(i32) -> i32 {
        match self.isolation {
            // `nsenter` starts the program as its child, because only a child is in the new table.
            Isolation::Namespaces => {
                |started| descendants(started).first().copied().unwrap_or(started)
            }
            Isolation::Mark => |started| started,
        }
    }

    /// A socket on 127.0.0.1 that the processes in here can reach. The system chooses the port.
    pub(crate) fn listen(&self) -> io::Result<TcpListener> {
        let bind = || TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        match self.isolation {
            Isolation::Mark => bind(),
            Isolation::Namespaces => {
                let network = File::open(format!("/proc/{}/ns/net", self.init()?))?;
                // A socket stays in the network that it was made in. So a thread goes there,
                // makes it, and is gone; no other thread of this process ever moves.
                let thread = thread::spawn(move || {
                    use std::os::fd::AsFd as _;
                    move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))?;
                    bind()
                });
                thread.join().map_err(|_| io::Error::other("no socket in the namespace"))?
            }
        }
    }

    /// The processes that run in here now.
    pub(crate) fn processes(&self) -> Vec<i32> {
        let mut found = marked(&self.mark);
        match self.isolation {
            // A process may clear its environment: then it is known by who started it.
            Isolation::Mark => {
                for pid in found.clone() {
                    found.extend(descendants(pid));
                }
            }
            Isolation::Namespaces => {
                if let Ok(init) = self.init() {
                    found.extend(in_the_table_of(init));
                    found.retain(|&pid| pid != init);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Ends everything in here and waits until it has ended.
    pub(crate) async fn close(mut self) -> io::Result<()> {
        drop(self.leash.take());
        self.end();
        self.keeper.wait().await?;
        // The kernel ends what is in the namespaces before it lets go of the keeper. Without
        // them, a process may have started another between look and signal: so look again.
        while !self.processes().is_empty() {
            self.end();
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    fn end(&self) {
        if let (Isolation::Namespaces, Ok(init)) = (self.isolation, self.init()) {
            signal(init, Signal::KILL);
        }
        // With namespaces, what a client started that is in their network only.
        for pid in self.processes() {
            signal(pid, Signal::KILL);
        }
    }

    /// What stands before a program so that it runs in the network of the sandbox, as the very
    /// process that was started and in the same process table as whoever started it.
    pub(crate) fn network_only(&self) -> io::Result<Vec<String>> {
        match (self.isolation, &self.tools.namespaces) {
            (Isolation::Namespaces, Some(tools)) => Ok(vec![
                tools.nsenter.to_string_lossy().into_owned(),
                format!("--net=/proc/{}/ns/net", self.init()?),
                "--".to_owned(),
            ]),
            _ => Ok(Vec::new()),
        }
    }

    /// The variable that marks what belongs to the sandbox.
    pub(crate) fn mark(&self) -> Option<(&str, &str)> {
        self.mark.split_once('=')
    }

    /// The first process of the namespaces: with it, they end.
    fn init(&self) -> io::Result<i32> {
        descendants(self.keeper_pid)
            .first()
            .copied()
            .ok_or_else(|| io::Error::other("the sandbox has ended"))
    }
}

/// How long a sandbox that is dropped waits for its processes to end. They are killed, so this takes
/// milliseconds, unless the machine is in trouble.
const LAST_WAIT: Duration = Duration::from_secs(5);

impl Drop for Sandbox {
    /// Returns when everything has ended: who comes after may remove the folders.
    fn drop(&mut self) {
        let start = Instant::now();
        loop {
            self.end();
            let over = match self.isolation {
                // The kernel ends what is in the namespaces before it lets go of the keeper.
                Isolation::Namespaces => {
                    !matches!(self.keeper.try_wait(), Ok(None)) && marked(&self.mark).is_empty()
                }
                Isolation::Mark => self.processes().is_empty(),
            };
            if over || start.elapsed() > LAST_WAIT {
                break;
            }
            thread::park_timeout(Duration::from_millis(1));
        }
    }
}

fn path_argument(flag: &str, path: &Path) -> std::ffi::OsString {
    let mut argument = std::ffi::OsString::from(flag);
    argument.push(path);
    argument
}

fn keeper_of_namespaces(programs: &NamespaceTools, shell: &Path, scratch: &Path) -> Command {
    let mut command = bare(&programs.unshare);
    command
        .args(["--net", "--pid", "--mount-proc", "--fork", "--kill-child", "--"])
        .arg(shell)
        // The shell is the first process of the new table: when it ends, the kernel ends all others.
        // It ends them itself before that, so that none writes to the folder that it removes.
        .args([
            "-c",
            r#""$0" link set lo up && echo && cat >/dev/null; kill -KILL -1; rm -rf -- "$1""#,
        ])
        .arg(&programs.ip)
        .arg(scratch)
        .env("PATH", "/usr/bin:/bin");
    command
}

fn keeper_of_mark(shell: &Path, mark: &str, scratch: &Path) -> Command {
    let mut command = bare(shell);
    command
        // After the end of the input: sweep until nothing is found, so that what was started
        // during a sweep is found by the next.
        .args([
            "-c",
            r#"echo; cat >/dev/null
            found=yes
            while [ "$found" ]; do
                found=
                for process in /proc/[0-9]*; do
                    if tr '\0' '\n' <"$process/environ" | grep -qxF -e "$0"; then
                        kill -KILL "${process#/proc/}" && found=yes
                    fi
                done
            done 2>/dev/null
            rm -rf -- "$1""#,
        ])
        .arg(mark)
        .arg(scratch)
        .env("PATH", "/usr/bin:/bin");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> BTreeMap<String, String> {
        BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())])
    }

    fn mark() -> String {
        format!("COUNTERSIGN_LAB={}", uuid::Uuid::new_v4())
    }

    /// A shell that leaves a process in a session of its own behind, as the CLI's tools do.
    async fn with_a_straggler(isolation: Isolation) -> Option<(Sandbox, Child, String)> {
        let mark = mark();
        let nowhere = Path::new("/nonexistent");
        let opened = Sandbox::open_with(isolation, mark.clone(), nowhere).await;
        let sandbox = match (opened, isolation) {
            (Ok(sandbox), _) => sandbox,
            // Where namespaces are not permitted there is nothing to test.
            (Err(_), Isolation::Namespaces) => return None,
            (Err(error), Isolation::Mark) => panic!("{error}"),
        };
        let mut child = sandbox
            .command(Path::new("/bin/sh"), Path::new("/"), &path())
            .unwrap()
            .args(["-c", "setsid sleep 1000 & echo; exec sleep 1000"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = [0];
        child.stdout.take().unwrap().read_exact(&mut ready).await.unwrap();
        Some((sandbox, child, mark))
    }

    /// Waits for what must happen by itself. A test that hangs is ended by the test runner.
    async fn until_none_is_left(mark: &str) {
        while !marked(mark).is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    #[tokio::test]
    async fn a_sandbox_that_is_closed_leaves_nothing_behind() {
        for isolation in [Isolation::Namespaces, Isolation::Mark] {
            let Some((sandbox, _child, mark)) = with_a_straggler(isolation).await else { continue };
            assert!(sandbox.processes().len() >= 2, "{isolation:?}");
            sandbox.close().await.unwrap();
            assert_eq!(marked(&mark), [0; 0], "{isolation:?}");
        }
    }

    #[tokio::test]
    async fn a_sandbox_that_is_dropped_leaves_nothing_behind() {
        for isolation in [Isolation::Namespaces, Isolation::Mark] {
            let Some((sandbox, _child, mark)) = with_a_straggler(isolation).await else { continue };
            drop(sandbox);
            until_none_is_left(&mark).await;
        }
    }

    #[tokio::test]
    async fn the_keeper_alone_ends_everything_when_its_input_ends() {
        for isolation in [Isolation::Namespaces, Isolation::Mark] {
            let Some((mut sandbox, _child, mark)) = with_a_straggler(isolation).await else {
                continue;
            };
            // As when this process is killed: nothing but the end of the input reaches the keeper.
            drop(sandbox.leash.take());
            until_none_is_left(&mark).await;
        }
    }

    #[tokio::test]
    async fn namespaces_have_a_network_of_their_own() {
        let nowhere = Path::new("/nonexistent");
        let opened = Sandbox::open_with(Isolation::Namespaces, mark(), nowhere).await;
        let Ok(sandbox) = opened else { return };
        let listener = sandbox.listen().unwrap();
        let port = listener.local_addr().unwrap().port();
        let outside = TcpListener::bind("127.0.0.1:0").unwrap();
        let closed_port = outside.local_addr().unwrap().port();
        let reaches = async |port: u16| {
            let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
            let mut command =
                sandbox.command(Path::new("/bin/bash"), Path::new("/"), &path()).unwrap();
            let command = command.args(["-c", &script]).stderr(Stdio::null());
            command.status().await.unwrap().success()
        };
        assert!(reaches(port).await, "the socket of the sandbox is reached from inside");
        assert!(!reaches(closed_port).await, "a socket of the machine is not");
        sandbox.close().await.unwrap();
    }

    #[tokio::test]
    async fn a_process_without_the_mark_is_found_all_the_same() {
        for isolation in [Isolation::Namespaces, Isolation::Mark] {
            let nowhere = Path::new("/nonexistent");
            let opened = Sandbox::open_with(isolation, mark(), nowhere).await;
            let sandbox = match (opened, isolation) {
                (Ok(sandbox), _) => sandbox,
                (Err(_), Isolation::Namespaces) => continue,
                (Err(error), Isolation::Mark) => panic!("{error}"),
            };
            // One variable tries to take the place of the mark, a process throws everything away.
            let mut variables = path();
            variables.insert("COUNTERSIGN_LAB".to_owned(), "other".to_owned());
            let mut child = sandbox
                .command(Path::new("/bin/sh"), Path::new("/"), &variables)
                .unwrap()
                .args(["-c", "env -i sh -c 'echo; exec sleep 1000' & exec sleep 1000"])
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut ready = [0];
            child.stdout.take().unwrap().read_exact(&mut ready).await.unwrap();
            let running = sandbox.processes();
            let bare = |pid: &i32| {
                let environment = std::fs::read_to_string(format!("/proc/{pid}/environ"));
                !environment.unwrap_or_default().contains("COUNTERSIGN_LAB")
            };
            assert!(running.iter().any(bare), "{isolation:?}");
            assert!(!running.iter().all(bare), "{isolation:?}");
            sandbox.close().await.unwrap();
            let mut left = crate::process::processes();
            left.retain(|process| running.contains(&process.pid) && !process.ended);
            assert!(left.is_empty(), "{isolation:?}: {left:?}");
        }
    }

    #[tokio::test]
    async fn where_namespaces_are_not_permitted_there_is_the_mark() {
        let refused = NamespaceTools {
            unshare: PathBuf::from("/bin/false"),
            nsenter: PathBuf::from("/bin/false"),
            ip: PathBuf::from("/bin/false"),
        };
        for namespaces in [None, Some(refused)] {
            let tools = Tools { shell: PathBuf::from("/bin/sh"), namespaces };
            let nowhere = Path::new("/nonexistent");
            let asked_for =
                Sandbox::build(tools.clone(), Isolation::Namespaces, mark(), nowhere).await;
            assert!(asked_for.unwrap_err().to_string().contains("namespaces"));
            let sandbox = Sandbox::open_best(tools, mark(), nowhere).await.unwrap();
            assert_eq!(sandbox.isolation(), Isolation::Mark);
            sandbox.close().await.unwrap();
        }
    }
}
