//! What the tests have in common: CLIs to hold sessions with.

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use countersign::{Environment, Session, SessionBuilder};
use countersign_lab::script::Script;
use countersign_lab::{Lab, Program, Version};
use libtest_mimic::{Failed, Trial};

/// What a test returns.
pub(crate) type Outcome = Result<(), Failed>;

/// The CLI that a test runs with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cli {
    /// The simulated one, behaving as this version.
    Simulated(Version),
    /// The real one.
    #[cfg_attr(not(feature = "real-cli"), expect(dead_code, reason = "there is none"))]
    Real(Version),
}

impl Cli {
    pub(crate) const fn version(self) -> Version {
        match self {
            Self::Simulated(version) | Self::Real(version) => version,
        }
    }

    fn name(self) -> String {
        match self {
            Self::Simulated(version) => format!("simulated {version}"),
            Self::Real(version) => version.to_string(),
        }
    }
}

/// The model writes a file and says so; then it has one thing more to say.
pub(crate) const WRITE: &str = r#"
[[answer]]
text = "I will write it."
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "That was it."

[[answer]]
text = "And more."
"#;

pub(crate) const V325: Version = Version::new(2, 1, 325);
pub(crate) const V197: Version = Version::new(2, 1, 197);
pub(crate) const V62: Version = Version::new(2, 1, 62);

/// A test on the simulated CLI and on the real ones, from this version on: on the newest, and with
/// `COUNTERSIGN_TEST_FULL`, as `./test --full` sets it, also on the older ones.
pub(crate) fn on_all<F: Future<Output = Outcome> + 'static>(
    name: &str,
    since: Version,
    test: fn(Cli) -> F,
) -> Vec<Trial> {
    let mut clis = vec![Cli::Simulated(V325)];
    #[cfg(feature = "real-cli")]
    clis.extend([V325, V197, V62].map(Cli::Real));
    let full = std::env::var_os("COUNTERSIGN_TEST_FULL").is_some();
    clis.into_iter()
        .filter(|cli| cli.version() >= since && (full || cli.version() == V325))
        .map(|cli| trial(format!("{name}::{}", cli.name()), move || test(cli)))
        .collect()
}

/// A test on the real CLIs only, from this version on: of something that the simulated one does not
/// do.
pub(crate) fn on_real<F: Future<Output = Outcome> + 'static>(
    name: &str,
    since: Version,
    test: fn(Cli) -> F,
) -> Vec<Trial> {
    let trials = on_all(name, since, test);
    trials.into_iter().filter(|trial| !trial.name().contains("::simulated ")).collect()
}

/// A test that is a future.
pub(crate) fn trial<F: Future<Output = Outcome> + 'static>(
    name: impl Into<String>,
    test: impl FnOnce() -> F + Send + 'static,
) -> Trial {
    Trial::test(name, move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(test())
    })
}

/// A laboratory with this CLI and a model that follows this script.
pub(crate) async fn lab(cli: Cli, script: &str) -> Lab {
    let script = Script::parse(script, "script").unwrap_or_else(|error| panic!("{error}"));
    let program = match cli {
        Cli::Simulated(version) => Program::simulated(simulator(), version),
        #[cfg(feature = "real-cli")]
        Cli::Real(version) => {
            let versions = countersign_lab::Versions::in_default_folder().unwrap();
            let installed = versions.install(version).await;
            Program::Real(installed.unwrap_or_else(|error| panic!("{error}")))
        }
        #[cfg(not(feature = "real-cli"))]
        Cli::Real(_) => unreachable!("there is no real CLI without the feature"),
    };
    let lab = Lab::builder(program, script).file("hello.txt", "Hello.\n").start().await;
    lab.unwrap_or_else(|error| panic!("{error}"))
}

/// A builder for sessions in that laboratory. The real CLI runs with nothing inherited, and in the
/// network of the laboratory.
pub(crate) fn builder(lab: &Lab) -> SessionBuilder {
    let (program, environment) = lab.for_a_client().unwrap();
    SessionBuilder::new()
        .executable(program)
        .environment(Environment::replace(environment))
        .cwd(lab.work())
        .setting_sources([])
}

/// Closes a session and its laboratory, and makes sure that nothing is left.
pub(crate) async fn close(session: Session, lab: Lab) {
    close_session(session).await;
    lab.close().await.unwrap();
}

/// Ends a session, whose processes must all end.
pub(crate) async fn close_session(session: Session) {
    let end = session.close().await;
    assert!(end.still_running.is_empty(), "{end:?}");
}

/// Fails the test when something takes longer than it ever should.
pub(crate) async fn soon<F: Future>(what: &str, future: F) -> F::Output {
    let limit = Duration::from_secs(240);
    match tokio::time::timeout(limit, future).await {
        Ok(output) => output,
        Err(_) => panic!("{what} did not happen within {limit:?}"),
    }
}

/// Says to this very program that it is to be a simulated CLI.
const SIMULATED: &str = "COUNTERSIGN_TEST_SIMULATED";

/// Plays a CLI, if that is what this program was started for.
pub(crate) fn as_a_cli() -> Option<ExitCode> {
    std::env::var_os(SIMULATED)?;
    // As the laboratory starts it: `--script FILE --as VERSION -- ARGUMENTS`.
    let mut words = std::env::args().skip(1);
    let mut launch = countersign_lab::sim::Launch::new();
    while let Some(word) = words.next() {
        match &*word {
            "--script" => launch.script = words.next().map(PathBuf::from),
            "--as" => launch.version = words.next().unwrap_or_default(),
            _ => break,
        }
    }
    launch.claude_args = words.collect();
    Some(launch.run())
}

/// A program that is the simulated CLI.
fn simulator() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let script = folder.join("countersign-sim");
    // Under its name when it is complete: other tests do the same at the same time.
    let part =
        tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempfile_in(folder);
    let mut part = part.unwrap();
    write!(part, "#!/bin/sh\n{SIMULATED}=1 exec '{}' \"$@\"\n", this.display()).unwrap();
    // Closed before: a program that somebody may write to is not run.
    part.into_temp_path().persist(&script).unwrap();
    script
}
