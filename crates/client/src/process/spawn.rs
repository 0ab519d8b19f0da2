//! Starting the CLI.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;

use rustix::io::Errno;
use thiserror::Error;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::runtime::Handle;

use super::child::Process;
use super::mark::Mark;
use super::sweep::Pause;

/// What is started, and how.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpawnSpec {
    /// The program. With its folder, the start is cheaper, and it is clear what is meant.
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Environment,
    /// The working folder. None for that of this process.
    pub(crate) cwd: Option<PathBuf>,
}

/// What a child gets of our environment, and what besides.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    /// It gets nothing of ours.
    pub(crate) clear: bool,
    /// It does not get these.
    pub(crate) remove: Vec<OsString>,
    /// It gets these, whatever was removed.
    pub(crate) set: Vec<(OsString, OsString)>,
}

/// A CLI that was just started, and the ends of its pipes.
#[derive(Debug)]
pub(crate) struct Spawned {
    pub(crate) stdin: pipe::Sender,
    pub(crate) stdout: pipe::Receiver,
    pub(crate) stderr: pipe::Receiver,
    pub(crate) process: Process,
}

/// Why the CLI was not started.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// There is no such program.
    #[error("no program at {program}: install Claude Code, or name the path of `claude`")]
    #[non_exhaustive]
    NotFound {
        /// The program.
        program: PathBuf,
    },
    /// The program is there and cannot be executed.
    #[error(
        "{program} cannot be executed: check that it is a program for this machine and that its \
         permissions allow it"
    )]
    #[non_exhaustive]
    NotExecutable {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The program is a script whose interpreter is missing, or needs a loader that is.
    #[error(
        "{program} needs a program that is not there, node for instance: install it, or use the \
         native build of Claude Code"
    )]
    #[non_exhaustive]
    NoInterpreter {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody has the program open for writing.
    #[error("{program} is being written: wait until its installation or update is over")]
    #[non_exhaustive]
    BeingWritten {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The working folder cannot be entered.
    #[error("cannot work in {folder}: it has to be a folder that exists and may be entered")]
    #[non_exhaustive]
    WorkingFolder {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system has no room for another process, or this one for more open files.
    #[error("too many processes or open files: end some sessions, or raise the limits (ulimit)")]
    #[non_exhaustive]
    TooMany {
        /// What the system said.
        source: io::Error,
    },
    /// Arguments and environment are longer than the system permits.
    #[error(
        "arguments or environment are too long for the system: pass long texts as files, or in \
         the initialize request"
    )]
    #[non_exhaustive]
    TooLong {
        /// What the system said.
        source: io::Error,
    },
    /// An argument, a variable or a path has a zero byte in it.
    #[error("an argument, a variable or a path holds a zero byte, which the system cannot pass on")]
    #[non_exhaustive]
    ZeroByte {
        /// What the standard library said.
        source: io::Error,
    },
    /// The call was not made from a tokio runtime.
    #[error("there is no tokio runtime here: call this from one, or use the blocking interface")]
    NoRuntime,
    /// Anything else.
    #[error("cannot start {program}")]
    #[non_exhaustive]
    Other {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Starts the CLI, in a process group of its own and with marks that all it starts will carry.
pub(crate) fn spawn(spec: &SpawnSpec) -> Result<Spawned, SpawnError> {
    if Handle::try_current().is_err() {
        return Err(SpawnError::NoRuntime);
    }
    let mark = Mark::of_a_new_session();
    let mut child = start(&mut command(spec, mark)).map_err(|error| explain(spec, error))?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    // From here on the process is ended when anything fails.
    let process = Process::new(child, mark);
    let connect = || -> io::Result<_> {
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("the pipes of the child are missing"));
        };
        Ok((
            pipe::Sender::from_owned_fd(stdin.into_owned_fd()?)?,
            pipe::Receiver::from_owned_fd(stdout.into_owned_fd()?)?,
            pipe::Receiver::from_owned_fd(stderr.into_owned_fd()?)?,
        ))
    };
    let (stdin, stdout, stderr) = connect().map_err(|error| explain(spec, error))?;
    Ok(Spawned { stdin, stdout, stderr, process })
}

/// Starts a command, again if its program is open for writing.
///
/// A program that this process has just written may still be open in a child that another thread is
/// starting meanwhile, for the moment until that becomes its own program.
fn start(command: &mut Command) -> io::Result<Child> {
    let mut pause = Pause::default();
    for _ in 0..MOST_RETRIES {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                thread::park_timeout(pause.next());
            }
            result => return result,
        }
    }
    command.spawn()
}

/// These many take some milliseconds.
const MOST_RETRIES: usize = 4;

#[expect(clippy::disallowed_methods, reason = "this is the one place that starts the CLI")]
fn command(spec: &SpawnSpec, mark: Mark) -> Command {
    let mut command = Command::new(program(spec));
    command.args(&spec.arguments);
    let environment = &spec.environment;
    if environment.clear {
        command.env_clear();
    }
    for name in &environment.remove {
        command.env_remove(name);
    }
    command.envs(environment.set.iter().map(|(name, value)| (name, value)));
    // The last, so that no variable takes their place.
    for mark in [mark, Mark::of_this_process()] {
        let outer = std::env::var_os(mark.variable());
        command.env(mark.variable(), mark.value_within(outer.as_deref()));
    }
    if let Some(folder) = &spec.cwd {
        command.current_dir(folder);
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A signal from the terminal is for us; we tell the CLI what to do about it.
        .process_group(0)
        .kill_on_drop(true);
    command
}

/// The program, meant from the folder that this process is in, whatever folder the child is in.
fn program(spec: &SpawnSpec) -> PathBuf {
    match spec.program.parent() {
        // A name alone is looked for on the `PATH`.
        None => spec.program.clone(),
        Some(folder) if folder == Path::new("") => spec.program.clone(),
        Some(_) => std::path::absolute(&spec.program).unwrap_or_else(|_| spec.program.clone()),
    }
}

/// The reason, as far as it can be found out. The system has one number for several of them.
fn explain(spec: &SpawnSpec, source: io::Error) -> SpawnError {
    let program = program(spec);
    if source.kind() == io::ErrorKind::InvalidInput {
        return SpawnError::ZeroByte { source };
    }
    let number = source.raw_os_error().map(Errno::from_raw_os_error);
    match number {
        Some(Errno::AGAIN | Errno::MFILE | Errno::NFILE | Errno::NOMEM) => {
            return SpawnError::TooMany { source };
        }
        Some(Errno::TOOBIG) => return SpawnError::TooLong { source },
        _ => {}
    }
    if let Some(folder) = &spec.cwd
        && let Err(source) = enter(folder)
    {
        return SpawnError::WorkingFolder { folder: folder.clone(), source };
    }
    match number {
        // A name without a folder was looked for on the `PATH`: nothing can be at it.
        Some(Errno::NOENT) if program.is_absolute() && program.exists() => {
            SpawnError::NoInterpreter { program, source }
        }
        Some(Errno::TXTBSY) => SpawnError::BeingWritten { program, source },
        Some(Errno::NOENT | Errno::NOTDIR) => SpawnError::NotFound { program },
        Some(Errno::ACCESS | Errno::NOEXEC | Errno::PERM | Errno::ISDIR) => {
            SpawnError::NotExecutable { program, source }
        }
        _ => SpawnError::Other { program, source },
    }
}

/// Whether a folder can be worked in. It is entered by name, not read: that may be forbidden.
fn enter(folder: &Path) -> io::Result<()> {
    std::fs::metadata(folder.join("."))?;
    Ok(())
}
