//! The processes: a driver, the browser that it starts, and a keeper that ends both.

use std::io::{self, BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// The variable that marks what belongs to a browser, with its scratch folder as the value.
const MARK: &str = "COUNTERSIGN_E2E_BROWSER";

/// A driver that listens on a port of its own. With it, all its processes end.
#[derive(Debug)]
pub(crate) struct Driver {
    port: u16,
    driver: Child,
    keeper: Child,
    scratch: TempDir,
}

impl Driver {
    /// Starts a driver.
    ///
    /// The keeper comes first. It reads its standard input, which this process holds open, so it acts
    /// whatever becomes of us: at the end of its input it ends every process that has the scratch
    /// folder in its environment or its arguments, and removes the folder. The browser overwrites the
    /// environment of its children, and names the folder in their arguments.
    pub(crate) fn start() -> Self {
        let scratch = tempfile::tempdir().expect("no scratch folder");
        let keeper = command("/bin/sh")
            .args([
                "-c",
                r#"cat >/dev/null
                found=yes
                while [ "$found" ]; do
                    found=
                    for process in /proc/[0-9]*; do
                        pid=${process#/proc/}
                        if [ "$pid" != $$ ] && cat "$process/environ" "$process/cmdline" |
                            tr '\0' '\n' | grep -qF -e "$1"
                        then
                            kill -KILL "$pid" && found=yes
                        fi
                    done
                done 2>/dev/null
                rm -rf -- "$1""#,
                "keeper",
            ])
            .arg(scratch.path())
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("no shell");
        let mut driver = command("chromedriver")
            .arg("--port=0")
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", scratch.path())
            .env("TMPDIR", scratch.path())
            .env(MARK, scratch.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver cannot be started: install chromium and chromium-driver");
        let port = port(&mut driver).expect("chromedriver does not say its port");
        Self { port, driver, keeper, scratch }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// A folder that goes when the driver goes.
    pub(crate) fn scratch(&self) -> &Path {
        self.scratch.path()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        // Its end means that nothing is left; the driver is one of those it ended.
        let ended = self.keeper.wait().and_then(|_| self.driver.wait());
        drop(ended);
    }
}

/// What the driver says on its first lines; the rest is read by nobody and is a line or two.
fn port(driver: &mut Child) -> io::Result<u16> {
    let out = driver.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    for line in BufReader::new(out).lines() {
        if let Some((_, rest)) = line?.split_once("started successfully on port ") {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            return digits.parse().map_err(io::Error::other);
        }
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}

/// A command with nothing in its environment.
#[expect(clippy::disallowed_methods, reason = "this is where the tests start their processes")]
fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    command
}
