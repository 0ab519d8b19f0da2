//! A tape, played in place of the CLI.
//!
//! To its client a replay is the CLI: it reads standard input, writes standard output and ends with
//! the recorded exit code. It writes what was recorded, and it checks that the client does what was
//! recorded.
//!
//! **What the client does** is compared by [meaning](crate::meaning). Ids, times and redacted parts
//! are variables: those that the client made up itself are bound to those on the tape, and take
//! their place in what is written from then on. So an answer carries the id of the question that
//! was asked in this run. So it is with the working directory.
//!
//! **What is written when** is decided by cause, not by time: a line of the CLI is written when the
//! client has done everything that stands before it on the tape. A client that is faster than it
//! was is not: its lines wait. There is one exception, for a client that is slower than it was: the
//! answer to a question of the client needs nothing but the question.
//!
//! **Strict**, the client has to do the same in the same order; otherwise the replay says on
//! standard error what differs, and exits with [`DEPARTED`]. **Lenient**, lines may come in another
//! order, lines that the tape does not have are passed over, and what does not matter to the CLI
//! may differ; all of this is noted.

mod ahead;
mod client_line;
mod essential;
mod inbox;
mod matcher;
mod pace;
mod player;
mod report;
mod rewrite;
mod signals;

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use self::ahead::Ahead;
use self::essential::Essential;
use self::inbox::Inbox;
use self::matcher::{Lenient, Matcher};
use self::pace::Pace;
pub use self::pace::{Speed, SpeedError};
use self::player::{Player, Stream};
pub use self::report::{Departure, ReplayNote, ReplayReport, Verdict};
use self::rewrite::Substitutions;
use crate::diff::Labels;
use crate::format::{Channel, End, Header};
use crate::lines::{TapeItem, TapeLines};
use crate::meaning::{Canonical, Comparer, Rules, parse_line};
use crate::reader::{TapeError, TapeReader};

/// What a replay exits with when the client departs from the tape.
pub const DEPARTED: u8 = 70;

/// What a replay exits with when the tape cannot be read, or ends before the process did.
pub const NO_MORE_TAPE: u8 = 74;

/// How a tape is played.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ReplayOptions {
    /// Take order and details lightly.
    pub lenient: bool,
    /// How fast.
    pub speed: Speed,
    /// The arguments that the client gave, without the program. They are compared with those on
    /// the tape; what differs is noted.
    pub args: Vec<String>,
    /// The working directory, which stands for that on the tape.
    pub cwd: Option<PathBuf>,
    /// Catch the signals of this process, as the CLI would.
    pub signals: bool,
}

/// Why a tape cannot be played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// It cannot be read.
    #[error("cannot play the tape {tape}: {source}", tape = tape.display())]
    Tape {
        /// The file.
        tape: PathBuf,
        /// Why.
        source: TapeError,
    },
    /// The system has no threads or signals for us.
    #[error("cannot stand in for the CLI: {0}")]
    System(#[from] io::Error),
}

/// How a replay ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Replayed {
    /// What was found.
    pub report: ReplayReport,
    /// How the process has to end now.
    pub end: End,
}

/// Plays a tape to a client.
///
/// # Errors
///
/// When the tape cannot be read. That the client departs from it is not an error, but told in the
/// report.
pub fn replay(
    tape: &Path,
    options: &ReplayOptions,
    input: impl Read + Send + 'static,
    output: impl Write,
    errors: impl Write,
) -> Result<Replayed, ReplayError> {
    let inbox = Inbox::default();
    if options.signals {
        signals::catch(&inbox)?;
    }
    inbox.read(input)?;
    let failed = |source| ReplayError::Tape { tape: tape.to_owned(), source };
    let header = TapeReader::open(tape).map_err(failed)?.header().clone();
    let mut report = ReplayReport::new(options.lenient);
    let matcher = matcher(tape, &header, options, &mut report).map_err(failed)?;
    let mut player = Player {
        inbox,
        matcher,
        pace: Pace::new(options.speed, Instant::now()),
        report,
        output: Stream::new(output),
        errors: Stream::new(errors),
        labels: [Labels::default(), Labels::default()],
        closed: false,
        wrote: None,
    };
    let end = match player.play(tape) {
        Ok(Some(end)) => end,
        Ok(None) => {
            player.say("the tape ends here, without saying how the CLI ended: its recorder was ended before");
            player.report.verdict = Verdict::TapeEnds;
            End::Code(NO_MORE_TAPE.into())
        }
        Err(stop) => player.stopped(stop).map_err(failed)?,
    };
    player.inbox.finish();
    Ok(Replayed { report: player.report, end })
}

/// What compares the client with the tape.
fn matcher(
    tape: &Path,
    header: &Header,
    options: &ReplayOptions,
    report: &mut ReplayReport,
) -> Result<Matcher, TapeError> {
    let mut comparer = Comparer::new(Rules::new());
    let mut table = Substitutions::default();
    let mut shapes = [Canonical::shapes(Rules::new()), Canonical::shapes(Rules::new())];
    if let Some(cwd) = &options.cwd {
        let cwd = cwd.to_string_lossy();
        comparer = comparer.with_path("cwd", &header.cwd, &cwd);
        table.path(&header.cwd, &cwd);
        let [recorded, live] = shapes;
        shapes = [recorded.with_path("cwd", &header.cwd), live.with_path("cwd", &cwd)];
    }
    compare_arguments(header, options, &mut comparer, &mut table, report);
    let [recorded, live] = shapes;
    let lenient = if options.lenient {
        let ahead = Ahead::read(tape, recorded)?;
        let essential = Essential::new();
        Some(Lenient { ahead, shapes: live, essential, held: Vec::new(), stale: false })
    } else {
        None
    };
    Ok(Matcher::new(comparer, table, lenient))
}

/// Compares the arguments, and takes the ids in them for variables: that of a session, for one.
fn compare_arguments(
    header: &Header,
    options: &ReplayOptions,
    comparer: &mut Comparer,
    table: &mut Substitutions,
    report: &mut ReplayReport,
) {
    let recorded: Vec<&String> = header.argv.iter().skip(1).collect();
    if recorded.len() != options.args.len() {
        let text = format!(
            "the arguments are others: recorded {recorded:?}, this time {:?}",
            options.args
        );
        report.note(ReplayNote::new(None, text));
        return;
    }
    for (at, (recorded, live)) in recorded.into_iter().zip(&options.args).enumerate() {
        let [left, right] = [recorded, live].map(|text| text.as_str().into());
        let differences = comparer.look(Channel::Err, &left, &right);
        table.learn(comparer.commit());
        if !differences.is_empty() {
            let text = format!("argument {} is another", at + 1);
            report.note(ReplayNote { differences, ..ReplayNote::new(None, text) });
        }
    }
}

/// The version of the CLI that was recorded: from the header, or from what the CLI said of itself.
///
/// # Errors
///
/// When the tape cannot be read.
pub fn recorded_version(tape: &Path) -> Result<Option<String>, ReplayError> {
    let failed = |source| ReplayError::Tape { tape: tape.to_owned(), source };
    let reader = TapeReader::open(tape).map_err(failed)?;
    if let Some(version) = &reader.header().cli {
        return Ok(Some(version.clone()));
    }
    for item in TapeLines::new(reader) {
        if let TapeItem::Line(line) = item.map_err(failed)?
            && line.channel == Channel::Out
            && let Some(frame) = parse_line(line.text.as_bytes())
        {
            let places = ["/claude_code_version", "/response/response/claude_code_version"];
            let found = places.iter().find_map(|place| frame.pointer(place)?.as_str());
            if let Some(version) = found {
                return Ok(Some(version.to_owned()));
            }
        }
    }
    Ok(None)
}
