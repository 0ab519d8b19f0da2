//! The lines of a transcript, one at a time, and where they are.

use std::borrow::Cow;
use std::io::{self, BufRead};

use memchr::memchr;

/// How long a line of a transcript may be, 64 MiB. One that is longer is passed over.
///
/// A line holds one message; the largest hold pictures and whole files of some megabytes.
pub const MAX_LINE: usize = 64 << 20;

/// A buffer larger than this is given back after the line that needed it.
const KEPT_CAPACITY: usize = 1 << 20;

/// Reads lines, and holds one at a time.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    source: R,
    /// Where the next line begins.
    offset: u64,
    /// Where what follows the last line with an end begins.
    ended: u64,
    line: Vec<u8>,
}

/// A line that is not empty and not too long, and where it is.
#[derive(Debug)]
pub(crate) struct FoundLine<'a> {
    /// The line without its end. What is not UTF-8 reads with U+FFFD in its place.
    pub(crate) text: Cow<'a, str>,
    /// Where it begins.
    pub(crate) offset: u64,
    /// How many bytes it has, without its end.
    pub(crate) length: usize,
}

impl<R: BufRead> LineReader<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { source, offset: 0, ended: 0, line: Vec::new() }
    }

    /// The next line. The last one counts even without an end: it may be torn, which its reader
    /// sees.
    pub(crate) fn next(&mut self) -> io::Result<Option<FoundLine<'_>>> {
        loop {
            let offset = self.offset;
            let length = self.read_line()?;
            if self.offset == offset {
                return Ok(None);
            }
            if length <= MAX_LINE as u64 && !self.line.trim_ascii().is_empty() {
                let length = self.line.len();
                let text = String::from_utf8_lossy(&self.line);
                return Ok(Some(FoundLine { text, offset, length }));
            }
        }
    }

    /// Where what follows the last line with an end begins: a line without one may go on there.
    pub(crate) const fn ended(&self) -> u64 {
        self.ended
    }

    /// Reads to the end of a line, keeps as much of it as a line may have, and says how long it
    /// was without its line feed.
    fn read_line(&mut self) -> io::Result<u64> {
        self.line.clear();
        self.line.shrink_to(KEPT_CAPACITY);
        let mut length = 0;
        loop {
            let chunk = match self.source.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                chunk => chunk?,
            };
            let end = memchr(b'\n', chunk);
            let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            let room = MAX_LINE.saturating_sub(self.line.len());
            self.line.extend_from_slice(part.get(..room).unwrap_or(part));
            length += part.len() as u64;
            let used = part.len() + usize::from(end.is_some());
            let done = end.is_some() || chunk.is_empty();
            self.source.consume(used);
            self.offset += used as u64;
            if end.is_some() {
                self.ended = self.offset;
            }
            if done {
                return Ok(length);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(bytes: &[u8], buffer: usize) -> Vec<(u64, usize, String)> {
        let mut reader = LineReader::new(io::BufReader::with_capacity(buffer, bytes));
        let mut lines = Vec::new();
        while let Some(line) = reader.next().unwrap() {
            lines.push((line.offset, line.length, line.text.into_owned()));
        }
        lines
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let mut bytes = b"{\"a\":1}\n".to_vec();
        bytes.resize(bytes.len() + MAX_LINE + 1, b'x');
        bytes.extend(b"\nlast");
        let found = lines(&bytes, 1 << 16);
        assert_eq!(found.len(), 2);
        assert_eq!(found[1], (8 + MAX_LINE as u64 + 2, 4, "last".to_owned()));
    }

    proptest! {
        #[test]
        fn lines_are_where_they_are_said_to_be(
            parts in prop::collection::vec("[a-z{}\r\t ]{0,20}", 0..20),
            buffer in 1usize..64,
        ) {
            let text = parts.join("\n");
            let expected: Vec<_> =
                text.split('\n').filter(|line| !line.trim_ascii().is_empty()).collect();
            let found = lines(text.as_bytes(), buffer);
            prop_assert_eq!(found.len(), expected.len());
            for ((offset, length, line), expected) in found.iter().zip(expected) {
                prop_assert_eq!(line, expected);
                let start = usize::try_from(*offset).unwrap();
                prop_assert_eq!(&text[start..start + length], expected);
            }
        }

        #[test]
        fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            lines(&bytes, 7);
        }
    }
}
