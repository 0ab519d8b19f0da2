//! `lab fidelity`: how faithful the simulated CLI is.

use std::process::ExitCode;

use countersign_lab::fidelity::{Verdict, measure};
use countersign_lab::scenario::Scenario;
use countersign_lab::{Installed, Program, Version, Versions};
use serde_json::json;
use tokio::runtime::Runtime;

use super::scenarios::scenario;
use super::versions::ready;
use crate::failure::Failure;
use crate::output::{Output, plain};
use crate::sim;

/// Play scenarios on the real CLI and on the simulated one, and compare what both say
///
/// Prints a table of scenarios and versions: `same`, `known` for a difference that has a reason,
/// `DIFFERS`, or `BROKEN` if one of the two could not play it. The exit code is 1 if anything
/// differs or is broken.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Scenarios; all of them if none is given
    scenarios: Vec<String>,
    /// A version of the CLI; may be given several times. Those that everything is tested with, if
    /// it is not given
    #[arg(long = "cli", value_name = "VERSION")]
    versions: Vec<Version>,
    /// Show known differences as well
    #[arg(long)]
    all: bool,
}

impl Args {
    pub(super) fn run(&self, output: &mut Output) -> Result<ExitCode, Failure> {
        Runtime::new()?.block_on(table(self, output))?;
        Ok(ExitCode::SUCCESS)
    }
}

async fn table(args: &Args, output: &mut Output) -> Result<(), Failure> {
    let scenarios = chosen(&args.scenarios)?;
    let mut clis: Vec<(Installed, Program)> = Vec::new();
    let versions = if args.versions.is_empty() { &Version::TESTED[..] } else { &args.versions };
    let folder = Versions::in_default_folder()?;
    for version in versions {
        let simulated = sim::program(*version)?;
        clis.push((ready(&folder, *version, output).await?, simulated));
    }

    if !output.is_json() {
        heading(&scenarios, versions, output)?;
    }
    let playing = output.progress("playing scenarios").of(scenarios.len() * clis.len());
    let width = width(&scenarios);
    let (mut details, mut counts) = (Vec::new(), Counts::default());
    for scenario in scenarios {
        let mut cells = Vec::new();
        for (cli, simulated) in &clis {
            let version = cli.version();
            let real = Program::Real(cli.clone());
            let verdict = measure(scenario, real, simulated.clone()).await;
            playing.done();
            counts.add(&verdict);
            if output.is_json() {
                playing.hidden(|| row(scenario, version, &verdict, output))?;
                continue;
            }
            cells.push(format!("  {:<10}", cell(&verdict)));
            details.extend(told(&verdict, args.all).map(|text| (scenario, version, text)));
        }
        if !output.is_json() {
            let row = format!("{:width$}{}", scenario.name(), cells.concat());
            playing.hidden(|| output.line(row.trim_end()).and_then(|()| output.flush()))?;
        }
    }
    drop(playing);
    for (scenario, version, text) in details {
        let text = plain(&text);
        output.line(format_args!("\n{} on {version}: {text}", scenario.name()))?;
    }
    if !output.is_json() {
        output.line(format_args!("\n{counts}"))?;
    }
    if counts.broken > 0 {
        return Err(Failure::new("not everything could be played"));
    }
    if counts.differ > 0 {
        return Err(Failure::new("the simulated CLI differs from the real one"));
    }
    Ok(())
}

fn width(scenarios: &[Scenario]) -> usize {
    scenarios.iter().map(|scenario| scenario.name().len()).max().unwrap_or_default()
}

fn heading(
    scenarios: &[Scenario],
    versions: &[Version],
    output: &mut Output,
) -> Result<(), Failure> {
    let width = width(scenarios);
    let versions = versions.iter().map(|version| format!("  {:<10}", version.to_string()));
    output.line(format_args!("{:width$}{}", "scenario", versions.collect::<String>()))?;
    output.flush()
}

/// A verdict for programs.
fn row(
    scenario: Scenario,
    version: Version,
    verdict: &Verdict,
    output: &mut Output,
) -> Result<(), Failure> {
    let word = match verdict {
        Verdict::DoesNotApply => "does not apply",
        Verdict::Same => "same",
        Verdict::Known(_) => "known",
        Verdict::Differs(_) => "differs",
        Verdict::Broken { .. } => "broken",
    };
    let details: Vec<_> = told(verdict, true).collect();
    output.json(&json!({
        "scenario": scenario.name(), "version": version.to_string(), "verdict": word,
        "details": details,
    }))?;
    output.flush()
}

fn chosen(names: &[String]) -> Result<Vec<Scenario>, Failure> {
    if names.is_empty() {
        return Ok(Scenario::all());
    }
    names.iter().map(|name| scenario(name)).collect()
}

#[derive(Default)]
struct Counts {
    same: usize,
    known: usize,
    differ: usize,
    broken: usize,
}

impl Counts {
    fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::DoesNotApply => {}
            Verdict::Same => self.same += 1,
            Verdict::Known(_) => self.known += 1,
            Verdict::Differs(_) => self.differ += 1,
            Verdict::Broken { .. } => self.broken += 1,
        }
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { same, known, differ, broken } = self;
        write!(f, "{same} the same, {known} with known differences, {differ} different")?;
        if *broken > 0 {
            write!(f, ", {broken} broken")?;
        }
        Ok(())
    }
}

fn cell(verdict: &Verdict) -> String {
    match verdict {
        Verdict::DoesNotApply => "-".to_owned(),
        Verdict::Same => "same".to_owned(),
        Verdict::Known(departures) => format!("known {}", departures.len()),
        Verdict::Differs(departures) => format!("DIFFERS {}", departures.len()),
        Verdict::Broken { .. } => "BROKEN".to_owned(),
    }
}

/// What is to be said about a verdict besides its cell.
fn told(verdict: &Verdict, all: bool) -> impl Iterator<Item = String> {
    let lines = match verdict {
        Verdict::DoesNotApply | Verdict::Same => Vec::new(),
        Verdict::Known(departures) if all => departures.iter().map(ToString::to_string).collect(),
        Verdict::Known(_) => Vec::new(),
        Verdict::Differs(departures) => departures.iter().map(ToString::to_string).collect(),
        Verdict::Broken { program, error } => vec![format!("{program} did not play it: {error}")],
    };
    lines.into_iter()
}
