//! `demo`: a server with sessions that ask for things, on a machine that has nothing else.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{Ran, command, ran};

/// The demo while it runs, in a folder that is its home and has its temporary files.
struct Demo {
    folder: tempfile::TempDir,
    child: Child,
    told: String,
}

impl Demo {
    /// Starts it, and reads until it has said this.
    fn start(arguments: &[&str], last: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tmp")).unwrap();
        let mut demo = Self::command(folder.path());
        demo.arg("demo").args(arguments).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = demo.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut told = String::new();
        while !told.contains(last) {
            assert!(out.read_line(&mut told).unwrap() > 0, "{told}");
        }
        Self { folder, child, told }
    }

    fn command(folder: &Path) -> Command {
        let mut command = command(folder);
        command.env("TMPDIR", folder.join("tmp"));
        command
    }

    fn run(&self, told: &Value, arguments: &[&str]) -> Ran {
        let mut command = Self::command(self.folder.path());
        command.env("COUNTERSIGN_SERVER", told["url"].as_str().unwrap());
        command.env("COUNTERSIGN_DATA", told["data"].as_str().unwrap());
        let ran = ran(command.args(arguments));
        assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}");
        ran
    }

    fn json(&self, told: &Value, arguments: &[&str]) -> Vec<Value> {
        let said = self.run(told, &[arguments, &["--json"]].concat());
        said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Ends it as Ctrl-C does, and looks for what is left.
    fn end(mut self) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
        let status = self.child.wait().unwrap();
        assert_eq!(status.code(), Some(0));
        let left: Vec<_> = fs::read_dir(self.folder.path().join("tmp")).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
        let mut all = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap());
        assert!(all.all(|entry| entry.file_name() == "tmp"), "nothing else was written");
        assert_eq!(processes_of(self.folder.path()), [""; 0]);
    }
}

/// The command lines of processes that name a folder.
fn processes_of(folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(folder)).collect()
}

#[test]
fn sessions_ask_for_things_of_every_kind_and_nothing_is_left() {
    let demo = Demo::start(&["--json"], "\n");
    let told: Value = serde_json::from_str(&demo.told).unwrap();
    assert_eq!(told["simulated"], true);
    assert!(told["login_link"].as_str().unwrap().contains("/login#csl_"), "{told}");
    let open = demo.json(&told, &["inbox"]);
    let of = |kind: &str| open.iter().filter(|asked| asked["kind"] == kind).collect::<Vec<_>>();
    assert_eq!((of("plan").len(), of("question").len()), (1, 1), "{open:?}");
    let tools = of("tool");
    let suggests = |asked: &&&Value| asked["request"]["permission_suggestions"].is_array();
    assert!(tools.iter().any(|asked| asked["tool"] == "Bash" && suggests(&asked)), "{tools:?}");
    let reads: Vec<_> = tools.iter().filter(|asked| asked["tool"] == "Read").collect();
    assert_eq!(reads.len(), 2, "two at once: {tools:?}");
    assert_eq!(reads[0]["session"], reads[1]["session"]);

    let parked = demo.json(&told, &["sessions", "list", "--state", "parked"]);
    assert_eq!(parked.len(), 1, "{parked:?}");
    let session = parked[0]["id"].as_str().unwrap();
    let asked = tools.iter().find(|asked| asked["session"] == session).unwrap();
    let approve = demo.run(&told, &["approve", asked["id"].as_str().unwrap()]);
    assert!(approve.out.contains("allowed"), "{approve:?}");
    let story = demo.run(&told, &["watch", session, "--until-idle"]);
    assert!(story.out.contains("The notes are written."), "{}", story.out);
    assert!(story.out.contains("reached the very same call"), "{}", story.out);

    let plan = of("plan")[0]["id"].as_str().unwrap();
    let planned = of("plan")[0]["session"].as_str().unwrap();
    demo.run(&told, &["answer", plan, "--plan", "keep", "test it, too"]);
    demo.run(&told, &["watch", planned, "--until-idle"]);
    let rounds = demo.json(&told, &["sessions", "plans", planned]);
    assert!(rounds[1]["diff"].as_str().unwrap().contains("+3. Test both."), "{rounds:?}");
    demo.end();
}

#[test]
fn a_person_is_told_what_to_try() {
    let demo = Demo::start(&[], "is left behind.");
    for part in [
        "A server with 6 sessions is at http://127.0.0.1:",
        "Open this link in a browser: http://127.0.0.1:",
        "export COUNTERSIGN_SERVER=http://127.0.0.1:",
        // It is not on the path of this test.
        concat!("alias countersign=", env!("CARGO_BIN_EXE_countersign")),
        "countersign inbox",
        "is parked: ",
        "Claude Code is simulated. Ctrl-C ends it, and nothing is left behind.",
    ] {
        assert!(demo.told.contains(part), "{part} in {}", demo.told);
    }
    demo.end();
}

#[test]
fn the_real_cli_is_used_only_if_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let none = crate::support::run(folder.path(), &["demo", "--real"]);
    assert_eq!(none.code, Some(5), "{none:?}");
    assert!(none.err.contains("countersign doctor"), "{none:?}");
}
