//! `countersign demo`: a server with sessions that ask for things.
//!
//! Everything is in a folder that is gone afterwards: the data of the server, the home of the CLI, and
//! the folder that sessions work in. The CLI is this very program, which can be a simulated one.

mod browser;
mod cast;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use countersign::cli::FindOptions;
use countersign_server::config::{Config, Limits, Log, LogLevel, Roots};
use countersign_server::id::SessionId;
use countersign_server::server::{Server, StartError};
use countersign_server::service::{Caller, Service};
use countersign_server::session::By;
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use self::cast::Part;
use crate::failure::{Exit, Failure};
use crate::output::{Output, plain};
use crate::serve::{self, Asks, Signals, not_started};
use crate::words::{quoted, short};

/// Start a server with a few sessions that ask for things, until Ctrl-C
///
/// Nothing is needed for it: the model is a script, and the CLI is the simulated one. It all happens
/// in a folder of its own, which is gone afterwards; no account is used and nothing of yours is
/// changed. `countersign tour` is a tour in the terminal, without a server.
///
/// On a desktop it opens in the browser, unless --json, --real or --no-open is given.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Use the Claude Code that is found, with your account: this costs
    #[arg(long)]
    real: bool,
    /// Port on 127.0.0.1; any free port if omitted
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Do not open a browser
    #[arg(long)]
    no_open: bool,
}

/// How long sessions have until they ask. Those that take longer are told when they do.
const PATIENCE: Duration = Duration::from_secs(20);

impl Args {
    pub(crate) fn run(&self, output: &mut Output) -> Result<ExitCode, Failure> {
        let cli = if self.real { Some(real()?) } else { None };
        let folder = tempfile::Builder::new().prefix("countersign-demo-").tempdir()?;
        let config = self.config(&folder, cli)?;
        let log = Log { level: LogLevel::Error, ..Log::default() };
        serve::begin_log(&log, output.has_colours())?;
        let runtime = Runtime::new()?;
        let code = runtime.block_on(self.play(&config, output));
        // What was ended at once is not waited for. Processes of sessions are ended by the keeper.
        runtime.shutdown_background();
        folder.close()?;
        code
    }

    /// Returns `true` if a browser should open by itself.
    ///
    /// The login link would be visible to all users of the machine while the browser opens. On the
    /// simulated CLI it gives them nothing; with `--real` it gives them an agent of this user.
    fn opens_browser(&self, output: &Output) -> bool {
        let is_wanted = !self.no_open && !self.real && !output.is_json();
        is_wanted
            && output.is_on_a_terminal()
            && browser::has_desktop(|name| std::env::var_os(name))
    }

    /// A server that has everything in one folder.
    fn config(&self, folder: &TempDir, cli: Option<PathBuf>) -> Result<Config, Failure> {
        // Sessions may not leave their folder by a link.
        let root = folder.path().canonicalize()?;
        let (work, home) = (root.join("work"), root.join("home"));
        for (path, text) in cast::FILES {
            let path = root.join(path);
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(path, text)?;
        }
        let mut config = Config {
            listen: ([127, 0, 0, 1], self.port).into(),
            data: root.join("data"),
            roots: vec![work],
            limits: Limits {
                // Those that wait for a person are parked soon, so that it can be seen.
                park_after: Some(Duration::from_secs(60)),
                // Nothing that is lost is missed.
                shutdown_within: Duration::from_secs(2),
                ..Limits::default()
            },
            ..Config::default()
        };
        match cli {
            Some(path) => config.cli.path = Some(path),
            None => {
                config.cli.path = Some(simulated(&root)?);
                config.cli.home = Some(home);
            }
        }
        Ok(config)
    }

    async fn play(&self, config: &Config, output: &mut Output) -> Result<ExitCode, Failure> {
        let mut signals = Signals::new()?;
        let setting = output.progress("setting the stage");
        let staged = tokio::select! {
            staged = self.stage(config) => staged,
            Asks::Stop(code) = signals.next() => return Ok(ExitCode::from(code)),
        };
        drop(setting);
        let stage = staged?;
        let opens = self.opens_browser(output);
        // Whoever closed standard output does not want to know.
        drop(self.tell(&stage, opens, config, output));
        if opens {
            open_in_browser(&stage.server, output).await?;
        }
        Ok(serve::run(stage.server, config, &mut signals, output).await)
    }

    /// Starts the server, and has sessions ask. One is parked before: the server that it began on has
    /// stopped.
    async fn stage(&self, config: &Config) -> Result<Stage, Failure> {
        let (early, late): (Vec<_>, Vec<_>) =
            Part::all(self.real).into_iter().partition(|part| part.is_parked);
        let start = || async {
            Server::start_with(config, countersign_page::routes)
                .await
                .map_err(|error| start_failure(&error))
        };
        let mut sessions = Vec::new();
        let first = start().await?;
        begin(&first, &early, config, &mut sessions).await?;
        let stopped = CancellationToken::new();
        stopped.cancel();
        first.run(stopped).await;

        let server = start().await?;
        begin(&server, &late, config, &mut sessions).await?;
        let link = server.login_link().await?.0.expose().to_owned();
        Ok(Stage { server, link, sessions })
    }

    /// Says where it is, and what can be tried.
    fn tell(
        &self,
        stage: &Stage,
        opens_browser: bool,
        config: &Config,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let data = &config.data;
        if output.is_json() {
            let sessions: Vec<_> = stage.sessions.iter().map(|(_, id)| id.to_string()).collect();
            output.json(&json!({
                "url": stage.server.url(), "login_link": stage.link, "data": data,
                "sessions": sessions, "simulated": !self.real,
            }))?;
            return output.flush();
        }
        let url = plain(stage.server.url());
        output.line(format_args!("A server with {} sessions is at {url}", stage.sessions.len()))?;
        let link = plain(&stage.link);
        match opens_browser {
            true => output.line(format_args!(
                "Opening it in your browser. If nothing opens, use this link: {link}"
            ))?,
            false => output.line(format_args!("Open this link in a browser: {link}"))?,
        }
        output.line("\nOr in another terminal:")?;
        let data = plain(&quoted(&data.display().to_string()));
        output.line(format_args!("  export COUNTERSIGN_SERVER={url} COUNTERSIGN_DATA={data}"))?;
        if let Some(program) = elsewhere() {
            let program = quoted(&program.display().to_string());
            output.line(format_args!("  alias countersign={}", plain(&program)))?;
        }
        for (command, what) in [
            ("countersign inbox", "what waits for you, and what to type about it"),
            ("countersign watch", "the same as it happens"),
            ("countersign sessions list", "all sessions"),
            ("countersign tour", "a tour in the terminal, without a server"),
        ] {
            output.line(format_args!("  {command:<28} {what}"))?;
        }
        output.line("\nWhat there is to see:")?;
        for (tells, session) in &stage.sessions {
            output.line(format_args!("  {}  {tells}", short(session.uuid())))?;
        }
        let whose = match self.real {
            true => "Claude Code is the real one, with your account.",
            false => "The model is a script, and Claude Code is simulated.",
        };
        output.line(format_args!("\n{whose} Ctrl-C ends it, and nothing is left behind."))?;
        output.flush()
    }
}

/// Turns a failed start into a failure with a hint that fits the options of this command.
fn start_failure(error: &StartError) -> Failure {
    let failure = not_started(error);
    match error {
        StartError::Bind(_) => failure.hint("Omit --port to use a free port."),
        _ => failure,
    }
}

/// Opens the page of a server in the browser, with a login link of its own: a link works only once,
/// and the printed one is for the person.
async fn open_in_browser(server: &Server, output: &mut Output) -> Result<(), Failure> {
    let link = server.login_link().await?.0;
    if let Err(error) = browser::open(link.expose()) {
        output.note(format_args!("cannot open a browser: {error}"));
    }
    Ok(())
}

/// Where this program is, if a shell would not find it by its name: it was run from where it was built.
fn elsewhere() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join("countersign"))
        .find(|file| file.is_file())
        .and_then(|file| file.canonicalize().ok());
    (found != program.canonicalize().ok()).then_some(program)
}

/// A server with sessions on it.
struct Stage {
    server: Server,
    link: String,
    sessions: Vec<(&'static str, SessionId)>,
}

/// The Claude Code that is found.
fn real() -> Result<PathBuf, Failure> {
    FindOptions::from_env().find().map_err(|error| {
        Failure::of(&error)
            .hint("`countersign doctor` looks closer. Without --real the simulated one is used.")
            .code(Exit::NoCli)
    })
}

/// Writes a program that is the simulated CLI: this one, in another role.
fn simulated(root: &Path) -> Result<PathBuf, Failure> {
    use std::os::unix::fs::PermissionsExt as _;
    let script = root.join("script.toml");
    std::fs::write(&script, include_str!("script.toml"))?;
    let word = |path: &Path| quoted(&path.display().to_string());
    let (program, script) = (word(&std::env::current_exe()?), word(&script));
    let claude = root.join("claude");
    std::fs::write(
        &claude,
        format!("#!/bin/sh\nexec {program} sim --script {script} -- \"$@\"\n"),
    )?;
    std::fs::set_permissions(&claude, std::fs::Permissions::from_mode(0o755))?;
    Ok(claude)
}

/// Has sessions begin, and waits for a while until they ask.
async fn begin(
    server: &Server,
    parts: &[Part],
    config: &Config,
    sessions: &mut Vec<(&'static str, SessionId)>,
) -> Result<(), Failure> {
    let service = Service::new(Arc::clone(server.hub()), Roots::new(&config.roots)?);
    let caller = Caller::new(By::Server);
    let folder = config.roots.first().cloned().unwrap_or_default();
    let mut begun = Vec::new();
    for part in parts {
        let made = service.create(&caller, part.session(&folder)).await?;
        let session = made.receipt.session;
        sessions.push((part.tells, session));
        if part.asks {
            begun.push(session);
        }
    }
    let all = async {
        for session in begun {
            until_it_asks(&service, session).await?;
        }
        Ok(())
    };
    // What takes longer is seen when it comes.
    tokio::time::timeout(PATIENCE, all).await.unwrap_or(Ok(()))
}

async fn until_it_asks(service: &Service, session: SessionId) -> Result<(), Failure> {
    let mut news = service.hub().bus().subscribe(session);
    loop {
        let head = service.session(session).await?;
        if head.is_asking() {
            return Ok(());
        }
        if let Some(why) = &head.failure {
            return Err(Failure::new(format!("a session has failed: {why}")));
        }
        if let Err(RecvError::Closed) = news.recv().await {
            return Ok(());
        }
    }
}
