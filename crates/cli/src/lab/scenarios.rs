//! `scenarios` and `play`: conversations with a CLI, to look at.

use std::process::ExitCode;

use countersign_lab::fidelity::kind;
use countersign_lab::scenario::Scenario;
use countersign_lab::{Ended, Said, Version};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::target::{program, simulated};
use crate::failure::Failure;
use crate::output::{Output, plain};

/// Play a scenario on the real CLI or the simulated one, and show what was said
///
/// A line has the time in seconds since the process was started; `>` for what the client said, `<`
/// for what the CLI said and `!` for what it wrote to standard error; what kind of frame it is; and
/// the frame. The exit code is 1 if the CLI did something else than the scenario shows.
#[derive(Debug, clap::Args)]
pub(crate) struct Play {
    /// The scenario; `countersign lab scenarios` lists them
    #[arg(value_name = "SCENARIO")]
    name: String,
    /// A version such as 2.1.325, `latest`, or the path of a program [default: the newest version
    /// that everything is tested with]
    #[arg(long, value_name = "VERSION|PATH")]
    cli: Option<String>,
    /// Play it on the simulated CLI
    #[arg(long)]
    simulated: bool,
    /// Show whole frames, however long they are
    #[arg(long)]
    full: bool,
    /// Show the script of the model, and play nothing
    #[arg(long)]
    script: bool,
}

impl Play {
    pub(super) fn run(&self, output: &mut Output) -> Result<ExitCode, Failure> {
        Runtime::new()?.block_on(self.play(output))?;
        Ok(ExitCode::SUCCESS)
    }

    async fn play(&self, output: &mut Output) -> Result<(), Failure> {
        let scenario = scenario(&self.name)?;
        if self.script {
            let script = unindented(scenario.script());
            return match output.is_json() {
                true => output.json(&json!({"scenario": scenario.name(), "script": script})),
                false => output.line(script),
            };
        }
        let newest = Version::TESTED[0].to_string();
        let named = self.cli.as_deref().unwrap_or(&newest);
        let program = match self.simulated {
            true => simulated(named)?,
            false => program(named, output).await?,
        };
        let version = program.version();
        if !scenario.applies_to(version) {
            return Err(Failure::new(format!("{version} cannot do {}", scenario.name())));
        }
        if !output.is_json() {
            output.line(scenario.shows())?;
        }
        let playing = output.progress(format!("playing {} on {version}", scenario.name()));
        let played = scenario.play(program).await?;
        drop(playing);
        for (at, process) in played.processes.iter().enumerate() {
            if output.is_json() {
                show_json(at + 1, process, output)?;
            } else {
                output.line(format_args!("\nprocess {}", at + 1))?;
                show(process, self.full, output)?;
            }
        }
        Ok(())
    }
}

/// List the scenarios, and what each of them shows
#[derive(Debug, clap::Args)]
pub(crate) struct List {}

impl List {
    pub(super) fn run(&self, output: &mut Output) -> Result<ExitCode, Failure> {
        let scenarios = Scenario::all();
        let width = scenarios.iter().map(|known| known.name().len()).max().unwrap_or_default();
        for scenario in scenarios {
            let (name, shows) = (scenario.name(), scenario.shows());
            if output.is_json() {
                output.json(&json!({"name": name, "shows": shows}))?;
            } else {
                output.line(format_args!("{name:width$}  {shows}"))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn show(process: &Ended, full: bool, output: &mut Output) -> Result<(), Failure> {
    const SHOWN: usize = 120;
    for Said { after, by, text, frame } in &process.log {
        let kind = if frame.is_null() { String::new() } else { kind(frame) };
        let text = plain(text);
        let shown: String = text.chars().take(if full { usize::MAX } else { SHOWN }).collect();
        let cut = if shown.len() < text.len() { "…" } else { "" };
        let (seconds, mark) = (after.as_secs_f64(), by.mark());
        output.line(format_args!("{seconds:8.3} {mark} {kind:32} {shown}{cut}"))?;
    }
    output.line(process.status)
}

fn show_json(number: usize, process: &Ended, output: &mut Output) -> Result<(), Failure> {
    for Said { after, by, text, frame } in &process.log {
        let by = by.channel().name();
        let line = if frame.is_null() { json!({"text": text}) } else { json!({"frame": frame}) };
        let head = json!({"process": number, "seconds": after.as_secs_f64(), "by": by});
        output.json(&joined(head, line))?;
    }
    output.json(&json!({"process": number, "ended": process.status.to_string()}))
}

/// Two JSON objects as one.
fn joined(mut one: Value, other: Value) -> Value {
    if let (Value::Object(one), Value::Object(other)) = (&mut one, other) {
        one.extend(other);
    }
    one
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
