//! `countersign doctor`: what there is, what it can do, and what to do about what is wrong.

mod check;
mod program;
mod round_trip;
mod surroundings;

use std::path::PathBuf;
use std::process::ExitCode;

use countersign::cli::{Capability, Cli, FindOptions, Version};
use serde_json::json;
use tokio::runtime::Runtime;

use self::check::Checks;
use crate::failure::{Exit, Failure};
use crate::output::Output;

/// Look whether everything is there, and say what is wrong and how to mend it
///
/// Finds Claude Code, asks it for its version, says what that version can do, and holds a short
/// conversation with it to see whether permissions reach us: offline, with a scripted model, in a
/// folder of its own. Nothing of yours is changed and no account is used. The exit code is 5 when
/// there is no Claude Code that can be used, and 1 when something else is wrong.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program to look at [default: where a session would find it]
    #[arg(long, value_name = "PATH")]
    cli: Option<PathBuf>,
    /// Show everything that this version can do or not
    #[arg(long)]
    capabilities: bool,
}

impl Args {
    pub(crate) fn run(&self, output: &mut Output) -> Result<ExitCode, Failure> {
        let mut checks = Checks::new(output);
        let usable = Runtime::new()?.block_on(self.look(&mut checks))?;
        let wrong = checks.wrong();
        checks.conclude()?;
        Ok(match (usable, wrong) {
            (false, _) => Exit::NoCli.into(),
            (true, 0) => ExitCode::SUCCESS,
            (true, _) => Exit::Failed.into(),
        })
    }

    /// Looks at everything; says whether there is a CLI that can be used.
    async fn look(&self, checks: &mut Checks<'_>) -> Result<bool, Failure> {
        let mut options = FindOptions::from_env();
        options.explicit.clone_from(&self.cli);
        let usable = match program::find(&options) {
            Ok(cli) => self.look_at(&cli, checks).await?,
            Err(check) => {
                checks.say(&check)?;
                false
            }
        };
        for check in surroundings::all(&options).await {
            checks.say(&check)?;
        }
        Ok(usable)
    }

    async fn look_at(&self, cli: &Cli, checks: &mut Checks<'_>) -> Result<bool, Failure> {
        let asking = checks.progress(format!("asking {} for its version", cli.path().display()));
        let version = program::version(cli).await;
        drop(asking);
        let version = match version {
            Ok(version) => version,
            Err(check) => {
                checks.say(&check)?;
                return Ok(false);
            }
        };
        checks.say(&program::told(cli, version))?;
        checks.say(&program::age(version))?;
        self.abilities(version, checks)?;
        let talking = checks.progress("holding a conversation with it, offline");
        let tried = round_trip::hold(cli, version).await;
        drop(talking);
        let works = tried.iter().all(|check| !check.is_wrong());
        for check in tried {
            checks.say(&check)?;
        }
        Ok(works)
    }

    /// What the version can do.
    fn abilities(&self, version: Version, checks: &mut Checks<'_>) -> Result<(), Failure> {
        let all: Vec<_> = Capability::all().collect();
        let missing: Vec<_> = all.iter().filter(|known| !known.in_version(version)).collect();
        checks.say(&program::abilities(version, all.len(), &missing))?;
        if self.capabilities {
            for known in all {
                let there = known.in_version(version);
                let since = known.since();
                checks.detail(
                    &json!({
                        "capability": known.to_string(),
                        "there": there,
                        "since": since.to_string(),
                    }),
                    &format!("{} {known} (since {since})", if there { '+' } else { '-' }),
                )?;
            }
        }
        Ok(())
    }
}
