//! The crash test: 200 kills on the simulated CLI, 20 on the real one, and some with PostgreSQL.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

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

#[test]
fn nothing_is_lost_or_done_twice_when_the_server_is_killed() {
    crash(200, &["--cli", "sim"], &[&HAPPENED[..], &OFTEN].concat());
}

#[cfg(feature = "real-cli")]
#[test]
fn nothing_is_lost_or_done_twice_with_the_real_cli() {
    crash(20, &["--cli", "2.1.325"], &HAPPENED);
}

#[cfg(feature = "postgres-tests")]
#[test]
fn nor_when_it_keeps_sessions_in_postgresql() {
    let happened = ["answers taken", "commands that ran", "events shown"];
    crash(6, &["--store", "postgres", "--sessions", "8"], &happened);
}

/// Makes the test, with so many kills. Nothing may be wrong, and this has to have happened.
fn crash(kills: u64, how: &[&str], happened: &[&str]) {
    let crash = Path::new(env!("CARGO_BIN_EXE_crash"));
    let (runs, mut command) = (kills.to_string(), command(crash));
    let made = command.args(["--runs", &runs, "--json"]).args(how).output().unwrap();
    let (told, said) = (text(&made.stdout), text(&made.stderr));
    assert!(made.status.success(), "{}\n{told}\n{said}", made.status);
    let report: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(report["happened"]["kills"], kills, "{told}");
    assert!(report["wrong"].as_object().unwrap().values().all(|count| *count == 0), "{told}");
    for what in happened {
        let count = report["happened"][*what].as_u64().unwrap_or_default();
        assert!(count > 0, "{what}: {report}");
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
