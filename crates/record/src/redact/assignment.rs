//! Values that a name in front of them calls secret: in JSON and code, in environments, headers,
//! URLs and command lines.
//!
//! A frame that is JSON has its fields looked at as such. This is for everything else: JSON that
//! is printed in the middle of a text, or cut off, or escaped; `export TOKEN=…`; `x-api-key: …`;
//! `--password=…`; `?api_key=…`.

use std::borrow::Cow;
use std::ops::Range;

use regex::bytes::Regex;

use super::names::{Announced, MAX_NAME, Name, announces, is_random, is_value};
use super::placeholder::is_word;
use super::view::View;

/// How much white space may stand on each side of an equals sign or a colon.
const MAX_SPACE: usize = 16;

/// How long a value without quotes may be: what a header may have.
const MAX_BARE: usize = 8192;

/// How much of a value without quotes shows whether it is one.
const SAMPLE: usize = 64;

/// A value that its name calls secret.
#[derive(Debug)]
pub(super) struct Assignment<'a> {
    /// From the name to the end of the value, with the quotes.
    pub(super) context: Range<usize>,
    /// The value.
    pub(super) range: Range<usize>,
    /// The value without escapes.
    pub(super) value: Cow<'a, [u8]>,
    pub(super) name: Name,
    /// Quotes stand around the value.
    quoted: bool,
}

/// What stands between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    Colon,
    Equals,
    /// The next argument on a command line.
    Space,
    /// The next string of a list, after one that is a flag.
    Comma,
}

/// Finds all assignments in a text, in order. `last_words` finds the ends of names.
pub(super) fn assignments<'a>(
    text: &'a [u8],
    last_words: &'a Regex,
) -> impl Iterator<Item = Assignment<'a>> {
    let mut done = 0;
    last_words.find_iter(text).filter_map(move |word| {
        if word.start() < done {
            return None;
        }
        let found = assignment(text, word.end())?;
        // What stands in a value without quotes goes with it.
        done = if found.quoted { done } else { found.range.end };
        Some(found)
    })
}

/// Reads the assignment to the name that ends at `name_end`.
fn assignment(text: &[u8], name_end: usize) -> Option<Assignment<'_>> {
    let rest = text.get(name_end..)?;
    let goes_on = match rest {
        [b'-' | b'.', next, ..] => is_word(*next),
        [next, ..] => is_word(*next),
        [] => true,
    };
    if goes_on {
        return None;
    }
    let before = text.get(name_end.saturating_sub(MAX_NAME)..name_end)?;
    let length = before.iter().rev().take_while(|byte| is_name(**byte)).count();
    let name_start = name_end - length;
    let flagged = text.get(name_start..name_end)?;
    let dashes = flagged.iter().take_while(|byte| **byte == b'-').count();
    let name = announces(flagged)?;

    let mut cursor = Cursor { text, at: name_end };
    let quoted_name = cursor.closing_quote(name_start);
    cursor.skip_bracket(quoted_name);
    let spaced = cursor.skip_space();
    let separator = cursor.separator(dashes > 0, spaced, quoted_name)?;
    let spaced = cursor.skip_space() || spaced;
    let value_at = cursor.at;
    if let Some(range) = cursor.quoted() {
        let value = View::unescaped(text.get(range.clone())?).into_parts().0;
        let (range, value) = skip_scheme(name, range, value);
        return is_value(&value).then_some(Assignment {
            context: name_start..cursor.at,
            range,
            value,
            name,
            quoted: true,
        });
    }
    let start = value_at + scheme(name, text.get(value_at..)?);
    let rest = text.get(start..)?;
    let trusted = match separator {
        Separator::Equals => (name.shouted && !spaced) || dashes > 0 || is_query(text, name_start),
        Separator::Colon => start > value_at,
        Separator::Space => false,
        // Only quoted strings are elements of a list.
        Separator::Comma => return None,
    };
    // The beginning is enough to tell, and there may be many names in a long text.
    let sample = rest.get(..bare_length(name, rest, SAMPLE))?;
    let plausible = if trusted { sample.len() >= 4 } else { is_random(sample) };
    if !plausible || !is_value(sample) {
        return None;
    }
    let range = start..start + bare_length(name, rest, MAX_BARE);
    // A call or an index is code, not a value. A cookie is a header, and ends somewhere.
    let is_code =
        matches!(text.get(range.end), Some(b'(' | b'[')) && name.announced != Announced::Cookie;
    (!is_code).then_some(Assignment {
        context: name_start..range.end,
        value: Cow::Borrowed(text.get(range.clone())?),
        range,
        name,
        quoted: false,
    })
}

/// Leaves out the scheme at the beginning of the value of a header.
pub(super) fn skip_scheme(
    name: Name,
    range: Range<usize>,
    value: Cow<'_, [u8]>,
) -> (Range<usize>, Cow<'_, [u8]>) {
    let skip = scheme(name, &value);
    if skip == 0 {
        return (range, value);
    }
    let value = match value {
        Cow::Borrowed(value) => Cow::Borrowed(value.get(skip..).unwrap_or_default()),
        Cow::Owned(mut value) => {
            value.drain(..skip);
            Cow::Owned(value)
        }
    };
    // The scheme is letters and spaces, which nobody escapes.
    (range.start + skip..range.end, value)
}

/// How long the scheme at the beginning of a value is, with the space after it.
pub(super) fn scheme(name: Name, value: &[u8]) -> usize {
    if !name.has_scheme {
        return 0;
    }
    let word = value.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let space = value.iter().skip(word).take_while(|byte| **byte == b' ').count();
    let known = [&b"bearer"[..], b"basic", b"token", b"digest", b"negotiate", b"apikey"];
    let scheme = value.get(..word).unwrap_or_default();
    let is_known = known.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    if is_known && space > 0 { word + space } else { 0 }
}

const fn is_name(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'-' | b'.')
}

/// Whether the name at `start` is that of a parameter in a URL.
fn is_query(text: &[u8], start: usize) -> bool {
    let before = start.checked_sub(1).and_then(|before| text.get(before));
    matches!(before, Some(b'?' | b'&'))
}

/// How long a value without quotes is, at most `limit`.
fn bare_length(name: Name, text: &[u8], limit: usize) -> usize {
    // A cookie is a list of values; it ends with the line or the argument.
    let list = name.announced == Announced::Cookie;
    let ends = |byte: u8| match byte {
        b' ' | b';' | b',' => !list,
        b'"' | b'\'' | b'`' | b'\\' | b'<' | b'>' | b'(' | b')' | b'{' | b'}' | b'[' | b']' => true,
        b'&' | b'|' => true,
        byte => byte.is_ascii_whitespace(),
    };
    let length = text.iter().take(limit).take_while(|byte| !ends(**byte)).count();
    let value = text.get(..length).unwrap_or_default();
    // The end of a sentence is not part of the value.
    length - value.iter().rev().take_while(|byte| matches!(byte, b'.' | b',' | b':' | b' ')).count()
}

struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Skips the quote after a name that has the same one before it.
    fn closing_quote(&mut self, name_start: usize) -> bool {
        let before = name_start.checked_sub(1).and_then(|at| self.text.get(at)).copied();
        let quoted = matches!(before, Some(b'"' | b'\'' | b'`')) && before == self.peek();
        self.at += usize::from(quoted);
        quoted
    }

    /// Skips the bracket of `environ["NAME"] = …`.
    fn skip_bracket(&mut self, quoted_name: bool) {
        if quoted_name && self.peek() == Some(b']') {
            self.at += 1;
        }
    }

    fn skip_space(&mut self) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let space =
            rest.iter().take(MAX_SPACE).take_while(|byte| byte.is_ascii_whitespace()).count();
        self.at += space;
        space > 0
    }

    fn separator(&mut self, flag: bool, spaced: bool, quoted: bool) -> Option<Separator> {
        let rest = self.text.get(self.at..)?;
        let (separator, length) = match rest {
            [b'=', b'=' | b'~', ..] | [b':', b':', ..] => return None,
            [b'=', b'>', ..] | [b':', b'=', ..] => (Separator::Equals, 2),
            [b'=', ..] => (Separator::Equals, 1),
            [b':', ..] => (Separator::Colon, 1),
            [b',', ..] if flag && quoted => (Separator::Comma, 1),
            _ if flag && spaced && !quoted => (Separator::Space, 0),
            _ => return None,
        };
        self.at += length;
        Some(separator)
    }

    /// Reads a value in quotes; one that is cut off ends with the line.
    fn quoted(&mut self) -> Option<Range<usize>> {
        let quote = self.peek().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'))?;
        let start = self.at + 1;
        let mut at = start;
        while let Some(byte) = self.text.get(at) {
            match *byte {
                b'\\' => at += 2,
                b'\n' => break,
                byte if byte == quote => {
                    self.at = at + 1;
                    return Some(start..at);
                }
                _ => at += 1,
            }
        }
        self.at = at.min(self.text.len());
        Some(start..self.at)
    }
}
