//! A short load test on the simulated CLI: what it measures is not looked at, what it counts is.
//! `load` without options is the long one.

use std::path::Path;

use countersign_bench::programs::command;
use serde_json::Value;

/// Few of everything.
const FEW: [&str; 15] = [
    "--live",
    "12",
    "--parked",
    "40",
    "--growth",
    "10,40",
    "--rounds",
    "10",
    "--subscribers",
    "8",
    "--events",
    "60",
    "--reads",
    "5",
    "--answers=3",
];

#[test]
fn a_small_load_is_carried_and_nothing_is_lost() {
    let load = Path::new(env!("CARGO_BIN_EXE_load"));
    let made = command(load).args(FEW).arg("--json").output().unwrap();
    let (told, said) = (text(&made.stdout), text(&made.stderr));
    assert!(made.status.success(), "{}\n{told}\n{said}", made.status);
    let report: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(report["wrong"], Value::Array(Vec::new()), "{told}");
    let figures = &report["figures"];
    assert_eq!(figures["live"]["sessions that wait with a process"]["figure"], 12, "{told}");
    assert_eq!(figures["parked"]["sessions"]["p50"], 40, "{told}");
    for (measure, rows) in [("latency", 5), ("fanout", 6), ("growth", 17)] {
        let table = figures[measure].as_object().unwrap();
        assert_eq!(table.len(), rows, "{measure}: {told}");
        for (what, row) in table {
            assert!(row.as_object().unwrap().values().any(Value::is_number), "{what}: {told}");
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
