//! Two tapes, compared by what they say.
//!
//! What the client wrote, what the CLI wrote and the transcript that the CLI mirrors are compared
//! each for itself: how they interleave is a matter of time. Standard error is not compared.
//!
//! A tape can be larger than memory. So each is read once into marks of some forty bytes a frame;
//! the marks are aligned; and the frames that belong together are read again, two at a time.

mod align;
mod blocks;
mod build;
mod index;
mod label;
mod offsets;
mod report;

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use self::align::{Aligned, align};
use self::index::{Index, Mark, Sequence, Whole, Words};
pub(crate) use self::label::{Labels, is_beat};
pub use self::report::{
    Counts, EndDifference, FrameDifference, HeaderDifference, How, TapeDiff, TapeSummary,
};
use crate::format::Channel;
use crate::meaning::{Canonical, Comparer, Difference, Rules};
use crate::reader::TapeError;

/// How two tapes are compared.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DiffOptions {
    /// What is a variable and what is not, besides what is known of the protocol.
    pub rules: Rules,
    /// Paths on the left, each with the one that it stands for on the right. The working
    /// directories of the headers are among them without being named.
    pub paths: Vec<(String, String)>,
    /// Compare the deltas of a stream one by one, and the mirrored transcript frame by frame.
    /// Without it the deltas of a block are joined and the frames of the transcript taken apart,
    /// because how they are cut is a matter of time.
    pub deltas: bool,
    /// Compare also the frames that are sent because time has passed: `keep_alive`,
    /// `tool_progress`, pings.
    pub beats: bool,
    /// How many frames that differ are listed. All are counted.
    pub limit: usize,
}

impl Default for DiffOptions {
    fn default() -> Self {
        Self { rules: Rules::new(), paths: Vec::new(), deltas: false, beats: false, limit: 200 }
    }
}

/// Why two tapes cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiffError {
    /// One of them cannot be read.
    #[error("{path}: {source}", path = path.display())]
    Tape {
        /// Which.
        path: PathBuf,
        /// Why.
        source: TapeError,
    },
    /// A frame could be read the first time, but not the second.
    #[error("{path}: record {seq} cannot be read again: {source}; was the tape changed meanwhile?", path = path.display())]
    Again {
        /// The tape.
        path: PathBuf,
        /// The number of the record.
        seq: u64,
        /// Why.
        source: io::Error,
    },
}

/// Compares two tapes.
///
/// # Errors
///
/// When one of them cannot be read.
pub fn diff_tapes(
    left: impl AsRef<Path>,
    right: impl AsRef<Path>,
    options: &DiffOptions,
) -> Result<TapeDiff, DiffError> {
    let (left, right) = (left.as_ref(), right.as_ref());
    let (left_cwd, right_cwd) = (cwd(left)?, cwd(right)?);
    let mut comparer = Comparer::new(options.rules.clone());
    let mut shapes =
        [Canonical::shapes(options.rules.clone()), Canonical::shapes(options.rules.clone())];
    let paths = options.paths.iter().map(|(left, right)| ("path", left, right));
    for (name, left, right) in paths.chain([("cwd", &left_cwd, &right_cwd)]) {
        comparer = comparer.with_path(name, left, right);
        let [left_shapes, right_shapes] = shapes;
        shapes = [left_shapes.with_path(name, left), right_shapes.with_path(name, right)];
    }
    let [left_shapes, right_shapes] = shapes;
    let mut words = Words::default();
    let left = Index::read(left, left_shapes, options, &mut words)?;
    let right = Index::read(right, right_shapes, options, &mut words)?;
    Diff { left, right, words, comparer, limit: options.limit }.run()
}

/// The working directory of a recording.
fn cwd(path: &Path) -> Result<String, DiffError> {
    let reader = crate::reader::TapeReader::open(path);
    let reader = reader.map_err(|source| DiffError::Tape { path: path.to_owned(), source })?;
    Ok(reader.header().cwd.clone())
}

struct Diff {
    left: Index,
    right: Index,
    words: Words,
    comparer: Comparer,
    limit: usize,
}

/// What was found so far.
struct Report {
    counts: Counts,
    frames: Vec<FrameDifference>,
    limit: usize,
}

impl Report {
    const fn is_full(&self) -> bool {
        self.frames.len() >= self.limit
    }

    /// Counts a frame that differs, and lists it if there is room.
    fn push(&mut self, frame: FrameDifference) {
        let count = match frame.how {
            How::Changed => &mut self.counts.changed,
            How::Moved => &mut self.counts.moved,
            How::OnlyLeft => &mut self.counts.only_left,
            How::OnlyRight => &mut self.counts.only_right,
        };
        *count += 1;
        if !self.is_full() {
            self.frames.push(frame);
        }
    }
}

/// What is to be compared, and where it stands in the conversation of the left tape.
#[derive(Clone, Copy)]
struct Item {
    sequence: Sequence,
    found: Aligned,
    /// The record of the left tape that it stands at or after.
    at: u64,
}

impl Diff {
    fn run(mut self) -> Result<TapeDiff, DiffError> {
        let headers = self.headers();
        let mut report =
            Report { counts: Counts::default(), frames: Vec::new(), limit: self.limit };
        // Ids are bound in the order of the conversation, so the sequences are gone through
        // together.
        let mut queues = Sequence::ALL.map(|sequence| VecDeque::from(self.items(sequence)));
        while let Some(queue) = queues
            .iter_mut()
            .filter(|queue| !queue.is_empty())
            .min_by_key(|queue| queue.front().map(|item| item.at))
            && let Some(item) = queue.pop_front()
        {
            self.frame(item, &mut report)?;
        }
        let Report { counts, frames, .. } = report;
        let end = (self.left.end != self.right.end)
            .then_some(EndDifference { left: self.left.end, right: self.right.end });
        let differing = counts.changed + counts.moved + counts.only_left + counts.only_right;
        Ok(TapeDiff {
            same: differing == 0 && end.is_none(),
            left: self.left.summary(),
            right: self.right.summary(),
            headers,
            frames,
            end,
            counts,
        })
    }

    fn items(&self, sequence: Sequence) -> Vec<Item> {
        let (left, right) = (self.left.marks(sequence), self.right.marks(sequence));
        let mut at = 0;
        align(left, right)
            .into_iter()
            .map(|found| {
                if let Aligned::Pair(mark, _) | Aligned::Moved(mark, _) | Aligned::Left(mark) =
                    found
                    && let Some(mark) = left.get(mark)
                {
                    at = mark.seq;
                }
                Item { sequence, found, at }
            })
            .collect()
    }

    /// Compares two frames, or reports the one that is alone.
    fn frame(
        &mut self,
        Item { sequence, found, .. }: Item,
        report: &mut Report,
    ) -> Result<(), DiffError> {
        let (left, right, how) = match found {
            Aligned::Pair(left, right) => (Some(left), Some(right), How::Changed),
            Aligned::Moved(left, right) => (Some(left), Some(right), How::Moved),
            Aligned::Left(left) => (Some(left), None, How::OnlyLeft),
            Aligned::Right(right) => (None, Some(right), How::OnlyRight),
        };
        let left = left.and_then(|at| self.left.marks(sequence).get(at).copied());
        let right = right.and_then(|at| self.right.marks(sequence).get(at).copied());
        if let (Some(left), Some(right)) = (&left, &right) {
            let channel = sequence.channel();
            let left_whole = self.left.whole(channel, left)?;
            let right_whole = self.right.whole(channel, right)?;
            let differences = self.differences(channel, &left_whole, &right_whole);
            match how {
                How::Changed if differences.is_empty() => report.counts.same += 1,
                // What looked like the same frame at another place is about other things.
                How::Moved if !differences.is_empty() => {
                    self.comparer.roll_back();
                    self.alone(sequence, How::OnlyLeft, left, report)?;
                    self.alone(sequence, How::OnlyRight, right, report)?;
                }
                how => {
                    let label = self.words.word(left.label).to_owned();
                    let (left, right) = (Some(left.seq), Some(right.seq));
                    let excerpt = None;
                    report.push(FrameDifference {
                        channel,
                        how,
                        label,
                        left,
                        right,
                        differences,
                        excerpt,
                    });
                }
            }
            self.comparer.commit();
            return Ok(());
        }
        match left.or(right) {
            Some(mark) => self.alone(sequence, how, &mark, report),
            None => Ok(()),
        }
    }

    /// Reports a frame that only one side has.
    fn alone(
        &mut self,
        sequence: Sequence,
        how: How,
        mark: &Mark,
        report: &mut Report,
    ) -> Result<(), DiffError> {
        let channel = sequence.channel();
        let is_left = how == How::OnlyLeft;
        let tape = if is_left { &mut self.left } else { &mut self.right };
        // What is not listed need not be read.
        let excerpt = if report.is_full() { None } else { tape.excerpt(channel, mark)? };
        report.push(FrameDifference {
            channel,
            how,
            label: self.words.word(mark.label).to_owned(),
            left: is_left.then_some(mark.seq),
            right: (!is_left).then_some(mark.seq),
            differences: Vec::new(),
            excerpt,
        });
        Ok(())
    }

    fn differences(&mut self, channel: Channel, left: &Whole, right: &Whole) -> Vec<Difference> {
        match (left, right) {
            (Whole::Json(left), Whole::Json(right)) => self.comparer.look(channel, left, right),
            (Whole::Nothing, Whole::Nothing) => Vec::new(),
            (left, right) => {
                let [left, right] = [left, right].map(|whole| whole.to_text().into());
                self.comparer.look(channel, &left, &right)
            }
        }
    }

    fn headers(&mut self) -> Vec<HeaderDifference> {
        let (left, right) = (&self.left.header, &self.right.header);
        let mut found = Vec::new();
        if left.cli != right.cli {
            let show = |cli: &Option<String>| cli.clone().unwrap_or_else(|| "unknown".to_owned());
            found.push(HeaderDifference {
                field: "cli",
                left: show(&left.cli),
                right: show(&right.cli),
            });
        }
        let same = left.argv.len() == right.argv.len()
            && left
                .argv
                .iter()
                .zip(&right.argv)
                .skip(1)
                .all(|(left, right)| self.comparer.compare_texts(left, right).is_empty());
        if !same {
            let [left, right] = [left, right].map(|header| header.argv.join(" "));
            found.push(HeaderDifference { field: "argv", left, right });
        }
        found
    }
}

impl Index {
    fn summary(&self) -> TapeSummary {
        TapeSummary {
            path: self.path.display().to_string(),
            cli: self.header.cli.clone(),
            remarks: self.remarks.clone(),
        }
    }

    fn excerpt(&mut self, channel: Channel, mark: &Mark) -> Result<Option<String>, DiffError> {
        const SHOWN: usize = 200;
        let text = match self.whole(channel, mark)? {
            Whole::Nothing => return Ok(None),
            whole => whole.to_text(),
        };
        let end = text.floor_char_boundary(SHOWN);
        let more = if end < text.len() { "…" } else { "" };
        Ok(Some(format!("{}{more}", text.get(..end).unwrap_or_default())))
    }
}

impl Whole {
    fn to_text(&self) -> String {
        match self {
            Self::Json(value) => value.to_string(),
            Self::Raw(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Self::Nothing => String::new(),
        }
    }
}
