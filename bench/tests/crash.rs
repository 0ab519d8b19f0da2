//! The crash test: 200 kills on the simulated CLI, and 20 on the real one.

use std::path::Path;

use countersign_bench::programs::command;
use serde_json::Value;

/// Some of everything has to have happened, or nothing was tested.
const HAPPENED: [&str; 6] = [
    "answers taken",
    "answers delivered to a call that came back",
    "answers delivered to the process that asked",
    "commands that ran",
    "sessions parked",
    "sessions that waited for a process",
];

/// And so often that of these there have to be some, too.
const OFTEN: [&str; 3] = [
    "killed while a person was asked",
    "killed between an answer and its delivery",
    "answers told to the model",
];

/// Kills a server so often, and looks for what was lost or done twice.
fn kill(times: u64, cli: &str, happened: &[&str]) {
    let crash = Path::new(env!("CARGO_BIN_EXE_crash"));
    let runs = times.to_string();
    let made = command(crash).args(["--runs", &runs, "--cli", cli, "--json"]).output().unwrap();
    let (told, said) = (text(&made.stdout), text(&made.stderr));
    assert!(made.status.success(), "{}\n{told}\n{said}", made.status);
    let report: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(report["happened"]["kills"], times, "{told}");
    for what in happened {
        assert!(
            report["happened"][*what].as_u64().is_some_and(|count| count > 0),
            "{what}: {told}"
        );
    }
    assert!(report["wrong"].as_object().unwrap().values().all(|count| *count == 0), "{told}");
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn nothing_is_lost_or_done_twice_when_the_server_is_killed() {
    kill(200, "sim", &[&HAPPENED[..], &OFTEN].concat());
}

#[cfg(feature = "real-cli")]
#[test]
fn nothing_is_lost_or_done_twice_with_the_real_cli() {
    kill(20, "2.1.325", &HAPPENED);
}
