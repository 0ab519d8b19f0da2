//! `countersign tape stats`: a tape in numbers.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;

use super::output::Output;
use super::show::{broken, ending, heading};
use super::{Failure, Working};
use crate::format::{End, Note};
use crate::summary::{Summary, end_words};
use crate::{Channel, TapeItem, TapeLine, TapeLines, TapeReader};

/// How many kinds are counted apart. A tape of rubbish must not take all memory.
const MAX_KINDS: usize = 1000;

/// What the other kinds are counted as.
const OTHERS: &str = "(others)";

/// Count what is on a tape
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The tape
    file: PathBuf,
    /// The numbers as one JSON object
    #[arg(long)]
    json: bool,
}

/// What was counted.
#[derive(Debug, Default)]
struct Stats {
    kinds: BTreeMap<(Channel, String), Count>,
    longest: Option<(u64, u64, Channel)>,
    signals: u64,
    lost_bytes: u64,
    us: u64,
    end: Option<End>,
}

/// Lines, and their bytes without newlines.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    lines: u64,
    bytes: u64,
}

impl Args {
    pub(super) fn run(self, out: &mut Output, working: Working<'_>) -> Result<ExitCode, Failure> {
        let reader = TapeReader::open(&self.file)?;
        if !self.json {
            heading(reader.header(), out)?;
        }
        let cli = reader.header().cli.clone();
        let mut items = TapeLines::new(reader);
        let mut stats = Stats::default();
        let mut code = ExitCode::SUCCESS;
        let counting = working(format!("counting what is on {}", self.file.display()));
        for item in items.by_ref() {
            match item {
                Ok(item) => stats.add(&item),
                Err(error) => code = broken(&error),
            }
        }
        drop(counting);
        if self.json {
            out.bytes(&serde_json::to_vec(&stats.json(cli.as_deref()))?)?;
            out.bytes(b"\n")?;
        } else {
            stats.show(out)?;
            ending(items.get_ref().tail(), out)?;
        }
        Ok(code)
    }
}

impl Stats {
    fn add(&mut self, item: &TapeItem) {
        match item {
            TapeItem::Line(TapeLine { seq, us, channel, text, .. }) => {
                let bytes = text.as_bytes();
                let kind = Summary::kind(*channel, bytes).unwrap_or_else(|| "-".to_owned());
                self.count(*channel, kind, *seq, bytes.len() as u64);
                self.us = self.us.max(*us);
            }
            TapeItem::TooLong { seq, us, channel, length, .. } => {
                self.count(*channel, "(too long)".to_owned(), *seq, *length);
                self.us = self.us.max(*us);
            }
            TapeItem::Note { us, note, .. } => {
                match note {
                    Note::Signal { .. } => self.signals += 1,
                    Note::Gap { bytes, .. } => {
                        self.lost_bytes = self.lost_bytes.saturating_add(*bytes);
                    }
                    _ => {}
                }
                self.us = self.us.max(*us);
            }
            TapeItem::End { us, end, .. } => {
                self.end = Some(*end);
                self.us = self.us.max(*us);
            }
        }
    }

    fn count(&mut self, channel: Channel, kind: String, seq: u64, bytes: u64) {
        let key = (channel, kind);
        let key = if self.kinds.len() < MAX_KINDS || self.kinds.contains_key(&key) {
            key
        } else {
            (channel, OTHERS.to_owned())
        };
        self.kinds.entry(key).or_default().add(bytes);
        if self.longest.is_none_or(|(longest, ..)| bytes > longest) {
            self.longest = Some((bytes, seq, channel));
        }
    }

    fn json(&self, cli: Option<&str>) -> serde_json::Value {
        let kind = |((channel, kind), count): (&(Channel, String), &Count)| {
            let Count { lines, bytes } = count;
            json!({"channel": channel.name(), "kind": kind, "lines": lines, "bytes": bytes})
        };
        let longest = self.longest.map(|(bytes, seq, channel)| {
            json!({"bytes": bytes, "record": seq, "channel": channel.name()})
        });
        json!({
            "cli": cli,
            "kinds": self.kinds.iter().map(kind).collect::<Vec<_>>(),
            "longest": longest,
            "us": self.us,
            "signals": self.signals,
            "lost_bytes": self.lost_bytes,
            "end": self.end,
        })
    }

    fn show(&self, out: &mut Output) -> Result<(), Failure> {
        out.line(format_args!("{:<4} {:<40} {:>10} {:>14}", "ch", "kind", "lines", "bytes"))?;
        for channel in [Channel::In, Channel::Out, Channel::Err] {
            let mut total = Count::default();
            for ((_, kind), count) in self.kinds.iter().filter(|((of, _), _)| *of == channel) {
                row(out, channel, kind, *count)?;
                total.lines += count.lines;
                total.bytes += count.bytes;
            }
            row(out, channel, "(all)", total)?;
        }
        if let Some((bytes, seq, channel)) = self.longest {
            out.line(format_args!("longest line: {bytes} bytes, record {seq}, {channel}"))?;
        }
        let duration = Duration::from_micros(self.us).as_secs_f64();
        out.line(format_args!("duration: {duration:.6} s"))?;
        out.line(format_args!("signals: {}", self.signals))?;
        out.line(format_args!("lost bytes: {}", self.lost_bytes))?;
        match self.end {
            Some(end) => out.line(format_args!("end: {}", end_words(end))),
            None => out.line(format_args!("end: unknown")),
        }
    }
}

impl Count {
    const fn add(&mut self, bytes: u64) {
        self.lines += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

fn row(out: &mut Output, channel: Channel, kind: &str, count: Count) -> Result<(), Failure> {
    let Count { lines, bytes } = count;
    out.line(format_args!("{:<4} {kind:<40} {lines:>10} {bytes:>14}", channel.name()))
}
