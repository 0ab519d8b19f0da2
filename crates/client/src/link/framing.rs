//! From the bytes of the pipe to lines, without copying them.

use std::ops::Range;

use bytes::{Buf as _, Bytes, BytesMut};
use memchr::{memchr, memrchr};

use super::abridge::Abridger;
use super::spare::{self, CHUNK};

/// Lines that come in no more than this are copied: one that waits to be read would otherwise hold
/// on to all the memory that was there to read it into.
const COPIED: usize = 8 * 1024;

/// Cuts what is read into runs of whole lines, which share the memory that they were read into.
#[derive(Debug)]
pub(crate) struct Framing {
    max_line: usize,
    buffer: BytesMut,
    /// How much of `buffer` is known to hold no line feed.
    searched: usize,
    /// The line that is being passed over because it is too long.
    skipping: Option<Skipped>,
}

#[derive(Debug)]
struct Skipped {
    abridger: Abridger,
    length: u64,
}

/// What was cut off.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Run {
    /// Whole lines, each with its line feed, but for the last line of the stream.
    Lines(Bytes),
    /// A line that was too long, and is not kept but for its short fields.
    TooLong {
        /// The line without its long fields.
        abridged: Vec<u8>,
        /// How long it was.
        length: u64,
    },
}

impl Skipped {
    fn done(self) -> Run {
        Run::TooLong { abridged: self.abridger.finish(), length: self.length }
    }
}

impl Framing {
    pub(crate) fn new(max_line: usize) -> Self {
        Self { max_line, buffer: BytesMut::new(), searched: 0, skipping: None }
    }

    /// Where to read to.
    pub(crate) fn space(&mut self) -> &mut BytesMut {
        if self.buffer.capacity() == 0 {
            self.buffer = spare::take();
        }
        self.buffer.reserve(CHUNK);
        &mut self.buffer
    }

    /// The last bytes that were read, so many, and whether there was no room for more.
    pub(crate) fn last_read(&self, count: usize) -> (&[u8], bool) {
        let begin = self.buffer.len().saturating_sub(count);
        let new = self.buffer.get(begin..).unwrap_or_default();
        (new, self.buffer.len() == self.buffer.capacity())
    }

    /// Gives back memory that nothing is in, when there is nothing to read.
    pub(crate) fn rest(&mut self) {
        if self.buffer.is_empty() {
            spare::give(std::mem::take(&mut self.buffer));
        }
    }

    /// What is complete in what was read. To be called until there is none.
    pub(crate) fn next_run(&mut self) -> Option<Run> {
        if let Some(skipped) = &mut self.skipping {
            let end = memchr(b'\n', &self.buffer);
            let length = end.unwrap_or(self.buffer.len());
            skipped.length += length as u64;
            skipped.abridger.pass(self.buffer.get(..length).unwrap_or_default());
            self.buffer.advance(length);
            end?;
            self.buffer.advance(1);
            return self.skipping.take().map(Skipped::done);
        }
        let new = self.buffer.get(self.searched..)?;
        let Some(last) = memrchr(b'\n', new) else {
            self.searched = self.buffer.len();
            if self.searched > self.max_line {
                return self.skip(self.searched);
            }
            return None;
        };
        let end = self.searched + last + 1;
        // Only a line that began in an earlier read, or is longer than a read, can be too long.
        if let Some(range) = self.too_long(end) {
            if range.start == 0 {
                return self.skip(range.end);
            }
            self.searched = 0;
            return Some(Run::Lines(self.buffer.split_to(range.start).freeze()));
        }
        self.searched = 0;
        if end == self.buffer.len() && end <= COPIED {
            let lines = Bytes::copy_from_slice(&self.buffer);
            self.buffer.clear();
            return Some(Run::Lines(lines));
        }
        Some(Run::Lines(self.buffer.split_to(end).freeze()))
    }

    /// What is left when the stream has ended: a line without its end.
    pub(crate) fn finish(&mut self) -> Option<Run> {
        if let Some(skipped) = self.skipping.take() {
            return Some(skipped.done());
        }
        self.searched = 0;
        let rest = std::mem::take(&mut self.buffer);
        (!rest.is_empty()).then(|| Run::Lines(rest.freeze()))
    }

    /// The first line up to `end` that is too long.
    fn too_long(&self, end: usize) -> Option<Range<usize>> {
        if end <= self.max_line {
            return None;
        }
        let mut start = 0;
        while start < end {
            let line = self.buffer.get(start..end)?;
            let length = memchr(b'\n', line)?;
            if length > self.max_line {
                return Some(start..start + length);
            }
            start += length + 1;
        }
        None
    }

    /// Passes over the line that the buffer begins with, of which `seen` bytes are there.
    fn skip(&mut self, seen: usize) -> Option<Run> {
        let mut abridger = Abridger::default();
        abridger.pass(self.buffer.get(..seen).unwrap_or_default());
        self.buffer.advance(seen);
        // The memory of a long line is not kept for the next.
        self.buffer = BytesMut::from(&*self.buffer);
        self.searched = 0;
        self.skipping = Some(Skipped { abridger, length: seen as u64 });
        self.next_run()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The runs of a stream that arrives in these chunks: the lines, and the lengths of those that
    /// were too long.
    fn cut(chunks: &[Vec<u8>], max_line: usize) -> Vec<Result<Vec<u8>, u64>> {
        let mut framing = Framing::new(max_line);
        let mut out = Vec::new();
        let mut take = |run| match run {
            Run::Lines(bytes) => {
                out.extend(
                    bytes.split_inclusive(|&byte| byte == b'\n').map(|line| Ok(line.to_vec())),
                );
            }
            Run::TooLong { length, .. } => out.push(Err(length)),
        };
        for chunk in chunks {
            framing.space().extend_from_slice(chunk);
            while let Some(run) = framing.next_run() {
                take(run);
            }
        }
        if let Some(run) = framing.finish() {
            take(run);
        }
        out
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over_and_the_next_is_read() {
        let stream = [b"short\n".to_vec(), vec![b'x'; 50], b"y\nnext\n".to_vec()].concat();
        let expected = vec![Ok(b"short\n".to_vec()), Err(51), Ok(b"next\n".to_vec())];
        for size in 1..stream.len() {
            let chunks: Vec<_> = stream.chunks(size).map(<[u8]>::to_vec).collect();
            assert_eq!(cut(&chunks, 10), expected, "in chunks of {size}");
        }
    }

    #[test]
    fn the_short_fields_of_a_line_that_is_too_long_are_kept() {
        let long = "x".repeat(5000);
        let line = format!(r#"{{"text":"{long}","type":"result","n":1}}"#);
        for size in [1, 7, 1000, line.len() + 1] {
            let mut framing = Framing::new(100);
            let mut runs = Vec::new();
            for chunk in format!("{line}\n").as_bytes().chunks(size) {
                framing.space().extend_from_slice(chunk);
                runs.extend(std::iter::from_fn(|| framing.next_run()));
            }
            let abridged = br#"{"type":"result","n":1}"#.to_vec();
            assert_eq!(runs, [Run::TooLong { abridged, length: line.len() as u64 }]);
        }
    }

    proptest! {
        #[test]
        fn chunks_make_no_difference(
            lines in proptest::collection::vec("[a-c]{0,30}", 0..20),
            ends in any::<bool>(),
            size in 1..40_usize,
            max_line in 1..40_usize,
        ) {
            let mut stream = lines.join("\n").into_bytes();
            if ends {
                stream.push(b'\n');
            }
            let whole = cut(std::slice::from_ref(&stream), max_line);
            let chunks: Vec<_> = stream.chunks(size).map(<[u8]>::to_vec).collect();
            prop_assert_eq!(cut(&chunks, max_line), whole);
        }
    }
}
