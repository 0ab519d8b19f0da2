//! The keeper: ends everything when this process is killed.
//!
//! It is a small shell that reads its standard input, which this process holds open. When this
//! process ends, in whatever way, the shell reads the end of its input, and ends whatever carries
//! the mark of this process. There is one for all sessions.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;

use super::mark::Mark;

static KEEPER: Mutex<Option<Keeper>> = Mutex::new(None);

/// Makes sure that the keeper stands behind this process, from now on.
///
/// It is started by the first call, which does not wait for it: if this process is killed before
/// it has begun to read, it finds its input ended already. Each further call looks whether it
/// still runs, which takes microseconds, and starts another if it does not.
///
/// # Errors
///
/// When there is no `/bin/sh`, no `grep`, or no `/proc` of Linux. Sessions work without a keeper; but when this
/// process is killed, the CLIs finish what they are at, and what their tools left in the
/// background goes on.
pub(super) fn ensure_keeper() -> io::Result<()> {
    with_keeper(|_| ())
}

/// Has the keeper stand behind this process before something runs that must not outlive it. Where
/// there can be none, that is said, and all goes on.
pub(crate) fn call_keeper() {
    if let Err(error) = ensure_keeper() {
        tracing::warn!(%error, "if this process is killed, what the CLI runs will go on");
    }
}

/// Leaves it to the keeper to end what carries this mark.
pub(super) fn sweep(mark: Mark) {
    // Without a keeper there is nobody else: what could be done at once has been done.
    let line = format!("{}\n", mark.pattern());
    drop(with_keeper(|keeper| keeper.leash.write_all(line.as_bytes())));
}

fn with_keeper<T>(action: impl FnOnce(&mut Keeper) -> T) -> io::Result<T> {
    let mut keeper = KEEPER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(running) = keeper.take_if(|keeper| keeper.has_ended()) {
        running.bury();
    }
    let keeper = match &mut *keeper {
        Some(keeper) => keeper,
        none => none.insert(Keeper::start(Path::new("/bin/sh"))?),
    };
    Ok(action(keeper))
}

#[derive(Debug)]
struct Keeper {
    shell: Child,
    /// Held open; its end is the signal. Nobody else holds it: it is closed in every child.
    leash: ChildStdin,
}

impl Keeper {
    #[expect(
        clippy::disallowed_methods,
        reason = "the shell outlives us on purpose, and ends itself"
    )]
    fn start(shell: &Path) -> io::Result<Self> {
        if !Path::new("/proc/self/environ").exists() {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "nothing can be found by its mark without the /proc of Linux",
            ));
        }
        let mut path = OsString::from("/usr/bin:/bin");
        if let Some(ours) = std::env::var_os("PATH") {
            path.push(":");
            path.push(ours);
        }
        // The shell itself would find that out when it is too late.
        if !std::env::split_paths(&path).any(|folder| folder.join("grep").is_file()) {
            return Err(io::Error::new(io::ErrorKind::NotFound, "there is no grep on the PATH"));
        }
        let mut shell = Command::new(shell)
            .args(["-c", include_str!("keeper.sh")])
            .arg(Mark::of_this_process().pattern())
            // No mark, or it would find itself.
            .env_clear()
            .env("PATH", path)
            .current_dir("/")
            // A signal to our group is not for it: it goes when we are gone.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let leash = shell.stdin.take().ok_or_else(|| io::Error::other("no pipe to the keeper"))?;
        // A keeper that is stuck must not hold us up.
        ioctl_fionbio(&leash, true)?;
        Ok(Self { shell, leash })
    }

    /// Whether nobody reads the leash any more. That is asked, and not whether the shell was
    /// waited for, because a program may wait for all its children: the leash of a keeper that
    /// lives must not be let go.
    fn has_ended(&self) -> bool {
        let mut leash = [PollFd::new(&self.leash, PollFlags::empty())];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut leash, Some(&now)).is_ok()
            && leash.iter().any(|leash| leash.revents().intersects(PollFlags::ERR))
    }

    /// Takes note of the end of the shell.
    fn bury(mut self) {
        // Its process may still be about to end: then the system takes note when we end.
        drop(self.shell.try_wait());
    }
}
