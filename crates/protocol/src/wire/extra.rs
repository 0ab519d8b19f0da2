//! The fields of an object that its type does not name.

use serde::ser::{Error as _, SerializeMap};

use super::RawJson;

/// The fields of an object that its type does not name, in the order of the line.
///
/// Every object type has one, as its field `extra`. Nothing that the CLI sends is lost: what a
/// type does not know can be read here and is written again when the object is encoded.
///
/// ```
/// use countersign_protocol::{Decoded, FromCli, Line};
///
/// let line = Line::parse(br#"{"type":"keep_alive","mood":"good"}"#)?;
/// let Decoded::Known(FromCli::KeepAlive(frame)) = line.decode::<FromCli>() else { panic!() };
/// assert_eq!(frame.extra.get("mood").unwrap().as_str(), r#""good""#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Extra {
    nulls: Nulls,
    fields: Vec<(Box<str>, RawJson)>,
}

impl Extra {
    /// The value of a field. Where a key was repeated, the last one, as in JavaScript.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.fields.iter().rev().find(|(key, _)| **key == *name).map(|(_, value)| value)
    }

    /// Sets a field, in place of one of that name. A name that the type itself has is set there;
    /// an object with it in `extra` cannot be written.
    pub fn insert(&mut self, name: impl Into<Box<str>>, value: RawJson) {
        let name = name.into();
        self.forget(&name);
        self.fields.push((name, value));
    }

    /// Drops the fields of that name.
    pub(crate) fn forget(&mut self, name: &str) {
        self.fields.retain(|(key, _)| **key != *name);
    }

    /// Names and values, in the order of the line.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.fields.iter().map(|(key, value)| (&**key, value))
    }

    /// How many fields there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether the type named every field of the object.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    pub(crate) fn push(&mut self, name: &str, value: RawJson) {
        self.fields.push((name.into(), value));
    }

    pub(crate) fn with_nulls(mut self, nulls: Nulls) -> Self {
        self.nulls = nulls;
        self
    }

    pub(crate) fn set_null(&mut self, field: u32) {
        self.nulls.set(field);
    }

    pub(crate) fn nulls(&self) -> Nulls {
        self.nulls
    }

    /// Writes the fields. A name that the type has may not be among them: it would stand in the
    /// object twice, and readers differ in which one counts.
    pub(crate) fn write<M: SerializeMap>(
        &self,
        map: &mut M,
        typed: &[&str],
    ) -> Result<(), M::Error> {
        for (key, value) in &self.fields {
            if typed.contains(&&**key) {
                return Err(M::Error::custom(format_args!("`{key}` is typed and in `extra`")));
            }
            map.serialize_entry(&**key, value)?;
        }
        Ok(())
    }
}

/// Which optional fields, by their number in the type, were there as `null`.
///
/// To a reader both are `None`; the difference is kept so that the object can be written again
/// as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Nulls(u64);

impl Nulls {
    pub(crate) fn has(self, field: u32) -> bool {
        self.0 & (1 << field) != 0
    }

    pub(crate) fn set(&mut self, field: u32) {
        self.0 |= 1 << field;
    }
}
