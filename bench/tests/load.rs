//! A short load test on the simulated CLI: what it measures is not looked at, what it counts is.
//! `load` without options is the long one.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

use std::path::Path;

use countersign_bench::programs::command;
use serde_json::Value;

/// Few of everything.
const FEW: [&str; 17] = [
    "--only",
    "live,parked,latency,fanout,growth",
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

/// Few of what the page is measured with.
const FEW_OF_THE_PAGE: [&str; 8] =
    ["--only", "page", "--messages", "300", "--pieces", "40", "--reads", "3"];

#[test]
fn a_small_load_is_carried_and_nothing_is_lost() {
    let figures = measured(&FEW);
    assert_eq!(figures["live"]["sessions that wait with a process"]["figure"], 12, "{figures}");
    assert_eq!(figures["parked"]["sessions"]["p50"], 40, "{figures}");
    has_rows(&figures, &[("latency", 5), ("fanout", 6), ("growth", 17)]);
}

#[test]
fn the_page_is_light_and_shows_all_that_is_said() {
    let figures = measured(&FEW_OF_THE_PAGE);
    has_rows(&figures, &[("page, weight", 6), ("page, a session", 5)]);
    if cfg!(feature = "browser") {
        has_rows(&figures, &[("page, a session in a browser", 2), ("page, what is said", 6)]);
    }
}

/// Measures, and looks that nothing was wrong.
fn measured(arguments: &[&str]) -> Value {
    let load = Path::new(env!("CARGO_BIN_EXE_load"));
    let made = command(load).args(arguments).arg("--json").output().unwrap();
    let (told, said) = (text(&made.stdout), text(&made.stderr));
    assert!(made.status.success(), "{}\n{told}\n{said}", made.status);
    let mut report: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(report["wrong"], Value::Array(Vec::new()), "{told}");
    report["figures"].take()
}

/// Looks that there are tables with so many rows, and figures in each.
fn has_rows(figures: &Value, tables: &[(&str, usize)]) {
    for (measure, rows) in tables {
        let table = figures[measure].as_object().unwrap();
        assert_eq!(table.len(), *rows, "{measure}: {figures}");
        for (what, row) in table {
            assert!(row.as_object().unwrap().values().any(Value::is_number), "{what}: {figures}");
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
