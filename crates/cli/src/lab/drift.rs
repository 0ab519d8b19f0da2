//! `lab drift`: what changed between two versions.

use std::error::Error;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use countersign_lab::drift::names::{self, SearchError};
use countersign_lab::drift::{
    Drift, ExperimentChanges, Help, HelpChanges, HelpError, Names, Part, Types,
};
use countersign_lab::experiment::{Experiment, Options, Results};
use countersign_lab::{InstallError, Program, Sdk, Version, Versions};
use tokio::runtime::Runtime;

use super::experiments::run_all;
use super::target::program;
use crate::failure::{Exit, Failure};
use crate::file::create;
use crate::output::{Output, plain};

/// Say what changed between two versions of the CLI
///
/// Compares the flags in `--help`, the names of the protocol in the executables, the types that the
/// TypeScript SDK of the same releases publishes, and what the experiments find. Says it as Markdown.
/// The exit code is 0 whether or not something changed, and 1 if something could not be looked at.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The old one: a version such as 2.1.197, `latest`, or the path of a program
    old: String,
    /// The new one: a version such as 2.1.325, `latest`, or the path of a program
    new: String,
    /// Where tapes and results of the experiments go
    #[arg(long, value_name = "FOLDER", default_value = "drift")]
    out: PathBuf,
    /// Leave the experiments out
    #[arg(long, conflicts_with = "no_run")]
    no_experiments: bool,
    /// Run no experiments: take the results that are in the folder
    #[arg(long)]
    no_run: bool,
    /// Write to a file in place of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write over a file that is there already
    #[arg(long, requires = "output")]
    force: bool,
}

impl Args {
    pub(super) fn run(&self, output: &mut Output) -> Result<ExitCode, Failure> {
        let drift = Runtime::new()?.block_on(self.look(output))?;
        let mut text = if output.is_json() {
            serde_json::to_string(&drift)?
        } else {
            plain(&drift.markdown())
        };
        if !text.ends_with('\n') {
            text.push('\n');
        }
        match &self.output {
            Some(path) => {
                create(path, self.force)?.write_all(text.as_bytes())?;
            }
            None => output.bytes(text.as_bytes())?,
        }
        let unseen = drift.unseen();
        if unseen.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        output.flush()?;
        for why in unseen {
            output.note(format_args!("not looked at: {}", plain(&why)));
        }
        Ok(Exit::Failed.into())
    }

    async fn look(&self, output: &Output) -> Result<Drift, Failure> {
        let old = program(&self.old, output).await?;
        let new = program(&self.new, output).await?;
        Ok(Drift {
            old: old.version().to_string(),
            new: new.version().to_string(),
            help: part(help(&old, &new, output).await),
            names: part(names(&old, &new, output)),
            types: types(&old, &new, output).await,
            experiments: self.experiments(&old, &new, output).await,
        })
    }

    async fn experiments(
        &self,
        old: &Program,
        new: &Program,
        output: &Output,
    ) -> Part<ExperimentChanges> {
        if self.no_experiments {
            return Part::LeftOut;
        }
        if old.version() == new.version() {
            let version = old.version();
            let why =
                format!("both programs say that they are {version}, and would share a folder");
            return Part::Unseen { why };
        }
        let results = if self.no_run {
            [old, new].map(|program| self.earlier(program)).into_iter().collect()
        } else {
            let programs = [old.clone(), new.clone()];
            run_all(&Experiment::all(), &programs, &Options::new(&self.out), output).await
        };
        match results.as_deref() {
            Ok([old, new]) => Part::Compared(ExperimentChanges::compare(old, new)),
            Ok(_) => Part::Unseen { why: "there are not two results".to_owned() },
            Err(failure) => Part::Unseen { why: failure.to_string() },
        }
    }

    /// The results of an earlier run.
    fn earlier(&self, program: &Program) -> Result<Results, Failure> {
        let folder = Results::folder(&self.out, program);
        Results::read(&folder)?
            .ok_or_else(|| Failure::new(format!("there are no results in {}", folder.display())))
    }
}

fn part<T, E: Error>(looked: Result<T, E>) -> Part<T> {
    match looked {
        Ok(found) => Part::Compared(found),
        Err(error) => Part::Unseen { why: Failure::of(&error).to_string() },
    }
}

async fn help(old: &Program, new: &Program, output: &Output) -> Result<HelpChanges, HelpError> {
    let _progress = output.progress("asking for help");
    Ok(Help::of(old).await?.changes(&Help::of(new).await?))
}

fn names(old: &Program, new: &Program, output: &Output) -> Result<Names, SearchError> {
    let (old, new) = (old.executable(), new.executable());
    let progress = output.progress("searching the executables").of(names::steps(old, new)?);
    progress.doing("searching the executables");
    names::compare(old, new, || progress.done())
}

async fn types(old: &Program, new: &Program, output: &Output) -> Part<Types> {
    let absent = |version: Version| Part::Absent {
        why: format!("there is no TypeScript SDK that belongs to {version}"),
    };
    let (old, new) = (old.version(), new.version());
    match (sdk(old, output).await, sdk(new, output).await) {
        (Err(error), _) | (_, Err(error)) => part(Err(error)),
        (Ok(None), _) => absent(old),
        (_, Ok(None)) => absent(new),
        (Ok(Some(old)), Ok(Some(new))) => part(Types::compare(&old, &new)),
    }
}

async fn sdk(version: Version, output: &Output) -> Result<Option<Sdk>, InstallError> {
    let progress = output.progress("the TypeScript SDK");
    progress.doing(format!("the TypeScript SDK that belongs to {version}"));
    Versions::in_default_folder()?.sdk(version).await
}
