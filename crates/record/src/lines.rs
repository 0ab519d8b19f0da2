//! From the records of a tape to whole lines.

use std::collections::VecDeque;

use crate::format::{Channel, End, Entry, Note, Record, Text};

/// How long a line may be unless the caller says otherwise: 256 MiB, as on the wire.
pub const DEFAULT_MAX_LINE: usize = countersign_protocol::DEFAULT_MAX_LINE;

/// Joins the pieces of long lines, and passes on everything else.
///
/// It takes a [`TapeReader`](crate::TapeReader), or any other iterator of records that can fail;
/// for one that cannot, `map(Ok::<_, Infallible>)` does it. A line comes out where its last piece
/// stands on the tape, so it may follow one that began later.
///
/// A recorder that lost something says so with [`Note::Gap`]. Nobody knows what lines went on
/// over the gap, so all that were open are handed out as not ended before it. The same goes for
/// an error of the iterator, which is passed on in its place.
///
/// ```
/// use std::convert::Infallible;
///
/// use countersign_record::{Channel, Entry, Record, TapeItem, TapeLines, Text};
///
/// let piece = |seq, text: &str, more| Record {
///     seq,
///     us: 10 * seq,
///     entry: Entry::Line { channel: Channel::Out, text: Text::Utf8(text.into()), more },
/// };
/// let records = [piece(1, "{\"type\":", true), piece(2, "1}", false)];
/// let mut lines = TapeLines::new(records.into_iter().map(Ok::<_, Infallible>));
/// let Some(Ok(TapeItem::Line(line))) = lines.next() else { panic!("a line is expected") };
/// assert_eq!((line.seq, line.us, line.ended), (1, 10, true));
/// assert_eq!(line.text.as_bytes(), br#"{"type":1}"#);
/// assert!(lines.next().is_none());
/// ```
#[derive(Debug)]
pub struct TapeLines<I, E> {
    records: I,
    max_line: usize,
    /// The lines that are not complete yet, at most one a channel.
    open: Vec<Open>,
    /// What is to be handed out before the next record is read.
    ready: VecDeque<Result<TapeItem, E>>,
}

/// What [`TapeLines`] hands out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TapeItem {
    /// A whole line.
    Line(TapeLine),
    /// A line that was longer than the limit. It was passed over.
    TooLong {
        /// The number of its first record.
        seq: u64,
        /// When that was recorded, in microseconds.
        us: u64,
        /// The stream it belongs to.
        channel: Channel,
        /// How long it was, without its newline.
        length: u64,
        /// Whether a newline followed.
        ended: bool,
    },
    /// Something that the recorder had to say.
    Note {
        /// The number of the record.
        seq: u64,
        /// When it was recorded, in microseconds.
        us: u64,
        /// What it said.
        note: Note,
    },
    /// How the process ended.
    End {
        /// The number of the record.
        seq: u64,
        /// When it was recorded, in microseconds.
        us: u64,
        /// How.
        end: End,
    },
}

/// A line of a channel, put together from its pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TapeLine {
    /// The number of the first record that holds a piece of it.
    pub seq: u64,
    /// When that piece was recorded, in microseconds since the recording began.
    pub us: u64,
    /// The stream it belongs to.
    pub channel: Channel,
    /// The line without its newline. It has its carriage return, if there was one.
    pub text: Text,
    /// A newline followed. Without one the stream ended here, or the tape did.
    pub ended: bool,
}

/// A line that is not complete.
#[derive(Debug)]
struct Open {
    seq: u64,
    us: u64,
    channel: Channel,
    text: Text,
    /// How long the line is; more than `text` holds once it is too long.
    length: u64,
}

impl Open {
    /// The line with nothing in it yet.
    const fn new(seq: u64, us: u64, channel: Channel) -> Self {
        Self { seq, us, channel, text: Text::Utf8(String::new()), length: 0 }
    }

    /// Adds a piece, unless the line is too long then.
    fn push(&mut self, piece: Text, max_line: usize) {
        self.length += piece.as_bytes().len() as u64;
        if self.length > max_line as u64 {
            self.text = Text::Utf8(String::new());
        } else {
            self.text = join(std::mem::replace(&mut self.text, Text::Bytes(Vec::new())), piece);
        }
    }

    /// The line, which is complete now.
    fn close(self, ended: bool, max_line: usize) -> TapeItem {
        let Self { seq, us, channel, text, length } = self;
        if length > max_line as u64 {
            return TapeItem::TooLong { seq, us, channel, length, ended };
        }
        TapeItem::Line(TapeLine { seq, us, channel, text: text.normalised(), ended })
    }
}

/// Puts two pieces together, without copying the first one.
fn join(first: Text, second: Text) -> Text {
    match (first, second) {
        (Text::Utf8(first), second) if first.is_empty() => second,
        (Text::Utf8(mut first), Text::Utf8(second)) => {
            first.push_str(&second);
            Text::Utf8(first)
        }
        (first, second) => {
            let mut bytes = first.into_bytes();
            bytes.extend_from_slice(second.as_bytes());
            Text::Bytes(bytes)
        }
    }
}

impl<I, E> TapeLines<I, E>
where
    I: Iterator<Item = Result<Record, E>>,
{
    /// Joins lines of up to [`DEFAULT_MAX_LINE`] bytes.
    pub fn new(records: impl IntoIterator<IntoIter = I>) -> Self {
        Self::with_max_line(records, DEFAULT_MAX_LINE)
    }

    /// Joins lines of up to `max_line` bytes, and passes over longer ones.
    pub fn with_max_line(records: impl IntoIterator<IntoIter = I>, max_line: usize) -> Self {
        Self { records: records.into_iter(), max_line, open: Vec::new(), ready: VecDeque::new() }
    }

    /// The records as they are underneath, to ask a reader for its header or its tail.
    pub const fn get_ref(&self) -> &I {
        &self.records
    }

    /// Takes in one record.
    fn take(&mut self, Record { seq, us, entry }: Record) {
        match entry {
            Entry::Line { channel, text, more } => {
                let at = self.open.iter().position(|open| open.channel == channel);
                let mut open = match at {
                    Some(at) => self.open.swap_remove(at),
                    None => Open::new(seq, us, channel),
                };
                open.push(text, self.max_line);
                if more {
                    self.open.push(open);
                } else {
                    self.ready.push_back(Ok(open.close(true, self.max_line)));
                }
            }
            Entry::Note(note) => {
                match &note {
                    Note::Closed { channel } => {
                        let closed = *channel;
                        self.close(|channel| channel == closed);
                    }
                    Note::Gap { .. } => self.close(|_| true),
                    Note::Signal { .. } | Note::Comment { .. } | Note::Unknown => {}
                }
                self.ready.push_back(Ok(TapeItem::Note { seq, us, note }));
            }
            Entry::End(end) => {
                self.close(|_| true);
                self.ready.push_back(Ok(TapeItem::End { seq, us, end }));
            }
        }
    }

    /// Hands out lines that get no newline any more, in the order in which they began.
    fn close(&mut self, which: impl Fn(Channel) -> bool) {
        self.open.sort_by_key(|open| open.seq);
        for open in self.open.extract_if(.., |open| which(open.channel)) {
            self.ready.push_back(Ok(open.close(false, self.max_line)));
        }
    }
}

impl<I, E> Iterator for TapeLines<I, E>
where
    I: Iterator<Item = Result<Record, E>>,
{
    type Item = Result<TapeItem, E>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(item);
            }
            match self.records.next() {
                Some(Ok(record)) => self.take(record),
                Some(Err(error)) => {
                    self.close(|_| true);
                    self.ready.push_back(Err(error));
                }
                None => {
                    self.close(|_| true);
                    return self.ready.pop_front();
                }
            }
        }
    }
}
