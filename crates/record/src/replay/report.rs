//! How a replay went.

use std::fmt;

use serde::Serialize;

use crate::meaning::Difference;

/// How a replay went.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ReplayReport {
    /// What came of it.
    pub verdict: Verdict,
    /// Whether order and details were taken lightly.
    pub lenient: bool,
    /// How many lines of the client were the same as on the tape.
    pub matched: u64,
    /// How many lines were written to standard output.
    pub written: u64,
    /// What was not as on the tape, but no reason to stop.
    pub notes: Vec<ReplayNote>,
    /// How many more of those there were than are listed.
    pub more_notes: u64,
    /// Where the client departed from the tape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub departure: Option<Departure>,
}

/// What came of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// The client did what the tape says, to the end.
    Followed,
    /// The client did something else.
    Departed,
    /// The client sent a signal that is not on the tape.
    Signalled,
    /// The tape does not say how the process ended: it can be played no further.
    TapeEnds,
}

/// Something that was not as on the tape.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ReplayNote {
    /// The record that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    /// What it is.
    pub text: String,
    /// The fields that it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
}

/// How a client departed from a tape.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Departure {
    /// The record of the tape that was expected; nothing when the tape has no more of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    /// What the tape has there.
    pub expected: String,
    /// What the client did.
    pub got: String,
    /// Where the two lines differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
}

/// How many notes are kept.
const MAX_NOTES: usize = 1000;

impl ReplayReport {
    pub(crate) const fn new(lenient: bool) -> Self {
        Self {
            verdict: Verdict::Followed,
            lenient,
            matched: 0,
            written: 0,
            notes: Vec::new(),
            more_notes: 0,
            departure: None,
        }
    }

    pub(crate) fn note(&mut self, note: ReplayNote) {
        if self.notes.len() < MAX_NOTES {
            self.notes.push(note);
        } else {
            self.more_notes += 1;
        }
    }
}

impl ReplayNote {
    pub(crate) fn new(record: Option<u64>, text: impl Into<String>) -> Self {
        Self { record, text: text.into(), differences: Vec::new() }
    }
}

impl fmt::Display for ReplayNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(record) = self.record {
            write!(f, "record {record}: ")?;
        }
        f.write_str(&self.text)?;
        differences(f, &self.differences)
    }
}

impl fmt::Display for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { record, expected, got, differences: found } = self;
        match record {
            Some(record) => writeln!(f, "the client departed from the tape at record {record}")?,
            None => writeln!(f, "the client departed from the tape")?,
        }
        write!(f, "  expected: {expected}\n  got:      {got}")?;
        differences(f, found)
    }
}

fn differences(f: &mut fmt::Formatter<'_>, differences: &[Difference]) -> fmt::Result {
    for difference in differences {
        write!(f, "\n  {}", difference.to_string().replace('\n', "\n  "))?;
    }
    Ok(())
}

/// The beginning of a line, for people.
pub(crate) fn excerpt(text: &str) -> String {
    const SHOWN: usize = 300;
    let end = text.floor_char_boundary(SHOWN);
    let more = if end < text.len() { "…" } else { "" };
    format!("{}{more}", text.get(..end).unwrap_or_default())
}
