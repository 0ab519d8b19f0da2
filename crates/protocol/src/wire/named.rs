//! An object known by its tag only.

use serde::de::MapAccess;
use serde::ser::SerializeMap;

use super::{Extra, Fields, WriteFields};

/// An object of which this crate knows the tag but has no types for the fields.
///
/// It stands in the `Other` variant of every tagged enum, for names this crate has never heard
/// of, and in `Internal` variants, for names that the CLI keeps to itself.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Named {
    name: Box<str>,
    /// All fields but the tag.
    pub fields: Extra,
}

impl Named {
    /// An object with that tag and no other field.
    ///
    /// Use it to send what has no type here. A name that does have one is better sent typed:
    /// decoding turns it into the typed variant.
    #[must_use]
    pub fn new(name: impl Into<Box<str>>) -> Self {
        Self { name: name.into(), fields: Extra::default() }
    }

    /// The value of the tag.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn read<'de, A: MapAccess<'de>>(
        name: &str,
        source: &mut Fields<'de, A>,
    ) -> Result<Self, A::Error> {
        let mut fields = Extra::default();
        while let Some(key) = source.next_key()? {
            fields.push(&key, source.value(&key)?);
        }
        Ok(Self { name: name.into(), fields })
    }
}

impl WriteFields for Named {
    fn write_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.fields.write(map)
    }
}
