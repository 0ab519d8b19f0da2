//! The stand-in for the CLI: runs the real one, and records what goes over its streams.

mod child;
mod place;
mod program;
mod pump;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::stdio;

use self::child::{Running, Streams, Target, pass_on_signals};
use self::pump::Pump;
use crate::format::{Channel, End, Header, Note};
use crate::recorder::{Recorder, RecorderOptions};

pub use self::program::{FindError, find_cli};

/// Runs a program in place of this process, and records its standard streams on a tape.
///
/// The client must not be able to tell the difference: bytes go through as they are and at once,
/// both ways; a stream that is closed on one side is closed on the other; signals are passed on;
/// and [`end_as`] ends this process as the program ended. Whatever goes wrong with the tape, the
/// session goes on without it, and one line on standard error says so.
#[derive(Clone, Debug)]
pub struct Tee {
    program: PathBuf,
    args: Vec<OsString>,
    tape: PathBuf,
    linger: Duration,
}

/// Why the program does not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TeeError {
    /// The program cannot be started.
    #[error("cannot start {program}: {source}", program = program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The system has no threads, pipes or signals for us.
    #[error("cannot stand in for the CLI: {0}")]
    System(#[from] io::Error),
}

/// What the thread that waits for the end is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// An output stream has come to its end.
    Drained,
    /// Somebody wants us to end, and there is no child any more to pass that on to.
    Hurry,
}

impl Tee {
    /// A program to be run with these arguments, and where its tape goes.
    ///
    /// Where `tape` is a folder, each run gets a file of its own in it. Otherwise it is a file
    /// that does not exist yet; `{pid}` and `{time}` in its path are filled in.
    #[must_use]
    pub const fn new(program: PathBuf, args: Vec<OsString>, tape: PathBuf) -> Self {
        Self { program, args, tape, linger: Duration::from_secs(2) }
    }

    /// How long to wait for the end of the output after the program has ended: 2 seconds unless
    /// this says otherwise.
    ///
    /// A process that the program left behind may hold its output open for ever. What the
    /// program itself wrote is passed on in any case, however long the client takes to read it.
    #[must_use]
    pub const fn linger(mut self, linger: Duration) -> Self {
        self.linger = linger;
        self
    }

    /// Runs the program to its end.
    ///
    /// This takes the standard input and output of the process for itself, and the signals. It
    /// must be called from the main thread: the program is killed when the calling thread ends.
    ///
    /// # Errors
    ///
    /// When the program cannot be started.
    pub fn run(&self) -> Result<End, TeeError> {
        let start = Timestamp::now();
        let recorder = self.recorder(start);
        let (events, news) = sync_channel(8);
        let target = Target::default();
        let signals = pass_on_signals(&target, recorder.clone(), events.clone())?;
        let client = client_streams()?;
        let (child_gone, alive) = io::pipe()?;

        let (child, ours) = Running::start(&self.program, &self.args).map_err(|source| {
            if let Some(recorder) = &recorder {
                let text = format!("cannot start {}: {source}", self.program.display());
                recorder.note(Note::Comment { text });
            }
            TeeError::Start { program: self.program.clone(), source }
        })?;
        child.aim(&target);
        signals.start();
        let pump = |channel, from, to| -> io::Result<Pump> {
            let (recorder, child_gone) = (recorder.clone(), child_gone.try_clone()?);
            Ok(Pump { channel, from, to, recorder, child_gone, linger: self.linger })
        };
        let pumps = [
            (Channel::In, client.stdin, ours.stdin),
            (Channel::Out, ours.stdout, client.stdout),
            (Channel::Err, ours.stderr, client.stderr),
        ];
        for (channel, from, to) in pumps {
            let spawned = pump(channel, from, to).and_then(|pump| spawn(pump, &events));
            if let Err(error) = spawned {
                child.kill();
                return Err(error.into());
            }
        }

        let end = child.wait(&target)?;
        drop(alive);
        self.drain(&news);
        if let Some(recorder) = recorder {
            // Trouble has been told by then.
            drop(recorder.finish(end));
        }
        Ok(end)
    }

    /// Waits until both output streams have come to their end. Standard input is not waited for:
    /// the client may keep it open as long as it likes.
    fn drain(&self, news: &Receiver<Event>) {
        let mut open = 2;
        let mut until: Option<Instant> = None;
        while open > 0 {
            let event = match until {
                None => news.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(until) => news.recv_timeout(until.saturating_duration_since(Instant::now())),
            };
            match event {
                Ok(Event::Drained) => open -= 1,
                // A client that does not read would keep us here for ever.
                Ok(Event::Hurry) => {
                    until = until.or_else(|| Instant::now().checked_add(self.linger));
                }
                Err(_) => return,
            }
        }
    }

    /// Starts the tape; without one the session goes on.
    fn recorder(&self, start: Timestamp) -> Option<Recorder> {
        let file = place::tape_file(&self.tape, start, std::process::id());
        let options = RecorderOptions::default().on_trouble(|trouble| {
            complain(&format!("the recording is in trouble, the session goes on: {trouble}"));
        });
        match Recorder::create(file, &self.header(start), options) {
            Ok(recorder) => Some(recorder),
            Err(error) => {
                complain(&format!("not recording: {error}"));
                None
            }
        }
    }

    fn header(&self, start: Timestamp) -> Header {
        let lossy = |text: &OsString| text.to_string_lossy().into_owned();
        let program = self.program.to_string_lossy().into_owned();
        let mut env: Vec<String> = std::env::vars_os().map(|(name, _)| lossy(&name)).collect();
        env.sort_unstable();
        let mut header = Header::new(start);
        header.cli = program::version_of(&self.program);
        header.argv = std::iter::once(program).chain(self.args.iter().map(lossy)).collect();
        header.cwd = std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
        header.env = env;
        header
    }
}

/// Ends this process as another one ended: by the same signal, or with the same exit code, which
/// the caller has to return.
#[must_use]
pub fn end_as(end: End) -> ExitCode {
    match end {
        // The system keeps eight bits of what a process exits with.
        End::Code(code) => ExitCode::from(code.to_le_bytes()[0]),
        End::Signal(number) => {
            // The program has left its core, if it left one; ours is of no use to anybody.
            let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
            drop(signal_hook::low_level::emulate_default_handler(number));
            // Still here: a signal without a name. A shell would say it this way.
            ExitCode::from((128 + number).to_le_bytes()[0])
        }
    }
}

/// Says something to the person in front of the client, on one line.
fn complain(text: &str) {
    let line = format!("countersign: {text}\n");
    // When standard error is gone there is nobody left to tell.
    drop(io::stderr().write_all(line.as_bytes()));
}

/// Runs a pump on a thread of its own, which says when an output stream is drained.
fn spawn(pump: Pump, events: &SyncSender<Event>) -> io::Result<()> {
    let events = (pump.channel != Channel::In).then(|| events.clone());
    std::thread::Builder::new().name(pump.channel.name().into()).spawn(move || {
        pump.run();
        if let Some(events) = events {
            let _ = events.send(Event::Drained);
        }
    })?;
    Ok(())
}

/// The streams between us and the client.
///
/// Standard input and output are moved to where a pump can close them, so that the other side
/// sees it while this process still runs. Standard error stays open for what we have to say.
fn client_streams() -> io::Result<Streams> {
    let own = |fd: BorrowedFd<'_>| fd.try_clone_to_owned().map(File::from);
    let streams = Streams {
        stdin: own(stdio::stdin())?,
        stdout: own(stdio::stdout())?,
        stderr: own(stdio::stderr())?,
    };
    let nothing = File::options().read(true).write(true).open(Path::new("/dev/null"))?;
    stdio::dup2_stdin(&nothing)?;
    stdio::dup2_stdout(&nothing)?;
    Ok(streams)
}
