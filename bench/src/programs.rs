//! The programs that are measured, and lines through them.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

/// The programs of the workspace, built as this one is.
#[derive(Debug)]
pub struct Programs {
    folder: PathBuf,
}

impl Programs {
    /// Builds the programs, which takes a while the first time.
    ///
    /// # Errors
    ///
    /// When they cannot be built.
    pub fn build() -> io::Result<Self> {
        // Not optimised, if this is not either: then nothing is measured, only tried. What the
        // tests have built is used as it is.
        let what: &[&str] = if cfg!(debug_assertions) {
            &["--workspace", "--all-features"]
        } else {
            &["--release", "-p", "countersign-record", "-p", "countersign-lab"]
        };
        let status = command(Path::new(env!("CARGO")))
            .args(["build", "--quiet", "--bins"])
            .args(what)
            .status()?;
        if !status.success() {
            return Err(io::Error::other("the programs cannot be built"));
        }
        // Benchmarks are in the folder `deps` beside the programs.
        let folder = std::env::current_exe()?.parent().and_then(Path::parent).map(Path::to_owned);
        Ok(Self { folder: folder.ok_or_else(|| io::Error::other("no folder"))? })
    }

    /// Where the program of this name is.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// A command for a program that is measured.
#[expect(clippy::disallowed_methods, reason = "what is measured here is started here")]
#[must_use]
pub fn command(program: &Path) -> Command {
    Command::new(program)
}

/// A program that gives back what it is given.
#[derive(Debug)]
pub struct Echo {
    child: Child,
}

impl Echo {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        Ok(Self { child })
    }

    /// Sends all of `bytes` through it and waits for its end.
    ///
    /// # Errors
    ///
    /// When not all comes back.
    pub fn pass(mut self, bytes: &[u8]) -> io::Result<()> {
        let (mut stdin, mut stdout) = self.pipes()?;
        let got = thread::scope(|scope| {
            scope.spawn(move || stdin.write_all(bytes));
            io::copy(&mut stdout, &mut io::sink())
        })?;
        self.child.wait()?;
        if got != bytes.len() as u64 {
            return Err(io::Error::other(format!("{got} of {} bytes came back", bytes.len())));
        }
        Ok(())
    }

    /// Sends a line and waits until it is back, so many times; then waits for the end.
    ///
    /// # Errors
    ///
    /// When a line does not come back.
    pub fn round_trips(mut self, line: &[u8], times: usize) -> io::Result<()> {
        let (mut stdin, stdout) = self.pipes()?;
        let mut stdout = BufReader::new(stdout);
        let mut back = Vec::new();
        for _ in 0..times {
            stdin.write_all(line)?;
            back.clear();
            stdout.read_until(b'\n', &mut back)?;
        }
        drop(stdin);
        stdout.read_to_end(&mut back)?;
        self.child.wait()?;
        Ok(())
    }

    fn pipes(&mut self) -> io::Result<(std::process::ChildStdin, std::process::ChildStdout)> {
        let pipes = self.child.stdin.take().zip(self.child.stdout.take());
        pipes.ok_or_else(|| io::Error::other("the pipes are gone"))
    }
}
