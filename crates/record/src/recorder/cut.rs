//! From chunks to the pieces that become records.

use memchr::memchr;

/// The longest text of one record: 1 MiB.
///
/// It bounds what a recorder and a reader hold, and what a crash can tear.
pub(super) const MAX_PIECE: usize = 1024 * 1024;

/// A buffer larger than this is given back after the line that needed it.
const KEPT_CAPACITY: usize = 64 * 1024;

/// Cuts the chunks of one channel at newlines, and lines that are too long into pieces.
///
/// A piece lies in the chunk itself where that is possible, so most lines are not copied here.
#[derive(Debug, Default)]
pub(super) struct Cutter {
    /// The line that is not complete yet, as far as it was not handed out; at most one piece.
    partial: Vec<u8>,
}

impl Cutter {
    /// Takes the next bytes, and hands out what they complete: a text, and whether the line goes
    /// on after it.
    pub(super) fn feed(&mut self, mut chunk: &[u8], mut piece: impl FnMut(&[u8], bool)) {
        while let Some(end) = memchr(b'\n', chunk) {
            let (line, rest) = chunk.split_at(end);
            chunk = rest.get(1..).unwrap_or_default();
            let line = self.fill(line, &mut piece);
            if self.partial.is_empty() {
                piece(line, false);
            } else {
                self.partial.extend_from_slice(line);
                piece(&self.partial, false);
                self.partial.clear();
                self.partial.shrink_to(KEPT_CAPACITY);
            }
        }
        let rest = self.fill(chunk, &mut piece);
        self.partial.extend_from_slice(rest);
    }

    /// Hands out pieces until the rest of the line fits into one together with `bytes`, and
    /// gives back what is left of them.
    fn fill<'a>(&mut self, mut bytes: &'a [u8], piece: &mut impl FnMut(&[u8], bool)) -> &'a [u8] {
        while self.partial.len() + bytes.len() > MAX_PIECE {
            let (head, tail) = bytes.split_at(MAX_PIECE.saturating_sub(self.partial.len()));
            if self.partial.is_empty() {
                let (whole, _) = head.split_at(whole_characters(head));
                piece(whole, true);
                bytes = bytes.get(whole.len()..).unwrap_or_default();
            } else {
                self.partial.extend_from_slice(head);
                self.hand_out(&mut *piece);
                bytes = tail;
            }
        }
        bytes
    }

    /// Hands out what is there of an incomplete line, but for a character that is not whole yet.
    pub(super) fn hand_out(&mut self, mut piece: impl FnMut(&[u8], bool)) {
        let whole = whole_characters(&self.partial);
        if whole > 0 {
            piece(self.partial.get(..whole).unwrap_or_default(), true);
            self.partial.drain(..whole);
            self.partial.shrink_to(KEPT_CAPACITY);
        }
    }

    /// Hands out all that is there of an incomplete line: the stream ends, or has a gap.
    pub(super) fn end(&mut self, piece: impl FnOnce(&[u8], bool)) {
        if !self.partial.is_empty() {
            piece(&self.partial, true);
            self.partial = Vec::new();
        }
    }

    /// How many bytes of an incomplete line are held here.
    pub(super) const fn held(&self) -> usize {
        self.partial.len()
    }

    /// Whether [`hand_out`](Self::hand_out) would hand out anything.
    pub(super) fn holds_text(&self) -> bool {
        whole_characters(&self.partial) > 0
    }
}

/// How many of these bytes come before a UTF-8 character that is not complete at their end.
///
/// For bytes that are not UTF-8 it may be any number, but of more than three it is never 0.
fn whole_characters(bytes: &[u8]) -> usize {
    for (back, byte) in (1..=3).zip(bytes.iter().rev()) {
        let length = match byte {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            0x80..=0xbf => continue,
            _ => break,
        };
        return if length > back { bytes.len() - back } else { bytes.len() };
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces of a stream that comes in chunks of this size.
    fn pieces(stream: &[u8], chunk: usize) -> Vec<(Vec<u8>, bool)> {
        let mut cutter = Cutter::default();
        let mut pieces = Vec::new();
        for chunk in stream.chunks(chunk) {
            cutter.feed(chunk, |bytes, more| pieces.push((bytes.to_vec(), more)));
            assert!(cutter.partial.len() <= MAX_PIECE);
        }
        cutter.end(|bytes, more| pieces.push((bytes.to_vec(), more)));
        pieces
    }

    #[test]
    fn a_long_line_is_cut_between_characters_whatever_the_chunks() {
        let stream = format!("short\n{}\n\nend", "€".repeat(MAX_PIECE));
        let whole = pieces(stream.as_bytes(), stream.len());
        for (text, _) in &whole {
            assert!(text.len() <= MAX_PIECE);
            std::str::from_utf8(text).unwrap();
        }
        // A piece has no room for a third of a character, so there is a fourth one.
        assert_eq!(whole.len(), 1 + 4 + 1 + 1);
        for chunk in [1000, 65_536, 65_537, MAX_PIECE - 1, MAX_PIECE, MAX_PIECE + 1] {
            assert!(pieces(stream.as_bytes(), chunk) == whole, "chunks of {chunk}");
        }
    }

    #[test]
    fn a_line_of_exactly_one_piece_is_not_cut() {
        let mut stream = vec![b'x'; MAX_PIECE];
        stream.push(b'\n');
        for chunk in [1000, MAX_PIECE, MAX_PIECE + 1] {
            let pieces = pieces(&stream, chunk);
            assert_eq!(
                pieces.iter().map(|(text, more)| (text.len(), *more)).collect::<Vec<_>>(),
                [(MAX_PIECE, false)]
            );
        }
    }

    #[test]
    fn half_a_character_waits_for_its_other_half() {
        for (bytes, whole) in [
            (&b"abc"[..], 3),
            (b"ab\xc3", 2),
            (b"ab\xc3\xbc", 4),
            (b"\xe2\x82", 0),
            (b"a\xf0\x9f\x92", 1),
            (b"a\xf0\x9f\x92\xa9", 5),
            // Not UTF-8: nothing to wait for.
            (b"a\xff", 2),
            (b"\x80\x80\x80\x80", 4),
            (b"", 0),
        ] {
            assert_eq!(whole_characters(bytes), whole, "{bytes:x?}");
        }
    }
}
