//! What the client is still going to write, according to the tape.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use countersign_protocol::Line;

use super::client_line::ClientLine;
use crate::diff::{Labels, is_beat};
use crate::format::Channel;
use crate::lines::{TapeItem, TapeLine, TapeLines};
use crate::meaning::{Canonical, parse_line};
use crate::reader::{TapeError, TapeReader};

/// All lines of the client on a tape, as numbers: what a line says or is about, and the records
/// in which it stands.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    records: HashMap<u64, Vec<u64>>,
}

/// A line of the client as [`Ahead`] knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marks {
    /// What it says, but for ids and times.
    pub(crate) shape: u64,
    /// What it is about.
    pub(crate) subject: u64,
}

impl Marks {
    pub(crate) fn of(line: &ClientLine, shapes: &mut Canonical) -> Self {
        let hash = |part: (&str, u64, &str)| {
            let mut hasher = DefaultHasher::new();
            part.hash(&mut hasher);
            hasher.finish()
        };
        let shape = shapes.hash(Channel::In, &line.value);
        let subject = line.subject();
        // Answers that say the same are not the same: each belongs to its request.
        let answered = line.answers().unwrap_or_default();
        Self { shape: hash(("shape", shape, answered)), subject: hash(("subject", 0, &subject)) }
    }
}

impl Ahead {
    /// Reads a tape through. `shapes` begins a conversation as it is seen on the tape.
    pub(crate) fn read(tape: &Path, mut shapes: Canonical) -> Result<Self, TapeError> {
        let mut ahead = Self::default();
        let mut labels = Labels::default();
        for item in TapeLines::new(TapeReader::open(tape)?) {
            let TapeItem::Line(TapeLine { seq, channel, text, .. }) = item? else { continue };
            let bytes = text.into_bytes();
            match channel {
                // What was asked says what an answer is about.
                Channel::Out => {
                    let asks = Line::parse(&bytes)
                        .is_ok_and(|line| line.frame_type() == "control_request");
                    if asks && let Some(frame) = parse_line(&bytes) {
                        labels.label(Channel::Out, &frame);
                    }
                }
                Channel::In => {
                    let line = ClientLine::new(bytes, &mut labels);
                    if !is_beat(&line.value) {
                        let Marks { shape, subject } = Marks::of(&line, &mut shapes);
                        ahead.records.entry(shape).or_default().push(seq);
                        ahead.records.entry(subject).or_default().push(seq);
                    }
                }
                Channel::Err => {}
            }
        }
        Ok(ahead)
    }

    /// How many such lines follow a record.
    pub(crate) fn after(&self, mark: u64, record: u64) -> usize {
        self.records
            .get(&mark)
            .map_or(0, |records| records.len() - records.partition_point(|found| *found <= record))
    }
}
