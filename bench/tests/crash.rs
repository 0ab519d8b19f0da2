//! A short crash test on the simulated CLI. `crash --runs 200` is the long one.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

use std::path::Path;

use countersign_bench::programs::command;
use serde_json::Value;

/// Some of everything has to have happened, or nothing was tested.
const HAPPENED: [&str; 7] = [
    "answers taken",
    "answers delivered to a call that came back",
    "answers delivered to the process that asked",
    "commands that ran",
    "killed while a person was asked",
    "sessions parked",
    "sessions that waited for a process",
];

#[test]
fn nothing_is_lost_or_done_twice_when_the_server_is_killed() {
    let report = crash(25, &[]);
    for what in HAPPENED {
        let count = report["happened"][what].as_u64().unwrap_or_default();
        assert!(count > 0, "{what}: {report}");
    }
}

#[cfg(feature = "postgres-tests")]
#[test]
fn nor_when_it_keeps_sessions_in_postgresql() {
    let report = crash(6, &["--store", "postgres", "--sessions", "8"]);
    for what in ["answers taken", "commands that ran", "events shown"] {
        let count = report["happened"][what].as_u64().unwrap_or_default();
        assert!(count > 0, "{what}: {report}");
    }
}

/// Makes the test, with so many kills. Nothing may be wrong.
fn crash(kills: u64, how: &[&str]) -> Value {
    let crash = Path::new(env!("CARGO_BIN_EXE_crash"));
    let (runs, mut command) = (kills.to_string(), command(crash));
    let made = command.args(["--runs", &runs, "--json"]).args(how).output().unwrap();
    let (told, said) = (text(&made.stdout), text(&made.stderr));
    assert!(made.status.success(), "{}\n{told}\n{said}", made.status);
    let report: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(report["happened"]["kills"], kills, "{told}");
    assert!(report["wrong"].as_object().unwrap().values().all(|count| *count == 0), "{told}");
    report
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
