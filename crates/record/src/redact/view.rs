//! Text with its escapes undone, and the way back to where each byte stood.
//!
//! A secret can stand on a tape in many spellings: `sk-…` in a string of a frame is
//! `\u0073k-…` to a writer that likes escapes, and a tool that prints JSON puts one more layer of
//! backslashes around it. Rules look at the text as a reader would see it; what they find is
//! changed where it stands. A [`View`] joins the two.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr_iter};

/// A text with one layer of JSON escapes undone.
#[derive(Debug)]
pub(super) struct View<'a> {
    text: Cow<'a, [u8]>,
    map: Map,
}

/// The way from a text back to its source.
#[derive(Debug, Default)]
pub(super) struct Map {
    /// Where the text is not the source byte for byte, in order.
    escapes: Vec<Escape>,
}

/// An escape: `len` bytes of the text that were `source_len` bytes in the source.
#[derive(Clone, Copy, Debug)]
struct Escape {
    at: usize,
    len: usize,
    source: usize,
    source_len: usize,
}

impl<'a> View<'a> {
    /// The text as it is.
    pub(super) const fn plain(text: &'a [u8]) -> Self {
        Self { text: Cow::Borrowed(text), map: Map { escapes: Vec::new() } }
    }

    /// The text without one layer of escapes.
    ///
    /// It need not be JSON: a backslash that begins no escape stays.
    pub(super) fn unescaped(source: &'a [u8]) -> Self {
        let Some(first) = memchr(b'\\', source) else { return Self::plain(source) };
        let mut text = Vec::with_capacity(source.len());
        let mut escapes = Vec::new();
        let mut done = 0;
        let mut next = Some(first);
        while let Some(at) = next {
            text.extend_from_slice(source.get(done..at).unwrap_or_default());
            let rest = source.get(at..).unwrap_or_default();
            let start = text.len();
            let source_len = match unescape(rest) {
                Some((character, source_len)) => {
                    text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    escapes.push(Escape {
                        at: start,
                        len: text.len() - start,
                        source: at,
                        source_len,
                    });
                    source_len
                }
                None => {
                    text.push(b'\\');
                    1
                }
            };
            done = at + source_len;
            next = source.get(done..).and_then(|rest| memchr(b'\\', rest)).map(|to| done + to);
        }
        text.extend_from_slice(source.get(done..).unwrap_or_default());
        Self { text: Cow::Owned(text), map: Map { escapes } }
    }

    /// The text.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// The text, and the way back from it.
    pub(super) fn into_parts(self) -> (Cow<'a, [u8]>, Map) {
        (self.text, self.map)
    }

    /// Whether the text differs from its source.
    pub(super) const fn is_changed(&self) -> bool {
        !self.map.escapes.is_empty()
    }

    /// Where a part of the text stands in the source. An escape is never cut in two.
    pub(super) fn source(&self, range: &Range<usize>) -> Range<usize> {
        self.map.source(range)
    }

    /// Moves the ends of a part of the *source* so that it cuts no escape in two: what is only
    /// the end of an escape is left out, what is only the beginning of one is taken in.
    pub(super) fn whole_escapes(&self, range: &Range<usize>) -> Range<usize> {
        let cut = |at: usize| {
            let after = self.map.escapes.partition_point(|escape| escape.source < at);
            let escape = self.map.escapes.get(after.checked_sub(1)?)?;
            let end = escape.source + escape.source_len;
            (at < end).then_some(end)
        };
        cut(range.start).unwrap_or(range.start)..cut(range.end).unwrap_or(range.end)
    }

    /// Whether a part of the text has a quote that is not escaped in the source.
    ///
    /// Such a quote begins or ends a string one layer further out.
    pub(super) fn has_bare_quote(&self, range: &Range<usize>) -> bool {
        let part = self.text.get(range.clone()).unwrap_or_default();
        memchr_iter(b'"', part).any(|at| {
            let at = range.start + at;
            self.map.escape_before(at).is_none_or(|escape| escape.at != at)
        })
    }
}

impl Map {
    /// Where a part of the text stands in the source. An escape is never cut in two.
    pub(super) fn source(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.start(range.start);
        if range.is_empty() {
            return start..start;
        }
        let last = range.end - 1;
        let end = match self.escape_before(last) {
            Some(escape) if last < escape.at + escape.len => escape.source + escape.source_len,
            _ => self.start(last) + 1,
        };
        start..end
    }

    fn start(&self, at: usize) -> usize {
        match self.escape_before(at) {
            None => at,
            Some(escape) if at < escape.at + escape.len => escape.source,
            Some(escape) => escape.source + escape.source_len + (at - escape.at - escape.len),
        }
    }

    /// The last escape that begins at `at` or before it.
    fn escape_before(&self, at: usize) -> Option<Escape> {
        let after = self.escapes.partition_point(|escape| escape.at <= at);
        self.escapes.get(after.checked_sub(1)?).copied()
    }
}

/// The character that an escape stands for, and how long the escape is.
fn unescape(text: &[u8]) -> Option<(char, usize)> {
    let character = match text.get(1)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unescape_unit(text),
        _ => return None,
    };
    Some((character, 2))
}

/// Reads `\uXXXX`, or two of them that make one character. Half a pair reads as U+FFFD.
fn unescape_unit(text: &[u8]) -> Option<(char, usize)> {
    let high = unit(text)?;
    if let Some(character) = char::from_u32(high.into()) {
        return Some((character, 6));
    }
    let low = text.get(6..).and_then(unit);
    match low.map(|low| char::decode_utf16([high, low]).next()) {
        Some(Some(Ok(character))) => Some((character, 12)),
        _ => Some((char::REPLACEMENT_CHARACTER, 6)),
    }
}

/// Reads `\uXXXX` as a number.
fn unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit: u16, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, text: &str) {
        assert_eq!(String::from_utf8_lossy(View::unescaped(source.as_bytes()).text()), text);
    }

    #[test]
    fn one_layer_of_escapes_is_undone() {
        check("plain", "plain");
        check(r#"a\"b\\c\/d"#, r#"a"b\c/d"#);
        check(r"\u0073k\n\t\r\b\f", "sk\n\t\r\u{8}\u{c}");
        check(r"\\u0073k", r"\u0073k");
        check(r"\ud83d\ude00!", "\u{1f600}!");
        check(r"\ud83d!\ude00", "\u{fffd}!\u{fffd}");
        check(r"C:\Users\x \u12", r"C:\Users\x \u12");
        check("end\\", "end\\");
    }

    #[test]
    fn a_part_is_found_where_it_stands() {
        let source = br"ab\u0073\\cd\ud83d\ude00e";
        let view = View::unescaped(source);
        assert_eq!(view.text(), "abs\\cd\u{1f600}e".as_bytes());
        assert_eq!(view.source(&(0..2)), 0..2);
        assert_eq!(view.source(&(1..3)), 1..8);
        assert_eq!(view.source(&(2..3)), 2..8);
        assert_eq!(view.source(&(3..4)), 8..10);
        assert_eq!(view.source(&(4..5)), 10..11);
        // Any byte of the emoji stands for all of its escape.
        assert_eq!(view.source(&(8..9)), 12..24);
        assert_eq!(view.source(&(10..11)), 24..25);
        assert_eq!(view.source(&(11..11)), 25..25);
    }

    #[test]
    fn bare_quotes_are_told_from_escaped_ones() {
        let view = View::unescaped(br#"\"a\" "b""#);
        assert!(!view.has_bare_quote(&(0..4)));
        assert!(view.has_bare_quote(&(0..5)));
    }
}
