//! The program: where it is, its version, and what that can do.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use countersign::cli::{Capability, Cli, FindError, FindOptions, Version, VersionError};
use tokio::process::Command;

use super::check::Check;

/// How to install the newest one.
const INSTALL: &str = "npm install -g @anthropic-ai/claude-code@latest";

/// How long a program has to tell its version. The slowest needs about two seconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// The program that a session would start.
pub(super) fn find(options: &FindOptions) -> Result<Cli, Check> {
    Cli::find_with(options).map_err(|error: FindError| {
        let given = options.explicit.is_some() || options.variable.is_some();
        let mend = if given {
            "Name the program `claude` itself, with --cli or CLAUDE_CODE_PATH.".to_owned()
        } else {
            format!(
                "Install it: {INSTALL}\nOr, if it is somewhere else, set CLAUDE_CODE_PATH to \
                 where it is.\nTo look around without it: countersign demo"
            )
        };
        let says = if given {
            error.to_string()
        } else {
            let places = error.looked().len();
            format!("not found; {places} places were looked at, {}", first_places(&error))
        };
        Check::wrong("claude", says, mend)
    })
}

/// A few of the places that were looked at: a whole list would hide what to do.
fn first_places(error: &FindError) -> String {
    const SHOWN: usize = 3;
    let places = error.looked().iter().take(SHOWN).map(|looked| looked.path.display().to_string());
    format!("{}, …", places.collect::<Vec<_>>().join(", "))
}

/// The version, from the package or from the program itself.
pub(super) async fn version(cli: &Cli) -> Result<Version, Check> {
    let mut said = Vec::new();
    let answer = told_by(cli, &mut said).await;
    answer.map_err(|error| broken(cli.path(), &error, &said))
}

/// The version; what the program says on standard error goes to `said`.
async fn told_by(cli: &Cli, said: &mut Vec<u8>) -> Result<Version, VersionError> {
    cli.version_by(async move |program, argument| {
        let Output { stdout, stderr, status } = run(&program, argument).await?;
        *said = stderr;
        if !status.success() {
            return Err(io::Error::other(format!("it ended with {status}")));
        }
        Ok(stdout)
    })
    .await
}

/// Runs a program to its end, which must come in time.
#[expect(clippy::disallowed_methods, reason = "a program is asked for its version and waited for")]
async fn run(program: &PathBuf, argument: &str) -> io::Result<Output> {
    let mut command = Command::new(program);
    command.arg(argument).stdin(Stdio::null()).kill_on_drop(true);
    match tokio::time::timeout(PATIENCE, command.output()).await {
        Ok(output) => output,
        Err(_) => Err(io::Error::other(format!("it said nothing for {} s", PATIENCE.as_secs()))),
    }
}

/// A program that does not tell its version.
fn broken(path: &Path, error: &VersionError, said: &[u8]) -> Check {
    let why = match error {
        VersionError::Run { source, .. } => source.to_string(),
        other => other.to_string(),
    };
    let said = String::from_utf8_lossy(said);
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    let last = last.map(|line| format!("\nit says: {}", line.trim())).unwrap_or_default();
    let says = format!("{} does not work: {why}{last}", path.display());
    let mend = format!(
        "Try `{} --version` yourself. To install it anew: {INSTALL}\nAnother one is named with \
         --cli PATH or CLAUDE_CODE_PATH.",
        path.display()
    );
    Check::wrong("claude", says, mend)
}

/// Where the program is, and its version.
pub(super) fn told(cli: &Cli, version: Version) -> Check {
    Check::fine("claude", format!("{version} at {}", cli.path().display()))
}

/// Whether the version is one that is tested.
pub(super) fn age(version: Version) -> Check {
    let [newest, .., oldest] = Version::TESTED;
    if Version::TESTED.contains(&version) {
        return Check::fine("version", format!("{version} is one that everything is tested with"));
    }
    let tested = Version::TESTED.map(|version| version.to_string()).join(", ");
    if version < oldest {
        let says = format!("{version} is older than any that is tested ({tested})");
        return Check::wrong("version", says, format!("Update it: {INSTALL}"));
    }
    if version > newest {
        let says = format!("{version} is newer than any that is tested ({tested})");
        let mend = format!("To see what has changed: countersign lab drift {newest} {version}");
        return Check::mind("version", says, mend);
    }
    Check::fine("version", format!("{version} lies between those that are tested ({tested})"))
}

/// What the version can do, and above all what not.
pub(super) fn abilities(version: Version, known: usize, missing: &[&Capability]) -> Check {
    let name = "abilities";
    if missing.is_empty() {
        return Check::fine(name, format!("all {known} that are known"));
    }
    let has = known - missing.len();
    let lacks = [
        ("an approval cannot outlive its process", Capability::DEFER),
        ("a hook that breaks lets the tool through to the person", Capability::HOOK_ON_FAILURE),
    ];
    let lacks = lacks.into_iter().filter(|(_, ability)| !ability.in_version(version));
    let lacks = lacks
        .map(|(words, ability)| format!("\nwith {version} {words} (since {})", ability.since()));
    let says = format!("{has} of {known} that are known (--capabilities lists them)")
        + &lacks.collect::<String>();
    Check::mind(name, says, format!("Update it: {INSTALL}"))
}
