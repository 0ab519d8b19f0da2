//! `countersign tape show`: a tape, readable.

use std::io::BufRead;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;

use super::output::Output;
use super::{Failure, warn};
use crate::format::{End, Entry, Header, Note, Text};
use crate::summary::{Summary, bounded, end_words, note_words};
use crate::{Channel, Tail, TapeError, TapeItem, TapeLine, TapeLines, TapeReader};

/// Show a tape, one line for each line that was recorded
///
/// A line has its number, the seconds since the beginning, its direction (→ to the CLI, ← from
/// the CLI, ! standard error, · a note), what kind of frame it is, and what it says in short.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The tape
    file: PathBuf,
    /// Only these channels: in, out or err
    #[arg(long, value_name = "CHANNEL", value_delimiter = ',')]
    channel: Vec<Channel>,
    /// The lines as they were, and nothing else; of one channel these are its exact bytes
    #[arg(long)]
    raw: bool,
    /// A JSON object a line, with the frame in it as JSON
    #[arg(long, conflicts_with = "raw")]
    json: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut Output) -> Result<ExitCode, Failure> {
        let reader = TapeReader::open(&self.file)?;
        if self.raw {
            return self.raw(reader, out);
        }
        if !self.json {
            heading(reader.header(), out)?;
        }
        let mut items = TapeLines::new(reader);
        let mut code = ExitCode::SUCCESS;
        for item in items.by_ref() {
            match item {
                Ok(item) if !self.shows(&item) => {}
                Ok(item) if self.json => json(&item, out)?,
                Ok(item) => readable(&item, out)?,
                Err(error) => code = broken(&error),
            }
        }
        if !self.json {
            ending(items.get_ref().tail(), out)?;
        }
        Ok(code)
    }

    /// Whether this is to be shown. Notes are, unless only some channels are.
    fn shows(&self, item: &TapeItem) -> bool {
        match item {
            TapeItem::Line(TapeLine { channel, .. }) | TapeItem::TooLong { channel, .. } => {
                self.shows_channel(*channel)
            }
            TapeItem::Note { .. } | TapeItem::End { .. } => self.channel.is_empty(),
        }
    }

    fn shows_channel(&self, channel: Channel) -> bool {
        self.channel.is_empty() || self.channel.contains(&channel)
    }

    /// Piece by piece, so that there is no limit to the length of a line.
    fn raw(&self, reader: TapeReader<impl BufRead>, out: &mut Output) -> Result<ExitCode, Failure> {
        let mut code = ExitCode::SUCCESS;
        for record in reader {
            match record.map(|record| record.entry) {
                Ok(Entry::Line { channel, text, more }) if self.shows_channel(channel) => {
                    out.bytes(text.as_bytes())?;
                    if !more {
                        out.bytes(b"\n")?;
                    }
                }
                Ok(_) => {}
                Err(error) => code = broken(&error),
            }
        }
        Ok(code)
    }
}

/// Tells about a line that cannot be read; those after it can.
pub(super) fn broken(error: &TapeError) -> ExitCode {
    warn(&error.to_string());
    ExitCode::from(1)
}

/// What the header says.
pub(super) fn heading(header: &Header, out: &mut Output) -> Result<(), Failure> {
    let Header { format, tool, cli, argv, cwd, start, .. } = header;
    let cli = cli.as_deref().unwrap_or("unknown");
    out.line(format_args!(
        "# tape {format} of CLI {}, begun {start}, by {}",
        bounded(cli),
        bounded(tool)
    ))?;
    out.line(format_args!("# in {}", bounded(cwd)))?;
    let argv: Vec<String> = argv.iter().map(|arg| bounded(arg)).collect();
    out.line(format_args!("# {}", argv.join(" ")))
}

/// How the tape ends, where that is not as it should be.
pub(super) fn ending(tail: Tail, out: &mut Output) -> Result<(), Failure> {
    match tail {
        Tail::Whole => Ok(()),
        Tail::Unfinished => out.line(format_args!("# the tape does not say how the CLI ended")),
        Tail::Torn { bytes } => out.line(format_args!(
            "# the tape is cut within a record, of which there are {bytes} bytes"
        )),
    }
}

fn readable(item: &TapeItem, out: &mut Output) -> Result<(), Failure> {
    let mut show = |seq: &u64, us: &u64, arrow: char, kind: &str, text: &str| {
        let time = Duration::from_micros(*us).as_secs_f64();
        let line = format!("{seq:>6} {time:>12.6} {arrow} {kind:<30} {text}");
        out.line(format_args!("{}", line.trim_end()))
    };
    match item {
        TapeItem::Line(TapeLine { seq, us, channel, text, ended }) => {
            let Summary { kind, text } = Summary::of(*channel, text.as_bytes());
            let kind = kind.as_deref().unwrap_or("-");
            let cut = if *ended { "" } else { " (no newline)" };
            show(seq, us, arrow(*channel), kind, &format!("{text}{cut}"))
        }
        TapeItem::TooLong { seq, us, channel, length, .. } => {
            show(seq, us, arrow(*channel), "-", &format!("a line of {length} bytes"))
        }
        TapeItem::Note { seq, us, note } => show(seq, us, '·', "note", &bounded(&note_words(note))),
        TapeItem::End { seq, us, end } => show(seq, us, '·', "end", &end_words(*end)),
    }
}

const fn arrow(channel: Channel) -> char {
    match channel {
        Channel::In => '→',
        Channel::Out => '←',
        Channel::Err => '!',
    }
}

/// An item as `--json` shows it.
#[derive(Serialize)]
struct Shown<'a> {
    seq: u64,
    us: u64,
    ch: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// The line, where it is JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<&'a RawValue>,
    /// The line, where it is not; with U+FFFD where it is no text either.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a Note>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<End>,
}

fn json(item: &TapeItem, out: &mut Output) -> Result<(), Failure> {
    let empty = |seq: u64, us: u64, ch: &'static str| Shown {
        seq,
        us,
        ch,
        kind: None,
        frame: None,
        text: None,
        length: None,
        ended: None,
        note: None,
        end: None,
    };
    let shown = match item {
        TapeItem::Line(TapeLine { seq, us, channel, text, ended }) => {
            let frame = text.as_str().and_then(|text| serde_json::from_str(text).ok());
            let plain = match (frame, text) {
                (Some(_), _) => None,
                (None, Text::Utf8(text)) => Some(text.clone()),
                (None, Text::Bytes(bytes)) => Some(String::from_utf8_lossy(bytes).into_owned()),
            };
            let kind = Summary::kind(*channel, text.as_bytes());
            let empty = empty(*seq, *us, channel.name());
            Shown { kind, frame, text: plain, ended: Some(*ended), ..empty }
        }
        TapeItem::TooLong { seq, us, channel, length, ended } => {
            Shown { length: Some(*length), ended: Some(*ended), ..empty(*seq, *us, channel.name()) }
        }
        TapeItem::Note { seq, us, note } => Shown { note: Some(note), ..empty(*seq, *us, "note") },
        TapeItem::End { seq, us, end } => Shown { end: Some(*end), ..empty(*seq, *us, "note") },
    };
    out.bytes(&serde_json::to_vec(&shown)?)?;
    out.bytes(b"\n")
}
