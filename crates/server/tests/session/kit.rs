//! What the tests have in common: a server over a laboratory, to which they speak as anybody does.

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use countersign_lab::script::Script;
use countersign_lab::{Lab, Program, Version};
use countersign_server::access::first::read_token;
use countersign_server::api::view::{EventView, ListApprovals, ListEvents};
use countersign_server::client::{Client, Followed};
use countersign_server::config::{Config, Secret};
use countersign_server::hub::Hub;
use countersign_server::id::{ConversationId, SessionId};
use countersign_server::server::Server;
use countersign_server::service::{NewMessage, NewSession};
use countersign_server::session::{
    Answer, Approval, Happening, Head, Process, SessionOptions, Stage, State, TurnEnd,
};
use libtest_mimic::{Failed, Trial};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// What a test returns.
pub(crate) type Outcome = Result<(), Failed>;

/// The CLI that a test runs with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cli {
    /// The simulated one, behaving as this version.
    Simulated(Version),
    /// The real one.
    #[cfg_attr(not(feature = "real-cli"), expect(dead_code, reason = "there is none"))]
    Real(Version),
}

impl Cli {
    /// The simulated one.
    pub(crate) const SIMULATED: Self = Self::Simulated(V325);

    fn name(self) -> String {
        match self {
            Self::Simulated(version) => format!("simulated {version}"),
            Self::Real(version) => version.to_string(),
        }
    }
}

pub(crate) const V325: Version = Version::new(2, 1, 325);
#[cfg(feature = "real-cli")]
const V197: Version = Version::new(2, 1, 197);

/// A test on the simulated CLI and on two real ones.
pub(crate) fn on_all<F: Future<Output = Outcome> + 'static>(
    name: &str,
    test: fn(Cli) -> F,
) -> Vec<Trial> {
    let clis = [
        Cli::Simulated(V325),
        #[cfg(feature = "real-cli")]
        Cli::Real(V325),
        #[cfg(feature = "real-cli")]
        Cli::Real(V197),
    ];
    clis.into_iter()
        .map(|cli| trial(format!("{name}::{}", cli.name()), move || test(cli)))
        .collect()
}

/// A test on two real CLIs: of what the simulated one does not do.
pub(crate) fn on_real<F: Future<Output = Outcome> + 'static>(
    name: &str,
    test: fn(Cli) -> F,
) -> Vec<Trial> {
    let clis: [Cli; _] = [
        #[cfg(feature = "real-cli")]
        Cli::Real(V325),
        #[cfg(feature = "real-cli")]
        Cli::Real(V197),
    ];
    clis.into_iter()
        .map(|cli| trial(format!("{name}::{}", cli.name()), move || test(cli)))
        .collect()
}

/// A test on the simulated CLI: of what the real one does not do, or of what it has no part in.
pub(crate) fn simulated<F: Future<Output = Outcome> + 'static>(
    name: &str,
    test: fn(Cli) -> F,
) -> Vec<Trial> {
    vec![trial(name, move || test(Cli::Simulated(V325)))]
}

/// A test that is a future.
pub(crate) fn trial<F: Future<Output = Outcome> + 'static>(
    name: impl Into<String>,
    test: impl FnOnce() -> F + Send + 'static,
) -> Trial {
    Trial::test(name, move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(test())
    })
}

/// A laboratory with this CLI and a model that follows this script.
pub(crate) async fn lab(cli: Cli, script: &str) -> Lab {
    let script = Script::parse(script, "script").unwrap_or_else(|error| panic!("{error}"));
    let program = match cli {
        Cli::Simulated(version) => Program::simulated(simulator(), version),
        #[cfg(feature = "real-cli")]
        Cli::Real(version) => {
            let versions = countersign_lab::Versions::in_default_folder().unwrap();
            let installed = versions.install(version).await;
            Program::Real(installed.unwrap_or_else(|error| panic!("{error}")))
        }
        #[cfg(not(feature = "real-cli"))]
        Cli::Real(_) => panic!("there is no real CLI without the feature"),
    };
    let lab = Lab::builder(program, script).file("hello.txt", "Hello.\n").start().await;
    lab.unwrap_or_else(|error| panic!("{error}"))
}

/// A server over a laboratory.
pub(crate) struct World {
    pub(crate) lab: Lab,
    pub(crate) client: Client,
    pub(crate) config: Config,
    /// All sessions, for what nobody does from outside.
    pub(crate) hub: Arc<Hub>,
    data: TempDir,
    running: Running,
}

/// A server that answers.
struct Running {
    stop: CancellationToken,
    task: JoinSet<()>,
}

impl Running {
    async fn end(mut self) {
        self.stop.cancel();
        while let Some(ended) = self.task.join_next().await {
            ended.unwrap();
        }
    }
}

impl World {
    pub(crate) async fn new(cli: Cli, script: &str) -> Self {
        Self::with(cli, script, |_| {}).await
    }

    pub(crate) async fn with(cli: Cli, script: &str, change: impl FnOnce(&mut Config)) -> Self {
        let lab = lab(cli, script).await;
        let data = TempDir::new().unwrap();
        let mut config = config(&lab, &data);
        change(&mut config);
        let (running, client, hub) = start(&config).await;
        Self { lab, client, config, hub, data, running }
    }

    /// Stops the server in order, and starts it again.
    pub(crate) async fn restart(self) -> Self {
        let Self { lab, config, data, running, hub, .. } = self;
        drop(hub);
        running.end().await;
        let (running, client, hub) = start(&config).await;
        Self { lab, client, config, hub, data, running }
    }

    /// The same with other limits.
    pub(crate) async fn restart_with(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self.restart().await
    }

    /// A client that is told at once what is wrong, and does not try again.
    pub(crate) fn impatient(&self) -> Client {
        let token = read_token(&self.config.data).unwrap();
        Client::builder(&self.client.address(), token.expose()).retries(0).build().unwrap()
    }

    /// A session that begins with this prompt.
    pub(crate) async fn create(&self, prompt: &str) -> SessionId {
        self.create_in(prompt, "default").await
    }

    pub(crate) async fn create_in(&self, prompt: &str, mode: &str) -> SessionId {
        let new = NewSession { mode: Some(mode.into()), ..self.new_session(prompt) };
        self.client.create_session(&new).await.unwrap().session
    }

    /// A session that is to be made, in the default mode.
    pub(crate) fn new_session(&self, prompt: &str) -> NewSession {
        NewSession {
            folder: self.lab.work().display().to_string(),
            prompt: Some(prompt.to_owned()),
            images: Vec::new(),
            title: None,
            labels: Default::default(),
            mode: None,
            model: None,
            options: SessionOptions {
                setting_sources: Some(Vec::new()),
                ..SessionOptions::default()
            },
        }
    }

    pub(crate) async fn say(&self, session: SessionId, text: &str) {
        let new = NewMessage { text: text.to_owned(), ..NewMessage::default() };
        self.client.send(session, &new).await.unwrap();
    }

    pub(crate) async fn head(&self, session: SessionId) -> Head {
        self.client.session(session).await.unwrap().head
    }

    /// Waits until the session is as wanted.
    pub(crate) async fn until(
        &self,
        session: SessionId,
        what: &str,
        is_so: impl Fn(&Head) -> bool,
    ) -> Head {
        let wait = async {
            let mut following = self.client.follow(session, None).await.unwrap();
            // It begins with what the session is.
            while let Some(followed) = following.next().await {
                if let Followed::Head(view) = followed.unwrap()
                    && is_so(&view.head)
                {
                    return view.head;
                }
            }
            panic!("the stream has ended");
        };
        match tokio::time::timeout(Duration::from_secs(240), wait).await {
            Ok(head) => head,
            Err(_) => {
                let log = self.log(session).await.join("\n");
                panic!("the session was not {what}:\n{log}");
            }
        }
    }

    /// Waits until the session has nothing to do.
    pub(crate) async fn at_rest(&self, session: SessionId) -> Head {
        let is_so =
            |head: &Head| head.turn.is_none() && head.queue.is_empty() && head.approvals.is_empty();
        self.until(session, "at rest", is_so).await
    }

    /// Waits for the next thing that a person is asked.
    pub(crate) async fn asked(&self, session: SessionId) -> Approval {
        let asking = self.until(session, "asking", Head::is_asking).await;
        let open = asking.approvals.iter().find(|(_, pending)| pending.stage == Stage::Open);
        let (id, _) = open.unwrap();
        self.client.approval(*id).await.unwrap()
    }

    pub(crate) async fn answer(&self, approval: &Approval, answer: Answer) {
        self.client.answer(approval.id, answer).await.unwrap();
    }

    pub(crate) async fn approvals(&self, session: SessionId) -> Vec<Approval> {
        let wanted = ListApprovals {
            session: Some(session),
            oldest_first: Some(true),
            ..ListApprovals::default()
        };
        self.client.approvals(&wanted).await.unwrap().items
    }

    pub(crate) async fn events(&self, session: SessionId) -> Vec<EventView> {
        let mut all: Vec<EventView> = Vec::new();
        loop {
            let after = all.last().map(|event| event.seq);
            let wanted = ListEvents { after, limit: Some(500), ..ListEvents::default() };
            let page = self.client.events(session, &wanted).await.unwrap();
            all.extend(page.items);
            if !page.more {
                return all;
            }
        }
    }

    /// What happened.
    pub(crate) async fn happenings(&self, session: SessionId) -> Vec<Happening> {
        self.events(session).await.iter().map(|event| event.happening().unwrap()).collect()
    }

    /// What happened, a line each.
    pub(crate) async fn log(&self, session: SessionId) -> Vec<String> {
        let line = |event: &EventView| {
            let body: String = event.body.as_str().chars().take(300).collect();
            format!("{} {} {body}", event.seq, event.kind)
        };
        self.events(session).await.iter().map(line).collect()
    }

    pub(crate) async fn count(&self, session: SessionId, is_it: fn(&Happening) -> bool) -> usize {
        self.happenings(session).await.iter().filter(|happening| is_it(happening)).count()
    }

    /// How far the approvals of a session have come, in their order.
    pub(crate) async fn stages(&self, session: SessionId) -> Vec<Stage> {
        self.approvals(session).await.iter().map(|approval| approval.stage).collect()
    }

    /// How the turns of a session ended.
    pub(crate) async fn turn_ends(&self, session: SessionId) -> Vec<TurnEnd> {
        let end = |happening| match happening {
            Happening::TurnEnded(ended) => Some(ended.end),
            _ => None,
        };
        self.happenings(session).await.into_iter().filter_map(end).collect()
    }

    /// What the results of the turns say.
    pub(crate) async fn texts(&self, session: SessionId) -> Vec<String> {
        let frames = self.frames(session).await;
        let results = frames.iter().filter(|frame| frame["type"] == "result");
        results.map(|frame| frame["result"].as_str().unwrap_or_default().to_owned()).collect()
    }

    pub(crate) async fn last_text(&self, session: SessionId) -> String {
        self.texts(session).await.pop().unwrap_or_default()
    }

    /// The name of the last message of the model.
    pub(crate) async fn last_uuid(&self, session: SessionId) -> String {
        let frames = self.frames(session).await;
        let last = frames.iter().rev().find(|frame| frame["type"] == "assistant").unwrap();
        last["uuid"].as_str().unwrap().to_owned()
    }

    /// What the CLI said.
    pub(crate) async fn frames(&self, session: SessionId) -> Vec<Value> {
        let frame = |happening| match happening {
            Happening::Frame(frame) => frame.line.decode().ok(),
            _ => None,
        };
        self.happenings(session).await.into_iter().filter_map(frame).collect()
    }

    /// Stops a session, and waits until it is.
    pub(crate) async fn stop(&self, session: SessionId) {
        self.client.stop(session).await.unwrap();
        let is_so = |head: &Head| head.state() == State::Ended && head.approvals.is_empty();
        self.until(session, "ended", is_so).await;
    }

    /// Kills the CLI of a session, as the system would.
    pub(crate) async fn kill_cli(&self, session: SessionId) {
        self.signal_cli(session, Signal::KILL).await;
    }

    /// Sends the CLI of a session a signal.
    pub(crate) async fn signal_cli(&self, session: SessionId, signal: Signal) {
        let is_alive = |head: &Head| matches!(head.process, Process::Alive { .. });
        let head = self.until(session, "alive", is_alive).await;
        let Process::Alive { process: Some(process), .. } = &head.process else {
            panic!("{head:?}")
        };
        let pid = Pid::from_raw(process.pid()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Makes a request by hand, and gives the answer as it came: head and body.
    pub(crate) async fn raw(&self, request: &str, headers: &[&str], body: &str) -> String {
        let mut connection = self.open_raw(request, headers, body).await;
        let mut answer = Vec::new();
        let read = connection.read_to_end(&mut answer);
        tokio::time::timeout(Duration::from_secs(240), read).await.unwrap().unwrap();
        String::from_utf8(answer).unwrap()
    }

    /// Makes a request by hand, and gives the connection on which the answer comes.
    pub(crate) async fn open_raw(&self, request: &str, headers: &[&str], body: &str) -> TcpStream {
        let address = self.client.address();
        let host = address.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let token = read_token(&self.config.data).unwrap();
        let mut head = format!(
            "{request} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\n\
             Connection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
            token.expose(),
            body.len()
        );
        for header in headers {
            head.push_str(header);
            head.push_str("\r\n");
        }
        let mut connection = TcpStream::connect(host).await.unwrap();
        connection.write_all(format!("{head}\r\n{body}").as_bytes()).await.unwrap();
        connection
    }

    /// The transcript of a conversation, once it has this call.
    async fn transcript(&self, conversation: ConversationId, call: &str) -> (PathBuf, String) {
        let projects = self.lab.home().join(".claude/projects");
        let name = format!("{conversation}.jsonl");
        let find = || {
            let projects = std::fs::read_dir(&projects).ok()?;
            let files = projects.flatten().map(|project| project.path().join(&name));
            let text = |file: PathBuf| Some((std::fs::read_to_string(&file).ok()?, file));
            let (text, file) = files.into_iter().find_map(text)?;
            text.contains(call).then_some((file, text))
        };
        let there = async {
            loop {
                if let Some(found) = find() {
                    return found;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(240), there).await.unwrap()
    }

    /// Waits until the CLI has written down the call that somebody is asked about. It asks first.
    pub(crate) async fn written(&self, asked: &Approval) {
        let conversation = self.head(asked.session).await.conversation.id;
        self.transcript(conversation, asked.tool_use_id.as_deref().unwrap()).await;
    }

    /// What the model was last asked.
    pub(crate) fn last_request(&self) -> String {
        format!("{:?}", self.lab.model().model_requests().last().unwrap())
    }

    /// Has the CLI keep a conversation under another name as well.
    pub(crate) async fn copy_transcript(&self, from: ConversationId, to: ConversationId) {
        let (file, text) = self.transcript(from, "").await;
        let text = text.replace(&from.to_string(), &to.to_string());
        std::fs::write(file.with_file_name(format!("{to}.jsonl")), text).unwrap();
    }

    /// Kills the CLI of a session that asks for a call, and writes down that the call has failed, as the
    /// CLI does when it loses the one whom it asks.
    pub(crate) async fn lose_while_asked(&self, asked: &Approval, result: &str) {
        let conversation = self.head(asked.session).await.conversation.id;
        let call = asked.tool_use_id.as_deref().unwrap();
        let (file, _) = self.transcript(conversation, call).await;
        self.kill_cli(asked.session).await;
        self.until(asked.session, "parked", |head| head.state() == State::Parked).await;
        let text = std::fs::read_to_string(&file).unwrap();
        let mut entries = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut entry = entries.rfind(|entry| entry["type"] == "assistant").unwrap();
        entry["parentUuid"] = entry["uuid"].clone();
        entry["uuid"] = uuid::Uuid::new_v4().to_string().into();
        entry["type"] = "user".into();
        entry["message"] = serde_json::json!({"role": "user", "content": [
            {"type": "tool_result", "content": result, "is_error": true, "tool_use_id": call}
        ]});
        std::fs::write(&file, format!("{text}{entry}\n")).unwrap();
    }

    /// Takes a call out of the transcript, as if the CLI had not come to write it.
    pub(crate) async fn forget_call(&self, asked: &Approval) {
        let conversation = self.head(asked.session).await.conversation.id;
        let call = asked.tool_use_id.as_deref().unwrap();
        let (file, text) = self.transcript(conversation, call).await;
        let left = text.lines().filter(|line| !line.contains(call));
        std::fs::write(&file, left.map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    }

    /// Waits for a file.
    pub(crate) async fn file(&self, name: &str) {
        let there = async {
            while !self.has_file(name) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(240), there).await.unwrap();
    }

    /// Two files outside of the working folder, which are not read without asking.
    pub(crate) fn files_at_home(&self) {
        for name in ["one.txt", "two.txt"] {
            std::fs::write(self.lab.home().join(name), name).unwrap();
        }
    }

    /// What came of calls: which, and whether it is an error.
    pub(crate) async fn results(&self, session: SessionId) -> Vec<(String, bool)> {
        let frames = self.frames(session).await;
        let blocks = frames.iter().filter(|frame| frame["type"] == "user");
        let blocks = blocks.filter_map(|frame| frame["message"]["content"].as_array()).flatten();
        let results = blocks.filter(|block| block["type"] == "tool_result");
        results
            .map(|block| {
                let call = block["tool_use_id"].as_str().unwrap().to_owned();
                (call, block["is_error"] == true)
            })
            .collect()
    }

    /// Whether a file is in the working folder.
    pub(crate) fn has_file(&self, name: &str) -> bool {
        self.lab.work().join(name).exists()
    }

    /// Where the store is.
    pub(crate) fn store_file(&self) -> PathBuf {
        self.data.path().join("countersign.db")
    }

    /// Stops everything, and makes sure that nothing is left.
    pub(crate) async fn close(self) -> Outcome {
        self.running.end().await;
        self.lab.close().await.unwrap();
        Ok(())
    }
}

/// What the server is told: to run the CLI of the laboratory, in its working folder.
fn config(lab: &Lab, data: &TempDir) -> Config {
    let (program, environment) = lab.for_a_client().unwrap();
    let mut config = Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        data: data.path().to_owned(),
        roots: vec![lab.work()],
        ..Config::default()
    };
    config.cli.path = Some(program);
    config.cli.pass = Vec::new();
    config.cli.set =
        environment.into_iter().map(|(name, value)| (name, Secret::new(value))).collect();
    config.limits.shutdown_within = Duration::from_secs(5);
    config
}

async fn start(config: &Config) -> (Running, Client, Arc<Hub>) {
    let server = Server::start(config).await.unwrap();
    let token = read_token(&config.data).unwrap();
    let client = Client::new(server.url(), token.expose()).unwrap();
    let hub = Arc::clone(server.hub());
    let stop = CancellationToken::new();
    let mut task = JoinSet::new();
    task.spawn(server.run(stop.clone()));
    (Running { stop, task }, client, hub)
}

/// Says to this very program that it is to be a simulated CLI.
const SIMULATED: &str = "COUNTERSIGN_TEST_SIMULATED";

/// Plays a CLI, if that is what this program was started for.
pub(crate) fn as_a_cli() -> Option<ExitCode> {
    std::env::var_os(SIMULATED)?;
    // As the laboratory starts it: `--script FILE --as VERSION -- ARGUMENTS`.
    let mut words = std::env::args().skip(1);
    let mut launch = countersign_lab::sim::Launch::new();
    while let Some(word) = words.next() {
        match &*word {
            "--script" => launch.script = words.next().map(PathBuf::from),
            "--as" => launch.version = words.next().unwrap_or_default(),
            _ => break,
        }
    }
    launch.claude_args = words.collect();
    Some(launch.run())
}

/// Has the CLI be started through a script that does this first. It is not done when it is only
/// asked for its version. What it looks for in `$HERE` is what tests put into the data folder.
pub(crate) fn start_cli_through(config: &mut Config, first: &str) {
    let cli = config.cli.path.take().unwrap();
    let script = config.data.join("cli");
    let text = format!(
        "#!/bin/sh\nHERE='{}'\ncase \"$*\" in *--version*) ;; *)\n{first}\n;; esac\nexec '{}' \"$@\"\n",
        config.data.display(),
        cli.display()
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    config.cli.path = Some(script);
}

/// A program that is the simulated CLI.
fn simulator() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let script = folder.join("countersign-sim");
    // Under its name when it is complete: other tests do the same at the same time.
    let part =
        tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempfile_in(folder);
    let mut part = part.unwrap();
    write!(part, "#!/bin/sh\n{SIMULATED}=1 exec '{}' \"$@\"\n", this.display()).unwrap();
    // Closed before: a program that somebody may write to is not run.
    part.into_temp_path().persist(&script).unwrap();
    script
}
