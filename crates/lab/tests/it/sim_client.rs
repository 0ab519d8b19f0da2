//! A small client for tests of the simulated CLI: it writes lines and waits for lines.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A test that waits this long for a line has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(240);

/// A folder with a home, a project and a script.
pub(crate) struct Place {
    root: TempDir,
}

impl Place {
    /// A home and a project, both empty but for `hello.py`.
    pub(crate) fn new() -> Self {
        let place = Self { root: TempDir::new().unwrap() };
        fs::create_dir_all(place.cwd()).unwrap();
        fs::write(place.cwd().join("hello.py"), "print('hi'\n").unwrap();
        place
    }

    /// The home.
    pub(crate) fn home(&self) -> PathBuf {
        // The path is told by the process as the system knows it.
        self.root.path().canonicalize().unwrap().join("home/dev")
    }

    /// The project.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.home().join("proj")
    }

    /// Writes the script, and gives its path.
    pub(crate) fn script(&self, text: &str) -> PathBuf {
        let path = self.root.path().join("script.toml");
        fs::write(&path, text).unwrap();
        path
    }
}

/// How a simulated CLI is started.
pub(crate) struct Setup {
    version: String,
    args: Vec<String>,
    env: Vec<(String, String)>,
}

impl Setup {
    /// As a version, with the flags of a client that answers permission requests.
    pub(crate) fn new(version: &str) -> Self {
        Self::bare(version).args(&["--permission-prompt-tool", "stdio", "--setting-sources", ""])
    }

    /// As a version, with nothing but the format.
    pub(crate) fn bare(version: &str) -> Self {
        let format =
            ["--output-format", "stream-json", "--input-format", "stream-json", "--verbose"];
        Self { version: version.to_owned(), args: Vec::new(), env: Vec::new() }.args(&format)
    }

    /// As a version, with exactly these arguments.
    pub(crate) fn exactly(version: &str, args: &[String]) -> Self {
        Self { version: version.to_owned(), args: args.to_vec(), env: Vec::new() }
    }

    /// With more arguments.
    pub(crate) fn args(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(|&arg| arg.to_owned()));
        self
    }

    /// With a variable in the environment.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Starts it with a script.
    pub(crate) fn start(&self, place: &Place, script: &str) -> Client {
        let script = place.script(script);
        self.start_with(place, &["--script", script.to_str().unwrap()])
    }

    /// Starts it without a script.
    pub(crate) fn start_without_script(&self, place: &Place) -> Client {
        self.start_with(place, &[])
    }

    /// Starts it with arguments of its own before those of the CLI.
    pub(crate) fn start_with(&self, place: &Place, own: &[&str]) -> Client {
        let mut command = self.command(place);
        command.args(["--as", &self.version]).args(own).arg("--").args(&self.args);
        Client::of(command.spawn().unwrap())
    }

    /// Starts it as a client starts the CLI: everything of its own is in the environment.
    pub(crate) fn start_as_claude(&self, place: &Place, script: &str) -> Client {
        let mut command = self.command(place);
        command
            .env("COUNTERSIGN_SIM_SCRIPT", place.script(script))
            .env("COUNTERSIGN_SIM_AS", &self.version)
            .args(&self.args);
        Client::of(command.spawn().unwrap())
    }

    fn command(&self, place: &Place) -> Command {
        let mut command = simulated_cli();
        command
            .env("HOME", place.home())
            .env("CLAUDE_CODE_ENTRYPOINT", "sdk-test")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(place.cwd());
        command
    }
}

/// The program, in an empty environment.
fn simulated_cli() -> Command {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that starts the process under test"
    )]
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign-sim"));
    command.env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs it with these arguments and no input: exit code, standard output, standard error.
pub(crate) fn run_plain(args: &[&str]) -> (Option<i32>, String, String) {
    let place = Place::new();
    let mut command = simulated_cli();
    let output = command
        .args(args)
        .env("HOME", place.home())
        .current_dir(place.cwd())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// A running simulated CLI.
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Receiver<String>,
    /// Everything that was read so far.
    pub(crate) seen: Vec<Value>,
}

impl Client {
    fn of(mut child: Child) -> Self {
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let (line_sender, lines) = sync_channel(1 << 16);
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let Ok(line) = line else { return };
                if line_sender.send(line).is_err() {
                    return;
                }
            }
        });
        let (error_sender, errors) = sync_channel(1);
        thread::spawn(move || {
            let mut text = Vec::new();
            // What was read before the pipe broke is still worth showing.
            drop(stderr.read_to_end(&mut text));
            drop(error_sender.send(String::from_utf8_lossy(&text).into_owned()));
        });
        Self { child, stdin, lines, errors, seen: Vec::new() }
    }

    /// The id of the process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Writes bytes as they stand. A process that has ended does not mind.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        if let Some(stdin) = &mut self.stdin {
            drop(stdin.write_all(bytes).and_then(|()| stdin.flush()));
        }
    }

    /// Writes a frame.
    pub(crate) fn send(&mut self, frame: &Value) {
        self.write(format!("{frame}\n").as_bytes());
    }

    /// Says something.
    pub(crate) fn say(&mut self, text: &str) {
        self.send(&json!({"type": "user", "message": {"role": "user", "content": text}}));
    }

    /// Asks something.
    pub(crate) fn ask(&mut self, id: &str, request: &Value) {
        self.send(&json!({"type": "control_request", "request_id": id, "request": request}));
    }

    /// Answers a request of the CLI.
    pub(crate) fn answer(&mut self, request: &Value, payload: &Value) {
        let response =
            json!({"subtype": "success", "request_id": request["request_id"], "response": payload});
        self.send(&json!({"type": "control_response", "response": response}));
    }

    /// Allows what a permission request asks for.
    pub(crate) fn allow(&mut self, request: &Value) {
        let input = request["request"]["input"].clone();
        self.answer(request, &json!({"behavior": "allow", "updatedInput": input}));
    }

    /// The next line as it stands, or none when there are no more.
    pub(crate) fn line(&mut self) -> Option<String> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                panic!("no line for {PATIENCE:?}; so far: {}", self.story())
            }
        }
    }

    /// The next line, or none when none comes within a time.
    pub(crate) fn line_within(&mut self, time: Duration) -> Result<Option<String>, ()> {
        match self.lines.recv_timeout(time) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => Err(()),
        }
    }

    /// The next frame, or none when there are no more.
    pub(crate) fn frame(&mut self) -> Option<Value> {
        let line = self.line()?;
        let frame: Value =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.seen.push(frame.clone());
        Some(frame)
    }

    /// The next frame that fits.
    pub(crate) fn until(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            match self.frame() {
                Some(frame) if fits(&frame) => return frame,
                Some(_) => {}
                None => break,
            }
        }
        panic!("no {what}; so far: {}", self.story());
    }

    /// The result of the turn.
    pub(crate) fn result(&mut self) -> Value {
        self.until("result", |frame| frame["type"] == "result")
    }

    /// The next request of the CLI of this subtype.
    pub(crate) fn request(&mut self, subtype: &str) -> Value {
        self.until(subtype, |frame| {
            frame["type"] == "control_request" && frame["request"]["subtype"] == subtype
        })
    }

    /// The answer to a request of ours.
    pub(crate) fn response(&mut self, id: &str) -> Value {
        let frame = self.until("response", |frame| {
            frame["type"] == "control_response" && frame["response"]["request_id"] == id
        });
        frame["response"].clone()
    }

    /// What was read so far, in short.
    pub(crate) fn story(&self) -> String {
        let frames =
            self.seen.iter().map(|frame| frame.to_string().chars().take(160).collect::<String>());
        frames.collect::<Vec<_>>().join("\n")
    }

    /// Closes standard input.
    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }

    /// Waits for the end of the process: its exit code, and what it wrote to standard error.
    pub(crate) fn wait(&mut self) -> (Option<i32>, String) {
        while self.frame_or_end() {}
        let status = self.child.wait().unwrap();
        let errors = self.errors.recv_timeout(PATIENCE).unwrap_or_default();
        (status.code(), errors)
    }

    fn frame_or_end(&mut self) -> bool {
        match self.line() {
            Some(line) => {
                self.seen.extend(serde_json::from_str::<Value>(&line));
                true
            }
            None => false,
        }
    }

    /// Closes standard input and waits for the end: the exit code.
    pub(crate) fn finish(&mut self) -> Option<i32> {
        self.close();
        self.wait().0
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.pid()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Ends the process by force.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // A test that failed leaves no process behind; one that ended by itself is gone already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The transcripts of a project.
pub(crate) fn transcripts(place: &Place) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let projects = place.home().join(".claude/projects");
    for project in fs::read_dir(projects).into_iter().flatten().flatten() {
        let files = fs::read_dir(project.path()).into_iter().flatten().flatten();
        found.extend(files.map(|file| file.path()).filter(|path| is_transcript(path)));
    }
    found
}

fn is_transcript(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl")
}
