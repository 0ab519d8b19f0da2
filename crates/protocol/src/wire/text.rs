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
        match simdutf8::basic::from_utf8(bytes) {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(_) => from_wtf8(bytes).map(Cow::Owned),
        }
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Cow<'de, str>, E> {
        match simdutf8::basic::from_utf8(bytes) {
            Ok(text) => Ok(Cow::Owned(text.to_owned())),
            Err(_) => from_wtf8(bytes).map(Cow::Owned),
        }
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

/// Replaces each encoded surrogate by one U+FFFD; anything else that is not UTF-8 is an error.
#[cold]
fn from_wtf8<E: Error>(bytes: &[u8]) -> Result<String, E> {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        match std::str::from_utf8(rest) {
            Ok(valid) => {
                text.push_str(valid);
                return Ok(text);
            }
            Err(error) => {
                let (valid, after) = rest.split_at(error.valid_up_to());
                text.push_str(&String::from_utf8_lossy(valid));
                let [0xED, 0xA0..=0xBF, 0x80..=0xBF, following @ ..] = after else {
                    return Err(E::custom("a string is not UTF-8"));
                };
                text.push(char::REPLACEMENT_CHARACTER);
                rest = following;
            }
        }
    }
}

/// Whether there is a control character that JSON allows in no place.
///
/// Reading strings as bytes skips `serde_json`'s own check. Tabs and carriage returns are white
/// space between tokens, so they pass.
pub(crate) fn has_raw_control_character(line: &[u8]) -> bool {
    let forbidden = |byte: &u8| *byte < 0x20 && *byte != b'\t' && *byte != b'\r';
    // The smallest byte of a block is found much faster than the first small one.
    line.chunks(1024).any(|block| {
        block.iter().fold(u8::MAX, |least, &byte| least.min(byte)) < 0x20
            && block.iter().any(forbidden)
    })
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
