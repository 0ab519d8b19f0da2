//! From types to a line.

use std::io;

use memchr::{memchr, memchr2};
use serde::ser::Serialize;
use serde_json::ser::Formatter;
use thiserror::Error;

/// Why a value could not be written as a line.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A value in it cannot be written as JSON.
    #[error("cannot be written as JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// It is not an object. The CLI ends when it reads anything else.
    #[error("a line must be a JSON object")]
    NotAnObject,
}

/// Writes a value as one line, with the line break at its end and none inside.
///
/// # Errors
/// When the value is not an object, or cannot be written as JSON.
///
/// ```
/// use countersign_protocol::{RawJson, encode_line};
///
/// let line = encode_line(&serde_json::json!({"text": "two\nlines\u{2028}"}))?;
/// assert_eq!(line, b"{\"text\":\"two\\nlines\\u2028\"}\n");
///
/// let pretty: RawJson = "{\n  \"a\": 1\n}".parse()?;
/// assert_eq!(encode_line(&pretty)?, b"{   \"a\": 1 }\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn encode_line<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, EncodeError> {
    // Most lines fit, so that they need not be moved while they grow.
    let mut line = Vec::with_capacity(1024);
    let mut sink = serde_json::Serializer::with_formatter(&mut line, OneLine);
    value.serialize(&mut sink).map_err(EncodeError::NotJson)?;
    if line.first() != Some(&b'{') {
        return Err(EncodeError::NotAnObject);
    }
    // Only raw JSON can bring a line break, and there it is white space: in a string it would be
    // escaped. What the CLI writes has none, so its tool inputs go back byte for byte.
    if memchr2(b'\n', b'\r', &line).is_some() {
        for byte in line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
            *byte = b' ';
        }
    }
    line.push(b'\n');
    Ok(line)
}

/// Compact JSON without anything that a reader could take for the end of a line.
///
/// Line breaks are always escaped in JSON strings. U+2028 and U+2029 need not be, but Node's own
/// line reader splits at them. (CLI 2.1.325, which is not run by Node, does not.)
struct OneLine;

/// What U+2028 and U+2029 begin with in UTF-8.
const FIRST: u8 = 0xE2;

impl Formatter for OneLine {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        mut fragment: &str,
    ) -> io::Result<()> {
        // Both begin with this byte, and next to no text has it.
        if memchr(FIRST, fragment.as_bytes()).is_none() {
            return writer.write_all(fragment.as_bytes());
        }
        while let Some(at) = fragment.find(['\u{2028}', '\u{2029}']) {
            let (before, rest) = fragment.split_at(at);
            writer.write_all(before.as_bytes())?;
            let mut rest = rest.chars();
            let escape = if rest.next() == Some('\u{2028}') { r"\u2028" } else { r"\u2029" };
            writer.write_all(escape.as_bytes())?;
            fragment = rest.as_str();
        }
        writer.write_all(fragment.as_bytes())
    }
}
