//! Running the command under test.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use countersign_record::{Channel, Entry, Record, Tail, TapeReader};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// The program that is tested.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_countersign-tape");

/// A folder with a tape in it, or where one will be.
#[derive(Debug)]
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn tape(&self) -> PathBuf {
        self.path("session.tape")
    }

    /// `tee` with the tape here, and everything piped.
    pub(crate) fn tee(&self, program: &str, args: &[&str]) -> Command {
        tee(&self.tape(), program, args)
    }

    /// `tee` of a shell script.
    pub(crate) fn tee_sh(&self, script: &str) -> Command {
        self.tee("/bin/sh", &["-c", script])
    }

    /// All records of the tape, which must be whole.
    pub(crate) fn records(&self) -> Vec<Record> {
        let (records, tail) = read_tape(&self.tape());
        assert_eq!(tail, Tail::Whole);
        records
    }

    /// Writes a program that is a script.
    pub(crate) fn script(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

pub(crate) fn tee(tape: &Path, program: &str, args: &[&str]) -> Command {
    let mut command = command(PROGRAM);
    command.args(["tee", "--tape"]).arg(tape).args(["--claude", program, "--"]).args(args);
    command
}

/// A command with all its streams piped.
#[expect(clippy::disallowed_methods, reason = "this is where the tests start their processes")]
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Starts a command. A script that was written a moment ago may still be open in a child that
/// another test is about to start, so a busy file is tried again.
pub(crate) fn spawn(command: &mut Command) -> Child {
    loop {
        match command.spawn() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::yield_now();
            }
            child => return child.unwrap(),
        }
    }
}

/// Runs a command to its end, with this input.
pub(crate) fn run(command: &mut Command, input: &[u8]) -> Output {
    let mut child = spawn(command);
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A program need not read its input.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// The standard output of a command that must succeed.
pub(crate) fn stdout_of(args: &[&OsStr]) -> String {
    let output = run(command(PROGRAM).args(args), b"");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

pub(crate) fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

/// All records of a tape, and how it ends.
pub(crate) fn read_tape(path: &Path) -> (Vec<Record>, Tail) {
    let mut reader = TapeReader::open(path).unwrap();
    let records = reader.by_ref().collect::<Result<_, _>>().unwrap();
    (records, reader.tail())
}

/// The bytes of a channel, by the rule of the format.
pub(crate) fn channel_bytes(records: &[Record], wanted: Channel) -> Vec<u8> {
    let mut bytes = Vec::new();
    for record in records {
        if let Entry::Line { channel, text, more } = &record.entry
            && *channel == wanted
        {
            bytes.extend_from_slice(text.as_bytes());
            bytes.extend((!more).then_some(b'\n'));
        }
    }
    bytes
}

/// Looks again and again until something is so. Fails when it is not so after a long time.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(240), "still not so: {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Whether a process has ended. Its parent may not have noticed yet.
pub(crate) fn is_gone(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .map_or(true, |stat| stat.rsplit(')').next().unwrap().trim_start().starts_with('Z'))
}

/// The most memory that a process has had, in kB, from its `/proc/PID/status`.
pub(crate) fn peak_memory(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().trim().parse().unwrap()
}
