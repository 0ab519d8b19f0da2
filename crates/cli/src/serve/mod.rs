//! `countersign serve`: the session server.
//!
//! | | |
//! |---|---|
//! | `flags` | the flags, which set keys of the configuration |
//! | `check` | the configuration in effect, and whether the server would start with it |
//! | `log` | what the server writes about itself |
//! | `signals` | what it is told from outside |
//! | `announce` | what is said when it listens |
//!
//! The process is no subreaper: what a session started and left behind is found by its mark
//! (`docs/processes.md`). As a subreaper it would get such processes as children, and would have to
//! collect them with a `wait` for any child, which takes the exit of a CLI away from whoever waits for
//! that one.

mod announce;
mod check;
mod flags;
mod log;
mod signals;

use std::pin::pin;
use std::process::ExitCode;

use countersign_server::config::{Config, Source};
use countersign_server::server::{Server, StartError};
use countersign_server::store::StoreError;
use countersign_server::web::serve::BindError;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use self::check::Effective;
use self::flags::FlagArgs;
pub(crate) use self::log::begin as begin_log;
pub(crate) use self::signals::{Asks, Signals};
use crate::failure::Failure;
use crate::output::{Output, plain};

/// Run the session server: sessions that people watch and answer, over days, through crashes
///
/// It listens on this machine only, unless it is told otherwise, and lets nobody in without a token;
/// that of the first start is in its data folder. SIGTERM and Ctrl-C stop it in order: sessions that
/// wait for a person are parked, those that work have a while to come to an end, and all go on with
/// the next start. A second one ends it at once. SIGHUP has it read its certificate again.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    flags: FlagArgs,
    /// Print the configuration in effect and what is wrong with it, and do not start
    #[arg(long)]
    check_config: bool,
    /// Print a link that lets one browser in, also when standard output is not a terminal
    #[arg(long)]
    login_link: bool,
}

impl Args {
    pub(crate) fn run(self, output: &mut Output) -> Result<ExitCode, Failure> {
        let source = Source::of_this_process(self.flags.into())?;
        let effective = Effective::read(&source)?;
        if self.check_config {
            return effective.tell(output);
        }
        if let Some(refused) = effective.refused() {
            return Err(refused);
        }
        let config = &effective.checked.config;
        begin_log(&config.log, output.has_colours())?;
        for warning in &effective.checked.warnings {
            warn(warning, output);
        }
        let runtime = Runtime::new()?;
        let with_link = self.login_link || output.is_on_a_terminal();
        let code = runtime.block_on(async {
            let mut signals = Signals::new()?;
            let started = tokio::select! {
                started = Server::start_with(config, countersign_page::routes) => started,
                Asks::Stop(code) = signals.next() => return Ok(ExitCode::from(code)),
            };
            let server = started.map_err(|error| not_started(&error))?;
            announce::tell(&server, &effective.checked, with_link, output).await;
            Ok(run(server, config, &mut signals, output).await)
        });
        // What was ended at once is not waited for. Processes of sessions are ended by the keeper.
        runtime.shutdown_background();
        code
    }
}

/// Answers requests until a signal ends it, in order or at once.
pub(crate) async fn run(
    server: Server,
    config: &Config,
    signals: &mut Signals,
    output: &mut Output,
) -> ExitCode {
    let tls = server.tls();
    let stop = CancellationToken::new();
    let mut running = pin!(server.run(stop.clone()));
    loop {
        let asks = tokio::select! {
            () = running.as_mut() => return ExitCode::SUCCESS,
            asks = signals.next() => asks,
        };
        match asks {
            Asks::Stop(code) if stop.is_cancelled() => return ExitCode::from(code),
            Asks::Stop(_) => {
                let within = config.limits.shutdown_within.as_secs();
                tracing::info!(within_seconds = within, "the server stops");
                if !output.is_quiet() && !output.is_json() {
                    output.note(format_args!(
                        "stopping: sessions that work have {within} s to come to an end; again ends \
                         it at once"
                    ));
                }
                stop.cancel();
            }
            Asks::Reload => match tls.as_ref().map(|tls| tls.reload()) {
                Some(Ok(true)) => tracing::info!("took up a new certificate"),
                Some(Ok(false)) => tracing::info!("the certificate has not changed"),
                Some(Err(error)) => tracing::warn!(%error, "the certificate stays the old one"),
                None => tracing::info!("there is no certificate to be read again"),
            },
        }
    }
}

/// Says what somebody should know who starts the server.
pub(crate) fn warn(words: &str, output: &mut Output) {
    if output.is_json() {
        // A program reads the log.
        tracing::warn!("{words}");
    } else {
        output.note(format_args!("warning: {}", plain(words)));
    }
}

/// Turns a failed start into a failure with a hint.
pub(crate) fn not_started(error: &StartError) -> Failure {
    let failure = Failure::of(error);
    match error {
        StartError::Bind(BindError::Bind { .. }) => failure.hint(
            "Pass --listen to use another address; --listen 127.0.0.1:0 uses a free port. If a server \
             is already running there, `countersign sessions list` shows its sessions.",
        ),
        StartError::Data { .. } => failure.hint("Pass --data to use another directory."),
        StartError::Store(StoreError::InUse(_)) => failure.hint(
            "Another server has it open: use that one, stop it, or keep this one's data elsewhere \
             with --data FOLDER.",
        ),
        _ => failure,
    }
}
