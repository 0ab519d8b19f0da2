//! Versions of the real CLI are installed once, whatever happens meanwhile.
//!
//! The registry is played by a program that stands in for npm, so that these tests need no network.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::support::{Ran, command, ran};

/// Installs what it is asked for, as far as can be seen from outside, and says so in `calls`.
const INSTALLS: &str = r#"
echo "$*" >> "$RECORD/calls"
if [ "$1" = view ]; then echo 2.1.400; exit; fi
folder=$3 package=${8##*@}
mkdir -p "$folder/node_modules/@anthropic-ai/claude-code"
printf '{"version":"%s"}' "$package" > "$folder/node_modules/@anthropic-ai/claude-code/package.json"
program="$folder/node_modules/@anthropic-ai/claude-code-linux-x64/claude"
mkdir -p "${program%/claude}"
"#;
const FINISHES: &str = "echo '#!/bin/sh' > \"$program\"\n";

/// A machine with this for npm.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn with_npm(script: &str) -> Self {
        let machine = Self { folder: tempfile::tempdir().unwrap() };
        machine.npm(script);
        machine
    }

    fn npm(&self, script: &str) {
        let bin = self.folder.path().join("bin");
        fs::create_dir_all(&bin).unwrap();
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o755)
            .open(bin.join("npm"))
            .unwrap();
        write!(file, "#!/bin/sh\n{script}").unwrap();
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let bin = self.folder.path().join("bin");
        let mut command = command(self.folder.path());
        command
            .arg("lab")
            .args(arguments)
            .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
            .env("COUNTERSIGN_CLI_CACHE", self.cache())
            .env("RECORD", self.folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let Ran { code, out, err } = ran(&mut self.command(arguments));
        (code, out, err)
    }

    fn calls(&self) -> usize {
        fs::read_to_string(self.folder.path().join("calls")).unwrap_or_default().lines().count()
    }

    /// What is in the cache, but for the locks.
    fn cached(&self) -> Vec<String> {
        let entries = fs::read_dir(self.cache()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| !name.ends_with(".lock"));
        names.sort();
        names
    }

    /// A file beside the cache, with which the stand-in for npm and the test wait for each other.
    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn wait_for(&self, name: &str) {
        while !self.file(name).exists() {
            std::thread::yield_now();
        }
    }
}

/// Whether a process has a file open whose name ends like this.
fn has_open(child: &Child, ending: &str) -> bool {
    let files = fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap();
    let mut names = files.filter_map(|file| fs::read_link(file.unwrap().path()).ok());
    names.any(|name| name.to_string_lossy().ends_with(ending))
}

fn installing(version: &str) -> String {
    format!("installing {version}, up to 370 MB\n")
}

#[test]
fn a_version_is_installed_once_and_listed() {
    let machine = Machine::with_npm(&format!("{INSTALLS}{FINISHES}"));
    let (code, out, err) = machine.run(&["list"]);
    assert_eq!((code, out.as_str()), (Some(0), ""));
    assert!(err.contains("`countersign lab install` puts some there"), "{err}");
    for version in ["2.1.62", "2.1.325", "2.1.400"] {
        let (code, out, err) = machine.run(&["install", version]);
        assert_eq!((code, err), (Some(0), installing(version)));
        assert!(out.starts_with(version), "{out}");
    }
    assert_eq!(machine.calls(), 3);
    let (code, _, err) = machine.run(&["install", "2.1.62", "2.1.325"]);
    assert_eq!((code, err.as_str(), machine.calls()), (Some(0), "", 3));
    let place = |version: &str| {
        let cache = machine.cache();
        let cache = cache.display();
        format!(
            "{version}  {cache}/{version}/node_modules/@anthropic-ai/claude-code-linux-x64/claude"
        )
    };
    let expected = [
        place("2.1.400"),
        format!("{}  (tested)", place("2.1.325")),
        format!("{}  (tested)", place("2.1.62")),
    ];
    assert_eq!(machine.run(&["list"]).1.lines().collect::<Vec<_>>(), expected);
    assert_eq!(machine.cached(), ["2.1.325", "2.1.400", "2.1.62"]);
}

#[test]
fn the_latest_version_is_that_of_the_registry() {
    let machine = Machine::with_npm(&format!("{INSTALLS}{FINISHES}"));
    let (code, out, err) = machine.run(&["install", "latest"]);
    assert_eq!((code, err), (Some(0), installing("2.1.400")));
    assert!(out.starts_with("2.1.400"), "{out}");
    machine.npm("echo 3.0.0-beta.1");
    let (code, _, err) = machine.run(&["install", "latest"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("\"3.0.0-beta.1\"") && err.contains("name the version"), "{err}");
}

#[test]
fn two_who_install_the_same_version_install_it_once() {
    let machine = Machine::with_npm(&format!(
        "{INSTALLS}: > \"$RECORD/begun\"; while [ ! -e \"$RECORD/go\" ]; do sleep 0.01; done\n{FINISHES}"
    ));
    let first = machine.command(&["install", "2.1.325"]).spawn().unwrap();
    machine.wait_for("begun");
    let second = machine.command(&["install", "2.1.325"]).spawn().unwrap();
    // The first goes on when the second waits for it, or has not waited, which would be wrong.
    while !has_open(&second, ".lock") && machine.calls() == 1 {
        std::thread::yield_now();
    }
    fs::write(machine.file("go"), "").unwrap();
    let [first, second] = [first, second].map(|child: Child| child.wait_with_output().unwrap());
    assert!(first.status.success() && second.status.success(), "{first:?} {second:?}");
    assert_eq!(machine.calls(), 1);
}

#[test]
fn an_install_that_was_killed_does_not_spoil_the_next() {
    // The npm of the one that is killed goes on, and ends after the next install has.
    let machine = Machine::with_npm(&format!(
        "{INSTALLS}: > \"$RECORD/begun\"; while [ ! -e \"$RECORD/go\" ]; do sleep 0.01; done\n\
         rm -rf \"$folder\"; : > \"$RECORD/ended\"\n"
    ));
    let mut killed = machine.command(&["install", "2.1.325"]).spawn().unwrap();
    machine.wait_for("begun");
    assert_eq!(machine.run(&["list"]).1, "", "it is not listed yet");
    kill_process(Pid::from_child(&killed), Signal::KILL).unwrap();
    killed.wait().unwrap();
    machine.npm(&format!(
        "{INSTALLS}: > \"$RECORD/go\"; while [ ! -e \"$RECORD/ended\" ]; do sleep 0.01; done\n{FINISHES}"
    ));
    let (code, _, err) = machine.run(&["install", "2.1.325"]);
    assert_eq!((code, err), (Some(0), installing("2.1.325")));
    assert_eq!(machine.cached(), ["2.1.325"], "what was left by the first is gone");
}

#[test]
fn an_install_that_fails_says_why_and_leaves_nothing() {
    let machine = Machine::with_npm(
        "mkdir -p \"$3/node_modules\"; echo 'code ETARGET: no matching version' >&2; exit 1",
    );
    let (code, _, err) = machine.run(&["install", "9.9.9"]);
    assert_eq!(code, Some(1));
    assert!(err.ends_with("countersign: npm failed: code ETARGET: no matching version\n"), "{err}");
    assert_eq!(machine.cached(), [""; 0]);
    machine.npm(INSTALLS);
    let (code, _, err) = machine.run(&["install", "2.1.325"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("no program for this machine"), "{err}");
    assert_eq!(machine.cached(), [""; 0]);
    let (code, _, err) = machine.run(&["install", "two"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("\"two\" is not a version"), "{err}");
    fs::remove_file(machine.file("bin/npm")).unwrap();
    let output = machine.command(&["install", "2.1.325"]).env("PATH", machine.file("bin")).output();
    let err = String::from_utf8(output.unwrap().stderr).unwrap();
    let expected = "countersign: npm is not on the PATH: install Node.js, which brings it\n";
    assert!(err.ends_with(expected), "{err}");
}
