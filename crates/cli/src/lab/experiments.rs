//! `lab run` and `lab report`: questions put to the CLI.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use countersign_lab::experiment::{
    Expected, Experiment, Observed, Options, Progress, Results, Verdict, run,
};
use countersign_lab::report::Report;
use countersign_lab::{Program, Version};
use serde_json::json;
use tokio::runtime::Runtime;

use super::target::{program, simulated};
use crate::failure::{Exit, Failure};
use crate::output::{Output, plain};

/// What experiments are run, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Which {
    /// Experiments by letter or name, such as A or plan-after-a-turn; all if none is given
    #[arg(value_name = "EXPERIMENT")]
    experiments: Vec<String>,
    /// Play so many conversations at once [default: the number of processors]
    #[arg(long, value_name = "NUMBER")]
    jobs: Option<NonZero<usize>>,
    /// Run them on the simulated CLI, as these versions
    #[arg(long)]
    simulated: bool,
}

impl Which {
    fn chosen(&self) -> Result<Vec<Experiment>, Failure> {
        if self.experiments.is_empty() {
            return Ok(Experiment::all());
        }
        self.experiments.iter().map(|name| named(name)).collect()
    }

    /// What they are run on.
    async fn programs(&self, named: &[String], output: &Output) -> Result<Vec<Program>, Failure> {
        let mut programs = Vec::new();
        for text in named {
            programs.push(match self.simulated {
                true => simulated(text)?,
                false => program(text, output).await?,
            });
        }
        let folders: BTreeSet<_> = programs.iter().map(Program::version).collect();
        if folders.len() < programs.len() {
            return Err(Failure::new("two of the programs say that they are the same version")
                .hint("Their results would share a folder: run them one by one, with --out.")
                .code(Exit::Usage));
        }
        Ok(programs)
    }

    fn options(&self, out: &Path) -> Options {
        let options = Options::new(out);
        match self.jobs {
            Some(jobs) => options.jobs(jobs),
            None => options,
        }
    }
}

fn named(name: &str) -> Result<Experiment, Failure> {
    Experiment::named(name).ok_or_else(|| {
        Failure::new(format!("there is no experiment {name:?}"))
            .hint("`countersign lab experiments` lists them.")
            .code(Exit::Usage)
    })
}

/// List the experiments, and what each of them asks
#[derive(Debug, clap::Args)]
pub(crate) struct List {}

impl List {
    pub(super) fn run(&self, output: &mut Output) -> Result<ExitCode, Failure> {
        let all = Experiment::all();
        let width = all.iter().map(|known| known.name().len()).max().unwrap_or_default();
        for experiment in all {
            let (id, name, question) = (experiment.id(), experiment.name(), experiment.question());
            if output.is_json() {
                output.json(&json!({"id": id, "name": name, "question": question}))?;
            } else {
                output.line(format_args!("{id:<5} {name:width$}  {question}"))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Run experiments: put questions to a version of the CLI, offline
///
/// Says of each whether the CLI does what is documented. Every conversation is kept as a tape, in a
/// folder for each experiment. The exit code is 1 if something differs that is not known to differ on
/// this version, or an experiment did not get to its end.
#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    #[command(flatten)]
    which: Which,
    /// A version such as 2.1.325, `latest`, or the path of a program; may be given several times
    /// [default: the newest version that everything is tested with]
    #[arg(long = "cli", value_name = "VERSION|PATH")]
    clis: Vec<String>,
    /// Where tapes and results go
    #[arg(long, short, value_name = "FOLDER", default_value = "experiments")]
    out: PathBuf,
    /// Show every finding
    #[arg(long)]
    findings: bool,
}

impl Run {
    pub(super) fn run(&self, output: &mut Output) -> Result<ExitCode, Failure> {
        let experiments = self.which.chosen()?;
        let runtime = Runtime::new()?;
        let mut surprises = 0;
        runtime.block_on(async {
            let newest = [Version::TESTED[0].to_string()];
            let named = if self.clis.is_empty() { &newest[..] } else { &self.clis[..] };
            let programs = self.which.programs(named, output).await?;
            let options = self.which.options(&self.out);
            let results = run_all(&experiments, &programs, &options, output).await?;
            for results in &results {
                for observed in &results.experiments {
                    surprises += usize::from(!is_expected(observed, results)?);
                    self.show(observed, results, output)?;
                }
            }
            Ok::<_, Failure>(())
        })?;
        if !output.is_json() {
            output.note(format_args!("tapes and results are in {}", self.out.display()));
        }
        Ok(if surprises == 0 { ExitCode::SUCCESS } else { Exit::Failed.into() })
    }

    fn show(
        &self,
        observed: &Observed,
        results: &Results,
        output: &mut Output,
    ) -> Result<(), Failure> {
        if output.is_json() {
            let version = &results.version;
            let simulated = results.simulated;
            return output
                .json(&json!({"version": version, "simulated": simulated, "observed": observed}));
        }
        let expected = is_expected(observed, results)?;
        let (words, style) = told(&observed.verdict, expected);
        let (id, name, version) = (&observed.experiment, &observed.name, &results.version);
        let seconds = std::time::Duration::from_millis(observed.took_ms).as_secs_f64();
        output.line(format_args!(
            "{id:<5} {name:<32} {version:<9} {style}{words}{style:#} ({seconds:.1} s)"
        ))?;
        match &observed.verdict {
            Verdict::Differs { differences } => {
                for difference in differences {
                    output.line(format_args!("      {}", plain(&difference.to_string())))?;
                }
            }
            Verdict::Broken { error } => {
                for line in error.lines().take(SHOWN) {
                    output.line(format_args!("      {}", plain(line)))?;
                }
            }
            _ => {}
        }
        if self.findings {
            for finding in &observed.findings {
                output.line(format_args!("      {}: {}", finding.name, plain(&finding.text())))?;
            }
        }
        Ok(())
    }
}

/// How many lines of what went wrong are shown; the tape has all.
const SHOWN: usize = 20;

/// Whether a verdict is no surprise: it is good, or the version is known to differ there.
fn is_expected(observed: &Observed, results: &Results) -> Result<bool, Failure> {
    Ok(match &observed.verdict {
        Verdict::AsDocumented | Verdict::DoesNotApply => true,
        Verdict::Differs { .. } => {
            Expected::committed()?.reason(observed, &results.version).is_some()
        }
        _ => false,
    })
}

fn told(verdict: &Verdict, expected: bool) -> (&'static str, Style) {
    match verdict {
        Verdict::AsDocumented => ("as documented", AnsiColor::Green.on_default()),
        Verdict::Differs { .. } if expected => ("differs, as is known", Style::new()),
        Verdict::Differs { .. } => ("DIFFERS", AnsiColor::Red.on_default().bold()),
        Verdict::DoesNotApply => ("does not apply", Style::new().dimmed()),
        _ => ("BROKEN", AnsiColor::Red.on_default().bold()),
    }
}

/// Runs experiments on one program after the other, and shows how far it is.
pub(super) async fn run_all(
    experiments: &[Experiment],
    programs: &[Program],
    options: &Options,
    output: &Output,
) -> Result<Vec<Results>, Failure> {
    let progress = output.progress("experiments").of(experiments.len() * programs.len());
    let mut all = Vec::new();
    for program in programs {
        let version = program.version();
        let tell = |event: Progress<'_>| match event {
            Progress::Begins(experiment) => {
                progress.doing(format!("{} {} on {version}", experiment.id(), experiment.name()));
            }
            Progress::Ends(_) => progress.done(),
            _ => {}
        };
        all.push(run(experiments, program, options, tell).await?);
    }
    Ok(all)
}

/// Run experiments on several versions, and write a report as Markdown and as one HTML page
///
/// The report has a matrix of experiments and versions, what was found on each, what changed from one
/// version to the next, and in the HTML page the sequence diagram of every conversation. The exit
/// code is 1 as with `lab run`.
#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    which: Which,
    /// Versions such as 2.1.325, `latest`, or paths of programs [default: those that everything is
    /// tested with]
    #[arg(long, value_name = "VERSION|PATH", value_delimiter = ',')]
    versions: Vec<String>,
    /// Where the report, the tapes and the results go
    #[arg(long, short, value_name = "FOLDER", default_value = "report")]
    out: PathBuf,
    /// Run nothing: write the report anew from the results that are there
    #[arg(long, conflicts_with = "versions")]
    no_run: bool,
}

impl ReportArgs {
    pub(super) fn run(&self, output: &mut Output) -> Result<ExitCode, Failure> {
        let report = if self.no_run {
            self.earlier()?
        } else {
            Report::new(&self.out, Runtime::new()?.block_on(self.results(output))?)
        };
        if report.results().is_empty() {
            return Err(Failure::new(format!("there are no results in {}", self.out.display()))
                .hint("Without --no-run the experiments are run first."));
        }
        let (text, page) = (self.out.join("report.md"), self.out.join("report.html"));
        let writing = output.progress("writing the report");
        std::fs::write(&text, report.markdown())?;
        // Beside it first: whoever has the old page open finds it whole, or the new one.
        let draft = self.out.join(".report.html");
        report.page(std::fs::File::create(&draft)?)?;
        std::fs::rename(&draft, &page)?;
        drop(writing);
        let mut counts = [0_usize; 3];
        for results in report.results() {
            for observed in &results.experiments {
                let at = match (&observed.verdict, is_expected(observed, results)?) {
                    (Verdict::AsDocumented | Verdict::DoesNotApply, _) => 0,
                    (_, true) => 1,
                    (_, false) => 2,
                };
                if let Some(count) = counts.get_mut(at) {
                    *count += 1;
                }
            }
        }
        let [as_documented, known, surprises] = counts;
        if output.is_json() {
            output.json(&json!({
                "markdown": text, "page": page, "as_documented": as_documented,
                "known_differences": known, "surprises": surprises,
            }))?;
        } else {
            output.line(text.display())?;
            output.line(page.display())?;
            output.note(format_args!(
                "{as_documented} as documented, {known} differ as is known, {surprises} surprises"
            ));
        }
        Ok(if surprises == 0 { ExitCode::SUCCESS } else { Exit::Failed.into() })
    }

    /// The results of an earlier run.
    fn earlier(&self) -> Result<Report, Failure> {
        Report::read(&self.out).map_err(|error| {
            Failure::of(&error).hint("Without --no-run the experiments are run first.")
        })
    }

    async fn results(&self, output: &Output) -> Result<Vec<Results>, Failure> {
        let experiments = self.which.chosen()?;
        let tested = Version::TESTED.map(|version| version.to_string());
        let named = if self.versions.is_empty() { &tested[..] } else { &self.versions[..] };
        let programs = self.which.programs(named, output).await?;
        run_all(&experiments, &programs, &self.which.options(&self.out), output).await
    }
}
