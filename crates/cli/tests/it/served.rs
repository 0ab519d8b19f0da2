//! A server over the simulated CLI, started as a person starts it, and commands that ask it.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{PROGRAM, Ran, command, ran, script};

/// A folder with everything that a server needs, and the server while it runs.
pub(crate) struct Served {
    folder: TempDir,
    child: Option<Child>,
    /// Where it is.
    pub(crate) url: String,
    /// What it says when it listens.
    pub(crate) told: Value,
}

impl Served {
    /// A server whose model follows this script.
    pub(crate) fn new(script: &str) -> Self {
        Self::with(script, &[], &[])
    }

    /// The same, with variables and arguments of its own.
    pub(crate) fn with(script: &str, variables: &[(&str, &str)], arguments: &[&str]) -> Self {
        Self::of(place(script), variables, arguments)
    }

    /// A server with everything in this folder: a CLI, and a folder to work in.
    pub(crate) fn of(folder: TempDir, variables: &[(&str, &str)], arguments: &[&str]) -> Self {
        let mut served = Self { folder, child: None, url: String::new(), told: Value::Null };
        served.start(variables, arguments);
        served
    }

    /// Starts the server, on the port that it had before if it had one.
    pub(crate) fn start(&mut self, variables: &[(&str, &str)], arguments: &[&str]) {
        let (child, out) = self.spawn(variables, arguments);
        self.child = Some(child);
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line).unwrap();
        let log = self.log();
        self.told =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?} {log}"));
        self.url = self.told["url"].as_str().unwrap().to_owned();
    }

    fn spawn(&self, variables: &[(&str, &str)], arguments: &[&str]) -> (Child, ChildStdout) {
        let port = self.url.rsplit_once(':').map_or("0", |(_, port)| port);
        let log = File::options().create(true).append(true).open(self.path("server.log")).unwrap();
        let mut server = command(self.folder.path());
        server.args(["serve", "--json", "--data", "data", "--root", "work", "--cli", "claude"]);
        server.args(["--listen", &format!("127.0.0.1:{port}")]).args(arguments);
        server.envs(variables.iter().copied()).stdout(Stdio::piped()).stderr(log);
        let mut child = server.spawn().unwrap();
        let out = child.stdout.take().unwrap();
        (child, out)
    }

    /// Something in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What the server wrote about itself.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("server.log")).unwrap()
    }

    /// The working folder of sessions.
    pub(crate) fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// A command that asks this server, in the working folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(&self.work());
        command.env("HOME", self.folder.path()).env("COUNTERSIGN_SERVER", &self.url);
        command.env("COUNTERSIGN_DATA", self.path("data")).args(arguments);
        command
    }

    /// What comes of a line that a shell is given, in the working folder.
    pub(crate) fn shell(&self, line: &str) -> Ran {
        let bin = self.path("bin");
        if !bin.exists() {
            fs::create_dir(&bin).unwrap();
            std::os::unix::fs::symlink(PROGRAM, bin.join("countersign")).unwrap();
        }
        let mut shell = crate::support::shell(&self.work(), line);
        shell.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
        shell.env("HOME", self.folder.path()).env("COUNTERSIGN_SERVER", &self.url);
        shell.env("COUNTERSIGN_DATA", self.path("data"));
        ran(&mut shell)
    }

    /// What comes of a command.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        ran(&mut self.command(arguments))
    }

    /// What a command says that goes well.
    pub(crate) fn ok(&self, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}\n{}", self.log());
        ran
    }

    /// The objects that a command says.
    pub(crate) fn json(&self, arguments: &[&str]) -> Vec<Value> {
        let Ran { out, err, .. } = self.ok(&[arguments, &["--json"]].concat());
        assert_eq!(err, "", "{arguments:?}");
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The one object that a command says.
    pub(crate) fn object(&self, arguments: &[&str]) -> Value {
        let mut all = self.json(arguments);
        assert_eq!(all.len(), 1, "{arguments:?}: {all:?}");
        all.remove(0)
    }

    /// A session that begins with this prompt.
    pub(crate) fn session(&self, prompt: &str) -> String {
        self.session_with(prompt, &[])
    }

    pub(crate) fn session_with(&self, prompt: &str, arguments: &[&str]) -> String {
        let prompt = Some(prompt).filter(|prompt| !prompt.is_empty());
        let new: Vec<_> = ["sessions", "new"].into_iter().chain(prompt).collect();
        let made = self.object(&[&new, arguments].concat());
        made["session"].as_str().unwrap().to_owned()
    }

    /// What a session is.
    pub(crate) fn head(&self, session: &str) -> Value {
        self.object(&["sessions", "show", session, "-n", "0"])
    }

    /// Waits until a session has nothing to do or waits for a person, and gives what happened.
    pub(crate) fn rest(&self, session: &str) -> Vec<Value> {
        self.json(&["watch", session, "--until-idle", "--history", "500"])
    }

    /// Waits until a session asks, and gives what is open.
    pub(crate) fn asked(&self, session: &str) -> Vec<Value> {
        self.rest(session);
        self.json(&["inbox", "--session", session])
    }

    /// Waits until a session asks for one thing, and names it.
    pub(crate) fn ask(&self, session: &str) -> String {
        let open = self.asked(session);
        assert_eq!(open.len(), 1, "{open:?} {}", self.head(session));
        open[0]["id"].as_str().unwrap().to_owned()
    }

    /// Waits until a session is at rest, and gives what the model said last.
    pub(crate) fn last_text(&self, session: &str) -> String {
        let events = self.rest(session);
        let mut results = events.iter().filter(|event| event["body"]["line"]["type"] == "result");
        let last = results.next_back().unwrap_or_else(|| panic!("{events:?}"));
        last["body"]["line"]["result"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let child = self.child.as_ref().unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for the end of the server.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        self.child.take().unwrap().wait().unwrap()
    }

    /// Stops the server in order.
    pub(crate) fn stop(&mut self) {
        self.signal(Signal::TERM);
        let status = self.ended();
        assert!(status.success(), "{status}: {}", self.log());
    }

    /// Ends the server as a crash does.
    pub(crate) fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.ended();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            // It may have ended by itself.
            let _ = pid.map(|pid| kill_process(pid, Signal::TERM));
            drop(child.wait());
        }
    }
}

/// A folder with a script, a CLI that plays it, and a folder to work in.
pub(crate) fn place(text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("script.toml"), text).unwrap();
    let play = path.join("script.toml");
    let claude = format!("#!/bin/sh\nexec {PROGRAM} sim --script '{}' -- \"$@\"\n", play.display());
    script(&path.join("claude"), &claude);
    fs::create_dir(path.join("work")).unwrap();
    folder
}
