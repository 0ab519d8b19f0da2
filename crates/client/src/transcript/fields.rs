//! The outermost fields of a line, read leniently.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The outermost fields of a JSON object, in their order, each value as text.
///
/// A transcript is written by many versions of the CLI, and by others. So a field of an unexpected
/// type is a field that is not there, a key that stands twice counts with its last value, as in
/// JavaScript, and a line that is cut off has the fields before the cut.
#[derive(Debug, Default)]
pub(crate) struct Fields<'a> {
    fields: Vec<(Cow<'a, str>, &'a RawValue)>,
    complete: bool,
}

impl<'a> Fields<'a> {
    /// The fields of a line; nothing if it is not an object that is complete.
    pub(crate) fn parse(line: &'a str) -> Option<Self> {
        let fields = Self::parse_prefix(line);
        fields.complete.then_some(fields)
    }

    /// The fields of a line that may be cut off, as far as they are complete.
    pub(crate) fn parse_prefix(line: &'a str) -> Self {
        let mut fields = Self::default();
        let mut source = serde_json::Deserializer::from_str(line);
        let read = Collect(&mut fields.fields).deserialize(&mut source);
        fields.complete = read.is_ok() && source.end().is_ok();
        fields
    }

    /// The text of a field.
    pub(crate) fn raw(&self, name: &str) -> Option<&'a str> {
        let mut same = self.fields.iter().rev().filter(|(key, _)| key == name);
        same.next().map(|(_, value)| value.get())
    }

    /// A field that is a string. Half of a surrogate pair reads as U+FFFD.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        string(self.raw(name)?)
    }

    /// A field that is a string and short enough for an identifier.
    pub(crate) fn id(&self, name: &str) -> Option<Cow<'a, str>> {
        // Ids are held in memory for the whole transcript; a giant one is no id.
        const LONGEST: usize = 256;
        let raw = self.raw(name).filter(|raw| raw.len() <= LONGEST)?;
        string(raw).filter(|id| !id.is_empty())
    }

    /// Whether a field is `true`.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.raw(name) == Some("true")
    }

    /// Whether a field is what JavaScript takes for true: `teamName` is a name or nothing.
    pub(crate) fn is_truthy(&self, name: &str) -> bool {
        !matches!(self.raw(name), None | Some("null" | "false" | "0" | "\"\""))
    }

    /// The fields in their order, a name that stands twice as often as it stands.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.fields.iter().map(|(name, value)| (name.as_ref(), value.get()))
    }
}

/// Visits the items of a JSON list one by one, so that a list of millions is not held. Says
/// whether it was a list; what is visited of one that is broken counts for nothing.
pub(super) fn each_item(list: &str, visit: impl FnMut(&str)) -> bool {
    serde_json::Deserializer::from_str(list).deserialize_seq(Items(visit)).is_ok()
}

/// A JSON string, decoded.
pub(crate) fn string(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    match serde_json::from_str::<String>(raw) {
        Ok(text) => Some(Cow::Owned(text)),
        // Only half of a surrogate pair is left to go wrong in what is JSON already.
        Err(_) => {
            let bytes: Bytes = serde_json::from_str(raw).ok()?;
            Some(Cow::Owned(String::from_utf8_lossy(&bytes.0).into_owned()))
        }
    }
}

/// A string as `serde_json` gives it to those who ask for bytes: with lone surrogates.
struct Bytes(Vec<u8>);

impl<'de> serde::Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct AsBytes;
        impl Visitor<'_> for AsBytes {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }
        }
        source.deserialize_bytes(AsBytes)
    }
}

struct Items<F>(F);

impl<'a, F: FnMut(&str)> Visitor<'a> for Items<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'a>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(item) = list.next_element::<&RawValue>()? {
            (self.0)(item.get());
        }
        Ok(())
    }
}

/// Collects fields, and keeps those it has when one goes wrong.
struct Collect<'f, 'a>(&'f mut Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> DeserializeSeed<'a> for Collect<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for Collect<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        // An object may have any number of fields; those of a transcript have some dozens.
        const MOST: usize = 4096;
        while let Some(key) = map.next_key::<Key<'a>>()? {
            let value = map.next_value()?;
            if self.0.len() < MOST {
                self.0.push((key.0, value));
            }
        }
        Ok(())
    }
}

/// A key, borrowed where it has no escapes.
#[derive(serde::Deserialize)]
#[serde(transparent)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_stands_twice_counts_with_its_last_value() {
        let fields = Fields::parse(r#"{"a":1,"a":"two","b":true}"#).unwrap();
        assert_eq!(fields.text("a").unwrap(), "two");
        assert!(fields.is_true("b"));
        assert_eq!(fields.text("b"), None);
    }

    #[test]
    fn a_line_that_is_cut_off_has_the_fields_before_the_cut() {
        let line = r#"{"type":"user","cwd":"/a","message":{"content":"aaa"#;
        assert!(Fields::parse(line).is_none());
        let fields = Fields::parse_prefix(line);
        assert_eq!(fields.text("cwd").unwrap(), "/a");
        assert_eq!(fields.raw("message"), None);
    }

    #[test]
    fn half_of_a_surrogate_pair_does_not_hide_a_line() {
        let fields = Fields::parse(r#"{"a":"x\ud800y","b":"\u00e4"}"#).unwrap();
        assert!(fields.text("a").unwrap().starts_with('x'));
        assert_eq!(fields.text("b").unwrap(), "ä");
    }

    #[test]
    fn what_is_nested_a_million_times_is_no_deep_recursion() {
        let deep = format!(r#"{{"a":{}{},"b":1}}"#, "[".repeat(1_000_000), "]".repeat(1_000_000));
        assert_eq!(Fields::parse(&deep).unwrap().raw("b"), Some("1"));
    }
}
