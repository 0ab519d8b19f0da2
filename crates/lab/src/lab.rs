//! One call: a scripted model, an isolated CLI and a working folder, gone without a trace
//! afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};

use countersign_record::{CreateError, Header, Recorder, RecorderOptions};
use jiff::Timestamp;
use tempfile::TempDir;
use tokio::process::Command;

use crate::Version;
use crate::driver::Cli;
use crate::guard::{self, Refused};
use crate::model::{ScriptedModel, StartError};
use crate::sandbox::{Isolation, Sandbox};
use crate::script::Script;
use crate::versions::Installed;

/// What is studied: a real CLI, or the simulated one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Program {
    /// A real CLI.
    Real(Installed),
    /// The simulated CLI, behaving as this version does.
    Simulated {
        /// The program.
        executable: PathBuf,
        /// The words that have it simulate, which come before the other arguments: `sim` for
        /// `countersign`, none for `countersign-sim`.
        words: Vec<String>,
        /// The version to behave as.
        version: Version,
    },
}

impl Program {
    /// The simulated CLI as a program of its own, `countersign-sim`, behaving as this version does.
    #[must_use]
    pub fn simulated(executable: impl Into<PathBuf>, version: Version) -> Self {
        Self::Simulated { executable: executable.into(), words: Vec::new(), version }
    }

    /// The version that runs, or that is imitated.
    #[must_use]
    pub const fn version(&self) -> Version {
        match self {
            Self::Real(installed) => installed.version(),
            Self::Simulated { version, .. } => *version,
        }
    }

    /// The file that is run.
    #[must_use]
    pub fn executable(&self) -> &Path {
        match self {
            Self::Real(installed) => installed.executable(),
            Self::Simulated { executable, .. } => executable,
        }
    }

    /// The same, found from any folder: it will be started in another one than this.
    fn resolved(self) -> io::Result<Self> {
        Ok(match self {
            Self::Real(installed) => {
                let executable = std::path::absolute(installed.executable())?;
                Self::Real(Installed::elsewhere(installed.version(), executable))
            }
            Self::Simulated { executable, words, version } => {
                Self::Simulated { executable: std::path::absolute(executable)?, words, version }
            }
        })
    }
}

/// A scripted model, a working folder and a sandbox for a CLI and its tools.
///
/// ```no_run
/// # async fn example(cli: countersign_lab::Installed) -> Result<(), Box<dyn std::error::Error>> {
/// use countersign_lab::script::{Answer, Script};
/// use countersign_lab::{Lab, Launch, Program};
///
/// let script = Script::new().then(Answer::text("Four."));
/// let lab = Lab::builder(Program::Real(cli), script).start().await?;
/// let mut cli = lab.launch(Launch::new()).await?;
/// cli.say("What is 2+2?").await?;
/// assert_eq!(cli.result().await?["result"], "Four.");
/// cli.close().await?;
/// lab.close().await?;
/// # Ok(())
/// # }
/// ```
///
/// Everything that runs in the laboratory ends with it: when it is closed, when it is dropped, and
/// when this process is killed.
#[derive(Debug)]
pub struct Lab {
    program: Program,
    model: ScriptedModel,
    sandbox: Sandbox,
    scratch: TempDir,
    environment: BTreeMap<String, String>,
    variables: BTreeMap<String, String>,
}

/// How a laboratory is set up.
#[derive(Debug)]
#[must_use = "a builder does nothing until `start`"]
pub struct LabBuilder {
    program: Program,
    script: Script,
    isolation: Option<Isolation>,
    files: Vec<(PathBuf, String)>,
    variables: BTreeMap<String, String>,
}

impl LabBuilder {
    /// Keeps processes in by this means, or fails. By default the best that is permitted is taken.
    pub const fn isolation(mut self, isolation: Isolation) -> Self {
        self.isolation = Some(isolation);
        self
    }

    /// Puts a file into the working folder; its path begins there.
    pub fn file(mut self, path: impl Into<PathBuf>, content: impl Into<String>) -> Self {
        self.files.push((path.into(), content.into()));
        self
    }

    /// Gives a variable of the script a value, whoever plays it: the model, or the simulated CLI.
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Opens the laboratory.
    ///
    /// # Errors
    ///
    /// When folders, processes or sockets cannot be had, the kind of isolation that was asked for
    /// is not permitted, or a file would not be in the working folder.
    pub async fn start(self) -> Result<Lab, LabError> {
        let program = self.program.resolved()?;
        let scratch = tempfile::Builder::new().prefix("countersign-lab-").tempdir()?;
        // Resolved, because the CLI says in its frames where it really is.
        let root = scratch.path().canonicalize()?;
        let (home, work) = (root.join("home"), root.join("work"));
        for folder in [&home, &work, &root.join("tmp")] {
            fs::create_dir(folder)?;
        }
        for (path, content) in self.files {
            if !path
                .components()
                .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
            {
                return Err(LabError::Outside { path });
            }
            let file = work.join(path);
            if let Some(folder) = file.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(file, content)?;
        }
        let mark = format!("COUNTERSIGN_LAB={}", uuid::Uuid::new_v4());
        let sandbox = match self.isolation {
            Some(isolation) => Sandbox::open_with(isolation, mark, &root).await?,
            None => Sandbox::open(mark, &root).await?,
        };
        if let Program::Simulated { .. } = &program {
            fs::write(root.join("script.toml"), self.script.to_toml())?;
        }
        let model = ScriptedModel::serve(sandbox.listen()?, self.script)?;
        model.set("cwd", work.to_string_lossy());
        model.set("home", home.to_string_lossy());
        for (name, value) in &self.variables {
            model.set(name, value);
        }
        let environment = environment(&home, &model.url());
        Ok(Lab { program, model, sandbox, scratch, environment, variables: self.variables })
    }
}

impl Lab {
    /// A laboratory for this program, with a model that follows this script.
    pub const fn builder(program: Program, script: Script) -> LabBuilder {
        let variables = BTreeMap::new();
        LabBuilder { program, script, isolation: None, files: Vec::new(), variables }
    }

    /// The model. The simulated CLI does not call it: it plays the script itself.
    #[must_use]
    pub const fn model(&self) -> &ScriptedModel {
        &self.model
    }

    /// What is studied.
    #[must_use]
    pub const fn program(&self) -> &Program {
        &self.program
    }

    /// How processes are kept in.
    #[must_use]
    pub const fn isolation(&self) -> Isolation {
        self.sandbox.isolation()
    }

    /// The working folder.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.root().join("work")
    }

    /// The home folder of the CLI.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// A folder beside the two, for whatever an experiment needs.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        self.scratch.path().canonicalize().unwrap_or_else(|_| self.scratch.path().to_owned())
    }

    /// The ids of the processes that run in the laboratory now.
    #[must_use]
    pub fn processes(&self) -> Vec<i32> {
        self.sandbox.processes()
    }

    /// Starts the CLI.
    ///
    /// # Errors
    ///
    /// When the guard refuses the environment or the arguments, or the program does not start.
    pub async fn launch(&self, launch: Launch) -> Result<Cli, LaunchError> {
        let (program, mut arguments) = self.command_line();
        arguments.extend(launch.arguments());
        let mut command =
            self.command_in(&self.folder(&launch), &program, &launch.environment, &arguments)?;
        let tape =
            launch.tape.as_deref().map(|path| self.tape(path, &launch, &program, &arguments));
        let cli = Cli::start(&mut command, self.sandbox.inner(), tape.transpose()?);
        cli.map_err(|source| LaunchError::Start { program, source })
    }

    /// The folder that a CLI is started in.
    fn folder(&self, launch: &Launch) -> PathBuf {
        launch.folder.as_ref().map_or_else(|| self.work(), |name| self.root().join(name))
    }

    fn tape(
        &self,
        path: &Path,
        launch: &Launch,
        program: &Path,
        arguments: &[String],
    ) -> Result<Recorder, LaunchError> {
        let mut header = Header::new(Timestamp::now());
        header.cli = Some(self.program.version().to_string());
        header.argv = vec![program.to_string_lossy().into_owned()];
        header.argv.extend_from_slice(arguments);
        header.cwd = self.folder(launch).to_string_lossy().into_owned();
        let names: BTreeSet<_> =
            self.environment.keys().chain(launch.environment.keys()).cloned().collect();
        header.env = names.into_iter().collect();
        Ok(Recorder::create(path, &header, RecorderOptions::default())?)
    }

    /// The program of the CLI and the arguments that come before those of a client, for a program
    /// that starts the CLI itself: see [`Lab::command`].
    #[must_use]
    pub fn command_line(&self) -> (PathBuf, Vec<String>) {
        match &self.program {
            Program::Real(installed) => (installed.executable().to_owned(), Vec::new()),
            Program::Simulated { executable, words, version } => {
                let script = self.root().join("script.toml");
                let pairs = [
                    ("--script", script.to_string_lossy().into_owned()),
                    ("--as", version.to_string()),
                ];
                let pairs = pairs.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]);
                let mut arguments: Vec<_> = words.iter().cloned().chain(pairs).collect();
                for (name, value) in &self.variables {
                    arguments.extend(["--set".to_owned(), format!("{name}={value}")]);
                }
                arguments.push("--".to_owned());
                (executable.clone(), arguments)
            }
        }
    }

    /// A command for any program with these arguments, in the sandbox and the working folder, with
    /// the environment that the CLI gets, and these variables besides.
    ///
    /// # Errors
    ///
    /// When the guard refuses the environment, the arguments or a settings file of the CLI, or
    /// there is no such program.
    pub fn command(
        &self,
        program: &Path,
        variables: &BTreeMap<String, String>,
        arguments: &[String],
    ) -> Result<Command, LaunchError> {
        self.command_in(&self.work(), program, variables, arguments)
    }

    fn command_in(
        &self,
        work: &Path,
        program: &Path,
        variables: &BTreeMap<String, String>,
        arguments: &[String],
    ) -> Result<Command, LaunchError> {
        let root = self.root();
        let mut environment = self.environment.clone();
        environment.extend(variables.clone());
        let each = environment.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        guard::check_environment(each, &root)?;
        guard::check_arguments(arguments.iter().map(String::as_str), work)?;
        for file in SETTINGS {
            guard::check_file(&root.join(file))?;
        }
        let failed = |source| LaunchError::Start { program: program.to_owned(), source };
        // With namespaces, a program that is missing would only be told by its standard error.
        fs::metadata(work.join(program)).map_err(failed)?;
        let mut command = self.sandbox.command(program, work, &environment).map_err(failed)?;
        command.args(arguments);
        Ok(command)
    }

    /// Ends everything that runs in the laboratory, and removes its folders.
    ///
    /// # Errors
    ///
    /// When a folder cannot be removed.
    pub async fn close(self) -> Result<(), LabError> {
        self.sandbox.close().await?;
        // The log is kept in memory here: there is no file that could be incomplete.
        self.model.stop().await.ok();
        match self.scratch.close() {
            // The keeper of the sandbox may have been faster.
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Writes a script that starts the CLI under study, for a client that takes nothing but the
    /// path of a program, and returns its path.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn stand_in(&self) -> io::Result<PathBuf> {
        self.write_stand_in("claude", Vec::new())
    }

    /// What a client needs that starts and ends the CLI itself, and runs outside the laboratory:
    /// the program to start, and the whole environment to start it with.
    ///
    /// The CLI is then in the network of the laboratory, and in no other way kept in: the process
    /// that the client starts is the CLI, and the client sees all that descends from it.
    ///
    /// # Errors
    ///
    /// When the program, a script, cannot be written.
    pub fn for_a_client(&self) -> io::Result<(PathBuf, BTreeMap<String, String>)> {
        let program = self.write_stand_in("claude-outside", self.sandbox.network_only()?)?;
        let mut environment = self.environment.clone();
        environment.extend(self.sandbox.mark().map(|(name, value)| (name.into(), value.into())));
        Ok((program, environment))
    }

    fn write_stand_in(&self, name: &str, before: Vec<String>) -> io::Result<PathBuf> {
        let (program, arguments) = self.command_line();
        let program = program.to_string_lossy().into_owned();
        let words = before.into_iter().chain([program]).chain(arguments);
        // Between single quotes the shell knows no escapes, so a single quote stands outside.
        let quoted: Vec<_> =
            words.map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
        let path = self.root().join(name);
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o755)
            .open(&path)?;
        write!(file, "#!/bin/sh\nexec {} \"$@\"\n", quoted.join(" "))?;
        Ok(path)
    }
}

/// The files that the CLI takes settings from, in the folder of the laboratory.
const SETTINGS: [&str; 4] = [
    "home/.claude/settings.json",
    "work/.claude/settings.json",
    "work/.claude/settings.local.json",
    "work/.mcp.json",
];

/// The environment of the CLI: this and nothing else.
fn environment(home: &Path, model: &str) -> BTreeMap<String, String> {
    let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned());
    let temporary = home.with_file_name("tmp");
    let (home, temporary) = (home.to_string_lossy(), temporary.to_string_lossy());
    let fixed = [
        ("PATH", path.as_str()),
        ("HOME", &home),
        ("TMPDIR", &temporary),
        ("SHELL", "/bin/bash"),
        ("TZ", "UTC"),
        ("LANG", "C.UTF-8"),
        ("ANTHROPIC_BASE_URL", model),
        ("ANTHROPIC_API_KEY", guard::DUMMY_KEY),
        // Lets the mode that asks for nothing start for root, as it is in a container.
        ("IS_SANDBOX", "1"),
    ];
    fixed
        .into_iter()
        .chain(guard::SWITCHES)
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// How a CLI is started: as an SDK would, with permission requests on standard output, unless said
/// otherwise.
#[derive(Clone, Debug)]
#[must_use = "pass it to `Lab::launch`"]
pub struct Launch {
    prompts: bool,
    mode: Option<String>,
    setting_sources: Option<String>,
    arguments: Vec<String>,
    environment: BTreeMap<String, String>,
    folder: Option<String>,
    tape: Option<PathBuf>,
}

impl Default for Launch {
    fn default() -> Self {
        Self::new()
    }
}

impl Launch {
    /// The default mode, permissions asked over the protocol, no settings files.
    pub fn new() -> Self {
        Self {
            prompts: true,
            mode: Some("default".to_owned()),
            setting_sources: Some(String::new()),
            arguments: Vec::new(),
            environment: BTreeMap::new(),
            folder: None,
            tape: None,
        }
    }

    /// Records the conversation on a tape, a file that does not exist yet.
    pub fn tape(mut self, path: impl Into<PathBuf>) -> Self {
        self.tape = Some(path.into());
        self
    }

    /// Starts in this permission mode.
    pub fn mode(mut self, mode: &str) -> Self {
        self.mode = Some(mode.to_owned());
        self
    }

    /// Says nothing about the permission mode.
    pub fn without_mode(mut self) -> Self {
        self.mode = None;
        self
    }

    /// Starts in another folder than the working folder: one of this name beside it, which exists.
    pub fn beside_work(mut self, folder: &str) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    /// Does not ask for permissions over the protocol.
    pub const fn without_prompts(mut self) -> Self {
        self.prompts = false;
        self
    }

    /// Reads the settings files of these sources, such as `user,project`.
    pub fn setting_sources(mut self, sources: &str) -> Self {
        self.setting_sources = Some(sources.to_owned());
        self
    }

    /// Goes on with an earlier conversation.
    pub fn resume(self, session: &str) -> Self {
        self.arg(format!("--resume={session}"))
    }

    /// One more argument.
    pub fn arg(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// One more variable in the environment.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["--output-format", "stream-json", "--input-format", "stream-json"];
        arguments.push("--verbose");
        if self.prompts {
            arguments.extend(["--permission-prompt-tool", "stdio"]);
        }
        if let Some(mode) = &self.mode {
            arguments.extend(["--permission-mode", mode]);
        }
        if let Some(sources) = &self.setting_sources {
            arguments.extend(["--setting-sources", sources]);
        }
        arguments.extend(self.arguments.iter().map(String::as_str));
        arguments.into_iter().map(ToOwned::to_owned).collect()
    }
}

/// Why a laboratory could not be set up or taken down.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// A folder, a process or a socket could not be had.
    #[error("the laboratory cannot be set up or taken down: {0}")]
    Io(#[from] io::Error),
    /// A file is not for the working folder.
    #[error(
        "the file {} would not be in the working folder: give a path that begins there",
        path.display()
    )]
    Outside {
        /// The path of the file.
        path: PathBuf,
    },
    /// The scripted model could not be started.
    #[error(transparent)]
    Model(#[from] StartError),
}

/// Why the CLI was not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The guard refused.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The tape could not be begun.
    #[error(transparent)]
    Tape(#[from] CreateError),
    /// The program did not start.
    #[error("{} did not start", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
}
