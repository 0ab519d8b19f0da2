//! What it costs to find out what a line is, and to read it.
//!
//! ```sh
//! cargo bench -p countersign-bench --bench wire
//! ```
//!
//! For each size of line: our envelope and our full decode, beside (a) cutting lines and nothing
//! else, (b) `serde_json::Value`, (c) an enum with `#[serde(tag)]` that names the fields a client
//! uses and drops the rest. `/ b` and `/ c` are the time of that row divided by theirs.
#![expect(clippy::print_stdout, reason = "this is a program with a report")]

use std::hint::black_box;

use countersign_bench::lines::{Sample, samples};
use countersign_bench::race::Race;
use countersign_bench::tagged;
use countersign_protocol::{Decoded, FromCli, Line, LineSplitter};
use serde_json::Value;

/// How many bytes a pass works on; large enough for the clock, small enough for the cache of
/// what is read to be the same for all.
const PASS: usize = 4 * 1024 * 1024;
const ROUNDS: usize = 25;
/// What a read from a pipe brings at most.
const CHUNK: usize = 64 * 1024;

fn main() {
    let quick = std::env::args().any(|argument| argument == "--test");
    let (pass, rounds) = if quick { (1, 1) } else { (PASS, ROUNDS) };
    println!("| line | way | ns a line | / b | / c |");
    println!("|---|---|---:|---:|---:|");
    for sample in samples() {
        measure(&sample, pass, rounds);
    }
}

fn measure(sample: &Sample, pass: usize, rounds: usize) {
    let line = sample.line.as_bytes();
    let count = (pass / line.len()).max(1);
    let stream: Vec<u8> = std::iter::repeat_n([line, b"\n"].concat(), count).flatten().collect();

    let mut race = Race::new();
    race.enter("a: lines only", || {
        let mut splitter = LineSplitter::new();
        for chunk in stream.chunks(CHUNK) {
            splitter.feed(chunk, |piece| {
                black_box(piece);
            });
        }
    });
    race.enter("b: Value", || {
        for _ in 0..count {
            black_box(serde_json::from_slice::<Value>(black_box(line)).is_ok());
        }
    });
    race.enter("c: serde(tag)", || {
        for _ in 0..count {
            black_box(serde_json::from_slice::<tagged::Frame>(black_box(line)).is_ok());
        }
    });
    race.enter("envelope", || {
        for _ in 0..count {
            black_box(Line::parse(black_box(line)).is_ok());
        }
    });
    race.enter("full decode", || {
        for _ in 0..count {
            let Ok(line) = Line::parse(black_box(line)) else { continue };
            black_box(matches!(line.decode::<FromCli>(), Decoded::Known(_)));
        }
    });
    let times = race.run(rounds);

    let per_line = |name: &str| {
        let best = times.iter().find(|(contender, _)| *contender == name).map(|(_, best)| *best);
        best.unwrap_or_default().as_nanos() as f64 / count as f64
    };
    let (value, tag) = (per_line("b: Value"), per_line("c: serde(tag)"));
    for (name, _) in &times {
        let cost = per_line(name);
        println!(
            "| {} ({} B) | {name} | {cost:.0} | {:.2} | {:.2} |",
            sample.name,
            line.len(),
            cost / value,
            cost / tag
        );
    }
}
