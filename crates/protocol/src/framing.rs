//! From bytes to lines.

use memchr::memchr;

/// How long a line may be unless the caller says otherwise: 256 MiB.
///
/// A tool result with a large file in it reaches tens of megabytes, and the CLI itself refuses
/// to read more than about this.
pub const DEFAULT_MAX_LINE: usize = 256 * 1024 * 1024;

/// How much of a line that is too long is kept, enough to see what it was.
const HEAD: usize = 4096;

/// A buffer larger than this is given back after the line that needed it.
const KEPT_CAPACITY: usize = 1024 * 1024;

/// Cuts a stream of bytes into lines, whatever the sizes of the chunks it arrives in.
///
/// It holds at most one line, and of a line that is longer than the limit only the beginning.
/// Nothing ends it: a line that is too long is skipped and reported, and the next one is read.
///
/// ```
/// use countersign_protocol::{LineSplitter, Piece};
///
/// let mut splitter = LineSplitter::new();
/// let mut seen = Vec::new();
/// for chunk in [&b"{\"type\":\"keep_"[..], b"alive\"}\n\n{"] {
///     splitter.feed(chunk, |piece| match piece {
///         Piece::Line { bytes, .. } => seen.push(bytes.to_vec()),
///         Piece::Blank { .. } => {}
///         other => panic!("{other:?}"),
///     });
/// }
/// assert_eq!(seen, [br#"{"type":"keep_alive"}"#]);
/// splitter.finish(|rest| assert!(matches!(rest, Piece::Line { bytes: b"{", .. })));
/// ```
#[derive(Debug)]
pub struct LineSplitter {
    max_line: usize,
    /// The line that is not complete yet, as far as it is kept.
    partial: Vec<u8>,
    /// How long that line is; more than `partial` holds once it is too long.
    partial_len: u64,
}

/// What came out of the stream.
///
/// Put together, `bytes` and `ending` of all pieces are the stream, but for what was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Piece<'a> {
    /// A line with something in it.
    Line {
        /// The line without its ending.
        bytes: &'a [u8],
        /// How it ended.
        ending: Ending,
    },
    /// A line of nothing but white space.
    Blank {
        /// The white space without the ending.
        bytes: &'a [u8],
        /// How it ended.
        ending: Ending,
    },
    /// A line longer than the limit, which was skipped.
    TooLong {
        /// How the line began: enough to see what it was, and whose answer it would have been.
        head: &'a [u8],
        /// How long it was, without its line feed.
        length: u64,
    },
}

/// How a line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// With a line feed, as it should.
    Lf,
    /// With a carriage return and a line feed.
    CrLf,
    /// With the stream: the line may be cut off.
    Eof,
}

impl Ending {
    /// The bytes of the ending.
    #[must_use]
    pub fn as_bytes(self) -> &'static [u8] {
        match self {
            Self::Lf => b"\n",
            Self::CrLf => b"\r\n",
            Self::Eof => b"",
        }
    }
}

impl Default for LineSplitter {
    fn default() -> Self {
        Self::new()
    }
}

impl LineSplitter {
    /// A splitter with the default limit, [`DEFAULT_MAX_LINE`].
    #[must_use]
    pub fn new() -> Self {
        Self::with_max_line(DEFAULT_MAX_LINE)
    }

    /// A splitter that skips lines of more than that many bytes, not counting the line feed.
    #[must_use]
    pub fn with_max_line(max_line: usize) -> Self {
        Self { max_line, partial: Vec::new(), partial_len: 0 }
    }

    /// Takes the next bytes of the stream and hands out what they complete, in order.
    ///
    /// A piece lies in the chunk itself where that is possible, so most are not copied.
    pub fn feed(&mut self, mut chunk: &[u8], mut sink: impl FnMut(Piece<'_>)) {
        while let Some(end) = memchr(b'\n', chunk) {
            let (line, rest) = chunk.split_at(end);
            chunk = rest.get(1..).unwrap_or_default();
            if self.partial_len == 0 && line.len() <= self.max_line {
                sink(piece(line, Ending::Lf));
            } else {
                self.hold(line);
                sink(self.partial_piece(Ending::Lf));
                self.forget();
            }
        }
        if !chunk.is_empty() {
            self.hold(chunk);
        }
    }

    /// Ends the stream, and hands out the line that was not complete, if there was one.
    pub fn finish(&mut self, sink: impl FnOnce(Piece<'_>)) {
        if self.partial_len > 0 {
            sink(self.partial_piece(Ending::Eof));
            self.forget();
        }
    }

    /// How many bytes are held for the line that is not complete.
    #[must_use]
    pub fn held(&self) -> usize {
        self.partial.len()
    }

    /// Adds to the line that is not complete.
    fn hold(&mut self, bytes: &[u8]) {
        self.partial_len += bytes.len() as u64;
        if self.partial_len <= self.max_line as u64 {
            self.partial.extend_from_slice(bytes);
            return;
        }
        let room = HEAD.min(self.max_line).saturating_sub(self.partial.len());
        self.partial.extend(bytes.iter().take(room));
        self.partial.truncate(HEAD.min(self.max_line));
        if self.partial.capacity() > KEPT_CAPACITY {
            self.partial.shrink_to_fit();
        }
    }

    /// The line in `partial`, which ended.
    fn partial_piece(&self, ending: Ending) -> Piece<'_> {
        if self.partial_len > self.max_line as u64 {
            return Piece::TooLong { head: &self.partial, length: self.partial_len };
        }
        piece(&self.partial, ending)
    }

    /// Makes room for the next line.
    fn forget(&mut self) {
        self.partial_len = 0;
        self.partial.clear();
        if self.partial.capacity() > KEPT_CAPACITY {
            self.partial = Vec::new();
        }
    }
}

/// A line that is not too long.
fn piece(line: &[u8], ending: Ending) -> Piece<'_> {
    let (bytes, ending) = match line.split_last() {
        Some((b'\r', rest)) if ending == Ending::Lf => (rest, Ending::CrLf),
        _ => (line, ending),
    };
    if bytes.iter().all(u8::is_ascii_whitespace) {
        Piece::Blank { bytes, ending }
    } else {
        Piece::Line { bytes, ending }
    }
}
