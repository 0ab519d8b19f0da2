//! JSON that is kept as the text it came in.

use std::fmt;
use std::str::FromStr;

use memchr::{memchr2, memchr2_iter};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;
use thiserror::Error;

use super::{FromWire, Place};

/// How deep a value may be nested: as deep as `serde_json` follows by default.
///
/// Text is kept without being taken apart, so a deeper one could be carried. But whoever looks
/// inside would fail then, each in another place; so it fails here, once.
pub const MAX_DEPTH: usize = 128;

/// A JSON value as the text it came in: key order, spacing and number spelling are untouched.
///
/// Tool inputs are kept this way, so that allowing a tool sends back exactly what was asked for.
/// What is read has at most [`MAX_DEPTH`] levels.
///
/// ```
/// use countersign_protocol::RawJson;
///
/// let input: RawJson = r#"{"price": 1.10, "id": 12345678901234567890123}"#.parse()?;
/// assert_eq!(serde_json::to_string(&input)?, input.as_str());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RawJson(Box<RawValue>);

/// Why a text is not a [`RawJson`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RawJsonError {
    /// It is not one JSON value.
    #[error("not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// It is nested deeper than [`MAX_DEPTH`].
    #[error("nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
}

impl RawJson {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// The text of a value that can be serialized. It is as deep as the value is.
    ///
    /// # Errors
    /// When the value cannot be written as JSON.
    pub fn from_value<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Self)
    }

    /// Reads the text as a type.
    ///
    /// A string with half of a surrogate pair can be read as a type of this crate, but not as a
    /// [`String`] or a [`serde_json::Value`].
    ///
    /// # Errors
    /// When the value has another shape.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.as_str())
    }

    /// Whether the value is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.as_str().starts_with('{')
    }

    /// The empty object.
    #[must_use]
    pub fn empty_object() -> Self {
        Self::from_checked(String::from("{}"))
    }

    pub(crate) fn read<T: FromWire>(&self) -> Result<T, serde_json::Error> {
        Self::read_text(self.as_str(), Place::OUTERMOST.lending())
    }

    /// Reads a text that is JSON, as a part of something larger.
    pub(crate) fn read_text<T: FromWire>(text: &str, place: Place) -> Result<T, serde_json::Error> {
        T::from_wire(&mut serde_json::Deserializer::from_str(text), place)
    }

    fn from_text(text: String) -> Result<Self, RawJsonError> {
        let raw = RawValue::from_string(text).map_err(RawJsonError::NotJson)?;
        Self::from_raw(raw)
    }

    fn from_raw(raw: Box<RawValue>) -> Result<Self, RawJsonError> {
        if exceeds_depth(raw.get().as_bytes()) {
            return Err(RawJsonError::TooDeep);
        }
        Ok(Self(raw))
    }

    /// For text that is known to be JSON.
    fn from_checked(text: String) -> Self {
        // If it were not JSON after all, `null` is what no tool runs on.
        Self(RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }
}

/// Two texts are equal when they are the same text; equal values may be spelled differently.
impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for RawJson {
    type Err = RawJsonError;

    fn from_str(text: &str) -> Result<Self, RawJsonError> {
        Self::from_text(text.to_owned())
    }
}

impl From<serde_json::Value> for RawJson {
    /// Writes the value, however deep it is. Numbers keep the precision that
    /// [`serde_json::Value`] has.
    fn from(value: serde_json::Value) -> Self {
        Self::from_checked(value.to_string())
    }
}

impl FromWire for RawJson {
    fn from_wire<'de, D: Deserializer<'de>>(source: D, _: Place) -> Result<Self, D::Error> {
        Self::from_raw(Box::<RawValue>::deserialize(source)?).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        Self::from_wire(source, Place::OUTERMOST)
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(sink)
    }
}

/// Whether valid JSON is nested deeper than [`MAX_DEPTH`].
pub(crate) fn exceeds_depth(json: &[u8]) -> bool {
    // Each level has an opening bracket at a place where a value can begin. Few values have that
    // many, even if they hold code, so most are done here.
    let mut brackets = memchr2_iter(b'{', b'[', json).filter(|&at| could_begin_value(json, at));
    if json.len() <= MAX_DEPTH || brackets.nth(MAX_DEPTH).is_none() {
        return false;
    }
    let mut depth = 0usize;
    let mut rest = json;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'"' => rest = after_string(rest),
            b'{' | b'[' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Whether a value could begin there: after a colon, a comma, a bracket, or at the start.
fn could_begin_value(json: &[u8], at: usize) -> bool {
    let mut before = json.get(..at).unwrap_or_default().iter().rev();
    matches!(before.find(|byte| !byte.is_ascii_whitespace()), None | Some(b':' | b',' | b'['))
}

/// What follows the string whose opening quote was just passed.
fn after_string(mut rest: &[u8]) -> &[u8] {
    while let Some(at) = memchr2(b'"', b'\\', rest) {
        let escaped = rest.get(at) == Some(&b'\\');
        rest = rest.get(at + if escaped { 2 } else { 1 }..).unwrap_or_default();
        if !escaped {
            return rest;
        }
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize) -> String {
        "[".repeat(levels) + &"]".repeat(levels)
    }

    #[test]
    fn depth_is_counted_outside_strings_only() {
        assert!(nested(MAX_DEPTH).parse::<RawJson>().is_ok());
        assert!(matches!(nested(MAX_DEPTH + 1).parse::<RawJson>(), Err(RawJsonError::TooDeep)));
        let brackets_in_text = format!(r#""\"\\{}""#, "[{".repeat(1000));
        assert!(brackets_in_text.parse::<RawJson>().is_ok());
        let wide = format!("[{}0]", "[],".repeat(1000));
        assert!(wide.parse::<RawJson>().is_ok());
        let after_text = format!(r#"{{"a":"]]]]\"","b":{}}}"#, nested(MAX_DEPTH));
        assert!(matches!(after_text.parse::<RawJson>(), Err(RawJsonError::TooDeep)));
    }
}
