//! What it costs to start: the simulated CLI beside `cat` and the real CLI.
//!
//! ```sh
//! cargo run --bin countersign -- lab install
//! cargo bench -p countersign-bench --bench start
//! ```
//!
//! Started is a CLI when it has answered `initialize`, and `cat` when it has given a line back. All
//! run in the laboratory, so all pay the same for their isolation. Memory is what a process has for
//! itself, and its share of what it has in common with others (PSS), once it is started; a thousand
//! are started to see what each one more costs. Versions of the real CLI that are not installed are
//! left out.
#![expect(clippy::print_stdout, reason = "this is a program with a report")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use countersign_bench::programs::Programs;
use countersign_lab::script::{Answer, Script};
use countersign_lab::{Cli, Lab, Launch, Program, Version, Versions};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

const ROUNDS: usize = 9;
const MANY: usize = 1000;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Result<()> {
    let quick = std::env::args().any(|argument| argument == "--test");
    let (rounds, many) = if quick { (1, 2) } else { (ROUNDS, MANY) };
    let sim = Programs::build()?.path("countersign-sim");
    let version = Version::TESTED[0];
    let lab = open(Program::simulated(sim.clone(), version)).await?;
    let cat = median(rounds, async || echo(&lab).await).await?;
    println!("| program | started after | / cat | memory | / simulated |");
    println!("|---|---:|---:|---:|---:|");
    row("cat", cat, cat, None);
    let simulated = median(rounds, async || start(&lab).await).await?;
    row("simulated CLI", simulated, cat, Some(simulated));
    lab.close().await?;
    for installed in Versions::in_default_folder()?.list() {
        let name = format!("real CLI {}", installed.version());
        let lab = open(Program::Real(installed)).await?;
        let real = median(rounds, async || start(&lab).await).await?;
        row(&name, real, cat, Some(simulated));
        lab.close().await?;
    }
    crowd(sim, version, many).await
}

/// How long a process took to start, and its memory in kB.
type Cost = (Duration, u64);

async fn open(program: Program) -> Result<Lab> {
    Ok(Lab::builder(program, Script::new().then(Answer::text("Hello."))).start().await?)
}

/// The cost of the run that took the middle time.
async fn median(rounds: usize, run: impl AsyncFn() -> Result<Cost>) -> Result<Cost> {
    let mut costs = Vec::new();
    for _ in 0..rounds {
        costs.push(run().await?);
    }
    costs.sort();
    costs.get(costs.len() / 2).copied().ok_or_else(|| "no rounds".into())
}

async fn start(lab: &Lab) -> Result<Cost> {
    let begin = Instant::now();
    let cli = started(lab).await?;
    let time = begin.elapsed();
    let memory = memory(cli.pid())?;
    cli.close().await?;
    Ok((time, memory))
}

async fn started(lab: &Lab) -> Result<Cli> {
    let mut cli = lab.launch(Launch::new()).await?;
    cli.initialize(json!({})).await?;
    Ok(cli)
}

async fn echo(lab: &Lab) -> Result<Cost> {
    let begin = Instant::now();
    let mut command = lab.command(Path::new("/bin/cat"), &BTreeMap::new(), &[])?;
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("no pipes".into());
    };
    stdin.write_all(b"{}\n").await?;
    BufReader::new(stdout).read_line(&mut String::new()).await?;
    let time = begin.elapsed();
    drop(stdin);
    child.wait().await?;
    Ok((time, 0))
}

/// The memory of a process in kB: its own, and its share of what is shared.
fn memory(pid: i32) -> Result<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
    let number = line.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok());
    number.ok_or_else(|| "no Pss".into())
}

fn row(name: &str, cost: Cost, cat: Cost, simulated: Option<Cost>) {
    let milliseconds = cost.0.as_secs_f64() * 1000.0;
    let time = cost.0.as_secs_f64() / cat.0.as_secs_f64();
    let (memory, ratio) = match simulated {
        Some(simulated) if simulated.1 > 0 => {
            let ratio = cost.1 as f64 / simulated.1 as f64;
            (format!("{:.1} MB", cost.1 as f64 / 1024.0), format!("{ratio:.1}"))
        }
        _ => ("-".to_owned(), "-".to_owned()),
    };
    println!("| {name} | {milliseconds:.1} ms | {time:.1} | {memory} | {ratio} |");
}

/// Many simulated CLIs at once.
async fn crowd(executable: PathBuf, version: Version, many: usize) -> Result<()> {
    let lab = open(Program::simulated(executable, version)).await?;
    let begin = Instant::now();
    let mut clis = Vec::new();
    for _ in 0..many {
        clis.push(started(&lab).await?);
    }
    let time = begin.elapsed();
    let total = clis.iter().map(|cli| memory(cli.pid())).sum::<Result<u64>>()?;
    let (each, all) = (total as f64 / many as f64, total as f64 / 1024.0);
    println!("\n{many} simulated CLIs: {time:.1?} to start, {each:.0} kB each, {all:.0} MB in all");
    lab.close().await?;
    Ok(())
}
