//! Two tapes, compared by what they say.
//!
//! What the client wrote and what the CLI wrote are compared each for itself: how the two
//! interleave is a matter of time. Standard error is not compared.
//!
//! A tape can be larger than memory. So each is read once into marks of some forty bytes a frame;
//! the marks are aligned; and the frames that belong together are read again, two at a time.

mod align;
mod blocks;
mod index;
mod label;
mod offsets;
mod report;

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use self::align::{Aligned, align};
use self::index::{Index, Mark, Whole, Words};
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
    /// Compare the deltas of a stream one by one. Without it those of a block are joined, because
    /// how its text is cut is a matter of time.
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

/// What is to be compared, and where it stands in the conversation of the left tape.
#[derive(Clone, Copy)]
struct Item {
    channel: Channel,
    found: Aligned,
    /// The record of the left tape that it stands at or after.
    at: u64,
}

impl Diff {
    fn run(mut self) -> Result<TapeDiff, DiffError> {
        let headers = self.headers();
        let input = self.items(Channel::In);
        let output = self.items(Channel::Out);
        let mut counts = Counts::default();
        let mut frames = Vec::new();
        // Ids are bound in the order of the conversation, so the two channels are gone through
        // together.
        let mut queues = [VecDeque::from(input), VecDeque::from(output)];
        while let Some(queue) = queues
            .iter_mut()
            .filter(|queue| !queue.is_empty())
            .min_by_key(|queue| queue.front().map(|item| item.at))
            && let Some(item) = queue.pop_front()
        {
            if let Some(frame) = self.frame(item, &mut counts, frames.len() < self.limit)?
                && frames.len() < self.limit
            {
                frames.push(frame);
            }
        }
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

    fn items(&self, channel: Channel) -> Vec<Item> {
        let (left, right) = (self.left.marks(channel), self.right.marks(channel));
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
                Item { channel, found, at }
            })
            .collect()
    }

    /// Compares two frames, or reports the one that is alone.
    fn frame(
        &mut self,
        Item { channel, found, .. }: Item,
        counts: &mut Counts,
        listed: bool,
    ) -> Result<Option<FrameDifference>, DiffError> {
        let (left, right, how) = match found {
            Aligned::Pair(left, right) => (Some(left), Some(right), How::Changed),
            Aligned::Moved(left, right) => (Some(left), Some(right), How::Moved),
            Aligned::Left(left) => (Some(left), None, How::OnlyLeft),
            Aligned::Right(right) => (None, Some(right), How::OnlyRight),
        };
        let left = left.and_then(|at| self.left.marks(channel).get(at).copied());
        let right = right.and_then(|at| self.right.marks(channel).get(at).copied());
        let differences = match (&left, &right) {
            (Some(left), Some(right)) => {
                let left = self.left.whole(channel, left)?;
                let right = self.right.whole(channel, right)?;
                self.differences(channel, &left, &right)
            }
            _ => Vec::new(),
        };
        let count = match how {
            How::Changed if differences.is_empty() => &mut counts.same,
            How::Changed => &mut counts.changed,
            How::Moved => &mut counts.moved,
            How::OnlyLeft => &mut counts.only_left,
            How::OnlyRight => &mut counts.only_right,
        };
        *count += 1;
        if how == How::Changed && differences.is_empty() {
            return Ok(None);
        }
        let excerpt = match (&left, &right) {
            (Some(mark), None) if listed => self.left.excerpt(channel, mark)?,
            (None, Some(mark)) if listed => self.right.excerpt(channel, mark)?,
            _ => None,
        };
        let label = left.or(right).map_or(0, |mark| mark.label);
        Ok(Some(FrameDifference {
            channel,
            how,
            label: self.words.word(label).to_owned(),
            left: left.map(|mark| mark.seq),
            right: right.map(|mark| mark.seq),
            differences,
            excerpt,
        }))
    }

    fn differences(&mut self, channel: Channel, left: &Whole, right: &Whole) -> Vec<Difference> {
        match (left, right) {
            (Whole::Json(left), Whole::Json(right)) => self.comparer.compare(channel, left, right),
            (Whole::Nothing, Whole::Nothing) => Vec::new(),
            (left, right) => {
                let [left, right] = [left, right].map(Whole::to_text);
                self.comparer.compare_texts(&left, &right)
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
    fn marks(&self, channel: Channel) -> &[Mark] {
        match channel {
            Channel::In => &self.input,
            Channel::Out => &self.output,
            Channel::Err => &[],
        }
    }

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
