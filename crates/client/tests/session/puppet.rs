//! Puppets: CLIs that misbehave, each a function that reads and writes the pipes by hand.
//!
//! A fault is a puppet and a test. The test starts this very program again to be the puppet; some
//! start it also to be a client of its own, to measure it or to kill it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use countersign::process::ShutdownTimes;
use countersign::{Session, SessionBuilder};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::kit::{Outcome, soon, trial};

/// Says to this very program which puppet it is to be, and in which run.
const PUPPET: &str = "COUNTERSIGN_TEST_PUPPET";

/// Says to this very program that it is to be the client of a puppet.
const CLIENT: &str = "COUNTERSIGN_TEST_CLIENT";

/// Says where puppets and tests leave signs for each other.
const FOLDER: &str = "COUNTERSIGN_TEST_FOLDER";

type Playing = Pin<Box<dyn Future<Output = Outcome>>>;
type Play = Box<dyn FnOnce(Stage) -> Playing + Send>;

/// A puppet, and what has to come of it.
pub(crate) struct Fault {
    name: &'static str,
    puppet: fn(&mut Puppet),
    test: Play,
    client: Option<Play>,
}

/// A fault that is tested in this process.
pub(crate) fn fault<F: Future<Output = Outcome> + 'static>(
    name: &'static str,
    puppet: fn(&mut Puppet),
    test: fn(Stage) -> F,
) -> Fault {
    Fault { name, puppet, test: Box::new(move |stage| Box::pin(test(stage))), client: None }
}

impl Fault {
    /// What a client in a process of its own does, if the test starts one.
    pub(crate) fn client<F: Future<Output = Outcome> + 'static>(
        mut self,
        client: fn(Stage) -> F,
    ) -> Self {
        self.client = Some(Box::new(move |stage| Box::pin(client(stage))));
        self
    }

    /// The test. After it, nothing that it started may be left.
    pub(crate) fn trial(self) -> Trial {
        let Self { name, test, .. } = self;
        trial(format!("faults::{name}"), move || async move {
            let folder = tempfile::tempdir()?;
            let tag = format!("{name}:{}", std::process::id());
            let stage = Stage { tag: tag.clone(), folder: folder.path().to_owned() };
            test(stage).await?;
            until("the end of all processes", || carrying(&tag) == 0).await;
            Ok(())
        })
    }
}

/// Plays a puppet or its client, if that is what this program was started for.
pub(crate) fn as_a_puppet(faults: Vec<Fault>) -> Option<ExitCode> {
    let tag = std::env::var(PUPPET).ok()?;
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let (name, _) = tag.split_once(':').unwrap();
    let fault = faults.into_iter().find(|fault| fault.name == name).unwrap();
    if std::env::var_os(CLIENT).is_none() {
        let mut puppet = Puppet::new(folder);
        (fault.puppet)(&mut puppet);
        return Some(ExitCode::from(puppet.exit));
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let outcome = runtime.block_on(fault.client.unwrap()(Stage { tag, folder }));
    Some(if outcome.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Where a test is played.
#[derive(Clone)]
pub(crate) struct Stage {
    tag: String,
    folder: PathBuf,
}

impl Stage {
    /// A builder for sessions with the puppet.
    pub(crate) fn builder(&self) -> SessionBuilder {
        SessionBuilder::new()
            .executable(std::env::current_exe().unwrap())
            .env(PUPPET, &self.tag)
            .env(FOLDER, &self.folder)
            .env_remove(CLIENT)
    }

    /// A session with the puppet.
    pub(crate) async fn session(&self) -> Session {
        connect(self.builder()).await
    }

    /// Leaves a sign for the puppet or the test.
    pub(crate) fn sign(&self, name: &str) {
        File::create(self.folder.join(name)).unwrap();
    }

    /// Waits for a sign.
    pub(crate) async fn signed(&self, name: &str) {
        let path = self.folder.join(name);
        until(name, || path.exists()).await;
    }

    /// How many processes were started on this stage and run.
    pub(crate) fn running(&self) -> usize {
        carrying(&self.tag)
    }

    /// Starts a client in a process of its own, which is not taken for something left behind.
    #[expect(clippy::disallowed_methods, reason = "the client of a test is no CLI")]
    pub(crate) fn start_client(&self) -> Child {
        Command::new(std::env::current_exe().unwrap())
            .env(PUPPET, &self.tag)
            .env(FOLDER, &self.folder)
            .env(CLIENT, "yes")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// Has a client do its work in a process of its own, and makes sure that it never needs more
    /// than so many bytes of memory.
    pub(crate) async fn client_within(&self, bytes: u64) -> Outcome {
        let mut client = self.start_client();
        let waiting = tokio::task::spawn_blocking(move || client.wait());
        let exit = soon("the end of the client", waiting).await??;
        assert!(exit.success(), "the client failed: {exit}");
        let peak: u64 = std::fs::read_to_string(self.folder.join("peak"))?.parse()?;
        assert!(peak < bytes, "the client needed {peak} bytes");
        Ok(())
    }

    /// Says how much memory this process has needed at most.
    pub(crate) fn tell_peak(&self) {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        std::fs::write(self.folder.join("peak"), (peak * 1024).to_string()).unwrap();
    }
}

/// Opens a session.
pub(crate) async fn connect(builder: SessionBuilder) -> Session {
    soon("the start", builder.connect()).await.unwrap()
}

/// Plays a part of a test in a thread of its own, which does one thing at a time.
pub(crate) async fn in_one_thread<F: Future<Output = Outcome>>(
    part: impl FnOnce() -> F + Send + 'static,
) -> Outcome {
    let play = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(part())
    };
    tokio::task::spawn_blocking(play).await?
}

/// For those who will not end by themselves.
pub(crate) fn hasty() -> ShutdownTimes {
    let moment = Duration::from_millis(20);
    ShutdownTimes::default().exit(moment).terminate(moment).sweep(moment)
}

/// Closes the session, and returns the report that the puppet then makes.
pub(crate) async fn report_at_the_end(session: &mut Session) -> Value {
    soon("the end", session.handle().close()).await;
    report(session).await
}

/// The next report of the puppet.
pub(crate) async fn report(session: &mut Session) -> Value {
    soon("a report", async {
        loop {
            let message = session.next_message().await.unwrap();
            if message.kind().is_some_and(|kind| &*kind.frame == "report") {
                return serde_json::from_slice::<Value>(message.line()).unwrap()["report"].take();
            }
        }
    })
    .await
}

/// Waits for what must happen by itself.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    soon(what, async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

/// How many processes carry this tag, clients apart.
fn carrying(tag: &str) -> usize {
    let entry = format!("{PUPPET}={tag}");
    let is_client = |entry: &[u8]| entry.starts_with(CLIENT.as_bytes());
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|process| process.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid: &i32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let mut entries = environment.split(|byte| *byte == 0);
            entries.clone().any(|each| each == entry.as_bytes()) && !entries.any(is_client)
        })
        .count()
}

/// A CLI in the hands of a test.
pub(crate) struct Puppet {
    stdin: BufReader<File>,
    stdout: File,
    folder: PathBuf,
    /// What it exits with.
    pub(crate) exit: u8,
}

impl Puppet {
    fn new(folder: PathBuf) -> Self {
        // Without a buffer of the library's between.
        let pipe = |number| {
            File::options()
                .read(number == 0)
                .write(number == 1)
                .open(format!("/proc/self/fd/{number}"))
        };
        Self { stdin: BufReader::new(pipe(0).unwrap()), stdout: pipe(1).unwrap(), folder, exit: 0 }
    }

    /// The next frame of the client; none when it has closed its end.
    pub(crate) fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        let count = self.stdin.read_line(&mut line).unwrap();
        (count > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    /// The next frame of this type.
    pub(crate) fn read_type(&mut self, kind: &str) -> Value {
        loop {
            let frame = self.read().unwrap();
            if frame["type"] == kind {
                return frame;
            }
        }
    }

    /// All frames until the client closes its end.
    pub(crate) fn read_all(&mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.read()).collect()
    }

    pub(crate) fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.stdout.write_all(bytes.as_ref()).unwrap();
    }

    pub(crate) fn say(&mut self, frame: &Value) {
        self.write(format!("{frame}\n"));
    }

    pub(crate) fn say_err(&self, bytes: impl AsRef<[u8]>) {
        std::io::stderr().write_all(bytes.as_ref()).unwrap();
    }

    /// Answers `initialize`.
    pub(crate) fn open(&mut self) {
        self.open_as(&json!(null));
    }

    /// Answers `initialize` as a certain version does.
    pub(crate) fn open_as(&mut self, version: &Value) {
        let request = self.read_type("control_request");
        assert_eq!(request["request"]["subtype"], "initialize");
        self.answer(&request, &json!({
            "commands": [], "models": [], "agents": [], "account": {}, "output_style": "default",
            "available_output_styles": [], "claude_code_version": version,
        }));
    }

    /// Answers a request of the client.
    pub(crate) fn answer(&mut self, request: &Value, payload: &Value) {
        let id = &request["request_id"];
        let response = json!({ "subtype": "success", "request_id": id, "response": payload });
        self.say(&json!({ "type": "control_response", "response": response }));
    }

    /// Asks for the permission to run a tool.
    pub(crate) fn ask(&mut self, id: &str, tool: &str, input: &Value) {
        let request = json!({
            "subtype": "can_use_tool", "tool_name": tool, "input": input,
            "tool_use_id": format!("toolu_{id}"),
        });
        // In the order in which the CLI writes it.
        let id = json!(id);
        self.write(format!(
            "{{\"type\":\"control_request\",\"request_id\":{id},\"request\":{request}}}\n"
        ));
    }

    pub(crate) fn cancel(&mut self, id: &str) {
        self.say(&json!({ "type": "control_cancel_request", "request_id": id }));
    }

    /// Writes a whole message with this text.
    pub(crate) fn message(&mut self, text: &str) {
        self.say(&json!({
            "type": "assistant", "session_id": "s",
            "message": { "role": "assistant", "content": [{ "type": "text", "text": text }] },
        }));
    }

    /// Ends a turn that failed.
    pub(crate) fn fail(&mut self, error: &str) {
        self.say(&json!({
            "type": "result", "subtype": "error_during_execution", "is_error": true,
            "session_id": "s", "duration_ms": 0, "duration_api_ms": 0, "num_turns": 0,
            "total_cost_usd": 0, "errors": [error],
        }));
    }

    pub(crate) fn report(&mut self, report: &Value) {
        self.say(&json!({ "type": "report", "report": report }));
    }

    /// Reads to the end, and then reports which answers each request got.
    pub(crate) fn report_answers(&mut self) {
        let frames = self.read_all();
        self.report(&json!(answers(&frames)));
    }

    /// Leaves a sign for the test.
    pub(crate) fn sign(&self, name: &str) {
        File::create(self.folder.join(name)).unwrap();
    }

    /// Waits for a sign of the test.
    pub(crate) fn wait_for(&self, name: &str) {
        while !self.folder.join(name).exists() {
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    /// Does nothing any more.
    pub(crate) fn freeze(&self) {
        loop {
            std::thread::park();
        }
    }

    /// Closes its input, and lives.
    pub(crate) fn close_stdin(&mut self) {
        rustix::stdio::dup2_stdin(File::open("/dev/null").unwrap()).unwrap();
        self.stdin = BufReader::new(File::open("/dev/null").unwrap());
    }

    /// Closes its output, and lives.
    pub(crate) fn close_stdout(&mut self) {
        let nothing = File::options().write(true).open("/dev/null").unwrap();
        rustix::stdio::dup2_stdout(&nothing).unwrap();
        self.stdout = nothing;
    }

    /// Starts something that outlives it and shares its output.
    #[expect(
        clippy::disallowed_methods,
        clippy::zombie_processes,
        reason = "it is for others to end it"
    )]
    pub(crate) fn leave_behind(&self, program: &str, argument: &str) {
        let mut command = Command::new(program);
        command.arg(argument).stdin(Stdio::null()).process_group(0).spawn().unwrap();
    }
}

/// The answers to each request, in a stream of frames.
pub(crate) fn answers(frames: &[Value]) -> BTreeMap<String, Vec<Value>> {
    let mut answers = BTreeMap::<_, Vec<_>>::new();
    for frame in frames.iter().filter(|frame| frame["type"] == "control_response") {
        let id = frame["response"]["request_id"].as_str().unwrap();
        answers.entry(id.to_owned()).or_default().push(frame["response"].clone());
    }
    answers
}
