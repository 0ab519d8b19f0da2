//! The start of a CLI that takes long, or never comes to an end.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::kit::{Cli, Outcome, USUAL, program, simulated};
use crate::pty::{self, Pty};
use crate::puppet::Stage;

pub(crate) fn trials() -> Vec<Trial> {
    [
        simulated("start::it_is_said_that_it_takes_long", said),
        simulated("start::it_is_said_without_a_terminal", said_alone),
        simulated("start::ctrl_c_leaves_nothing_running", given_up),
        simulated("start::signals_leave_nothing_running", given_up_alone),
    ]
    .into_iter()
    .flatten()
    .collect()
}

const STARTING: &str = "starting Claude Code";

/// The line is gone when there is something else to see.
async fn said(_: Cli) -> Outcome {
    let stage = Stage::that_says(serde_json::json!([])).starting_slowly();
    let mut pty = stage.run(USUAL);
    pty.see(STARTING);
    let screen = pty.see("Enter sends");
    assert!(!screen.contains(STARTING), "{screen}");
    pty.press("\u{4}");
    let ended = pty.end();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(ended.screen.starts_with("countersign "), "{}", ended.screen);
    Ok(())
}

async fn said_alone(_: Cli) -> Outcome {
    let stage = Stage::that_says(serde_json::json!([])).starting_slowly();
    let plain = stage.piped();
    assert_eq!(plain.code, Some(0), "{plain:?}");
    assert_eq!(plain.err.matches(STARTING).count(), 1, "{plain:?}");
    assert!(!plain.out.contains(STARTING), "{plain:?}");
    for option in ["--quiet", "--json"] {
        let silent = stage.piped_with(&[option]);
        assert_eq!((silent.code, &*silent.err), (Some(0), ""), "{silent:?}");
        assert!(!silent.out.contains(STARTING), "{silent:?}");
    }
    Ok(())
}

async fn given_up(_: Cli) -> Outcome {
    for stuck in [Stuck::when_it_starts(), Stuck::when_it_tells_its_version()] {
        let mut command = pty::command(env!("CARGO_BIN_EXE_countersign"));
        command.args(stuck.words());
        command.env("TERM", "xterm");
        command.env("PATH", "/usr/bin:/bin");
        command.current_dir(stuck.folder.path());
        let mut pty = Pty::start(command, USUAL);
        let running = stuck.running().await;
        pty.see(STARTING);
        pty.press("\u{3}");
        let ended = pty.end();
        assert_eq!(ended.code, 130, "{}", ended.screen);
        assert!(ended.is_restored);
        assert!(!ended.screen.contains(STARTING), "{}", ended.screen);
        gone(&running).await;
    }
    Ok(())
}

async fn given_up_alone(_: Cli) -> Outcome {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        for stuck in [Stuck::when_it_starts(), Stuck::when_it_tells_its_version()] {
            for option in ["--json", "--quiet"] {
                let mut child = stuck.start(option);
                let running = stuck.running().await;
                let pid = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
                kill_process(pid, signal).unwrap();
                assert_eq!(child.wait().unwrap().code(), Some(code));
                gone(&running).await;
            }
        }
    }
    Ok(())
}

/// A CLI that never comes to its point.
struct Stuck {
    folder: TempDir,
}

impl Stuck {
    fn when_it_starts() -> Self {
        Self::with("case \"$*\" in --version) echo '2.1.325 (Claude Code)'; exit;; esac")
    }

    fn when_it_tells_its_version() -> Self {
        Self::with(":")
    }

    fn with(first: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Under its name when it is complete.
        let told = "echo $$ $! > \"$0.part\"; mv \"$0.part\" \"$0.running\"";
        let script = format!("{first}\nsleep 4321 &\n{told}\nwait");
        program(&folder.path().join("claude"), &script);
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("claude")
    }

    fn words(&self) -> Vec<String> {
        ["run", "Go.", "--cli", &self.path().to_string_lossy()].map(str::to_owned).to_vec()
    }

    /// `countersign run` with it, without a terminal.
    fn start(&self, option: &str) -> Child {
        #[expect(clippy::disallowed_methods, reason = "it is waited for")]
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(self.words()).arg(option);
        command.env_clear().env("PATH", "/usr/bin:/bin").current_dir(self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// The processes of it, as soon as they run.
    async fn running(&self) -> Vec<String> {
        let file = self.folder.path().join("claude.running");
        until(|| file.exists(), "the CLI does not start").await;
        let pids = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        pids.split_whitespace().map(str::to_owned).collect()
    }
}

/// Waits until all of them are gone. What is killed may take a moment to end.
async fn gone(pids: &[String]) {
    assert_eq!(pids.len(), 2);
    let is_gone = |pid: &String| {
        let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
        // Whoever takes note of its end may not be us.
        stat.map_or(true, |stat| stat.contains(") Z "))
    };
    until(|| pids.iter().all(is_gone), "something is left running").await;
}

async fn until(is_so: impl Fn() -> bool, else_: &str) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < deadline, "{else_}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
