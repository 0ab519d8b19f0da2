//! Strings, as JavaScript writes them.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};

/// Reads a string that may hold half of a surrogate pair.
///
/// A JavaScript string may hold one, and `JSON.stringify` writes it as an escape such as
/// `\ud83d`. A Rust string cannot, so `serde_json` refuses the whole line. Asked for bytes
/// instead it yields WTF-8, in which the half is three bytes that UTF-8 does not allow; here
/// they become U+FFFD. The line itself, and every value kept as raw text, still has the escape.
pub(crate) struct Text;

impl Text {
    pub(crate) fn read_owned<'de, D: Deserializer<'de>>(source: D) -> Result<String, D::Error> {
        source.deserialize_bytes(Self).map(Cow::into_owned)
    }
}

impl<'de> DeserializeSeed<'de> for Text {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Cow<'de, str>, D::Error> {
        source.deserialize_bytes(self)
    }
}

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Cow<'de, str>, E> {
        Ok(match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(from_wtf8(bytes)),
        })
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => from_wtf8(bytes),
        }))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(text))
    }
}

/// Replaces each encoded surrogate by one U+FFFD.
#[cold]
pub(crate) fn from_wtf8(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        // A surrogate is ED A0..BF 80..BF. The decoder reports the ED and each byte after it
        // as an error of its own, so the two bytes that follow are passed over.
        match chunk.invalid() {
            [] | [0x80..=0xBF, ..] => {}
            _ => text.push(char::REPLACEMENT_CHARACTER),
        }
    }
    text
}

/// Whether there is a control character that JSON allows in no place.
///
/// Reading strings as bytes skips `serde_json`'s own check. Tabs and carriage returns are white
/// space between tokens, so they pass.
pub(crate) fn has_raw_control_character(line: &[u8]) -> bool {
    line.iter().fold(false, |found, &byte| found | (byte < 0x20 && byte != b'\t' && byte != b'\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lone_surrogate_becomes_one_replacement_character() {
        let check = |json: &str, expect: &str| {
            let mut source = serde_json::Deserializer::from_str(json);
            assert_eq!(Text::read_owned(&mut source).unwrap(), expect, "{json}");
        };
        check(r#""\ud800""#, "\u{FFFD}");
        check(r#""a\udfffb""#, "a\u{FFFD}b");
        check(r#""\ud800\ud800""#, "\u{FFFD}\u{FFFD}");
        check(r#""\ud83d\ude00""#, "\u{1F600}");
        check(r#""é\ud83d é""#, "é\u{FFFD} é");
        check(r#""\ufffd\udc00""#, "\u{FFFD}\u{FFFD}");
    }
}
