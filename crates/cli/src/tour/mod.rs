//! `countersign tour`: a tour in the terminal, on the simulated CLI.

use std::io::{self, BufRead as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstyle::Style;
use countersign::protocol::permission::PermissionMode;
use countersign::{Environment, SessionBuilder};
use countersign_lab::script::Script;
use countersign_lab::{Lab, Version};
use countersign_record::page::page;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::{Exit, Failure};
use crate::file::create;
use crate::output::Output;
use crate::run::{Job, Place, talk};
use crate::sim;
use crate::tape::opened;

/// Take a tour: approve a tool, answer a question, decide about a plan
///
/// Nothing is needed for it: the model is a script, and the CLI is the simulated one. It all happens
/// in a folder of its own, which is gone afterwards; no account is used and nothing of yours is
/// changed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Keep what is said at each station as a tape in this folder, and draw the tapes as a page
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
}

/// A station of the tour.
struct Station {
    title: &'static str,
    tells: &'static str,
    prompt: &'static str,
    mode: PermissionMode,
    script: &'static str,
    name: &'static str,
}

fn stations() -> [Station; 3] {
    [
        Station {
            title: "A tool asks",
            tells: "Claude wants to change a file, and then to run a command. You see what exactly \
                    would happen, and nothing happens before you say yes. Try 1 for yes; at the \
                    second one, try to say no and tell it why.",
            prompt: "Let the greeting take a name.",
            mode: PermissionMode::Default,
            script: include_str!("tool.toml"),
            name: "tool",
        },
        Station {
            title: "A question",
            tells: "Claude asks you something. Where several answers are possible, the space bar \
                    takes one and leaves it; an answer of your own is possible as well.",
            prompt: "Write tests for it.",
            mode: PermissionMode::Default,
            script: include_str!("question.toml"),
            name: "question",
        },
        Station {
            title: "A plan",
            tells: "Started in plan mode, Claude shows what it would do first. There are the same \
                    choices as in its own terminal: begin anew and accept edits, accept edits, \
                    approve each by hand, or keep planning with what you say.",
            prompt: "Give it a command line.",
            mode: PermissionMode::Plan,
            script: include_str!("plan.toml"),
            name: "plan",
        },
    ]
}

/// The file that the tour is about.
const FILE: &str = "def greet():\n    print(\"Hello, world!\")\n\n\ngreet()\n";

impl Args {
    pub(crate) fn run(&self, output: &mut Output) -> Result<ExitCode, Failure> {
        let runtime = Runtime::new()?;
        let code = self.guide(&runtime, output);
        // Whoever still waits for a line is not waited for.
        runtime.shutdown_background();
        code
    }

    fn guide(&self, runtime: &Runtime, output: &mut Output) -> Result<ExitCode, Failure> {
        if !output.has_a_terminal() {
            return Err(Failure::new("the tour needs a terminal, and a person at it")
                .hint(
                    "Without one: countersign lab play tool-deny --simulated shows a conversation.",
                )
                .code(Exit::Usage));
        }
        let stations = stations();
        if let Some(folder) = &self.keep {
            can_keep(folder, &stations)?;
        }
        let bold = Style::new().bold();
        let count = stations.len();
        output.line(format_args!(
            "{bold}A tour of countersign{bold:#}, in {count} stations. The model is a script, and \
             Claude Code is simulated:\nno account is used, and nothing outside a folder of its own \
             is changed."
        ))?;
        for (at, station) in stations.into_iter().enumerate() {
            let number = at + 1;
            output.line(format_args!("\n{bold}{number}. {}{bold:#}\n", station.title))?;
            output.line(wrapped(station.tells))?;
            output.line("\nEnter begins, q ends the tour.")?;
            output.flush()?;
            if let Some(code) = runtime.block_on(begins_not())? {
                return Ok(code);
            }
            let tape = self.keep.as_ref().map(|folder| folder.join(station.tape(number)));
            let code = runtime.block_on(visit(&station, tape.as_deref(), output))?;
            // Ended by Ctrl-C or a signal, the tour is over as well.
            if code != ExitCode::SUCCESS {
                return Ok(code);
            }
        }
        self.part(output)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Says where to go from here.
    fn part(&self, output: &mut Output) -> Result<(), Failure> {
        let bold = Style::new().bold();
        output.line(format_args!("\n{bold}That was it.{bold:#} From here:\n"))?;
        let mut ways = vec![
            ("countersign demo", "the same on a web page, with several sessions"),
            ("countersign doctor", "is Claude Code there, and do permissions reach us?"),
            ("countersign run \"…\"", "the same with the real one"),
            ("countersign lab report", "what the protocol does, version by version"),
        ];
        if self.keep.is_none() {
            ways.push(("countersign tour --keep tour", "the tour again, kept on tapes"));
        }
        for (command, what) in ways {
            output.line(format_args!("  {command:<30} {what}"))?;
        }
        if let Some(folder) = &self.keep {
            let page = draw(folder)?;
            output.line(format_args!(
                "\nWhat was said at each station is on tapes in {}, and drawn in\n  {}",
                folder.display(),
                page.display()
            ))?;
        }
        Ok(())
    }
}

impl Station {
    /// The name of its tape.
    fn tape(&self, number: usize) -> String {
        format!("{number}-{}.tape", self.name)
    }
}

/// The names of the tapes of a tour.
fn tapes(stations: &[Station]) -> impl Iterator<Item = String> {
    stations.iter().zip(1..).map(|(station, number)| station.tape(number))
}

/// The page that the tapes of a tour are drawn in.
const PAGE: &str = "tour.html";

/// Sees to it that there is a folder for the tapes, before anybody has taken the tour.
fn can_keep(folder: &Path, stations: &[Station]) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::new(format!("cannot make the folder {}: {error}", folder.display()))
    })?;
    match tapes(stations).chain([PAGE.to_owned()]).find(|name| folder.join(name).exists()) {
        Some(name) => {
            Err(Failure::new(format!("{} is there already", folder.join(name).display()))
                .hint("Keep this tour in another folder, or remove what is in this one.")
                .code(Exit::Usage))
        }
        None => Ok(()),
    }
}

/// Draws the tapes of a tour as one page.
fn draw(folder: &Path) -> Result<PathBuf, Failure> {
    let stations = stations();
    let diagrams: Result<Vec<_>, _> =
        tapes(&stations).map(|tape| opened(&folder.join(tape))).collect();
    let path = folder.join(PAGE);
    page(create(&path, false)?, "A tour of countersign", &diagrams?)?;
    Ok(path)
}

/// Waits for the person: whether the tour ends here, and how.
async fn begins_not() -> Result<Option<ExitCode>, Failure> {
    // The sessions of the tour take the signals over, so nobody else acts on them any more.
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    let line = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).map(|read| (read, line))
    });
    tokio::select! {
        read = line => {
            let (read, line) = read??;
            let ends = read == 0 || line.trim().eq_ignore_ascii_case("q");
            Ok(ends.then_some(ExitCode::SUCCESS))
        }
        _ = interrupt.recv() => Ok(Some(Exit::Interrupted.into())),
        _ = terminate.recv() => Ok(Some(ExitCode::from(TERMINATED))),
        _ = hang_up.recv() => Ok(Some(ExitCode::from(HUNG_UP))),
    }
}

/// What a shell says of a program that was ended by these signals.
const TERMINATED: u8 = 128 + 15;
const HUNG_UP: u8 = 128 + 1;

/// Holds the session of a station, in a laboratory of its own.
async fn visit(
    station: &Station,
    tape: Option<&Path>,
    output: &Output,
) -> Result<ExitCode, Failure> {
    let script = Script::parse(station.script, station.name)?;
    let program = sim::program(Version::TESTED[0])?;
    let lab = Lab::builder(program, script).file("greeting.py", FILE).start().await?;
    let (program, environment) = lab.for_a_client()?;
    let mut builder = SessionBuilder::new()
        .executable(program)
        .environment(Environment::replace(environment))
        .cwd(lab.work())
        .permission_mode(station.mode.clone())
        .setting_sources([]);
    if let Some(tape) = tape {
        builder = builder.record(tape);
    }
    let job = Job {
        builder,
        place: Place::new(lab.work()),
        prompt: Some(station.prompt.to_owned()),
        goes_on: false,
        can_be_resumed: false,
        colours: output.has_colours(),
    };
    let ended = Box::pin(talk::run(job)).await;
    lab.close().await?;
    ended
}

/// A paragraph, in lines that can be read.
fn wrapped(text: &str) -> String {
    const WIDTH: usize = 78;
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() < WIDTH => {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}
