//! What the tests have in common: CLIs, and `countersign run` with them.

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use countersign_lab::script::{RequestKind, Script};
use countersign_lab::{Lab, Program, Version};
use libtest_mimic::{Failed, Trial};

use crate::pty::{self, Pty};

/// What a test returns.
pub(crate) type Outcome = Result<(), Failed>;

/// The CLI that a test runs with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cli {
    Simulated,
    /// The simulated one, behaving as the oldest version that is supported.
    Old,
    Real,
}

const V325: Version = Version::new(2, 1, 325);
const V62: Version = Version::new(2, 1, 62);

/// The usual window.
pub(crate) const USUAL: (u16, u16) = (80, 24);

/// A large one.
pub(crate) const LARGE: (u16, u16) = (120, 40);

/// The model writes a file and says so; then it has one thing more to say.
pub(crate) const WRITE: &str = r#"
[[answer]]
text = "I will write it."
tool = { name = "Write", input = { file_path = "${cwd}/new.txt", content = "new\n" } }

[[answer]]
text = "I read: ${result}"

[[answer]]
text = "And more."
"#;

/// A test on the simulated CLI.
pub(crate) fn simulated<F: Future<Output = Outcome> + 'static>(
    name: &str,
    test: fn(Cli) -> F,
) -> Vec<Trial> {
    vec![trial(format!("{name}::simulated"), move || test(Cli::Simulated))]
}

/// A test on the simulated CLI as an old version.
pub(crate) fn on_old<F: Future<Output = Outcome> + 'static>(
    name: &str,
    test: fn(Cli) -> F,
) -> Vec<Trial> {
    vec![trial(format!("{name}::old"), move || test(Cli::Old))]
}

/// A test on the simulated CLI and on the real one.
pub(crate) fn on_both<F: Future<Output = Outcome> + 'static>(
    name: &str,
    test: fn(Cli) -> F,
) -> Vec<Trial> {
    let trials = simulated(name, test);
    #[cfg(feature = "real-cli")]
    let trials = {
        let mut trials = trials;
        trials.push(trial(format!("{name}::real"), move || test(Cli::Real)));
        trials
    };
    trials
}

/// A test that is a future.
fn trial<F: Future<Output = Outcome> + 'static>(
    name: String,
    test: impl FnOnce() -> F + Send + 'static,
) -> Trial {
    Trial::test(name, move || {
        // The model answers on a thread of its own, while the test waits for the screen.
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
        Cli::Simulated => simulated_as(V325),
        Cli::Old => simulated_as(V62),
        #[cfg(feature = "real-cli")]
        Cli::Real => {
            let versions = countersign_lab::Versions::in_default_folder().unwrap();
            let installed = versions.install(V325).await;
            Program::Real(installed.unwrap_or_else(|error| panic!("{error}")))
        }
        #[cfg(not(feature = "real-cli"))]
        Cli::Real => unreachable!("there is no real CLI without the feature"),
    };
    let lab = Lab::builder(program, script).file("hello.txt", "Hello.\n").start().await;
    lab.unwrap_or_else(|error| panic!("{error}"))
}

/// The simulated CLI, which the command under test is, too.
fn simulated_as(version: Version) -> Program {
    let executable = env!("CARGO_BIN_EXE_countersign").into();
    Program::Simulated { executable, words: vec!["sim".to_owned()], version }
}

/// The arguments of `countersign run` in that laboratory, and its environment: this and nothing
/// else.
fn words(lab: &Lab, arguments: &[&str]) -> (Vec<String>, Vec<(String, String)>) {
    let (program, environment) = lab.for_a_client().unwrap();
    let cli = program.to_string_lossy().into_owned();
    let mut words = vec!["run".to_owned()];
    if !arguments.contains(&"--cli") {
        words.extend(["--cli".to_owned(), cli]);
    }
    words.extend(arguments.iter().map(|word| (*word).to_owned()));
    let mut environment: Vec<_> = environment.into_iter().collect();
    environment.push(("TERM".to_owned(), "xterm-256color".to_owned()));
    (words, environment)
}

/// `countersign run` in a terminal.
pub(crate) fn run(lab: &Lab, size: (u16, u16), arguments: &[&str]) -> Pty {
    run_with(lab, size, arguments, &[])
}

/// [`run`] with variables.
pub(crate) fn run_with(
    lab: &Lab,
    size: (u16, u16),
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Pty {
    let mut command = command(lab, &[], arguments);
    for (name, value) in variables {
        command.env(name, value);
    }
    Pty::start(command, size)
}

/// [`run`] by another program, which is given the command as arguments.
pub(crate) fn run_in(lab: &Lab, size: (u16, u16), by: &[&str], arguments: &[&str]) -> Pty {
    Pty::start(command(lab, by, arguments), size)
}

fn command(lab: &Lab, by: &[&str], arguments: &[&str]) -> Command {
    let (words, environment) = words(lab, arguments);
    let program = env!("CARGO_BIN_EXE_countersign");
    let mut argv = by.iter().copied().chain([program]).chain(words.iter().map(String::as_str));
    let mut command = pty::command(argv.next().unwrap_or(program));
    command.args(argv).envs(environment).current_dir(lab.work());
    command
}

/// What came of `countersign run` without a terminal.
#[derive(Debug)]
pub(crate) struct Piped {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// `countersign run` without a terminal, with this on its standard input.
pub(crate) fn piped(lab: &Lab, arguments: &[&str], input: &str) -> Piped {
    let mut child = start_piped(lab, arguments);
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let ended = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Piped { code: ended.status.code(), out: text(ended.stdout), err: text(ended.stderr) }
}

/// `countersign run` without a terminal, while it runs.
pub(crate) fn start_piped(lab: &Lab, arguments: &[&str]) -> Child {
    let (words, environment) = words(lab, arguments);
    #[expect(clippy::disallowed_methods, reason = "it is waited for")]
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(words).env_clear().envs(environment).current_dir(lab.work());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// The bodies of the requests of the conversation that the model got. The simulated CLI plays the
/// script itself, and has none.
pub(crate) fn requests(cli: Cli, lab: &Lab) -> Option<Vec<serde_json::Value>> {
    (cli == Cli::Real).then(|| {
        let requests = lab.model().model_requests();
        let main = requests.iter().filter(|request| request.kind == Some(RequestKind::Main));
        main.map(|request| request.body.clone()).collect()
    })
}

/// An editor that puts this in the place of what it is given.
pub(crate) fn editor(lab: &Lab, text: &str) -> String {
    let (words, script) = (lab.root().join("edited"), lab.root().join("editor"));
    std::fs::write(&words, text).unwrap();
    program(&script, &format!("cat '{}' > \"$1\"", words.display()));
    script.to_string_lossy().into_owned()
}

/// Writes a shell script.
pub(crate) fn program(path: &Path, script: &str) {
    // Under its name when it is complete: other tests may do the same at the same time.
    let folder = path.parent().unwrap();
    let part =
        tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempfile_in(folder);
    let mut part = part.unwrap();
    write!(part, "#!/bin/sh\n{script}\n").unwrap();
    // Closed before: a program that somebody may write to is not run.
    part.into_temp_path().persist(path).unwrap();
}
