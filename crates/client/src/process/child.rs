//! The CLI as a process: waiting for it, and ending it with all that it started.

use std::io;
use std::process::ExitStatus;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::net::unix::pipe;
use tokio::process::Child;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::id::{ProcessId, ProcessInfo};
use super::mark::Mark;
use super::scope::Scope;
use super::sweep::{Pause, Swept, sweep};
use super::times::{KILLED, ShutdownTimes};
use super::{keeper, signal};

/// The CLI, started by us, and all that it starts. Nothing of it outlives this value.
///
/// [`end`](Self::end) is the orderly way. Dropping it kills everything at once; it does so also
/// without a runtime and while a panic unwinds.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    pid: Option<Pid>,
    /// Found out when it is first asked for, because that takes longer than starting does. Until its
    /// end was taken note of, the number of a child is not given to another.
    id: OnceLock<Option<ProcessId>>,
    mark: Mark,
    scope: Option<Scope>,
    /// Tells that the CLI has ended, without taking note of it. None until it is waited for, and
    /// where the kernel has no such handles.
    handle: Option<pipe::Receiver>,
    exit: Option<ExitStatus>,
    /// Whether something was left when the CLI had ended.
    left: bool,
    /// All has ended: there is nothing to do when it is dropped.
    over: bool,
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// What the CLI exited with. None if the system did not tell: somebody else took note of its
    /// end, or it was killed and is still not gone.
    pub exit: Option<ExitStatus>,
    /// What it took to end it.
    pub how: HowEnded,
    /// What the CLI had left running, and was ended after it.
    pub left_running: Vec<ProcessInfo>,
    /// What could not be ended. Empty, unless the machine is in trouble or the CLI has started
    /// something as another user.
    pub still_running: Vec<ProcessInfo>,
}

/// What it took to end the CLI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HowEnded {
    /// It exited by itself.
    Exited,
    /// It exited after SIGTERM.
    Terminated,
    /// It was killed.
    Killed,
}

impl Process {
    pub(super) fn new(child: Child, mark: Mark) -> Self {
        let pid = child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        Self {
            child,
            pid,
            id: OnceLock::new(),
            mark,
            scope: None,
            handle: None,
            exit: None,
            left: true,
            over: false,
        }
    }

    /// Which process the CLI is. None where there is no `/proc` of Linux.
    pub(crate) fn id(&self) -> Option<ProcessId> {
        *self.id.get_or_init(|| {
            let pid = self.pid.filter(|_| self.child.id().is_some())?;
            ProcessId::of(pid.as_raw_nonzero().get())
        })
    }

    /// The mark that the CLI and its tools carry.
    pub(crate) const fn mark(&self) -> Mark {
        self.mark
    }

    /// Everything that belongs to the session and runs now, the CLI included.
    #[cfg(test)]
    pub(crate) fn tree(&mut self) -> Vec<ProcessInfo> {
        self.scope().look().iter().filter_map(ProcessInfo::of).collect()
    }

    /// Waits until the CLI has exited. What it has left behind may still run.
    ///
    /// It can be dropped and called again.
    pub(crate) async fn exited(&mut self) -> io::Result<ExitStatus> {
        if let Some(exit) = self.exit {
            return Ok(exit);
        }
        // The last moment to find out which process it is.
        self.scope();
        if self.handle.is_none() {
            self.handle = self.pid.and_then(handle);
        }
        if let Some(handle) = &self.handle {
            // An error here would only mean that the next wait is the first.
            drop(handle.readable().await);
            // Now its number is still its own, and whoever is in its group is ours.
            self.left = self.look_for_left();
        }
        let exit = self.child.wait().await?;
        if self.handle.take().is_none() {
            self.left = self.look_for_left();
        }
        self.exit = Some(exit);
        Ok(exit)
    }

    /// Waits until the CLI has exited, but not longer than this. None if it runs on, or the
    /// system cannot tell.
    #[cfg(test)]
    pub(crate) async fn wait_for_exit(&mut self, time: Duration) -> Option<ExitStatus> {
        timeout(time, self.exited()).await.ok()?.ok()
    }

    /// Asks the CLI and whatever is in its process group to end.
    pub(crate) fn terminate(&mut self) {
        // Children are known by their parents, so they are looked at before those end.
        self.scope().look();
        self.signal_group(Signal::TERM);
    }

    /// Kills the CLI and whatever is in its process group. Tools are in groups of their own:
    /// [`end`](Self::end) sees to them.
    pub(crate) fn kill(&mut self) {
        self.scope().look();
        self.signal_group(Signal::KILL);
    }

    /// Ends the session: waits for the CLI to exit, asks it to, kills it, and then ends all that it
    /// has left running. Each step takes no longer than `times` say.
    ///
    /// The caller has closed the input of the CLI. When this is dropped before it is done, all is
    /// killed.
    pub(crate) async fn end(self, times: ShutdownTimes) -> Ended {
        self.end_or_hurry(times, &CancellationToken::new()).await
    }

    /// [`end`](Self::end), in which nothing is given any time as soon as there is a `hurry`.
    pub(crate) async fn end_or_hurry(
        mut self,
        times: ShutdownTimes,
        hurry: &CancellationToken,
    ) -> Ended {
        if self.exit.is_none() {
            self.scope().look();
        }
        let mut how = HowEnded::Exited;
        let mut ended = self.ends_within(times.exit, hurry).await;
        if !ended && !hurry.is_cancelled() {
            how = HowEnded::Terminated;
            self.terminate();
            ended = self.ends_within(times.terminate, hurry).await;
        }
        if !ended {
            how = HowEnded::Killed;
            self.kill();
            // This is not up to anybody.
            self.ends_within(KILLED, &CancellationToken::new()).await;
        }
        let swept = if self.left {
            sweep(self.scope(), times.sweep, KILLED, hurry).await
        } else {
            Swept::default()
        };
        self.over = swept.still_running.is_empty();
        let Swept { ended: left_running, still_running } = swept;
        Ended { exit: self.exit, how, left_running, still_running }
    }

    /// Whether something is left, as far as can be told.
    fn look_for_left(&mut self) -> bool {
        let scope = self.scope();
        !scope.look().is_empty() || scope.is_unsure()
    }

    fn scope(&mut self) -> &mut Scope {
        let (mark, id) = (self.mark, self.id());
        self.scope.get_or_insert_with(|| {
            Scope::new(Some(mark), id).since(id.map_or(0, ProcessId::start_time))
        })
    }

    /// Whether the CLI ends in this time, and before there is a hurry. If the system cannot tell, it
    /// is not waited for; it is among what is swept.
    async fn ends_within(&mut self, time: Duration, hurry: &CancellationToken) -> bool {
        tokio::select! {
            biased;
            ended = timeout(time, self.exited()) => ended.is_ok(),
            () = hurry.cancelled() => false,
        }
    }

    fn signal_group(&self, signal: Signal) {
        // Once its end was taken note of, its number may be somebody else's.
        if self.child.id().is_none() {
            return;
        }
        match (self.id(), self.pid) {
            (Some(id), _) => signal::send_to_group(id, signal),
            // Without `/proc` there is nobody to ask, but a child that was not waited for keeps its
            // number.
            (None, Some(pid)) => _ = kill_process_group(pid, signal),
            (None, None) => {}
        }
    }
}

/// How long a drop may take. What runs then is left to the keeper.
const DROP: Duration = Duration::from_millis(50);

impl Drop for Process {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let begin = Instant::now();
        self.kill();
        let mut pause = Pause::default();
        loop {
            let found = self.scope().look_and(signal::kill);
            // Taken note of here, so that it does not wait for a runtime that may be gone.
            let reaped = !matches!(self.child.try_wait(), Ok(None));
            if found.is_empty() && reaped {
                return;
            }
            if begin.elapsed() >= DROP {
                if !found.is_empty() {
                    keeper::sweep(self.mark);
                }
                return;
            }
            thread::park_timeout(pause.next());
        }
    }
}

/// A handle that becomes readable when the process has ended. Nothing is read from it.
fn handle(pid: Pid) -> Option<pipe::Receiver> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{PidfdFlags, pidfd_open};
        // It is no pipe, but it is owned and polled as one.
        pipe::Receiver::from_owned_fd_unchecked(pidfd_open(pid, PidfdFlags::NONBLOCK).ok()?).ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        _ = pid;
        None
    }
}
