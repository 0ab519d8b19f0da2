//! `scenarios` and `play`: conversations with a CLI, to look at.

use std::path::PathBuf;

use tokio::runtime::Runtime;

use super::output::{Failure, Output};
use super::versions::ready;
use crate::Version;
use crate::driver::{Ended, Said};
use crate::fidelity::kind;
use crate::lab::Program;
use crate::scenario::Scenario;
use crate::versions::Versions;

/// Play a scenario on the real CLI or the simulated one, and show what was said
///
/// A line has the time in seconds since the process was started; `>` for what the client said, `<`
/// for what the CLI said and `!` for what it wrote to standard error; what kind of frame it is; and
/// the frame. The exit code is 1 if the CLI did something else than the scenario shows.
#[derive(Debug, clap::Args)]
pub(super) struct Play {
    /// The scenario; `countersign-lab scenarios` lists them
    #[arg(value_name = "SCENARIO")]
    name: String,
    /// The version of the CLI; the newest that everything is tested with, if it is not given
    #[arg(long = "cli", value_name = "VERSION", default_value_t = Version::TESTED[0])]
    version: Version,
    /// Play it on the simulated CLI
    #[arg(long)]
    simulated: bool,
    /// The simulated CLI; `countersign-sim` beside this program, if it is not given
    #[arg(long, value_name = "PROGRAM", requires = "simulated")]
    sim: Option<PathBuf>,
    /// Show whole frames, however long they are
    #[arg(long)]
    full: bool,
    /// Show the script of the model, and play nothing
    #[arg(long)]
    script: bool,
}

/// Lists the scenarios.
pub(super) fn list(output: &mut Output) -> Result<(), Failure> {
    let scenarios = Scenario::all();
    let width = scenarios.iter().map(|scenario| scenario.name().len()).max().unwrap_or_default();
    for scenario in scenarios {
        output.line(format_args!("{:width$}  {}", scenario.name(), scenario.shows()))?;
    }
    Ok(())
}

/// Plays a scenario.
pub(super) fn play(args: &Play, output: &mut Output) -> Result<(), Failure> {
    Runtime::new()?.block_on(play_it(args, output))
}

async fn play_it(args: &Play, output: &mut Output) -> Result<(), Failure> {
    let scenario = scenario(&args.name)?;
    if args.script {
        return Ok(output.line(unindented(scenario.script()))?);
    }
    let version = args.version;
    if !scenario.applies_to(version) {
        return Err(Failure::new(format!("{version} cannot do {}", scenario.name())));
    }
    let program = if args.simulated {
        Program::Simulated { executable: simulator(args.sim.as_ref())?, version }
    } else {
        Program::Real(ready(&Versions::in_default_folder()?, version, output).await?)
    };
    output.line(scenario.shows())?;
    let played = scenario.play(program).await?;
    for (at, process) in played.processes.iter().enumerate() {
        output.line(format_args!("\nprocess {}", at + 1))?;
        show(process, args.full, output)?;
    }
    Ok(())
}

fn show(process: &Ended, full: bool, output: &mut Output) -> Result<(), Failure> {
    const SHOWN: usize = 120;
    for Said { after, by, text, frame } in &process.log {
        let kind = if frame.is_null() { String::new() } else { kind(frame) };
        let shown: String = text.chars().take(if full { usize::MAX } else { SHOWN }).collect();
        let cut = if shown.len() < text.len() { "…" } else { "" };
        let (seconds, mark) = (after.as_secs_f64(), by.mark());
        output.line(format_args!("{seconds:8.3} {mark} {kind:32} {shown}{cut}"))?;
    }
    Ok(output.line(format_args!("{}", process.status))?)
}

/// A text without the white space that all its lines begin with.
fn unindented(text: &str) -> String {
    let lines = || text.trim_matches('\n').lines();
    let indents = lines().filter(|line| !line.trim().is_empty());
    let indent = indents.map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let cut: Vec<_> = lines().map(|line| line.get(indent..).unwrap_or_default()).collect();
    cut.join("\n").trim_end().to_owned()
}

/// The scenario of this name.
pub(super) fn scenario(name: &str) -> Result<Scenario, Failure> {
    Scenario::named(name).ok_or_else(|| {
        let known: Vec<_> = Scenario::all().iter().map(Scenario::name).collect();
        Failure::new(format!("there is no scenario {name}; there are: {}", known.join(", ")))
    })
}

/// The simulated CLI: the one that is named, or the one beside this program.
pub(super) fn simulator(named: Option<&PathBuf>) -> Result<PathBuf, Failure> {
    let path = match named {
        Some(path) => path.clone(),
        None => std::env::current_exe()?.with_file_name("countersign-sim"),
    };
    if !path.is_file() {
        let path = path.display();
        return Err(Failure::new(format!(
            "{path} is not there; name the simulated CLI with --sim"
        )));
    }
    Ok(path)
}
