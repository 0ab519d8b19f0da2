//! The outcome of a diff: for programs as JSON, for people as text.

use std::fmt;

use serde::Serialize;

use crate::format::{Channel, End};
use crate::meaning::Difference;

/// What two tapes do not have in common.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TapeDiff {
    /// Whether both say the same and ended in the same way.
    pub same: bool,
    /// The tapes, as they were named.
    pub left: TapeSummary,
    /// The right one.
    pub right: TapeSummary,
    /// What differs in the headers. It is told, but it does not make two tapes different.
    pub headers: Vec<HeaderDifference>,
    /// The frames that differ, in the order of the conversation, as many as were asked for.
    pub frames: Vec<FrameDifference>,
    /// How the processes ended, when that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<EndDifference>,
    /// How many frames there are of each sort, also of those that are not listed.
    pub counts: Counts,
}

/// One of the two tapes.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TapeSummary {
    /// The file.
    pub path: String,
    /// The version of the CLI, if the tape has it.
    pub cli: Option<String>,
    /// What is missing on the tape, and so was not compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// How many frames were found to be what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Counts {
    /// Say the same.
    pub same: u64,
    /// Belong together but differ.
    pub changed: u64,
    /// Are at another place in the order.
    pub moved: u64,
    /// Are missing on the right.
    pub only_left: u64,
    /// Are missing on the left.
    pub only_right: u64,
}

/// A field of the header that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HeaderDifference {
    /// Which.
    pub field: &'static str,
    /// What the left tape has.
    pub left: String,
    /// What the right tape has.
    pub right: String,
}

/// How the processes ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EndDifference {
    /// On the left; nothing when the tape does not say.
    pub left: Option<End>,
    /// On the right.
    pub right: Option<End>,
}

/// A frame that differs.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FrameDifference {
    /// The stream it belongs to.
    pub channel: Channel,
    /// In what way.
    pub how: How,
    /// What it is, in a few words.
    pub label: String,
    /// The number of its record on the left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<u64>,
    /// The number of its record on the right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<u64>,
    /// Where the two frames differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    /// The beginning of a frame that only one side has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
}

/// In what way a frame differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum How {
    /// Both tapes have it, and it says something else.
    Changed,
    /// Both tapes have it, at different places in the order.
    Moved,
    /// The right tape does not have it.
    OnlyLeft,
    /// The left tape does not have it.
    OnlyRight,
}

impl fmt::Display for TapeDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (sign, tape) in [("---", &self.left), ("+++", &self.right)] {
            let cli = tape.cli.as_deref().unwrap_or("of an unknown version");
            writeln!(f, "{sign} {} (claude {cli})", tape.path)?;
        }
        for (side, tape) in [("left", &self.left), ("right", &self.right)] {
            for remark in &tape.remarks {
                writeln!(f, "note: the {side} tape: {remark}")?;
            }
        }
        for HeaderDifference { field, left, right } in &self.headers {
            writeln!(f, "@@ header: {field} @@\n- {left}\n+ {right}")?;
        }
        for frame in &self.frames {
            write!(f, "{frame}")?;
        }
        let counts = self.counts;
        let shown = self.frames.len() as u64;
        let differing = counts.changed + counts.moved + counts.only_left + counts.only_right;
        if shown < differing {
            writeln!(f, "… and {} frames more that differ", differing - shown)?;
        }
        if let Some(EndDifference { left, right }) = &self.end {
            writeln!(f, "@@ end @@\n- {}\n+ {}", Shown(*left), Shown(*right))?;
        }
        if self.same {
            return writeln!(f, "the same: {} frames", counts.same);
        }
        writeln!(
            f,
            "different: {} changed, {} moved, {} only left, {} only right, {} the same",
            counts.changed, counts.moved, counts.only_left, counts.only_right, counts.same
        )
    }
}

impl fmt::Display for FrameDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { channel, how, label, left, right, differences, excerpt } = self;
        write!(f, "@@ {channel}")?;
        for (sign, seq) in [('-', left), ('+', right)] {
            if let Some(seq) = seq {
                write!(f, " {sign}{seq}")?;
            }
        }
        let how = match how {
            How::Changed => "",
            How::Moved => "moved: ",
            How::OnlyLeft => "only left: ",
            How::OnlyRight => "only right: ",
        };
        writeln!(f, " {how}{label} @@")?;
        for difference in differences {
            writeln!(f, "  {}", difference.to_string().replace('\n', "\n  "))?;
        }
        if let Some(excerpt) = excerpt {
            let sign = if left.is_some() { '-' } else { '+' };
            writeln!(f, "{sign} {excerpt}")?;
        }
        Ok(())
    }
}

struct Shown(Option<End>);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(End::Code(code)) => write!(f, "exit code {code}"),
            Some(End::Signal(number)) => write!(f, "signal {number}"),
            None => f.write_str("the tape does not say"),
        }
    }
}
