//! The command line as a whole.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::{EXIT_CODES, Exit, Failure};
use crate::output::Output;
use crate::{
    audit, backup, browsers, decide, demo, doctor, inbox, lab, login_link, model, pages, record,
    run, send, serve, sessions, shim, sim, tape, token, tour, transcripts, watch,
};

/// Drive Claude Code, and countersign what it does
#[derive(Debug, Parser)]
#[command(
    name = "countersign",
    version,
    after_help = EXIT_CODES,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) shared: Shared,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What can be said to every command.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Shared {
    /// Say it in JSON, for programs: one object a line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Say nothing about progress
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Whether to use colours
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = Colours::Auto)]
    pub(crate) color: Colours,
}

/// When colours are used: `auto` is on a terminal that can do them, unless `NO_COLOR` is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Colours {
    Auto,
    Always,
    Never,
}

/// Says what is wrong with the arguments, or what was asked for with them, such as help.
pub(crate) fn told(error: &clap::Error) -> ExitCode {
    let mut ours = std::env::args_os().take_while(|argument| argument != "--");
    if error.use_stderr() && ours.any(|argument| argument == "--json") {
        let words = error.render().to_string();
        let words = words.trim().trim_start_matches("error: ").to_owned();
        let shared = Shared { json: true, quiet: false, color: Colours::Auto };
        return Output::standard(&shared).complain(&Failure::new(words).code(Exit::Usage));
    }
    // When nobody listens any more, there is nobody to tell.
    drop(error.print());
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(Box<run::Args>),
    Serve(Box<serve::Args>),
    Sessions(Box<sessions::Args>),
    Inbox(inbox::Args),
    Approve(decide::Approve),
    Deny(decide::DenyArgs),
    Answer(decide::AnswerArgs),
    Send(send::Args),
    Watch(watch::Args),
    Audit(audit::Args),
    Token(token::Args),
    Browsers(browsers::Args),
    LoginLink(login_link::Args),
    Backup(backup::Args),
    #[command(subcommand)]
    Transcripts(transcripts::Command),
    Record(record::Args),
    Shim(shim::Args),
    #[command(subcommand)]
    Tape(tape::Command),
    #[command(subcommand)]
    Lab(lab::Command),
    Sim(sim::Args),
    Model(model::Args),
    Doctor(doctor::Args),
    Demo(demo::Args),
    Tour(tour::Args),
    Completions(pages::Completions),
    Man(pages::Man),
}

impl Command {
    pub(crate) fn run(self, output: &mut Output) -> Result<ExitCode, Failure> {
        match self {
            Self::Run(args) => args.run(output),
            Self::Serve(args) => args.run(output),
            Self::Sessions(args) => args.run(output),
            Self::Inbox(args) => args.run(output),
            Self::Approve(args) => args.run(output),
            Self::Deny(args) => args.run(output),
            Self::Answer(args) => args.run(output),
            Self::Send(args) => args.run(output),
            Self::Watch(args) => args.run(output),
            Self::Audit(args) => args.run(output),
            Self::Token(args) => args.run(output),
            Self::Browsers(args) => args.run(output),
            Self::LoginLink(args) => args.run(output),
            Self::Backup(args) => args.run(output),
            Self::Transcripts(command) => command.run(output),
            Self::Record(args) => args.run(output),
            Self::Shim(args) => args.run(output),
            Self::Tape(command) => command.run(output),
            Self::Lab(command) => command.run(output),
            Self::Sim(args) => Ok(args.run()),
            Self::Model(args) => args.run(output),
            Self::Doctor(args) => args.run(output),
            Self::Demo(args) => args.run(output),
            Self::Tour(args) => args.run(output),
            Self::Completions(args) => args.run(output),
            Self::Man(args) => args.run(output),
        }
    }
}
