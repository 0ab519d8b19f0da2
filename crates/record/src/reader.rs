//! Reading a tape, record by record, in bounded memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::iter::FusedIterator;
use std::path::{Path, PathBuf};

use memchr::memchr;

use crate::format::{Entry, Header, HeaderError, Record, RecordError};

/// How long a line of a tape may be unless the caller says otherwise: 16 MiB.
///
/// A recorder writes pieces of at most 1 MiB; escaped, each byte of one takes up to six.
pub const DEFAULT_MAX_RECORD: usize = 16 * 1024 * 1024;

/// How much is read from a file at a time.
const READ_SIZE: usize = 256 * 1024;

/// A buffer larger than this is given back after the line that needed it.
const KEPT_CAPACITY: usize = 2 * 1024 * 1024;

/// Reads a tape: its header at once, its records as an iterator.
///
/// A recorder can be killed at any moment, so a tape may end anywhere. That is not an error: the
/// records before the cut are all there, and [`tail`](Self::tail) says that something is missing.
/// A line in the middle that is not a record is an error, after which the caller may go on.
///
/// ```
/// use countersign_record::{Entry, Tail, TapeReader};
///
/// let tape = concat!(
///     r#"{"tape":"countersign","format":"1.0","tool":"by hand","argv":[],"cwd":"/","env":[],"start":"2026-11-16T08:00:00Z"}"#,
///     "\n",
///     r#"{"seq":1,"us":70,"ch":"in","text":"hello"}"#,
///     "\n",
///     r#"{"seq":2,"us":90,"ch":"out","te"#,
/// );
/// let mut reader = TapeReader::new(tape.as_bytes())?;
/// assert_eq!(reader.header().tool, "by hand");
/// let record = reader.next().unwrap()?;
/// assert!(matches!(record.entry, Entry::Line { text, .. } if text.as_bytes() == b"hello"));
/// assert!(reader.next().is_none());
/// assert_eq!(reader.tail(), Tail::Torn { bytes: 31 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TapeReader<R> {
    source: R,
    header: Header,
    max_record: usize,
    /// The line that was read last, without its newline.
    line: Vec<u8>,
    /// The number of that line in the file.
    number: u64,
    tail: Tail,
    done: bool,
}

/// How a tape ends, as far as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// The tape says how the process ended: nothing is missing at its end.
    Whole,
    /// The tape ends after a whole record, but it does not say how the process ended. Before the
    /// last record was read this only means that the end has not been seen yet.
    Unfinished,
    /// The tape was cut within a record: its recorder was killed, or the disk was full.
    Torn {
        /// How much there is of the record that was cut.
        bytes: u64,
    },
}

/// Why a tape, or a line of it, cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TapeError {
    /// The file cannot be opened.
    #[error("cannot open the tape {path}: {source}", path = path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The first line is not a header that this program knows.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// The file ends within its first line.
    #[error("the tape ends within its header, after {bytes} bytes: nothing was recorded")]
    NoHeader {
        /// How long the file is.
        bytes: u64,
    },
    /// A line in the middle is not a record.
    #[error(
        "line {line} of the tape is not a record ({source}); the lines after it can still be read, \
         but the tape was changed after it was written, or damaged"
    )]
    Broken {
        /// The number of the line, counting the header as 1.
        line: u64,
        /// What is wrong with it.
        source: RecordError,
    },
    /// A line is longer than the reader may hold.
    #[error(
        "line {line} of the tape has {length} bytes, more than the limit of {limit}; no recorder \
         writes such lines, so look at the file, or read it with a higher limit"
    )]
    TooLong {
        /// The number of the line, counting the header as 1.
        line: u64,
        /// How long it is.
        length: u64,
        /// How long it may be.
        limit: usize,
    },
    /// The tape cannot be read further.
    #[error("cannot read the tape after line {line}: {source}")]
    Read {
        /// The last line that was read.
        line: u64,
        /// Why.
        source: io::Error,
    },
}

/// What [`read_line`] found.
enum Found {
    /// A line with its newline.
    Line,
    /// The file ended before a newline; so many bytes were there, possibly none.
    Cut(u64),
    /// A line that is too long, with its newline; it was skipped.
    TooLong(u64),
}

impl TapeReader<BufReader<File>> {
    /// Opens a tape in a file.
    ///
    /// # Errors
    ///
    /// When the file cannot be opened, or is not a tape.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TapeError> {
        let path = path.as_ref();
        let file =
            File::open(path).map_err(|source| TapeError::Open { path: path.to_owned(), source })?;
        Self::new(BufReader::with_capacity(READ_SIZE, file))
    }
}

impl<R: BufRead> TapeReader<R> {
    /// Reads the header of a tape.
    ///
    /// # Errors
    ///
    /// When there is none, or none that this program knows.
    pub fn new(source: R) -> Result<Self, TapeError> {
        Self::with_max_record(source, DEFAULT_MAX_RECORD)
    }

    /// Reads the header of a tape whose lines may have at most `max_record` bytes.
    ///
    /// # Errors
    ///
    /// When there is no header, or none that this program knows.
    pub fn with_max_record(mut source: R, max_record: usize) -> Result<Self, TapeError> {
        let mut line = Vec::new();
        let found = read_line(&mut source, &mut line, max_record)
            .map_err(|source| TapeError::Read { line: 0, source })?;
        let header = match found {
            Found::Line => Header::parse(&line)?,
            // A header that only lacks its newline is whole. What is cut is told from what never
            // was a tape: a file of another kind without a newline, say.
            Found::Cut(bytes) => match Header::parse(&line) {
                Ok(header) => header,
                Err(HeaderError::NotATape(error)) if bytes == 0 || error.is_eof() => {
                    return Err(TapeError::NoHeader { bytes });
                }
                Err(error) => return Err(error.into()),
            },
            Found::TooLong(length) => {
                return Err(TapeError::TooLong { line: 1, length, limit: max_record });
            }
        };
        Ok(Self {
            source,
            header,
            max_record,
            line,
            number: 1,
            tail: Tail::Unfinished,
            done: false,
        })
    }

    /// The header.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// How the tape ends; says something once the iterator has ended.
    #[must_use]
    pub const fn tail(&self) -> Tail {
        self.tail
    }

    /// The number of the line that was read last, counting the header as 1.
    #[must_use]
    pub const fn line_number(&self) -> u64 {
        self.number
    }

    /// The line that was read last, as it stands in the file and without its newline: at first
    /// the header, then the record that the iterator gave last.
    pub(crate) fn raw_line(&self) -> &[u8] {
        &self.line
    }

    /// Whether nothing follows. An error counts as more: the next read reports it.
    fn at_end(&mut self) -> bool {
        loop {
            match self.source.fill_buf() {
                Ok(rest) => return rest.is_empty(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
    }

    /// Ends the iteration, the tape being cut after so many bytes of a record.
    fn torn(&mut self, bytes: u64) -> Option<Result<Record, TapeError>> {
        self.done = true;
        if bytes > 0 {
            self.tail = Tail::Torn { bytes };
        }
        None
    }
}

impl<R: BufRead> Iterator for TapeReader<R> {
    type Item = Result<Record, TapeError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.done {
            let found = match read_line(&mut self.source, &mut self.line, self.max_record) {
                Ok(found) => found,
                Err(source) => {
                    // There is no going on after this one: it might come back for ever.
                    self.done = true;
                    return Some(Err(TapeError::Read { line: self.number, source }));
                }
            };
            if let Found::Cut(0) = found {
                self.done = true;
                return None;
            }
            self.number += 1;
            let line = self.number;
            let bytes = match found {
                Found::Line => self.line.len() as u64 + 1,
                Found::Cut(bytes) if bytes > self.max_record as u64 => return self.torn(bytes),
                Found::Cut(bytes) => bytes,
                Found::TooLong(length) => {
                    let limit = self.max_record;
                    return Some(Err(TapeError::TooLong { line, length, limit }));
                }
            };
            // Somebody who looked at the tape with an editor may have left an empty line.
            if matches!(found, Found::Line) && self.line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match Record::parse(&self.line) {
                Ok(record) => {
                    if matches!(record.entry, Entry::End(_)) {
                        self.tail = Tail::Whole;
                    }
                    return Some(Ok(record));
                }
                // After a crash of the machine a file can also end in a line of rubbish.
                Err(_) if matches!(found, Found::Cut(_)) || self.at_end() => {
                    return self.torn(bytes);
                }
                Err(source) => return Some(Err(TapeError::Broken { line, source })),
            }
        }
        None
    }
}

impl<R: BufRead> FusedIterator for TapeReader<R> {}

/// Reads the next line into `line`, without its newline and at most `limit` bytes of it.
fn read_line(source: &mut impl BufRead, line: &mut Vec<u8>, limit: usize) -> io::Result<Found> {
    line.clear();
    line.shrink_to(KEPT_CAPACITY);
    let mut length = 0;
    loop {
        let chunk = match source.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if chunk.is_empty() {
            return Ok(Found::Cut(length));
        }
        let end = memchr(b'\n', chunk);
        let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
        length += part.len() as u64;
        if length <= limit as u64 {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        source.consume(used);
        if end.is_some() {
            let fits = length <= limit as u64;
            return Ok(if fits { Found::Line } else { Found::TooLong(length) });
        }
    }
}
