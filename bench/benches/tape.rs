//! What it costs to record: lines through `cat`, through the stand-in without a tape, and through
//! the stand-in that records.
//!
//! ```sh
//! cargo bench -p countersign-bench --bench tape
//! ```
//!
//! A pass is a stream of lines through a process, from its start to its end; a round trip is one
//! line in and the same line out, before the next goes in. Round trips are made on one processor:
//! how long an idle one takes to wake up is the machine's affair, and many times what is measured.
//! `/ cat` is the time of a row divided by that of `cat` alone.
#![expect(clippy::print_stdout, reason = "this is a program with a report")]

use std::io;
use std::path::Path;
use std::process::Command;

use countersign_bench::lines::samples;
use countersign_bench::programs::{Echo, Programs, command};
use countersign_bench::race::Race;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// How many bytes a pass sends.
const PASS: usize = 64 * 1024 * 1024;
const TRIPS: usize = 20_000;
const ROUNDS: usize = 7;

fn main() -> io::Result<()> {
    let quick = std::env::args().any(|argument| argument == "--test");
    let (pass, trips, rounds) = if quick { (1, 1, 1) } else { (PASS, TRIPS, ROUNDS) };
    let programs = Programs::build()?;
    let tee = programs.path("countersign-tape");
    let folder = tempfile::tempdir()?;
    println!("| line | what | way | ns a line | / cat |");
    println!("|---|---|---|---:|---:|");
    let samples: Vec<_> = samples().into_iter().take(2).collect();
    for sample in &samples {
        let line = [sample.line.as_bytes(), b"\n"].concat();
        let count = (pass / line.len()).max(1);
        let stream = line.repeat(count);
        let race = race(&tee, folder.path(), |echo| echo.pass(&stream));
        report(sample.name, "stream", count, race, rounds);
    }
    stay_on_one_processor()?;
    for sample in &samples {
        let line = [sample.line.as_bytes(), b"\n"].concat();
        let race = race(&tee, folder.path(), |echo| echo.round_trips(&line, trips));
        report(sample.name, "round trip", trips, race, rounds);
    }
    Ok(())
}

/// Keeps this process, and those that it starts from now on, on one processor.
fn stay_on_one_processor() -> io::Result<()> {
    let allowed = sched_getaffinity(None)?;
    let mut one = CpuSet::new();
    one.set((0..CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu)).unwrap_or(0));
    Ok(sched_setaffinity(None, &one)?)
}

/// The three ways, each doing the same work.
fn race<'a>(
    tee: &'a Path,
    folder: &'a Path,
    work: impl Fn(Echo) -> io::Result<()> + Copy + 'a,
) -> Race<'a> {
    let run = move |command: &mut Command| {
        if let Err(error) = Echo::start(command).and_then(work) {
            println!("failed: {error}");
        }
    };
    let through = move |tape: &Path| {
        let mut command = command(tee);
        command.args(["tee", "--claude", "/bin/cat", "--tape"]).arg(tape).arg("--");
        command
    };
    let mut race = Race::new();
    race.enter("cat", move || run(&mut command(Path::new("/bin/cat"))));
    // A tape that cannot be opened: the session goes on without one.
    race.enter("stand-in", move || run(&mut through(Path::new("/nonexistent/tape"))));
    race.enter("stand-in, recording", move || {
        let tape = folder.join("tape");
        run(&mut through(&tape));
        // Told by the next pass, which would not find its place free.
        std::fs::remove_file(tape).ok();
    });
    race
}

fn report(line: &str, what: &str, lines: usize, mut race: Race<'_>, rounds: usize) {
    let results = race.run(rounds);
    let cat = results.first().map_or(1.0, |(_, time)| time.as_secs_f64());
    for (name, time) in &results {
        let each = time.as_nanos() / lines as u128;
        println!("| {line} | {what} | {name} | {each} | {:.2} |", time.as_secs_f64() / cat);
    }
}
