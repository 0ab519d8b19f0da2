//! The child process: started so that it does not outlive us, and told the signals we get.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXFSZ};
use signal_hook::iterator::Signals;

use super::Event;
use super::program::search;
use crate::format::{End, Note};
use crate::recorder::Recorder;

/// The signals that are passed on.
const PASSED_ON: [i32; 7] = [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT];

/// The process that is recorded.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    pid: Pid,
}

/// The ends of its streams that are ours.
#[derive(Debug)]
pub(super) struct Streams {
    pub(super) stdin: File,
    pub(super) stdout: File,
    pub(super) stderr: File,
}

/// Where the signals go: to the child, as long as there is one.
#[derive(Clone, Debug, Default)]
pub(super) struct Target(Arc<Mutex<Option<Pid>>>);

impl Target {
    fn set(&self, pid: Option<Pid>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = pid;
    }

    /// Sends a signal. Says whether there was somebody to get it.
    fn send(&self, number: i32) -> bool {
        // The lock is held meanwhile: the child is not reaped, so its number is still its own.
        let target = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (*target, Signal::from_named_raw(number)) {
            (Some(pid), Some(signal)) => kill_process(pid, signal).is_ok(),
            _ => false,
        }
    }
}

impl Running {
    /// Starts the program, with the environment and the working directory that we have.
    ///
    /// It gets a process group of its own: a signal to our whole group, as the terminal sends
    /// it, would otherwise reach it twice, once directly and once through us.
    ///
    /// The thread that calls this must live as long as the child, because the child is killed
    /// when that thread ends.
    pub(super) fn start(program: &Path, args: &[OsString]) -> io::Result<(Self, Streams)> {
        let mut command = leashed(program);
        let mut child = command
            .args(args)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let ((Some(stdin), Some(stdout), Some(stderr)), Some(pid)) = (streams, pid) else {
            return Err(io::Error::other("the child has no streams"));
        };
        let streams = Streams {
            stdin: OwnedFd::from(stdin).into(),
            stdout: OwnedFd::from(stdout).into(),
            stderr: OwnedFd::from(stderr).into(),
        };
        Ok((Self { child, pid }, streams))
    }

    /// Passes signals to this child, those included that came before it was there.
    pub(super) fn aim(&self, target: &Target) {
        target.set(Some(self.pid));
    }

    /// Waits for the child to end.
    pub(super) fn wait(mut self, target: &Target) -> io::Result<End> {
        // First without reaping it, so that no signal goes to a process that got its number.
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(self.pid), ended) {}
        target.set(None);
        let status = self.child.wait()?;
        Ok(status.signal().map_or_else(|| End::Code(status.code().unwrap_or(1)), End::Signal))
    }

    /// Ends the child, because nobody can attend to it.
    pub(super) fn kill(mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A command that is killed when we die, also when we are killed ourselves; `setpriv` sees to
/// that, before it becomes the program. Without a `setpriv` that can, the program is started
/// plainly: it sees the end of its input when we die.
#[expect(clippy::disallowed_methods, reason = "this is where the recorder starts its child")]
fn leashed(program: &Path) -> Command {
    const DEATH: [&str; 2] = ["--pdeathsig", "KILL"];
    let able = |setpriv: &Path| {
        // Not every `setpriv` knows the option: that of BusyBox does not.
        let mut probe = Command::new(setpriv);
        probe.args(DEATH).arg("--version");
        probe.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        probe.status().is_ok_and(|status| status.success())
    };
    match search("setpriv".as_ref(), |_| true).filter(|setpriv| able(setpriv)) {
        Some(setpriv) => {
            let mut command = Command::new(setpriv);
            command.args(DEATH).arg("--").arg(program);
            command
        }
        None => Command::new(program),
    }
}

/// Starts to catch the signals, and passes them on from a thread of its own.
///
/// A signal that comes before there is a child waits for it. One that comes when the child has
/// ended is told to `events`.
pub(super) fn pass_on_signals(
    target: &Target,
    recorder: Option<Recorder>,
    events: SyncSender<Event>,
) -> io::Result<Starter> {
    // What the client had us ignore, the child has to ignore as well; it would not after we had
    // caught it.
    let ignored = ignored_signals();
    let caught = PASSED_ON.into_iter().filter(|number| ignored & bit(*number) == 0);
    let mut signals = Signals::new(caught)?;
    if ignored & bit(SIGXFSZ) == 0 {
        // A tape that gets longer than the system allows is trouble of the recorder's. Without
        // this it would end the session.
        signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    }
    let target = target.clone();
    let (starter, start) = std::sync::mpsc::sync_channel(1);
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        if start.recv().is_err() {
            return;
        }
        for number in signals.forever() {
            if let Some(recorder) = &recorder {
                recorder.note(Note::Signal { number });
            }
            if !target.send(number) && number != SIGCONT {
                let _ = events.try_send(Event::Hurry);
            }
        }
    })?;
    Ok(Starter(starter))
}

/// Holds back the signals until there is a child.
#[derive(Debug)]
pub(super) struct Starter(SyncSender<()>);

impl Starter {
    pub(super) fn start(self) {
        let _ = self.0.send(());
    }
}

const fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// The signals that this process ignores, one bit each. None where the system does not tell.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
